"""A known failure and its fixes, as `recall` and `brief` show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.cli import output
from hansei.cli.output import bold, dim, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.recall import Fix, Remembered


def failure(it: Remembered) -> Iterator[str]:
    """What it is known by, how often it was met, and what got past it."""
    room = output.terminal_width()
    yield bold(output.cut(one_line(it.signature), room))
    met = f"{plural(it.episodes, 'time')} in {plural(it.sessions, 'session')}"
    cost = f", {output.tokens(it.tokens)} tokens" if it.tokens is not None else ""
    ended = f"got past {it.recovered} of them" if it.recovered else "never got past"
    told = f"  {met}, last {output.day(it.last_at)}{cost}; {ended}. {it.reference}"
    yield from map(dim, output.wrapped(told, 2))
    for fix in it.fixes:
        yield from _fix(fix, room)


def _fix(fix: Fix, room: int) -> Iterator[str]:
    often = f"  ({plural(fix.times, 'time')})" if fix.times > 1 else ""
    place = f"  {fix.reference}{often}"
    told = output.cut(one_line(fix.command), max(room - len(place) - 4, output.NARROWEST))
    yield f"  → {told}{dim(place)}"
    changes = [
        f"{how} {one_line(sep.join(what))}"
        for how, what, sep in (
            ("without", fix.removed, " "),
            ("with", fix.added, " "),
            ("after editing", fix.edited, ", "),
        )
        if what
    ]
    if changes:
        yield dim(output.cut(f"    {', '.join(changes)}", room))
    if fix.mind:
        yield dim(f"    {fix.mind}")
