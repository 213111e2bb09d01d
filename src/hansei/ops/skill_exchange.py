"""Books of other people taken in, and ours handed out.

What comes in is a stranger's text. It starts quarantined, which means that it is written nowhere,
unless it carries the seal of this very store or the person says that they trust it. Trust never
makes more than a draft of it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hansei.errors import NotFound, UsageError
from hansei.learn import exchange, formats_catalogue, gate, seals
from hansei.learn.exchange import Foreign, Refused
from hansei.learn.formats.agent_skills import FILE
from hansei.learn.labels import worst
from hansei.learn.model import LIVE, Label, Rung, Scope, Skill, State
from hansei.ops.skills import Desk, Done, book_for, clean, keep, listed, must_be_a_person
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEEPEST: Final = 6
MOST_FOLDERS: Final = 2000
"""How far a folder is looked through for skills, as the specification suggests to clients."""
STDOUT: Final = "-"


@dataclass(frozen=True)
class Import:
    """What taking in a book would do, and did."""

    format: str
    skills: tuple[Skill, ...]
    sealed: frozenset[str]
    """Names that carry our own seal."""
    there: tuple[str, ...]
    """Names that are taken here; they are left alone."""
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]
    done: Done | None = None


# --- in -------------------------------------------------------------------------------------------


def look(desk: Desk, path: Path, *, form: str | None, trust: bool, over: bool) -> Import:
    """What a file or folder holds, and as what each skill would be kept; writes nothing."""
    if trust:
        must_be_a_person(desk, f"hansei skills import {path} --trust")
    files = _read(path)
    name = form or formats_catalogue.recognised(files)
    if name is None:
        raise UsageError(
            f"{path} is no book that we know",
            hint=f"--format says which it is: {', '.join(formats_catalogue.NAMES)}.",
        )
    foreign = formats_catalogue.of_name(name).read(files)
    once, twice = _once(foreign)
    known = {skill.name for _, skill in listed(desk.config, desk.here)[0]}
    there = () if over else tuple(sorted({it.name for it in once} & known))
    key = redaction_key(desk.store.folder)
    sealed = frozenset(
        it.name for it in once if seals.fits(it, foreign.seals.get(it.name, ""), key)
    )
    skills = tuple(
        clean(desk, _again(it) if it.name in sealed else admitted(it, trust=trust))
        for it in once
        if it.name not in there
    )
    return Import(name, skills, sealed, there, (*foreign.refused, *twice), foreign.notes)


def _again(skill: Skill) -> Skill:
    """A skill of ours that comes back; what was allowed by name there is allowed anew."""
    stopped = gate.checked(skill).state is State.REJECTED
    return replace(skill, state=State.QUARANTINED) if stopped and skill.state in LIVE else skill


def admitted(skill: Skill, *, trust: bool) -> Skill:
    """A stranger's skill as it is kept; what was no longer in use there stays so."""
    state = skill.state
    if state in LIVE or state is State.QUARANTINED:
        fit = trust and gate.checked(skill).state is not State.REJECTED
        state = State.DRAFT if fit else State.QUARANTINED
    label = worst((skill.label, Label.FOREIGN))
    return replace(
        skill,
        state=state,
        label=label,
        scope=Scope.WORKSPACE,
        origin="import",
        auto_load=False,
        rung=Rung.NOTE,
        votes=(),
    )


def _once(foreign: Foreign) -> tuple[list[Skill], list[Refused]]:
    """Skills by name; a second of the same name is refused."""
    found: dict[str, Skill] = {}
    twice = []
    for skill in foreign.skills:
        if skill.name in found:
            twice.append(Refused(skill.name, "another skill of the book has this name"))
        else:
            found[skill.name] = skill
    return list(found.values()), twice


def take_in(desk: Desk, shown: Import, *, scope: Scope, repo: bool, place: bool) -> Import:
    """Keep what was shown, all as one change that can be undone."""
    if not shown.skills:
        return shown
    book = book_for(desk.config, desk.here, scope, repo=repo)
    wanted = {skill.name: replace(skill, scope=scope) for skill in shown.skills}
    done = keep(desk, book, "import", wanted, place=place)
    return replace(shown, done=done)


def _read(path: Path) -> dict[str, bytes]:
    if path.is_dir():
        files = {str(found.relative_to(path.parent)): found for found in _skill_files(path)}
        if not files:
            raise NotFound(
                f"there is no {FILE} in {path}",
                hint="Name a skill's folder, a folder of such folders, or a file.",
            )
        return {name: _content(file) for name, file in files.items()}
    if path.name == FILE:
        return {f"{path.absolute().parent.name}/{FILE}": _content(path)}
    return {path.name: _content(path)}


def _skill_files(folder: Path) -> Iterator[Path]:
    """Every SKILL.md below a folder; links are not followed."""
    for seen, (place, folders, files) in enumerate(os.walk(folder)):
        depth = len(Path(place).relative_to(folder).parts)
        if seen > MOST_FOLDERS or depth >= DEEPEST:
            folders.clear()
        folders.sort()
        if FILE in files and not (Path(place) / FILE).is_symlink():
            yield Path(place) / FILE


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > exchange.LARGEST:
            raise UsageError(f"{path} has more than {exchange.LARGEST:,} bytes; it was not read")
        return path.read_bytes()
    except FileNotFoundError:
        raise NotFound(
            f"there is no {path}", hint=f"Name a folder with {FILE}, or a file of a skillbook."
        ) from None
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}") from None


# --- out ------------------------------------------------------------------------------------------


def export(
    desk: Desk, names: Sequence[str], *, form: str, states: Sequence[State]
) -> dict[str, bytes]:
    """Some skills in a format, by path; all that are in one of the states if none is named."""
    found = {skill.name: skill for _, skill in listed(desk.config, desk.here)[0]}
    missing = sorted(set(names) - set(found))
    if missing:
        raise NotFound(
            f"there is no skill {missing[0]!r} here", hint="`hansei skills list` shows them."
        )
    chosen = [it for it in found.values() if it.state in states and (not names or it.name in names)]
    left = sorted(set(names) - {it.name for it in chosen})
    if left:
        state = found[left[0]].state
        raise UsageError(
            f"skill {left[0]!r} is {state}, and such skills are not handed out",
            hint=f"`--state {state}` does it all the same.",
        )
    if not chosen:
        raise NotFound("there is no skill here to hand out", hint="--state chooses others.")
    return formats_catalogue.of_name(form).write(
        sorted(chosen, key=lambda it: it.name), _sealer(desk)
    )


def _sealer(desk: Desk) -> Callable[[Skill], str]:
    key = redaction_key(desk.store.folder)
    return lambda skill: seals.seal(skill, key)


def write(files: dict[str, bytes], target: Path, *, over: bool) -> list[Path]:
    """Write an export; refuses to replace files unless told to."""
    paths = {target / path if path else target: content for path, content in files.items()}
    there = sorted(path for path in paths if os.path.lexists(path))
    if there and not over:
        raise UsageError(f"{there[0]} is there already", hint="--force replaces it.")
    try:
        for path, content in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as problem:
        raise UsageError(f"{problem.filename} cannot be written: {problem.strerror}") from None
    return sorted(paths)
