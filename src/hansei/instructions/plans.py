"""What would change, as a value that can be shown: difference, notes, and what stands against it.

A plan holds the files as they were read, so carrying it out can refuse a file that changed since.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from hansei.errors import HanseiError, UnusableInstructions
from hansei.events.model import MARKER
from hansei.instructions import block, disk, edits, targets
from hansei.instructions.edits import Frame, Standing
from hansei.store import journal
from hansei.store.journal import Entry, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hansei.instructions.disk import Found
    from hansei.store.database import Store

CONTEXT_LINES = 3
UNCHANGED = "nothing to change"


@dataclass(frozen=True)
class Item:
    """What is to stand in a block: a text, and what it is for (a bet, a skill; opaque here)."""

    reference: str
    text: str


@dataclass(frozen=True)
class FileChange:
    """One file of a plan; None is no file."""

    path: str
    change: disk.Change
    written: Written

    @property
    def diff(self) -> str:
        return unified(self.path, self.change.before, self.change.after)


@dataclass(frozen=True)
class Note:
    """Something a person should know about a file, though nothing is wrong."""

    path: str
    message: str


@dataclass(frozen=True)
class Problem:
    """Why a plan cannot be carried out, and what to do."""

    message: str
    hint: str | None


@dataclass(frozen=True)
class Plan:
    """A change of one or several files, all or none."""

    repository: Path
    reference: str
    files: tuple[FileChange, ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def diff(self) -> str:
        return "".join(file.diff for file in self.files)


def together(first: Plan, *others: Plan) -> Plan:
    """Several plans for the same thing as one."""
    plans = (first, *others)
    joined = replace(
        first,
        files=tuple(file for plan in plans for file in plan.files),
        notes=tuple(note for plan in plans for note in plan.notes),
        problems=tuple(problem for plan in plans for problem in plan.problems),
    )
    paths = [file.path for file in joined.files]
    twice = sorted({path for path in paths if paths.count(path) > 1})
    problems = [
        Problem(f"{path} would be changed twice", "Name each file once; links count as their file.")
        for path in twice
    ]
    return replace(joined, problems=(*joined.problems, *problems))


def unified(path: str, before: bytes | None, after: bytes | None) -> str:
    """The difference of two contents, as git shows it."""
    old, new = ((content or b"").decode("utf-8", "replace") for content in (before, after))
    was, becomes = (
        f"{side}/{path}" if content is not None else "/dev/null"
        for side, content in (("a", before), ("b", after))
    )
    lines = difflib.unified_diff(
        block.lines_of(old), block.lines_of(new), was, becomes, n=CONTEXT_LINES
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def plan_add(
    store: Store, repository: Path, target: str, item: Item, *, again: bool = False
) -> Plan:
    """Have an item stand in a file: added, or changed where we wrote it differently before.

    An item that was taken out of the file since is put back only with `again`.
    """
    return _planned(
        repository,
        item.reference,
        lambda plan: _adding(store, plan, target, item, again=again),
    )


def plan_remove(store: Store, repository: Path, target: str, reference: str) -> Plan:
    """Have an item of ours stand in a file no more."""
    return _planned(repository, reference, lambda plan: _removing(store, plan, target))


def plan_file(store: Store, repository: Path, path: str, text: str | None, reference: str) -> Plan:
    """Have a file of our own, such as a skill's, hold a text; None has it removed."""
    return _planned(repository, reference, lambda plan: _owning(store, plan, path, text))


def _planned(repository: Path, reference: str, work: Callable[[Plan], Plan]) -> Plan:
    plan = Plan(repository.resolve(), reference)
    try:
        return work(plan)
    except HanseiError as problem:
        return replace(plan, problems=(Problem(problem.message, problem.hint),))


def document_of(found: Found, text: str) -> block.Document:
    """A file taken apart; refuses one whose markers are broken."""
    try:
        return block.parse(text)
    except block.Broken as problem:
        raise UnusableInstructions(
            f"{found.path}, line {problem.line}: {problem}",
            hint="Mend or remove these lines; hansei keeps one block per file between them.",
        ) from None


def _adding(store: Store, plan: Plan, target: str, item: Item, *, again: bool) -> Plan:
    wanted = _fit(item)
    found = disk.find(plan.repository, target)
    if targets.kind_of(found.path) is None and targets.kind_of(target) is None:
        raise UnusableInstructions(
            f"no agent reads {target} as instructions", hint="Choose AGENTS.md, CLAUDE.md or alike."
        )
    text = disk.text_of(found)
    document = document_of(found, text)
    known = journal.standing(store.db, str(plan.repository), found.path)
    name = _name(known, item.reference)
    last = _last(known, name)
    if last is None or last.new is None:
        there = edits.text_there(document, name)
        if there is not None:
            same = "already there" if there == wanted else "there with another text"
            return _noted(plan, found, f"{name} is {same}, written elsewhere; left alone")
    else:
        standing = edits.standing(document, name, last.new)
        if standing is Standing.EDITED:
            return _noted(plan, found, f"{name} was edited by hand; left alone")
        if standing is Standing.OURS:
            if last.new == wanted:
                return _noted(plan, found, f"{name} is already there")
            after = edits.replaced(text, name, last.new, wanted)
            return _changed(plan, found, after, name, last.new, wanted, _frame(known))
        if not again:
            return _noted(plan, found, f"{name} was taken out by hand since; not put back")
    return _added(plan, found, text, name, wanted, _frame(known))


