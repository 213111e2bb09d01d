"""Bets as people read them on a terminal: a short list, and one bet in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.bets.counting import RULES, WEEK_DAYS
from hansei.bets.model import Category
from hansei.cli import bet_words, output
from hansei.cli.output import bold, dim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.ops.retro import Offer, Retrospect

INDENT = 3
LABEL = 8
FAULT = 11
SECTIONS = {Category.INVESTIGATE: "Worth looking into", Category.FIX: "Quick fixes"}


def report(look: Retrospect, shown: Sequence[Offer], now: int) -> Iterator[str]:
    """The look back."""
    title, took = bet_words.heading(look)
    first, *rest = output.wrapped(title, 2)
    yield bold(first)
    yield from (bold(line) for line in rest)
    yield from output.wrapped(took, 2)
    yield from map(dim, output.wrapped(bet_words.window(look), 2))
    if not shown:
        yield ""
        yield from output.wrapped(bet_words.nothing(look))
    for place, offer in enumerate(shown):
        section = _section(look, shown, place)
        if section:
            yield ""
            yield bold(section)
        elif place:
            yield ""
        yield from card(offer, look, now)
    yield from _faults(look)
    yield ""
    yield from _footer(look, shown)


def _faults(look: Retrospect) -> Iterator[str]:
    """What is wrong in the instruction files themselves."""
    if not look.faults:
        return
    yield ""
    yield bold("Instruction files")
    for it in look.faults[: bet_words.FAULTS]:
        yield from _line(it.kind, bet_words.fault(it), FAULT)
    yield from map(dim, output.wrapped(f"{' ' * INDENT}{bet_words.more_faults(look)}", INDENT))


def _section(look: Retrospect, shown: Sequence[Offer], place: int) -> str | None:
    """A title where another part of the list begins."""
    if place == 0:
        return "Best bet"
    offer, before = shown[place], shown[place - 1]
    if place >= look.short:
        return "The others, by score" if place == look.short else None
    begins = place == 1 or offer.category is not before.category
    return SECTIONS[offer.category] if begins else None


def card(offer: Offer, look: Retrospect, now: int) -> Iterator[str]:
    """One bet in a list."""
    yield from _claim(offer)
    yield from _line("costs", bet_words.costs(offer))
    yield from _line("seen", "; ".join(map(output.one_line, offer.because)))
    if offer.fix:
        yield from _line("fix", output.one_line(offer.fix))
    yield from _line("change", bet_words.change(offer))
    if offer.told_at:
        yield from _line("told", bet_words.told_already(offer))
    yield from _line("proof", bet_words.proof(offer))
    if offer.demoted:
        yield from _line("demoted", bet_words.demotion(offer))
    yield from _line("open", _open(offer))
    where = "" if look.workspace else f" · in {output.one_line(offer.workspace)}"
    yield from map(dim, _line("", f"{bet_words.standing(offer, look, now)}{where}"))


def _claim(offer: Offer) -> Iterator[str]:
    """The claim, with the sessions at the right of its first line."""
    import textwrap

    sessions = f"{offer.sessions:,} of {output.plural(offer.of_sessions, 'session')}"
    room = output.terminal_width() - INDENT - output.width(sessions) - 2
    first, *rest = textwrap.wrap(
        output.one_line(offer.claim), room, break_long_words=False, break_on_hyphens=False
    ) or [""]
    gap = " " * max(room - output.width(first) + 2, 2)
    yield f"{offer.rank:<{INDENT}}{bold(first)}{gap}{sessions}"
    yield from (" " * INDENT + bold(line) for line in rest)


def _line(label: str, text: str, width: int = LABEL) -> Iterator[str]:
    indent = " " * (INDENT + width)
    first, *rest = output.wrapped(f"{indent}{text}", INDENT + width) or [indent]
    yield f"{' ' * INDENT}{dim(f'{label:<{width}}')}{first.removeprefix(indent)}"
    yield from rest


def _open(offer: Offer) -> str:
    places = [it.place.replace(" ", "\xa0") for it in offer.evidence[: bet_words.EVIDENCE]]
    more = len(offer.evidence) - len(places)
    return f"hansei show {'  '.join(places)}{f'  (+{more:,})' if more else ''}"


def _footer(look: Retrospect, shown: Sequence[Offer]) -> Iterator[str]:
    left = len(look.offers) - len(shown)
    notes = []
    if shown:
        name = shown[0].rank
        notes.append(
            f"`hansei apply {name}` makes the change; `hansei retro --explain {name}` shows every"
            f" number and all the evidence; --accept {name} or --dismiss {name} remembers what you"
            " decide"
        )
    if left > 0:
        notes.append(f"{output.plural(left, 'more bet')}: -n 0 lists all")
    if look.put_aside:
        count = output.plural(len(look.put_aside), "bet")
        notes.append(f"{count} decided about and not proposed; -n 0 lists them")
    yield from (dim(line) for note in notes for line in output.wrapped(note, 2))


def put_aside(look: Retrospect) -> Iterator[str]:
    """Bets that are not proposed any more, one line each."""
    if not look.put_aside:
        return
    yield ""
    yield bold("Decided about")
    for offer in look.put_aside:
        told = f"{offer.state} on {output.day(offer.decided_at)}"
        reason = f" “{output.one_line(offer.reason)}”" if offer.reason else ""
        yield from output.wrapped(f"{offer.short}  {output.one_line(offer.claim)}", 6)
        yield from map(dim, output.wrapped(f"      {told}{reason}", 6))


# --- one bet in full ------------------------------------------------------------------------------


def explained(offer: Offer, look: Retrospect, now: int, limit: int) -> Iterator[str]:
    """Everything about one bet."""
    yield from (bold(line) for line in output.wrapped(output.one_line(offer.claim)))
    told = f"{offer.heuristic} · {output.one_line(offer.workspace)}"
    yield from map(dim, output.wrapped(f"{told} · {bet_words.standing(offer, look, now)}"))
    yield from _part("What was seen", [f"- {output.one_line(it)}" for it in offer.because])
    yield ""
    yield bold("Numbers")
    for name, value, source in numbers(offer):
        yield from output.wrapped(f"  {name:<11} {value:<22} {source}", 37)
    change = (bet_words.change(offer), bet_words.told_already(offer))
    yield from _part("The change", [it for it in change if it])
    yield ""
    yield from (f"    {line}" for line in output.safe(offer.change.text).splitlines())
    yield from _part("What would show that it is wrong", [output.one_line(offer.disproof)])
    metric = output.one_line(offer.metric.words)
    yield from _part("What is counted afterwards", [metric, bet_words.proof(offer)])
    yield from _evidence(offer, limit)
    yield from _part("Rules", [f"{name}: {rule}" for name, rule in RULES.items()])


def _part(title: str, texts: Sequence[str]) -> Iterator[str]:
    yield ""
    yield bold(title)
    for text in texts:
        yield from output.wrapped(f"  {text}", 4)


def _spared(offer: Offer) -> str:
    if offer.chances is None or not offer.chances.spared:
        return ""
    return f"; {output.plural(offer.chances.spared, 'later task')} did the same without it"


def _doubted(offer: Offer) -> str:
    score = offer.calibration
    if score is None:
        return ""
    if offer.demoted:
        return f"; times {score.trust:.2f}, because {offer.demoted}"
    return f"; of its earlier bets {score.recurred:,} of {score.bets:,} came up ({score.standing})"


def numbers(offer: Offer) -> list[tuple[str, str, str]]:
    """Each number, and where it comes from."""
    days = round(offer.weeks * WEEK_DAYS)
    found = [
        ("sessions", f"{offer.sessions:,} of {offer.of_sessions:,}", "counted in the window"),
        (
            "tokens",
            output.tokens(offer.tokens),
            f"summed over the {output.plural(len(offer.evidence), 'place')} below"
            + (f"; {offer.untold:,} of them do not tell" if offer.untold else ""),
        ),
    ]
    if offer.weekly is not None:
        week = output.tokens(round(offer.weekly.middle))
        found += [
            ("a week", week, f"{output.tokens(offer.tokens)} × 7 / {days:,} days"),
            ("interval", bet_words.span(offer.weekly), "80%, by the rule below"),
        ]
    if offer.change_tokens is not None:
        text = output.plural(offer.change_tokens, "token")
        source = f"{text} (derived from the text) × the requests that carry it"
        found.append(("rent", output.tokens(offer.rent), source))
    if offer.net is not None:
        found.append(("net", output.tokens(offer.net), "saved at most: if it never recurs"))
    if offer.minutes is not None:
        found.append(("waiting", f"{offer.minutes:,.0f} min", "measured, over all places"))
    seen = f"on {offer.days:,} of {output.plural(offer.active_days, 'active day')}"
    silent = f", not on the last {offer.silent_days:,}" if offer.silent_days else ""
    return [
        *found,
        (
            "confidence",
            f"{offer.confidence:.0%}",
            f"happened {seen}{silent}{_spared(offer)}{_doubted(offer)}",
        ),
        ("to do", f"{offer.effort_minutes:g} min", "judged by the heuristic, for such a change"),
        ("score", f"{offer.score:,.0f}", "ranks it among the others"),
    ]


def _evidence(offer: Offer, limit: int) -> Iterator[str]:
    shown = offer.evidence if limit <= 0 else offer.evidence[:limit]
    columns = [
        output.Column("hansei show", "left"),
        output.Column("session began", "left"),
        output.Column("tokens"),
        output.Column("minutes"),
    ]
    rows = [
        [
            it.place,
            output.moment(it.at),
            output.tokens(it.tokens),
            "–" if it.minutes is None else f"{it.minutes:,.1f}",
        ]
        for it in shown
    ]
    yield ""
    yield bold("Evidence")
    yield from (f"  {line}" for line in output.table(columns, rows))
    if len(shown) < len(offer.evidence):
        yield dim(f"  {len(shown)} of {len(offer.evidence):,} are shown; -n 0 lists all.")
