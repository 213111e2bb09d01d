from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from hansei.synth.codebase import INSTRUCTIONS, RULE
from synthetic_world import Shelf, stock

if TYPE_CHECKING:
    from hansei.synth.truth import EditTruth


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    return stock(tmp_path_factory.mktemp("world"))


def added_by(shelf: Shelf, commit: str, path: str) -> set[str]:
    diff = shelf.git("show", "--format=", commit, "--", path)
    return {line[1:] for line in diff.split("\n") if line.startswith("+")}


def removed_by(shelf: Shelf, commit: str, path: str) -> set[str]:
    diff = shelf.git("show", "--format=", commit, "--", path)
    return {line[1:] for line in diff.split("\n") if line.startswith("-")}


def edits(shelf: Shelf, fate: str) -> list[EditTruth]:
    found = [edit for edit in shelf.truth.edits if edit.fate == fate]
    assert found, fate
    return found


def test_the_repository_is_sound_and_clean(shelf: Shelf) -> None:
    shelf.git("fsck", "--strict", "--no-dangling")
    assert shelf.git("status", "--porcelain") == ""


def test_every_commit_of_the_truth_exists(shelf: Shelf) -> None:
    for commit in shelf.truth.commits:
        assert shelf.git("cat-file", "-t", commit) == "commit\n"
    on_main = set(shelf.git("rev-list", "main").split())
    assert on_main <= set(shelf.truth.commits)


def test_landed_lines_enter_with_their_commit_and_are_still_there(shelf: Shelf) -> None:
    for edit in edits(shelf, "landed"):
        assert set(edit.added) <= added_by(shelf, edit.commit or "", edit.path)
        assert set(edit.added) <= set(shelf.git("show", f"main:{edit.path}").split("\n"))


def test_squashed_lines_come_in_one_commit_and_the_drafts_are_on_no_branch(shelf: Shelf) -> None:
    on_main = set(shelf.git("rev-list", "--all").split())
    for edit in edits(shelf, "squashed"):
        assert set(edit.added) <= added_by(shelf, edit.commit or "", edit.path)
        assert len(edit.squashed_away) == 2
        assert not on_main & set(edit.squashed_away)


def test_reformatted_lines_land_in_another_shape(shelf: Shelf) -> None:
    for edit in edits(shelf, "reformatted"):
        landed = added_by(shelf, edit.commit or "", edit.path)
        assert landed
        assert not set(edit.added) <= landed
        joined = re.sub(r"\s", "", "".join(sorted(landed)))
        assert edit.added[0].split("(")[0].replace(" ", "") in joined


def test_reverted_lines_are_taken_out_again(shelf: Shelf) -> None:
    for edit in edits(shelf, "reverted"):
        assert set(edit.added) <= added_by(shelf, edit.commit or "", edit.path)
        assert set(edit.added) <= removed_by(shelf, edit.undone_in or "", edit.path)
        # A line such as a bare assertion may be another function's too; the first one never is.
        assert edit.added[0] not in shelf.git("show", f"main:{edit.path}")


def test_reworked_lines_are_changed_by_somebody_else(shelf: Shelf) -> None:
    for edit in edits(shelf, "reworked"):
        assert set(edit.added) <= added_by(shelf, edit.commit or "", edit.path)
        changed = set(edit.added) & removed_by(shelf, edit.undone_in or "", edit.path)
        assert len(changed) == 1
        authors = [
            shelf.git("log", "-1", "--format=%an", commit or "")
            for commit in (edit.commit, edit.undone_in)
        ]
        assert authors[0] != authors[1]


def test_abandoned_and_discarded_lines_never_reach_git(shelf: Shelf) -> None:
    for edit in (
        *edits(shelf, "abandoned"),
        *edits(shelf, "discarded"),
        *edits(shelf, "replaced"),
    ):
        assert edit.commit is None
        assert shelf.git("log", "--all", "--oneline", "-S", edit.added[0], "--", edit.path) == ""


def test_the_agents_own_commits_are_made_at_the_moment_it_says_so(shelf: Shelf) -> None:
    """The short id that a transcript shows is a commit whose date is that of the answer."""
    truth = shelf.truth
    seen = 0
    for session in truth.sessions:
        if session.agent != "codex" or session.relation is not None:
            continue
        for line in shelf.lines(session.files[0]):
            said = re.search(r"\[\S+ ([0-9a-f]{7})\] ", line["payload"].get("output", ""))
            if said:
                date = shelf.git("log", "-1", "--format=%cI", said[1])
                assert date[:19] == line["timestamp"][:19]
                seen += 1
    assert seen > 3


def test_sessions_begin_at_the_commit_that_was_newest_then(shelf: Shelf) -> None:
    for session in shelf.truth.sessions:
        date = int(shelf.git("log", "-1", "--format=%ct", session.commit)) * 1000
        assert date <= session.started
        before = shelf.git("rev-list", "-1", f"--before={session.started // 1000}", "main").strip()
        if session.relation is None:
            assert before == session.commit


def test_the_rule_stands_in_the_instructions_of_the_sessions_that_were_exposed(
    shelf: Shelf,
) -> None:
    rule = shelf.truth.rule
    assert RULE.strip() in added_by(shelf, rule.commit or "", INSTRUCTIONS)
    for session in shelf.truth.sessions:
        text = shelf.git("show", f"{session.commit}:{INSTRUCTIONS}")
        assert (RULE in text) == session.exposed
