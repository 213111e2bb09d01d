"""The repository's history, told once and written twice.

`walk` goes through the world in the order of time and yields what happens: sittings, with the tree
as it stood, and commits. The first walk feeds git, which gives the commits their ids; the second
feeds the sessions, which mention them. Only the present tree is ever held, so memory stays flat
however long the history is.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from hansei.errors import HanseiError
from hansei.synth.codebase import INSTRUCTIONS, REMOTE, RULE, WEB_NOTE, starting_files
from hansei.synth.dice import dice
from hansei.synth.plan import BURSTY, DAY, HOUR, REST, STEADY, Developer
from hansei.synth.work import Deed, Edit, Work, deed, feature, fix, formatted, reworked, unformatted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from hansei.synth.plan import Outline, WorldPlan
    from hansei.synth.story import Fate

ROOT, RULE_COMMIT, NOTE_COMMIT = "root", "rule", "note"
"""Names of the commits that belong to no session."""

SQUASHED = "refs/synth/squashed"
"""Where commits lie until they are squashed; the reference is gone when the world is done."""

AFTERTHOUGHT = (6 * HOUR, 10 * DAY)
"""How long after landing a person reverts or reworks something."""

DRAFT_GAP = 4000
"""Milliseconds between the two commits on a branch that is squashed later."""


@dataclass(frozen=True)
class Commit:
    name: str
    at: int
    author: Developer
    message: str
    files: Mapping[str, str]
    """Changed files only."""
    parent: str | None
    kept: bool = True
    """Whether it is on the main line; others were squashed away."""


@dataclass(frozen=True)
class Assignment:
    """A piece of work with what will become of it."""

    work: Work
    fate: Fate
    by_agent: bool
    """Whether the agent commits it itself."""
    as_written: tuple[Edit, ...]
    """The edits as the session makes them; a formatter may change them before they land."""

    def commit_names(self, outline: Outline) -> tuple[str, ...]:
        """The commits that carry it, in order; the last one is on the main line."""
        if self.fate == "abandoned":
            return ()
        if self.fate == "squashed":
            return (*(f"{outline.key}/{number}" for number in (1, 2)), f"{outline.key}/land")
        return (f"{outline.key}/land",)

    def afterthought(self, outline: Outline) -> str | None:
        return f"{outline.key}/{self.fate}" if self.fate in {"reverted", "reworked"} else None


@dataclass(frozen=True)
class Sitting:
    """A session about to begin."""

    outline: Outline
    tree: Mapping[str, str]
    head: str
    assignment: Assignment | None


def walk(plan: WorldPlan) -> Iterator[Sitting | Commit]:
    """Everything that happens in the repository, in the order of time."""
    tree = dict(starting_files())
    head = ROOT
    yield Commit(ROOT, plan.start, STEADY, "Start Berthline", dict(tree), None)
    later: list[tuple[int, Commit, dict[str, tuple[str, str]]]] = []
    clock = plan.start
    for outline in plan.outlines:
        start = outline.sittings[0].start
        for commit, changes in _between(plan, outline, later, clock, start):
            files = _patched(tree, changes)
            tree |= files
            yield Commit(commit.name, commit.at, commit.author, commit.message, files, head)
            head = commit.name
        assignment = _assign(plan, outline, tree)
        yield Sitting(outline, dict(tree), head, assignment)
        clock = outline.sittings[0].end
        if assignment is not None and assignment.fate != "abandoned":
            commits = _landing(outline, assignment, tree, head)
            yield from commits
            clock, head = commits[-1].at, commits[-1].name
            tree |= commits[-1].files
            later += _afterthoughts(plan, outline, assignment)
            later.sort(key=lambda entry: entry[0])


def write_repository(folder: Path, plan: WorldPlan) -> dict[str, str]:
    """Make the repository and say which name became which commit."""
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--template=", "--object-format=sha1", "--initial-branch=main")
    _git(folder, "config", "remote.origin.url", REMOTE)
    _git(folder, "config", "gc.auto", "0")  # squashed-away commits are to stay
    marks, stream = folder / ".git" / "synth-marks", folder / ".git" / "synth-stream"
    names = _write_stream(stream, plan)
    with stream.open("rb") as given:
        _git(folder, "fast-import", "--quiet", f"--export-marks={marks}", given=given)
    _git(folder, "reset", "--quiet", "--hard", "main")
    worktree = worktree_of(folder)
    _git(folder, "worktree", "add", "--quiet", "--detach", str(worktree), "main")
    ids = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    stream.unlink()
    return {name: ids[f":{number}"] for number, name in enumerate(names, 1)}


def worktree_of(repository: Path) -> Path:
    """The folder in which work on a branch is done."""
    return repository.with_name(f"{repository.name}-branch")


# --- what people commit ---------------------------------------------------------------------------


def _assign(plan: WorldPlan, outline: Outline, tree: Mapping[str, str]) -> Assignment | None:
    if outline.fate is None:
        return None
    rng = dice(plan.seed, "work", outline.index)
    wanted = deed(plan.seed, outline.index)
    work = fix(tree, wanted, rng) if outline.kind == "fix" else None
    page = outline.fate in {"landed", "squashed"} and rng.random() < 0.35
    work = work or feature(tree, wanted, rng, outline.topic, with_page=page)
    fate = outline.fate
    if fate in {"reverted", "reworked"} and _due(plan, outline) is None:
        fate = "landed"  # nobody has had the time for second thoughts
    written = work.edits
    if fate == "reformatted":
        written = tuple(unformatted(edit) for edit in written)
        work = Work(work.deed, work.entity, tuple(formatted(edit) for edit in written))
    by_agent = fate == "squashed" or (fate != "reformatted" and rng.random() < 0.6)
    return Assignment(work, fate, by_agent, written)


def _due(plan: WorldPlan, outline: Outline) -> int | None:
    """When somebody has second thoughts; None where the world ends before."""
    end, last = outline.sittings[0].end, plan.outlines[-1].sittings[0].start
    soonest, latest = AFTERTHOUGHT
    room = min(last - end, latest)
    rng = dice(plan.seed, "afterthought", outline.index)
    return end + rng.randrange(soonest, room) if room > soonest else None


def _landing(
    outline: Outline, assignment: Assignment, tree: Mapping[str, str], head: str
) -> list[Commit]:
    """The commits that bring a piece of work to the main line."""
    author, end = outline.developer, outline.sittings[0].end
    files = {edit.path: edit.apply(tree.get(edit.path, "")) for edit in assignment.work.edits}
    subject = headline(assignment.work.deed)
    names = assignment.commit_names(outline)
    if assignment.fate != "squashed":
        at = end if assignment.by_agent else end + REST // 3
        return [Commit(names[0], at, author, subject, files, head)]
    first, second = draft_headlines(assignment.work.deed)
    code = dict(list(files.items())[:1])
    return [
        Commit(names[0], end, author, first, code, head, kept=False),
        Commit(names[1], end + DRAFT_GAP, author, second, files, names[0], kept=False),
        Commit(names[2], end + REST // 3, author, f"{subject} (#{outline.index})", files, head),
    ]


def headline(wanted: Deed) -> str:
    """The subject line of the commit that does a deed."""
    return wanted.phrase[0].upper() + wanted.phrase[1:]


def draft_headlines(wanted: Deed) -> tuple[str, str]:
    """The subject lines of the commits that are squashed into it."""
    return f"wip: {wanted.phrase}", f"wip: tests for {wanted.phrase}"


def _afterthoughts(
    plan: WorldPlan, outline: Outline, assignment: Assignment
) -> list[tuple[int, Commit, dict[str, tuple[str, str]]]]:
    """What a person will do to the work later on, as replaced texts by path."""
    name = assignment.afterthought(outline)
    if name is None:
        return []
    subject = headline(assignment.work.deed)
    changes: dict[str, tuple[str, str]] = {}
    if assignment.fate == "reverted":
        message = f'Revert "{subject}"'
        changes = {edit.path: (edit.added, edit.removed) for edit in assignment.work.edits}
    else:
        message = f"Reword: {subject[0].lower()}{subject[1:]}"
        edit = assignment.work.edits[0]
        changes = {edit.path: reworked(assignment.work.deed, edit)}
    due = _due(plan, outline)
    assert due is not None
    author = STEADY if outline.developer is BURSTY else BURSTY
    return [(due, Commit(name, due, author, message, {}, None), changes)]


def _between(
    plan: WorldPlan,
    outline: Outline,
    later: list[tuple[int, Commit, dict[str, tuple[str, str]]]],
    clock: int,
    start: int,
) -> Iterator[tuple[Commit, dict[str, tuple[str, str]]]]:
    """What people commit between two sittings, at moments of their own."""
    waiting = [(commit, changes) for due, commit, changes in later if due < start]
    del later[: len(waiting)]
    if outline.index == plan.rule_before:
        commit = Commit(RULE_COMMIT, 0, STEADY, "Say how tests are run", {}, None)
        waiting.append((commit, {INSTRUCTIONS: ("## Rules\n\n", f"## Rules\n\n{RULE}")}))
    if outline.index == plan.note_before:
        commit = Commit(NOTE_COMMIT, 0, BURSTY, "Describe the front end", {}, None)
        waiting.append((commit, {INSTRUCTIONS: ("asking.\n", f"asking.\n{WEB_NOTE}")}))
    for number, (commit, changes) in enumerate(waiting, 1):
        at = clock + (start - clock) * number // (len(waiting) + 1)
        yield Commit(commit.name, at, commit.author, commit.message, {}, None), changes


def _patched(tree: Mapping[str, str], changes: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    files = {}
    for path, (old, new) in changes.items():
        assert old in tree[path], f"{path} no longer has what is to be changed"
        files[path] = tree[path].replace(old, new, 1)
    return files


# --- git ------------------------------------------------------------------------------------------


def _write_stream(path: Path, plan: WorldPlan) -> list[str]:
    """Write the history as `git fast-import` reads it; returns the names of its marks in order."""
    marks: dict[str, int] = {}
    with path.open("wb") as stream:
        for event in walk(plan):
            if isinstance(event, Commit):
                marks[event.name] = len(marks) + 1
                stream.write(_commit_record(event, marks))
        stream.write(f"reset {SQUASHED}\nfrom {'0' * 40}\n\n".encode())  # deletes the branch
    return list(marks)


def _commit_record(commit: Commit, marks: Mapping[str, int]) -> bytes:
    branch = "refs/heads/main" if commit.kept else SQUASHED
    who = f"{commit.author.name} <{commit.author.mail}> {commit.at // 1000} +0000"
    parts = [
        f"commit {branch}\nmark :{marks[commit.name]}\nauthor {who}\ncommitter {who}\n".encode(),
        _data(commit.message + "\n"),
    ]
    if commit.parent is not None:
        parts.append(f"from :{marks[commit.parent]}\n".encode())
    for path, content in commit.files.items():
        parts += [f"M 100644 inline {path}\n".encode(), _data(content)]
    return b"".join((*parts, b"\n"))


def _data(text: str) -> bytes:
    body = text.encode()
    return b"data %d\n%b\n" % (len(body), body)


def _git(folder: Path, *arguments: str, given: BinaryIO | None = None) -> None:
    """Run git without anyone's settings, so that the same world has the same commits anywhere."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    } | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        stdin=given or subprocess.DEVNULL,
        env=environment,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise HanseiError(
            f"git {arguments[0]} failed in {folder}: {done.stderr.decode('utf-8', 'replace')}",
            hint="The synthetic world needs git 2.30 or newer.",
        )
