"""One skill, one file: nothing is lost, nothing is guessed, and what is broken is told by line."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.learn import heads
from hansei.learn.files import read, written
from hansei.learn.heads import Broken
from hansei.learn.model import Evidence, Skill, State, Vote
from hansei.learn.validation import LARGEST_BODY, name_from, name_problem, normal, unfit
from skill_world import skills

PLAIN = Skill("run-types", "Type checks.", "Run `make types`.", created_at=1, changed_at=1)


@given(skills())
def test_a_skill_survives_its_file(skill: Skill) -> None:
    assert read(written(skill), skill.name) == skill


@given(skills())
def test_the_head_never_holds_three_hyphens(skill: Skill) -> None:
    head = written(skill).removeprefix("---\n").partition("\n---\n")[0]
    assert "---" not in head


@given(st.text(max_size=300))
def test_any_text_is_a_skill_or_broken_at_a_line_of_it(text: str) -> None:
    assert 0 <= broken_line(f"---\n{text}\n---\nbody\n") <= text.count("\n") + 4


def broken_line(text: str) -> int:
    try:
        read(text, "x")
    except Broken as problem:
        return problem.line
    return 0


@given(st.text(max_size=200))
def test_a_name_can_be_made_of_any_text(text: str) -> None:
    assert name_problem(name_from(text)) is None
    assert name_from(text, {name_from(text)}) != name_from(text)


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "..",
        ".",
        "",
        "A",
        "a--b",
        "-a",
        "a-",
        "a b",
        "con",
        "nul",
        "com1",
        "lpt9",
        "readme",
        "skill",
        "a\x1b[31m",
        "a\n",
        "ä",
        "a" * 65,
        "a.md",
    ],
)
def test_hostile_names_are_no_names(name: str) -> None:
    assert name_problem(name) is not None


@pytest.mark.parametrize(
    ("head", "line", "word"),
    [
        ("name: run-types\nname: run-types", 3, "twice"),
        ("name: run-types\nsate: approved", 3, "no field"),
        ("name: run-types\nstate: great", 3, "none of draft"),
        ("name: other", 2, "that of its file"),
        ("name: &a run-types", 2, "anchors"),
        ("name: run-types\nsection: *a", 3, "aliases"),
        ("name: run-types\nsection: !!python/object:os.system x", 3, "tags"),
        ("name: run-types\nevidence: s#1", 3, "list"),
        ("name: run-types\nevidence:\n  - s", 4, "SESSION#EVENT"),
        ("name: run-types\nversion: two", 3, "whole number"),
        ("name: run-types\nvotes:\n  - {by: a}", 4, "does not say"),
        ("name: run-types\ncreated_at: yesterday", 3, "time"),
        ("name: [[[[[[[[[[1]]]]]]]]]]", 2, "deep"),
        ("name: 'run-types", 2, "not YAML"),
        ("- a\n- b", 2, "fields"),
        ("<<<<<<< HEAD\nname: a\n=======\nname: b\n>>>>>>> other", 2, "merged"),
    ],
)
def test_nonsense_is_told_with_its_line(head: str, line: int, word: str) -> None:
    with pytest.raises(Broken, match=word) as problem:
        read(f"---\n{head}\n---\nbody\n", "run-types")
    assert problem.value.line in (line, line + 1)


def test_a_bomb_goes_off_at_once_and_harmlessly() -> None:
    levels = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    levels += [
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    began = time.monotonic()
    for head in ("\n".join(levels), "[" * 200_000, "a: " * 80_000, "x" * heads.LARGEST * 2):
        with pytest.raises(Broken):
            read(f"---\n{head}\n---\nbody\n", "x")
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"description": ""}, "description"),
        ({"description": "x" * 1025}, "1,025"),
        ({"body": "  \n "}, "body"),
        ({"body": "x" * (LARGEST_BODY + 1)}, "body"),
        ({"body": "fine\nred \x1b[31m"}, "line 2"),
        ({"body": "right \u202e left"}, "nobody sees"),
        ({"body": "<<<<<<< HEAD"}, "merges"),
        ({"body": "half \ud800"}, "nobody sees"),
        ({"owner": "ana\nbob"}, "owner"),
        ({"section": "x" * 501}, "section"),
        ({"version": 0}, "version"),
        ({"created_at": -1}, "date"),
    ],
)
def test_what_could_do_harm_is_unfit(change: dict[str, object], word: str) -> None:
    assert unfit(PLAIN) == []
    assert word in " ".join(unfit(replace(PLAIN, **change)))  # type: ignore[arg-type] # any field


def test_windows_line_ends_and_an_editors_mark_are_read() -> None:
    text = "\ufeff" + written(PLAIN).replace("\n", "\r\n")
    assert read(text, PLAIN.name) == PLAIN


def merged(folder: Path, one: Skill, two: Skill) -> str:
    """What git makes of two people's changes to one skill."""
    files = {"ours": one, "base": PLAIN, "theirs": two}
    for name, skill in files.items():
        (folder / name).write_text(written(normal(skill)), encoding="utf-8")
    subprocess.run(["git", "merge-file", *files], cwd=folder, check=False)
    return (folder / "ours").read_text(encoding="utf-8")


def test_git_merges_a_state_and_more_evidence(tmp_path: Path) -> None:
    told = tuple(Evidence(it, 1) for it in "abc")
    base = replace(PLAIN, evidence=told)
    (tmp_path / "b").mkdir()
    approved = replace(base, state=State.APPROVED)
    more = replace(base, evidence=(*told, Evidence("z", 1)))
    files = {"ours": approved, "base": base, "theirs": more}
    for name, skill in files.items():
        (tmp_path / name).write_text(written(skill), encoding="utf-8")
    subprocess.run(["git", "merge-file", *files], cwd=tmp_path, check=True)
    both = read((tmp_path / "ours").read_text(encoding="utf-8"), PLAIN.name)
    assert both == replace(approved, evidence=more.evidence)


def test_two_texts_that_git_cannot_merge_are_refused_with_the_line(tmp_path: Path) -> None:
    text = merged(tmp_path, replace(PLAIN, body="Run a."), replace(PLAIN, body="Run b."))
    with pytest.raises(Broken, match="merged") as problem:
        read(text, PLAIN.name)
    assert text.split("\n")[problem.value.line - 1].startswith("<<<<<<<")


def test_a_vote_changes_no_line_but_its_own() -> None:
    voted = replace(PLAIN, votes=(Vote("ana", 5, helpful=True),))
    before, after = written(PLAIN).split("\n"), written(voted).split("\n")
    assert [line for line in after if line not in before] == [
        "votes:",
        '  - {by: "ana", at: "1970-01-01T00:00:00.005Z", helpful: true}',
    ]
