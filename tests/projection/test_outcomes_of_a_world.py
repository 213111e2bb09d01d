"""What became of edits in a generated history, against what was planted there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hansei.projection.outcomes import By, Fate, Later, Outcome
from hansei.synth.truth import EditTruth
from outcome_world import Judgement, judged_world

SHARE = 0.98
IN_GIT = {"landed", "squashed", "reformatted", "reverted", "reworked"}


@pytest.fixture(
    scope="module",
    params=[(5, False), (11, False), (23, True)],
    ids=["as it was", "another", "rebased"],
)
def judgement(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Judgement:
    folder = tmp_path_factory.mktemp("world")
    seed, rebase = request.param
    agents = ("claude_code", "codex")
    return judged_world(folder, seed=seed, sessions=60, agents=agents, rebase=rebase)


def main_row(rows: tuple[Outcome, ...]) -> Outcome | None:
    """An edit may be several hunks; the largest speaks for it."""
    return max(rows, key=lambda row: row.lines, default=None)


def agrees(
    judgement: Judgement,
    planted: Callable[[EditTruth], bool],
    found: Callable[[Outcome], bool],
    same: Callable[[EditTruth, Outcome], bool],
) -> None:
    """Recall and precision of a claim are both at least the share we promise."""
    pairs = [(it.truth, main_row(it.rows)) for it in judgement.edits]
    expected = [(truth, row) for truth, row in pairs if planted(truth)]
    claimed = [(truth, row) for truth, row in pairs if row is not None and found(row)]
    assert expected
    recalled = sum(1 for truth, row in expected if row and found(row) and same(truth, row))
    right = sum(1 for truth, row in claimed if planted(truth) and same(truth, row))
    assert recalled >= SHARE * len(expected)
    assert right >= SHARE * len(claimed)


def test_landed_edits_are_found_with_their_commits(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate in IN_GIT,
        lambda row: row.fate is Fate.LANDED,
        lambda truth, row: truth.commit == row.landed_commit and row.on_main,
    )


def test_reverts_are_found_with_their_commits(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate == "reverted",
        lambda row: row.later is Later.REVERTED,
        lambda truth, row: truth.undone_in == row.later_commit,
    )


def test_lines_reworked_by_a_person_are_found_with_their_commits(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate == "reworked",
        lambda row: row.later is Later.REWORKED,
        lambda truth, row: truth.undone_in == row.later_commit and row.later_by is By.PERSON,
    )


def test_reformatted_edits_are_told_apart(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate == "reformatted",
        lambda row: row.reformatted,
        lambda truth, row: truth.commit == row.landed_commit,
    )


def test_dropped_and_discarded_edits_are_taken_back(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate in {"abandoned", "discarded"},
        lambda row: row.fate is Fate.TAKEN_BACK,
        lambda _, row: row.taken_back_by is not None,
    )


def test_edits_that_their_session_wrote_over_are_replaced(judgement: Judgement) -> None:
    agrees(
        judgement,
        lambda truth: truth.fate == "replaced",
        lambda row: row.fate is Fate.REPLACED,
        lambda _, row: row.taken_back_by is not None,
    )
