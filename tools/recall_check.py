"""How often `hansei recall` finds the fix: questions made from a store's own history.

A question is a failure of a later session as its agent saw it: the call and what it printed. It is
asked of the sessions of the same workspace that began before, and only where one of them holds an
answer: an episode of the same program that was ended by the same change (a word or an argument that
both added; where neither added any, the same words left out; or an edit of the same file for the
same failure). What a failure is known by plays no part in what counts as an answer, save for edits.

    python tools/corpus_store.py CORPUS STORE         a store of real transcripts, to begin with

    python tools/recall_check.py ~/.hansei            the table
    python tools/recall_check.py ~/.hansei --misses   and where it went wrong, without any text
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import ToolCall, ToolResult
from hansei.ops.recall import recall
from hansei.ops.scope import Scope
from hansei.ops.sessions import short_id
from hansei.projection.facts.folds import EPISODES
from hansei.projection.failures.model import Ending, Episode, Kind
from hansei.projection.spend import QUARTER_MS
from hansei.store import reading
from hansei.store.database import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

TOP = 3
PLUMBING = frozenset(("&&", "||", "|", ";", "2>&1", "cd", "echo", "grep", "head", "tail", "true"))
"""Words that change what is shown, or where."""
KINDS = ("another ", "other white space", "a command", "2>")
"""How a change begins that is told by its kind alone: it is not the same for being of a kind."""
_LETTERS = re.compile(r"[^\W\d_]{2}")


class Met(NamedTuple):
    """An episode, where and when."""

    workspace: int
    name: str
    agent: str
    started: int
    session: int
    row: Episode


class Asked(NamedTuple):
    """A question and the place of the first right answer; None where there is none."""

    met: Met
    rank: int | None
    seconds: float


def met(store: Store) -> list[Met]:
    """Every episode that ended well, in order of time."""
    heads = {
        number: (workspace, name, agent, started)
        for number, workspace, name, agent, started in store.db.execute(
            "SELECT s.id, s.workspace, w.name, s.agent, s.started_at FROM sessions s"
            " JOIN workspaces w ON w.id = s.workspace WHERE s.started_at IS NOT NULL"
        )
    }
    found = [
        Met(*heads[it.session], it.session, it.row)
        for it in EPISODES.read(store, "1")
        if it.session in heads
        and it.row.ending is Ending.RECOVERED
        and it.row.kind in (Kind.FAILURE, Kind.HARNESS)
    ]
    return sorted(found, key=lambda it: (it.started, it.session, it.row.seq))


def same_fix(one: Episode, other: Episode) -> bool:
    """Whether two episodes were ended by the same change."""
    if one.program != other.program:
        return False
    ours, theirs = _telling(one, one.added), _telling(other, other.added)
    if ours and theirs:
        return bool(ours & theirs)
    gone = _telling(one, one.removed)
    if not ours and not theirs and gone and gone == _telling(other, other.removed):
        return True
    return one.signature == other.signature and bool(set(one.edited) & set(other.edited))


def _telling(it: Episode, words: Iterable[str]) -> frozenset[str]:
    """Words that say what was done; those of a script in the command say nothing to others."""
    if "{text}" in it.after:
        return frozenset()
    told = (word for word in words if word not in PLUMBING and _LETTERS.search(word))
    return frozenset(word for word in told if not word.startswith(KINDS))


def text_of(store: Store, session: int, seq: int) -> str:
    """A call and what it printed, as its agent saw them."""
    events = {it.seq: it.event for it in reading.events(store, session)}
    call = events[seq]
    assert isinstance(call, ToolCall)
    results = (it for it in events.values() if isinstance(it, ToolResult) and it.call == call.call)
    result = next(results, None)
    return f"{call.name} {call.text}\n{result.text if result else ''}"


def questions(store: Store) -> Iterator[Asked]:
    """Every question there is, asked."""
    told = met(store)
    for it in told:
        earlier = [
            other
            for other in told
            if other.workspace == it.workspace
            and other.started < it.started // QUARTER_MS * QUARTER_MS  # as a scope counts
            and same_fix(it.row, other.row)
        ]
        if earlier:
            yield ask(store, it, earlier)


def ask(store: Store, it: Met, answers: Iterable[Met]) -> Asked:
    right = {(short_id_of(store, answer.session), answer.row.end) for answer in answers}
    right_signatures = {answer.row.signature for answer in answers}
    question = text_of(store, it.session, it.row.seq)
    scope = Scope(workspace=it.workspace, until=it.started)
    began = time.perf_counter()
    found = recall(store, scope, question, limit=TOP)
    took = time.perf_counter() - began
    rank = None
    for place, remembered in enumerate(found.failures):
        shown = {tuple(fix.reference.rsplit("#", 1)) for fix in remembered.fixes}
        named = any((name, str(end)) in shown for name, end in right)
        if named or remembered.signature in right_signatures:
            rank = place
            break
    return Asked(it, rank, took)


def short_id_of(store: Store, session: int) -> str:
    (native,) = store.db.execute("SELECT native FROM sessions WHERE id = ?", (session,)).fetchone()
    return short_id(native)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("store", type=Path)
    parser.add_argument("--misses", action="store_true")
    given = parser.parse_args()
    store = open_store(given.store.expanduser(), now=0, create=False)
    asked = list(questions(store))
    print("| agent | workspace | questions | first | first three |")
    print("|---|---|---|---|---|")
    for agent, name in sorted({(it.met.agent, it.met.name) for it in asked}):
        print(row(f"{agent} | {name}", [it for it in asked if it.met[1:3] == (name, agent)]))
    print(row("all | ", asked))
    if asked:
        slowest = max(it.seconds for it in asked)
        print(f"\nslowest answer {slowest * 1000:.0f} ms")
    if given.misses:
        for it in asked:
            if it.rank != 0:
                place = f"{short_id_of(store, it.met.session)}#{it.met.row.seq}"
                print(f"{place}: {'none' if it.rank is None else it.rank + 1}")
    store.close()


def row(name: str, asked: list[Asked]) -> str:
    first = sum(it.rank == 0 for it in asked)
    three = sum(it.rank is not None for it in asked)
    share = (f"{100 * it / len(asked):.0f}%" if asked else "" for it in (first, three))
    parts = zip((first, three), share, strict=True)
    return f"| {name} | {len(asked)} | " + " | ".join(f"{n} ({s})" for n, s in parts) + " |"


if __name__ == "__main__":
    main()
