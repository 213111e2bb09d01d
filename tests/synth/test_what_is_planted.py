from __future__ import annotations

import json
from collections import defaultdict
from math import sqrt

import pytest

from hansei.synth.plan import BROKEN_AFTER, BROKEN_BEFORE, plan_world
from hansei.synth.troubles import BY_NAME
from synthetic_world import NOW, Shelf, stock


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return stock(tmp_path_factory.mktemp("world"))


def test_planted_secrets_are_in_the_files_of_their_session_and_not_in_the_repository(
    shelf: Shelf,
) -> None:
    truth = shelf.truth
    assert len({secret.kind for secret in truth.secrets}) >= 5
    for secret in truth.secrets:
        path = truth.session(secret.session).files[0]
        # Old versions of one agent put JSON into JSON, so line breaks may be escaped twice.
        spellings = {secret.value, json.dumps(secret.value)[1:-1]}
        spellings.add(json.dumps(json.dumps(secret.value)[1:-1])[1:-1])
        assert any(spelling in shelf.text(path) for spelling in spellings)
    everything = "".join(
        path.read_text() for path in shelf.world.repo.rglob("*") if path.is_file()
        and ".git" not in path.parts
    )  # fmt: skip
    assert not any(secret.value in everything for secret in truth.secrets)


def test_a_failure_shows_its_sign_and_comes_back_in_several_sessions(shelf: Shelf) -> None:
    truth = shelf.truth
    where = defaultdict(set)
    for failure in truth.failures:
        text = shelf.text(truth.session(failure.session).files[0])
        assert failure.call in text
        assert failure.recovered_by is None or failure.recovered_by in text
        sign = json.dumps(failure.sign)[1:-1]
        assert sign in text or json.dumps(sign)[1:-1] in text
        where[failure.trouble].add(failure.session)
    assert where.keys() >= BY_NAME.keys()
    assert all(len(sessions) >= 2 for sessions in where.values())


def test_masked_failures_keep_their_real_exit_code_in_the_truth_only(shelf: Shelf) -> None:
    truth = shelf.truth
    masked = [failure for failure in truth.failures if failure.masked]
    assert {failure.decidable for failure in masked} == {True, False}
    for failure in masked:
        session = truth.session(failure.session)
        shown = [
            line
            for line in shelf.lines(session.files[0])
            if failure.call in json.dumps(line.get("message", line.get("payload", {})))
        ]
        assert failure.exit_code
        assert not any('"is_error": true' in json.dumps(line) for line in shown)
        assert not any(
            f"exited with code {failure.exit_code}" in json.dumps(line) for line in shown
        )


def test_corrections_of_one_topic_are_worded_differently_over_several_sessions(
    shelf: Shelf,
) -> None:
    topics = defaultdict(list)
    for correction in shelf.truth.corrections:
        assert correction.text[:20] in shelf.text(shelf.truth.session(correction.session).files[0])
        topics[correction.topic].append(correction)
    assert topics.keys() == {
        *("logger", "environment", "cents", "clock", "scope"),
        *("misread", "request", "interrupted", "declined"),
    }
    assert {it.manner for it in shelf.truth.corrections} == {"said", "repeated", "interrupted"}
    logger = topics["logger"]
    assert len({one.session for one in logger}) >= 3
    assert len({one.text for one in logger}) >= 2


def test_what_only_sounds_like_a_correction_is_planted_too(shelf: Shelf) -> None:
    assert len({aside.why for aside in shelf.truth.asides}) >= 4
    for aside in shelf.truth.asides:
        assert aside.text[:8] in shelf.text(shelf.truth.session(aside.session).files[0])


