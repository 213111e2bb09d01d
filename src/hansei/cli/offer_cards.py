"""What is worth keeping as a skill, as people read it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.cli import output
from hansei.cli.output import bold, dim
from hansei.learn.files import reference
from hansei.learn.model import State
from hansei.ops.classic import per_hundred
from hansei.ops.learn import FEW, RETURN_DAYS, is_unconfirmed
from hansei.ops.sessions import short_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hansei.learn.model import Offer
    from hansei.ops.classic import Simple
    from hansei.ops.learn import Learned, Saved, Suggestion

INDENT = 3
LABEL = 8
PLACES = 3
"""Places of evidence that are named; the rest is counted."""
COMMANDS = 8
PREVIEW = 24
"""Lines of a skill that are shown before it is saved."""
NAMES = 4
"""Names of offers that are told of a rule."""


def heading(look: Learned) -> Iterator[str]:
    """What was looked at and what came of it."""
    where = output.one_line(look.scope.workspace_name or "every workspace")
    sessions = output.plural(look.sessions, "session")
    if look.among:
        named = ", ".join(output.one_line(short_id(it)) for it in look.among[:PLACES])
        sessions = f"session {named} among {look.sessions:,}"
    span = output.span(look.first_at, look.last_at)
    first, *rest = output.wrapped(f"Learn · {where} · {span} · {sessions}", 2)
    yield bold(first)
    yield from map(bold, rest)
    yield from output.wrapped(f"{_found(look)}.", 2)


def _found(look: Learned) -> str:
    made = len(look.suggestions)
    told = [f"{output.plural(made, 'thing')} worth keeping" if made else "Nothing new to keep"]
    if look.said:
        told.append(f"{len(look.said):,} said already in {_places(look.said)}")
    if look.skipped:
        told.append(f"{len(look.skipped):,} skipped before (`hansei learn --reset-skips`)")
    if look.sessions < FEW:
        few = output.plural(look.sessions, "session")
        told.append(f"{few} tell little: what recurs shows from {FEW} on")
    return "; ".join(told)


def _places(said: Iterable[Suggestion]) -> str:
    where = sorted({output.one_line(it.said or "") for it in said})
    more = f" and {len(where) - PLACES} more" if len(where) > PLACES else ""
    return f"{', '.join(where[:PLACES])}{more}"


def card(number: int, found: Suggestion, look: Learned) -> Iterator[str]:
    """One offer, with everything that a person needs to decide."""
    offer = found.offer
    yield from _title(number, found, look)
    yield from _text(output.one_line(offer.description))
    where = "" if look.scope.workspace else f" · in {output.one_line(found.workspace)}"
    yield from _line("found", f"by {offer.detector}{where}")
    yield from _needs(found)
    yield from _body(offer, found.places)


def _needs(found: Suggestion) -> Iterator[str]:
    """Why only a person's word lets an offer pass, and whose words it holds."""
    if not is_unconfirmed(found):
        return
    why = next(it.message for it in found.reasons if it.stops is not None)
    told = found.offer.evidence
    places = [f"{it.label} in {reference(it)}" for it in told if it.label is not None]
    words = f"; its words: {', '.join(places[:PLACES])}" if places else ""
    yield from _line("needs", output.one_line(f"your word: {why}{words}"))


def _body(offer: Offer, places: tuple[str, ...]) -> Iterator[str]:
    yield from _lines("runs", [output.one_line(it) for it in offer.commands], COMMANDS)
    yield from _line("open", _open(places))
    yield from _lines("skill", output.safe(offer.body).strip().splitlines(), PREVIEW)


def _title(number: int, found: Suggestion, look: Learned) -> Iterator[str]:
    count = len(found.natives)
    seen = f"{count:,} of {output.plural(look.sessions, 'session')}"
    name = output.one_line(found.offer.name)
    gap = output.terminal_width() - INDENT - output.width(name) - output.width(seen)
    yield f"{number:<{INDENT}}{bold(name)}{' ' * max(gap, 2)}{seen}"


def _text(text: str) -> Iterator[str]:
    indent = " " * INDENT
    yield from output.wrapped(f"{indent}{text}", INDENT)


def _line(label: str, text: str) -> Iterator[str]:
    indent = " " * (INDENT + LABEL)
    first, *rest = output.wrapped(f"{indent}{text}", INDENT + LABEL) or [indent]
    yield f"{' ' * INDENT}{dim(f'{label:<{LABEL}}')}{first.removeprefix(indent)}"
    yield from rest


