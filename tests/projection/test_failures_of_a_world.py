"""Failures, their signatures and recoveries in generated histories, against what was planted."""

from __future__ import annotations

from collections import defaultdict

import pytest

from failure_world import Findings, failures_of_a_world
from hansei.events.model import Status
from hansei.projection.failures import Ending, Kind, families
from hansei.synth.troubles import MISSED_EDIT

SHARE = 0.98


@pytest.fixture(scope="module", params=[3, 11])
def findings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Findings:
    folder = tmp_path_factory.mktemp("world")
    return failures_of_a_world(
        folder, seed=request.param, sessions=70, agents=("claude_code", "codex")
    )


def agree(found: set[str], planted: set[str]) -> None:
    """Recall and precision are both at least the share we promise."""
    assert planted
    assert len(found & planted) >= SHARE * len(planted), planted - found
    assert len(found & planted) >= SHARE * len(found), found - planted


def test_planted_failures_are_found_masked_or_not(findings: Findings) -> None:
    found = {call for call, row in findings.failures().items() if row.kind is Kind.FAILURE}
    shell = [it for it in findings.world.truth.failures if it.trouble != MISSED_EDIT]
    assert any(it.masked for it in shell)
    decidable = {it.call for it in shell if it.decidable}
    agree(found - ({it.call for it in shell} - decidable), decidable)


def test_an_edit_that_missed_is_noise_of_the_harness(findings: Findings) -> None:
    found = {call for call, row in findings.failures().items() if row.kind is Kind.HARNESS}
    agree(found, {it.call for it in findings.world.truth.failures if it.trouble == MISSED_EDIT})


def test_declined_and_interrupted_calls_are_their_own_kinds(findings: Findings) -> None:
    sessions = findings.world.truth.sessions
    rows = findings.failures().items()
    for kind, planted in (
        (Kind.DECLINED, {call for it in sessions for call in it.declined}),
        (Kind.INTERRUPTED, {call for it in sessions for call in it.interrupted}),
    ):
        agree({call for call, row in rows if row.kind is kind}, planted)


def test_decoys_are_no_failures(findings: Findings) -> None:
    verdicts = findings.verdicts()
    kinds = defaultdict(set)
    for decoy in findings.world.truth.decoys:
        assert verdicts[decoy.call].status is Status.OK
        kinds[decoy.why].add(verdicts[decoy.call].kind)
    assert kinds["mentions_errors"] == {None}
    # One agent does not tell that a search ended with 1: then it is a success like any other.
    assert kinds["nothing_found"] == {None, Kind.NEGATIVE}


def test_a_trouble_has_one_signature_and_no_other_has_the_same(findings: Findings) -> None:
    rows = findings.failures()
    seen = defaultdict(set)
    for planted in findings.world.truth.failures:
        if planted.call in rows and planted.trouble != MISSED_EDIT:
            seen[planted.trouble].add(rows[planted.call].signature)
    assert all(len(signatures) == 1 for signatures in seen.values()), seen
    assert len({next(iter(it)) for it in seen.values()}) == len(seen)


def test_recoveries_are_found_with_the_call_that_recovered(findings: Findings) -> None:
    episodes = findings.episodes()
    planted = {
        f"{it.call} {it.recovered_by}"
        for it in findings.world.truth.failures
        if it.decidable and it.recovered_by is not None and it.call in episodes
    }
    began = {it.call for it in findings.world.truth.failures if it.decidable}
    found = {
        f"{begin} {end}"
        for begin, (row, end) in episodes.items()
        if row.ending is Ending.RECOVERED and begin in began
    }
    agree(found, planted)


def test_every_failure_belongs_to_one_episode(findings: Findings) -> None:
    for told in findings.sessions.values():
        inside = [seq for row in told.episodes for seq in row.failures]
        failed = [row.seq for row in told.failures if row.kind in (Kind.FAILURE, Kind.HARNESS)]
        assert sorted(inside) == failed


def test_families_name_the_usual_recovery(findings: Findings) -> None:
    told = findings.sessions.items()
    found = families(
        [(number, row) for number, it in told for row in it.failures],
        [(number, row) for number, it in told for row in it.episodes],
    )
    missing = next(it for it in found if 'Missing script: "test"' in it.signature)
    assert len(missing.sessions) >= 2
    assert missing.recovery == "npm test"
    assert missing.recoveries >= 1
    assert missing.times >= len(missing.sessions)
    order = [(-len(it.sessions), -it.times, it.signature) for it in found]
    assert order == sorted(order)
