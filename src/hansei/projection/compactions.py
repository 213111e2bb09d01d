"""What filled the contexts that had to be compacted, and what getting back to work took.

The pieces that left with a compaction are told by what they are of: a file that was read and
edited, a command that was run, a tool of a server, reports of subagents. Where most of a context
is unexplained nobody can say what filled it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Tool
from hansei.projection.files import LOOKS, Verb
from hansei.projection.provenance import Kind, Left

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.provenance import Carried
    from hansei.projection.window import Window

SHARE: Final = 0.15
"""Of what left: less did not fill it. The largest of several things of like size has about that."""
TOLD: Final = 0.5
"""Of what left has to be explained."""

FILE: Final = "file"
COMMAND: Final = "command"
TOOL: Final = "tool"
REPORTS: Final = "reports of subagents"


class Filled(NamedTuple):
    """One thing that filled one context."""

    session: int
    seq: int
    """The first event of it."""
    cause: str
    """Its kind and its name."""
    share: float
    """Of what left."""
    tokens: int
    carried: int
    """Tokens billed for carrying it up to then."""
    after: int
    """Tokens of the requests that read it once more, and its part of carrying the summary."""


def fillings(window: Window) -> list[Filled]:
    """The things that filled compacted contexts, by session and in order."""
    left: dict[tuple[int, int], list[Carried]] = defaultdict(list)
    summaries: dict[int, list[Carried]] = defaultdict(list)
    for session, piece in window.pieces:
        if piece.left is Left.COMPACTED and piece.until is not None:
            left[session, piece.until].append(piece)
        if piece.kind is Kind.SUMMARY:
            summaries[session].append(piece)
    found: list[Filled] = []
    for (session, until), pieces in sorted(left.items()):
        summary = sum(it.billed for it in summaries[session] if it.since == until)
        found += _of(window, session, until, pieces, summary)
    return found


def _of(
    window: Window,
    session: int,
    until: int,
    pieces: list[Carried],
    summary: int,
) -> Iterator[Filled]:
    size: Counter[str] = Counter()
    carried: Counter[str] = Counter()
    first: dict[str, int] = {}
    total = sum(it.tokens for it in pieces)
    if sum(it.tokens for it in pieces if it.kind is Kind.UNEXPLAINED) > (1 - TOLD) * total:
        return
    for it in pieces:
        cause = cause_of(window, session, window.call_of.get((session, it.seq), it.seq))
        if cause is not None:
            size[cause] += it.tokens
            carried[cause] += it.billed
            first[cause] = min(first.get(cause, it.seq), it.seq)
    for cause, tokens in sorted(size.items()):
        share = tokens / total
        if share >= SHARE:
            after = round(summary * share) + _read_again(window, session, until, cause)
            yield Filled(session, first[cause], cause, share, tokens, carried[cause], after)


def cause_of(window: Window, session: int, call: int) -> str | None:
    """What a call was about: one file of the repository, a command, a tool of a server."""
    place = session, call
    made = window.called.get(place)
    if made is None:
        return None
    touched = window.touched_by.get(place, ())
    paths = {it.path for it in touched if it.inside and not it.path.endswith("/")}
    if touched:  # a command that shows files is about those, and of several none is the cause
        return f"{FILE} {paths.pop()}" if len(paths) == 1 else None
    ran = next((it for it in window.ran_by.get(place, ()) if it.about), None)
    if ran is not None:
        return f"{COMMAND} {ran.shown}"
    if made.tool is Tool.SUBAGENT:
        return REPORTS
    return f"{TOOL} {made.server} {made.name}" if made.server else None


def _read_again(window: Window, session: int, until: int, cause: str) -> int:
    """Requests that only read a file once more after the compaction, up to the next edit of it.

    Had it stayed, it would have been carried as well: so its text is not counted.
    """
    kind, _, path = cause.partition(" ")
    if kind != FILE:
        return 0
    reads: set[int] = set()
    for number, it in window.touches:
        if number == session and it.path == path and it.seq > until:
            if it.verb not in LOOKS:
                break
            if it.verb is Verb.READ:
                reads.add(it.seq)
    return sum(window.rounds[session].rounds_of(reads).values())