def _lines(label: str, lines: list[str], most: int) -> Iterator[str]:
    """Lines as they are, each cut at the terminal's edge."""
    room = output.terminal_width() - INDENT - LABEL
    shown = lines if len(lines) <= most else lines[: most - 1]
    for place, line in enumerate(shown):
        head = " " * LABEL if place else dim(f"{label:<{LABEL}}")
        yield f"{' ' * INDENT}{head}{output.cut(line.expandtabs(4), room)}".rstrip()
    if len(shown) < len(lines):
        more = output.plural(len(lines) - len(shown), "more line")
        yield f"{' ' * (INDENT + LABEL)}{dim(f'… {more}')}"


def _open(places: tuple[str, ...]) -> str:
    named = [it.replace(" ", "\xa0") for it in places[:PLACES]]
    more = len(places) - len(named)
    return f"hansei show {'  '.join(named)}{f'  (+{more:,})' if more else ''}"


def kept_back(found: Suggestion) -> Iterator[str]:
    """An offer that the gate does not let pass, in a line."""
    word = "quarantined" if found.state is State.QUARANTINED else "refused"
    stops = [it.message for it in found.reasons if it.stops is not None]
    more = f" (+{len(stops) - 1:,})" if len(stops) > 1 else ""
    why = output.one_line(stops[0]) if stops else "the gate does not let it pass"
    yield from output.wrapped(f"{word} {output.one_line(found.offer.name)}: {why}{more}", 2)
    yield from map(dim, output.wrapped(f"  {_open(found.places)}", 2))


def saved(done: Saved, here: Path, home: Path) -> Iterator[str]:
    """What was saved, and where it is."""
    if done.state is State.QUARANTINED:
        told = f"`hansei skills show {done.name}` opens it, `hansei skills promote {done.name}`"
        yield from map(dim, output.wrapped(f"  {told} lets agents use it.", 2))
        return
    folders = [output.one_line(_shown(it.parent.parent, here, home)) for it in done.files]
    where = f" in {' and '.join(sorted(folders))}" if folders else ""
    told = "The next session has it; `hansei skills undo` takes it back."
    yield from output.wrapped(f"Saved {done.name}{where}. {told}", 2)


def _shown(path: Path, here: Path, home: Path) -> str:
    """A path as a person writes it who stands here."""
    if path.is_relative_to(here):
        return str(path.relative_to(here))
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


ANSWERS = (
    "Enter saves a draft that agents load when they need it. n: not now, for"
    f" {RETURN_DAYS} days or until as many sessions again show it. s: never again."
)


# --- the simple rules -----------------------------------------------------------------------------


def compared(simple: Simple, look: Learned) -> Iterator[str]:
    """What the simple rules offer beside what we do, by rule."""
    columns = [
        output.Column("rule", "left"),
        output.Column("simple rules"),
        output.Column("of 100 sessions"),
        output.Column("ours"),
        output.Column("what they would be called", "left", flexible=True, drop=1),
    ]
    own = [it.offer for it in (*look.suggestions, *look.kept_back, *look.said, *look.skipped)]
    rows = [
        (
            tally.rule,
            f"{tally.offers:,}",
            _rate(tally.offers, simple.sessions),
            f"{sum(it.detector == tally.rule for it in own):,}",
            _names(tally.names),
        )
        for tally in simple.tallies
    ]
    total = len(simple.offers)
    rows.append(("all", f"{total:,}", _rate(total, simple.sessions), f"{len(own):,}", ""))
    yield bold(f"The simple rules on {output.plural(simple.sessions, 'session')}")
    yield from output.table(columns, rows)
    yield from map(
        dim,
        output.wrapped(
            "Nothing of this is saved. With a SESSION each of its offers is shown;"
            " docs/concepts/classic-rules.md tells the rules."
        ),
    )


def _rate(offers: int, sessions: int) -> str:
    rate = per_hundred(offers, sessions)
    return output.UNKNOWN if rate is None else f"{rate:.1f}"


def _names(names: tuple[tuple[str, int], ...]) -> str:
    told = [f"{name} ({count:,})" if count > 1 else name for name, count in names[:NAMES]]
    more = len(names) - len(told)
    return f"{', '.join(told)}{f', {more:,} more' if more else ''}"


def simple_offers(simple: Simple, session: str) -> Iterator[str]:
    """What the simple rules offer from one session."""
    yield bold(f"The simple rules on session {output.one_line(session)}")
    for number, offer in enumerate(simple.offers, 1):
        yield ""
        yield f"{number:<{INDENT}}{bold(offer.name)}"
        yield from _text(output.one_line(offer.description))
        yield from _line("found", f"by {offer.detector}")
        yield from _body(offer, tuple(f"{it.session}#{it.event}" for it in offer.evidence))
    if not simple.offers:
        yield "They offer nothing."