def test_a_file_read_again_had_been_read_and_not_changed(shelf: Shelf) -> None:
    truth = shelf.truth
    assert truth.rereads
    for reread in truth.rereads:
        session = truth.session(reread.session)
        if session.agent != "claude_code":
            continue
        last: dict[str, str] = {}
        calls: dict[str, str] = {}
        for line in shelf.lines(session.files[0]):
            content = line.get("message", {}).get("content", "")
            for block in content if isinstance(content, list) else ():
                if block["type"] == "tool_use":
                    argument = block["input"].get("file_path") or block["input"].get("command", "")
                    calls[block["id"]] = argument
                    if block["name"] in {"Edit", "Write"}:
                        last.pop(reread.path, None)
                if block["type"] == "tool_result" and reread.path in calls[block["tool_use_id"]]:
                    if block["tool_use_id"] == reread.call:
                        assert reread.path in last
                    last[reread.path] = str(block["content"])
        assert reread.tokens > 0


def test_a_haul_is_large_and_carried(shelf: Shelf) -> None:
    for haul in shelf.truth.hauls:
        session = shelf.truth.session(haul.session)
        assert haul.tokens > 5_000
        assert 0 < haul.requests_carried < session.requests


def test_decoys_are_no_failures(shelf: Shelf) -> None:
    truth = shelf.truth
    failed = {failure.call for failure in truth.failures}
    assert {decoy.why for decoy in truth.decoys} == {"mentions_errors", "nothing_found"}
    assert not failed & {decoy.call for decoy in truth.decoys}


def test_declined_and_interrupted_calls_are_known(shelf: Shelf) -> None:
    for agent in ("claude_code", "codex"):
        sessions = [one for one in shelf.truth.sessions if one.agent == agent]
        assert any(one.declined for one in sessions)
        assert any(one.interrupted for one in sessions)
        assert any(one.compactions for one in sessions)
        assert any(one.sittings == 2 for one in sessions)


def test_one_developer_works_in_bursts_and_another_steadily(shelf: Shelf) -> None:
    days: dict[str, list[int]] = defaultdict(list)
    for session in shelf.truth.sessions:
        if session.relation is None:
            days[session.rhythm].append(session.started // 86_400_000)
    assert days.keys() == {"constant", "bursty", "nightly"}
    busiest = {rhythm: max(map(seen.count, seen)) / len(seen) for rhythm, seen in days.items()}
    assert busiest["bursty"] > 1.5 * busiest["constant"]


def test_the_rule_works_by_the_rates_that_the_truth_states(shelf: Shelf) -> None:
    rule = shelf.truth.rule
    assert (rule.rate_before, rule.rate_after) == (BROKEN_BEFORE, BROKEN_AFTER)
    broken = [failure for failure in shelf.truth.failures if failure.trouble == rule.trouble]
    assert len(broken) == rule.broken_before + rule.broken_after
    exposed = [shelf.truth.session(failure.session).exposed for failure in broken]
    assert exposed.count(True) == rule.broken_after


def test_over_many_sessions_the_rule_is_broken_as_often_as_stated() -> None:
    plan = plan_world(5, NOW, 2000, 40, ["codex"])
    for exposed, rate in ((False, BROKEN_BEFORE), (True, BROKEN_AFTER)):
        trials = [one.breaks_rule for one in plan.outlines if one.works and one.exposed == exposed]
        deviation = sqrt(rate * (1 - rate) / len(trials))
        assert abs(sum(trials) / len(trials) - rate) < 4 * deviation


def test_skills_are_listed_read_from_their_file_and_sometimes_followed(shelf: Shelf) -> None:
    truth = shelf.truth
    assert {truth.session(skill.session).agent for skill in truth.skills} == {
        "claude_code",
        "codex",
    }
    assert {skill.asked for skill in truth.skills} == {True, False}
    assert {skill.followed_by is None for skill in truth.skills} == {True, False}
    for skill in truth.skills:
        text = shelf.text(truth.session(skill.session).files[0])
        assert skill.call in text
        assert f"skills/{skill.skill}/SKILL.md" in text
        assert skill.followed_by is None or skill.followed_by in text