def _added(
    plan: Plan, found: Found, text: str, name: str, wanted: str, frame: Frame | None
) -> Plan:
    disk.must_be_by_hand(found, text)
    line = block.open_fence(text)
    if line is not None and block.parse(text).block is None:
        raise UnusableInstructions(
            f"{found.path}, line {line}: this code fence is never closed, and what is added after"
            " it would be code",
            hint="Close it, then try again.",
        )
    header = targets.header_of(found.path) if found.content is None else ""
    edited = edits.added(text, name, wanted, header=header)
    if edited.frame is not None:
        frame = edited.frame
        if found.content is None:
            folders = disk.missing_folders(found)
            frame = msgspec.structs.replace(frame, made_file=True, folders=folders)
    return _changed(plan, found, edited.text, name, None, wanted, frame)


def _removing(store: Store, plan: Plan, target: str) -> Plan:
    found = disk.find(plan.repository, target)
    text = disk.text_of(found)
    document = document_of(found, text)
    known = journal.standing(store.db, str(plan.repository), found.path)
    name = _name(known, plan.reference)
    last = _last(known, name)
    if last is None or last.new is None:
        return _noted(plan, found, f"we wrote nothing there for {plan.reference}")
    standing = edits.standing(document, name, last.new)
    if standing is not Standing.OURS:
        return _noted(plan, found, f"{name} is {standing}; left alone")
    frame = _frame(known)
    after = edits.removed(text, name, last.new, frame)
    return _changed(plan, found, after, name, last.new, None, frame)


def _owning(store: Store, plan: Plan, path: str, text: str | None) -> Plan:
    found = disk.find(plan.repository, path)
    if targets.kind_of(path) is None:
        raise UnusableInstructions(
            f"no agent reads {path} as instructions", hint="Choose .agents/skills/NAME/SKILL.md."
        )
    known = journal.standing(store.db, str(plan.repository), found.path)
    last = _last(known, None)
    wanted = None if text is None else marked(text)
    if found.content is not None:
        if last is None or last.after is None:
            raise UnusableInstructions(
                f"{path} is there already, and hansei did not write it",
                hint="Choose another name.",
            )
        if disk.digest(found.content) != last.after:
            return _noted(plan, found, "changed by hand since; left alone")
    before = None if found.content is None else disk.text_of(found)
    if before == wanted:
        return _noted(plan, found, UNCHANGED)
    made = found.content is None
    frame = Frame(made_file=True, folders=disk.missing_folders(found)) if made else _frame(known)
    return _changed(plan, found, wanted, None, before, wanted, frame)


def marked(text: str) -> str:
    """A text of ours with the marker in it, after what it must begin with."""
    if MARKER in text:
        return text
    lines = block.lines_of(text)
    ends = [n for n, line in enumerate(lines) if n and line.rstrip() == "---"]
    start = ends[0] + 1 if ends and lines[0].rstrip() == "---" else 0
    return "".join((*lines[:start], f"{MARKER}\n", *lines[start:]))


def _changed(
    plan: Plan,
    found: Found,
    after: str | None,
    name: str | None,
    old: str | None,
    new: str | None,
    frame: Frame | None,
) -> Plan:
    """The plan with one file more."""
    disk.must_be_writable(found)
    made = frame is not None and frame.made_file
    if after is not None and new is None and frame and made and bare(after, frame):
        after = None
    content = None if after is None else disk.encoded(after, found.content)
    folders = frame.folders if frame and (found.content is None or content is None) else ()
    position, removed, inserted = splice(disk.text_of(found), after or "")
    written = Written(
        path=found.path,
        item=name,
        old=old,
        new=new,
        before=disk.digest(found.content),
        after=disk.digest(content),
        position=position,
        removed=removed,
        inserted=inserted,
        frame=None if frame is None else msgspec.json.encode(frame),
    )
    change = disk.Change(found.file, found.content, content, folders)
    return replace(plan, files=(*plan.files, FileChange(found.path, change, written)))


def bare(text: str, frame: Frame) -> bool:
    """Whether nothing but what we ourselves began a new file with is left of it."""
    return text.split() == frame.header.split()


def splice(before: str, after: str) -> tuple[int, str, str]:
    """The one place where two texts differ: where it is, what stood there, what stands there."""
    most = min(len(before), len(after))
    start = next((n for n in range(most) if before[n] != after[n]), most)
    rest = most - start
    end = next((n for n in range(rest) if before[-1 - n] != after[-1 - n]), rest)
    return start, before[start : len(before) - end], after[start : len(after) - end]


def _fit(item: Item) -> str:
    try:
        return edits.checked(item.text)
    except edits.Unfit as problem:
        raise UnusableInstructions(
            f"the text for {item.reference} cannot stand in a file: {problem}",
            hint="Write it as plain Markdown.",
        ) from None


def _noted(plan: Plan, found: Found, message: str) -> Plan:
    return replace(plan, notes=(*plan.notes, Note(found.path, message)))


def _name(known: list[tuple[Entry, Written]], reference: str) -> str:
    """The name of an item in a file: the shortest that no other item of ours there has."""
    own = [file.item for entry, file in known if entry.reference == reference and file.item]
    if own:
        return own[-1]
    taken = {file.item for _, file in known}
    lengths = range(block.SHORTEST, block.LONGEST + 1)
    names = (block.name_of(reference, length) for length in lengths)
    return next(name for name in names if name not in taken)


def _last(known: list[tuple[Entry, Written]], item: str | None) -> Written | None:
    return next((file for _, file in reversed(known) if file.item == item), None)


def _frame(known: list[tuple[Entry, Written]]) -> Frame | None:
    """How the block or file came to be, as the last entry about it tells."""
    told = known[-1][1].frame if known else None
    return None if told is None else msgspec.json.decode(told, type=Frame)
