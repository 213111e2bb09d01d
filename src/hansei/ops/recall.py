"""What helped the last time: an error or a topic in, the episodes that dealt with it out.

Failures are looked for by their signatures, so a question is answered from the facts alone and no
transcript is opened. What is told was written by programs and agents: it is evidence, not advice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from hansei.errors import UsageError
from hansei.learn.network import brings_code
from hansei.ops.sessions import short_id
from hansei.projection.facts.folds import COMMANDS, EPISODES, STANDS
from hansei.projection.failures.likeness import Known, is_topic
from hansei.projection.failures.model import Ending, Kind
from hansei.projection.places import ground, place
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.ops.scope import Scope
    from hansei.projection.facts.tables import Found
    from hansei.projection.failures.model import Episode
    from hansei.store.database import Store

FIXES: Final = 3
"""Ways out of one failure that are told; who needs a fourth opens the sessions."""
_PLUMBING: Final = frozenset(("&&", "||", "|", ";", "2>&1", "2>/dev/null", "true"))
"""Words of a command that join or silence, and got nobody past anything."""
BRINGS_CODE: Final = "it brings in what others wrote: check the name before you run it"
"""Told with a fix that fetches a package, or something at an address."""
SESSIONS: Final = 3
"""Sessions that are told as being about a topic."""


class Fix(msgspec.Struct, frozen=True):
    """What got past a failure."""

    command: str
    """What succeeded in the end, in its normal form."""
    removed: list[str]
    """Words of the failing command that it no longer has."""
    added: list[str]
    edited: list[str]
    """Files that were edited on the way."""
    times: int
    sessions: int
    """In how many of them it was done."""
    last_at: int | None
    """When the last session that did so began."""
    reference: str
    """The call that succeeded, the last time."""
    mind: str
    """What to look at before it is run again; empty where nothing is known."""


class Remembered(msgspec.Struct, frozen=True):
    """A known failure that the question is like."""

    signature: str
    likeness: float
    episodes: int
    sessions: int
    recovered: int
    """Episodes that ended well."""
    tokens: int | None
    """Measured: billed from the first failure to the end, over all episodes."""
    last_at: int | None
    fixes: list[Fix]
    """The most frequent first; empty where nothing ever helped."""
    reference: str
    """The first failing call of the last episode."""


class About(msgspec.Struct, frozen=True):
    """A session whose title or first prompt is about the topic."""

    reference: str
    name: str
    agent: str
    started_at: int | None
    likeness: float


class Recalled(msgspec.Struct, frozen=True):
    """A whole answer."""

    question: str
    workspace: str | None
    compared: int
    """Known failures that the question was compared with."""
    failures: list[Remembered]
    """Those that were got past first, each part with the likest first."""
    more: int
    """Failures that are like it too and not among them."""
    sessions: list[About]


def recall(store: Store, scope: Scope, question: str, *, limit: int = 3) -> Recalled:
    """What is known about an error or a topic; facts must be up to date."""
    if not question.strip():
        raise UsageError("there is nothing to look for", hint="Give an error, or a few words.")
    signatures, solved = _signatures(store, scope)
    like = Known(signatures).like(question)
    like.sort(key=lambda it: signatures[it.place] not in solved)
    return Recalled(
        question=question,
        workspace=scope.workspace_name,
        compared=len(signatures),
        failures=[
            remembered(store, scope, signatures[place], likeness)
            for place, likeness in like[:limit]
        ],
        more=max(0, len(like) - limit),
        sessions=_about(store, scope, question) if is_topic(question) else [],
    )


def got_past(store: Store, scope: Scope) -> set[str]:
    """What failed in scope and was got past at least once."""
    return _signatures(store, scope)[1]


def _signatures(store: Store, scope: Scope) -> tuple[list[str], set[str]]:
    """What failed in scope, and which of it was ever got past."""
    where, values = scope.sessions()
    rows = store.db.execute(
        f"SELECT e.signature, max(e.ending = :recovered) FROM {EPISODES.name} e"
        f" JOIN sessions s ON s.id = e.session WHERE {where} AND e.kind IN (:failure, :harness)"
        " GROUP BY 1 ORDER BY 1",
        {
            **values,
            "recovered": Ending.RECOVERED,
            "failure": Kind.FAILURE,
            "harness": Kind.HARNESS,
        },
    ).fetchall()
    return [name for name, _ in rows], {name for name, recovered in rows if recovered}


def remembered(store: Store, scope: Scope, signature: str, likeness: float) -> Remembered:
    """All that is known of one failure."""
    where, values = scope.sessions()
    chosen = f"signature = :signature AND session IN (SELECT s.id FROM sessions s WHERE {where})"
    found = list(EPISODES.read(store, chosen, {**values, "signature": signature}))
    heads = _heads(store, {session for session, _ in found})
    newest = max(found, key=lambda it: (heads[it.session][1] or 0, it.session, it.row.seq))
    told = [it.row for it in found if it.row.input is not None]
    return Remembered(
        signature=signature,
        likeness=round(likeness, 3),
        episodes=len(found),
        sessions=len(heads),
        recovered=sum(it.row.ending is Ending.RECOVERED for it in found),
        tokens=sum((it.input or 0) + (it.output or 0) for it in told) if told else None,
        last_at=heads[newest.session][1],
        fixes=_fixes(store, found, heads),
        reference=f"{heads[newest.session][0]}#{newest.row.seq}",
    )


def _heads(store: Store, sessions: Iterable[int]) -> dict[int, tuple[str, int | None]]:
    """What sessions are called by and when they began."""
    rows = store.db.execute(
        "SELECT id, native, started_at FROM sessions WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(sessions),),
    )
    return {number: (short_id(native), started) for number, native, started in rows}


def _fixes(
    store: Store, found: Sequence[Found[Episode]], heads: Mapping[int, tuple[str, int | None]]
) -> list[Fix]:
    """The ways in which it was got past, the most frequent first, then the newest."""
    ways: dict[tuple[object, ...], list[Found[Episode]]] = {}
    for it in found:
        if it.row.ending is Ending.RECOVERED:
            ways.setdefault(_way(it.row), []).append(it)
    fixes = [_fix(store, alike, heads) for alike in ways.values()]
    fixes.sort(key=lambda it: (-it.times, -(it.last_at or 0), it.reference))
    return fixes[:FIXES]


def _way(row: Episode) -> tuple[object, ...]:
    """What makes two endings one fix: what changed, or the command where nothing we see did."""
    removed, added = (frozenset(it) - _PLUMBING for it in (row.removed, row.added))
    changed = (removed, added, row.edited)
    return changed if any(changed) else (row.after,)


def _fix(
    store: Store,
    alike: Sequence[Found[Episode]],
    heads: Mapping[int, tuple[str, int | None]],
) -> Fix:
    last = max(alike, key=lambda it: (heads[it.session][1] or 0, it.session, it.row.seq))
    row = last.row
    command = _typed(store, last.session, row)
    return Fix(
        command=command,
        removed=list(row.removed),
        added=list(row.added),
        edited=_from_top(store, last.session, row.edited),
        times=len(alike),
        sessions=len({it.session for it in alike}),
        last_at=heads[last.session][1],
        reference=f"{heads[last.session][0]}#{row.end}",
        mind=BRINGS_CODE if brings_code(command) else "",
    )


def _from_top(store: Store, session: int, paths: Sequence[str]) -> list[str]:
    """Files as they are named in their repository."""
    roots = [root for it in STANDS.read(store, "session = ?", (session,)) for root in it.row.roots]
    on = ground(roots)
    return [place(path, None, on).path for path in paths]


def _typed(store: Store, session: int, row: Episode) -> str:
    """What succeeded, with what stood before it: an episode's own form leaves `uv run` out."""
    runs = [it.row for it in COMMANDS.read(store, "session = ? AND seq = ?", (session, row.end))]
    main = [it for it in runs if it.about and it.form == row.after]
    return " ".join((*main[0].before, row.after)) if main else row.after


def _about(store: Store, scope: Scope, question: str) -> list[About]:
    where, values = scope.sessions()
    rows = store.db.execute(
        "SELECT s.native, coalesce(nullif(s.title, ''), s.opening), s.agent, s.started_at"
        f" FROM sessions s WHERE {where} AND s.driver IS NOT 'subagent'"
        " AND coalesce(nullif(s.title, ''), s.opening) IS NOT NULL"
        " ORDER BY s.started_at DESC, s.id DESC",
        values,
    ).fetchall()
    like = Known([f"{name}" for _, name, _, _ in rows]).like(question)
    return [
        About(f"{short_id(native)}", name, agent, started, round(likeness, 3))
        for (native, name, agent, started), likeness in (
            (rows[place], likeness) for place, likeness in like[:SESSIONS]
        )
    ]
