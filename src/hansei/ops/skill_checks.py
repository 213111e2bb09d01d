"""Static checks over a skill of a book, or over a file or folder of this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.errors import NotFound, UsageError
from hansei.learn import checks
from hansei.learn.formats.agent_skills import FILE
from hansei.ops import skills
from hansei.redaction.redactor import Redactor
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.learn.checks import Finding
    from hansei.ops.skills import Desk

LARGEST: Final = 2 * 1024 * 1024
MOST_FILES: Final = 2000
"""How much of a folder is looked through; what is left is said."""
_PASSED_OVER: Final = frozenset((".git", "node_modules", "__pycache__", ".venv"))


@dataclass(frozen=True)
class Checked:
    """What was looked at and found."""

    what: str
    skills: int
    """Folders with a SKILL.md, or skills of the book."""
    files: int
    unread: tuple[str, ...]
    """Files that are too large, or too many."""
    findings: tuple[Finding, ...]


def check(desk: Desk, named: str | None) -> Checked:
    """Check every skill in force here, one of them, or what lies at a path."""
    if named is None:
        found, _ = skills.listed(desk.config, desk.here)
        all_of = [it for _, skill in found for it in _of_book(skill.name, checks.of_skill(skill))]
        return _clean(desk, Checked("the skills in force here", len(found), 0, (), tuple(all_of)))
    path = desk.here / named
    if path.exists():
        return _clean(desk, _of_path(named, path))
    try:
        _, skill = skills.find(desk.config, desk.here, named)
    except NotFound as problem:
        raise NotFound(
            f"{named!r} is neither a file or folder nor a skill here", hint=problem.hint
        ) from None
    told = tuple(_of_book(skill.name, checks.of_skill(skill)))
    return _clean(desk, Checked(f"skill {skill.name}", 1, 0, (), told))


def _of_book(name: str, found: list[Finding]) -> Iterator[Finding]:
    return (it._replace(file=f"{name}/{it.file}") for it in found)


def _of_path(named: str, path: Path) -> Checked:
    texts: dict[str, str] = {}
    unread: list[str] = []
    root = path if path.is_dir() else path.parent
    for file in _files(path):
        name = file.relative_to(root).as_posix()
        if len(texts) >= MOST_FILES:
            unread.append(f"{name} and what follows")
            break
        text = _read(file)
        if text is None:
            unread.append(name)
        else:
            texts[name] = text
    count = sum(name == FILE or name.endswith(f"/{FILE}") for name in texts)
    found = tuple(checks.of_files(texts))
    return Checked(named, count, len(texts), tuple(unread), found)


def _files(path: Path) -> Iterator[Path]:
    """Ordinary files; links are not followed."""
    if path.is_file():
        yield path
        return
    for place, folders, names in os.walk(path):
        folders[:] = sorted(set(folders) - _PASSED_OVER)
        for name in sorted(names):
            file = path.__class__(place) / name
            if not file.is_symlink() and file.is_file():
                yield file


def _read(file: Path) -> str | None:
    """The text of a file; empty where it is none, None where it is too large or closed to us."""
    try:
        if file.stat().st_size > LARGEST:
            return None
        data = file.read_bytes()
    except OSError:
        return None
    if b"\0" in data[:8192]:
        return ""
    return data.decode("utf-8", "replace")


def _clean(desk: Desk, told: Checked) -> Checked:
    """Without secrets in what is shown."""
    redactor = Redactor(redaction_key(desk.store.folder))
    found = tuple(it._replace(span=redactor.scrub(it.span)) for it in told.findings)
    return Checked(told.what, told.skills, told.files, told.unread, found)


def must_know(rules: tuple[str, ...]) -> None:
    """Refuse a rule that there is none of."""
    unknown = sorted(set(rules) - checks.SEVERITY.keys())
    if unknown:
        raise UsageError(
            f"there is no rule {unknown[0]!r}", hint=f"There are {', '.join(checks.SEVERITY)}."
        )
