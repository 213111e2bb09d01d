"""Names and parameters that an edit changed, and what still used the old ones when it was run.

A hunk that takes one definition away and brings one of the same kind renames it; one that brings
the same name with other parameters changes its signature. A later run that fails with the old name
shows a caller that was missed, and the edit that takes the old name out of a line puts it right.
Definitions are read off single lines, so one that is spread over several is not seen.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import DAY_MS
from hansei.projection.checks import is_code
from hansei.projection.failures import Kind
from hansei.projection.outcomes import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.projection.failures import Failure
    from hansei.projection.outcomes import Written
    from hansei.projection.window import Window

WITHIN_MS: Final = 14 * DAY_MS
"""How long a change explains a failure by the old name."""
_DEFINITION: Final = re.compile(
    r"^(?:export |default |public |private |protected |static |async |pub(?:\(\w+\))? |final )*"
    r"(?P<kind>def|class|function|func|fn|interface|type|struct|enum|trait|const)"
    r"(?: \([^)]*\))? (?P<name>[A-Za-z_]\w{2,})(?P<rest>.*)$"
)
"""A line that defines something; `func (r *T) Name` of Go too. Names of two letters are in every
second line."""
_CALLABLE: Final = re.compile(r"^\s*(?:<[^>]*>)?(?:\s*=\s*(?:async )?)?\((?P<given>[^)]*)")
_VALUE: Final = "const"
"""What defines a function only where one is given: most are variables that no other file sees."""
_WORD: Final = re.compile(r"[A-Za-z_]\w{2,}")
_ABOUT_GIVEN: Final = re.compile(
    r"\b(?:arguments?|parameters?|keyword|positional|expected \d|takes \d|missing|not assignable"
    r"|unexpected)\b",
    re.IGNORECASE,
)
"""How compilers and interpreters say that a call does not fit."""


class Renamed(NamedTuple):
    """A definition that an edit changed."""

    session: int
    seq: int
    path: str
    name: str
    """The old one."""
    signature: bool
    """Whether only its parameters are others."""
    at: int


class Missed(NamedTuple):
    """A run that failed by the old name or parameters, and the edit that put a caller right."""

    session: int
    failed: int
    mended: int
    path: str
    """Where the caller is."""
    renamed: Renamed


class _Change(NamedTuple):
    """A hunk with its time, which is that of the session where the transcript tells none."""

    session: int
    at: int
    path: str
    hunk: Written


def missed(window: Window) -> Iterator[Missed]:
    """Every caller that was missed, in the order of the failures."""
    changes = _changes(window)
    renamed: dict[str, list[Renamed]] = defaultdict(list)
    for change in changes:
        for it in _renames(change):
            renamed[it.name].append(it)
    if not renamed:
        return
    of_session: dict[int, list[_Change]] = defaultdict(list)
    for change in changes:
        of_session[change.session].append(change)
    done: set[tuple[int, str]] = set()
    for session, row in window.failures:
        if row.kind is not Kind.FAILURE:
            continue
        for name in sorted(set(_WORD.findall(row.line)) & renamed.keys()):
            found = _missed(window, session, row, renamed[name], of_session[session])
            if found is not None and (session, name) not in done:
                done.add((session, name))
                yield found


def changed(window: Window) -> dict[int, list[Renamed]]:
    """What each session renamed or gave other parameters."""
    found: dict[int, list[Renamed]] = defaultdict(list)
    for change in _changes(window):
        found[change.session] += _renames(change)
    return found


def _changes(window: Window) -> list[_Change]:
    found = []
    for session, row in window.hunks:
        if is_code(row.path):
            at = row.at if row.at is not None else window.sessions[session].started
            path = window.path_of(session, row.path)
            found.append(_Change(session, at or 0, path, unpacked(row)))
    return found


def _renames(change: _Change) -> Iterator[Renamed]:
    """What a hunk renamed, or gave other parameters."""
    hunk = change.hunk
    old, new = _definitions(hunk.removed), _definitions(hunk.added)
    gone = [it for it in old if it[1] not in {name for _, name in new}]
    come = [it for it in new if it[1] not in {name for _, name in old}]
    where = change.session, hunk.seq, change.path
    if len(gone) == 1 and len(come) == 1 and gone[0][0] == come[0][0]:
        yield Renamed(*where, gone[0][1], signature=False, at=change.at)
    for key, given in old.items():
        if key in new and None not in (given, new[key]) and given != new[key]:
            yield Renamed(*where, key[1], signature=True, at=change.at)


def _definitions(lines: Sequence[str]) -> Mapping[tuple[str, str], str | None]:
    """Kinds and names that lines define, with their parameters where they are told."""
    found: dict[tuple[str, str], str | None] = {}
    for line in lines:
        match = _DEFINITION.match(line)
        if match is not None:
            given = _CALLABLE.match(match["rest"])
            if given or match["kind"] != _VALUE:
                found[match["kind"], match["name"]] = given["given"] if given else None
    return found


def _missed(
    window: Window,
    session: int,
    row: Failure,
    renamed: Sequence[Renamed],
    changes: Sequence[_Change],
) -> Missed | None:
    """The last change of a name before a failure, if an edit after it put a caller right."""
    at = row.at if row.at is not None else window.sessions[session].started or 0
    earlier = [
        it
        for it in renamed
        if (it.seq < row.seq if it.session == session else at - WITHIN_MS <= it.at < at)
        and (not it.signature or _ABOUT_GIVEN.search(row.line))
    ]
    if not earlier:
        return None
    last = max(earlier, key=lambda it: (it.at, it.session == session, it.seq))
    for change in changes:
        hunk = change.hunk
        is_own = change.session == last.session and hunk.seq == last.seq
        if hunk.seq > row.seq and not is_own and _takes_out(hunk, last):
            return Missed(session, row.seq, hunk.seq, change.path, last)
    return None


def _takes_out(hunk: Written, renamed: Renamed) -> bool:
    """Whether an edit takes the old name out of lines, or changes lines that call it."""
    used = re.compile(rf"\b{re.escape(renamed.name)}\b" + (r"\s*\(" if renamed.signature else ""))
    before = any(used.search(it) and not _DEFINITION.match(it) for it in hunk.removed)
    if renamed.signature:
        return before and any(used.search(it) for it in hunk.added)
    return before and not any(used.search(it) for it in hunk.added)
