"""A look back as a page: what matters in one sentence, the bets, then where the tokens went.

Every number says how it came about: measured (told by a transcript), derived (by a rule that is
printed) or unknown.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final
from xml.etree.ElementTree import SubElement

import click

from hansei.bets.counting import RULES
from hansei.cli import bet_words, calibration_page, html_page, output, plots
from hansei.cli.anatomy import MEANINGS
from hansei.cli.bet_cards import numbers
from hansei.cli.commands.summary import driver
from hansei.cli.html_page import figure, folded, said, shown, table
from hansei.cli.timeline import event_in_full
from hansei.projection.provenance import Kind
from hansei.retro.calibration import RULES as REPLAY_RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from hansei.ops.rent import Rent, Rented
    from hansei.ops.retro import Offer, Retrospect
    from hansei.ops.retro_page import Opened, RetroPage, Told

BARS: Final = 10
"""In a picture; the table below it holds all."""
ROWS: Final = 12
EXCERPT: Final = 14
"""Lines of an opened event."""
LONGEST: Final = 300
"""Letters of one of these lines: a file may lie on a single one."""
MEASURED, DERIVED = "measured", "derived"
_BROUGHT: Final = frozenset({Kind.PREFIX, Kind.INJECTED, Kind.SUMMARY, Kind.UNEXPLAINED})
_ON_SCREEN: Final = frozenset({"weeks", "experiments"})
"""Columns of the calibration that a page has no room for."""
_SHARES: Final = (
    ("with", "put in by the work"),
    ("without", "by the agent program, or unexplained"),
)


def page(told: RetroPage) -> str:
    """The whole page."""
    look = told.look
    where = look.workspace or "all workspaces"
    html, main = html_page.page(f"Retro · {where}")
    _top(main, told)
    if look.sessions:
        _bets(main, told)
        _put(main, told)
        _trend(main, told)
        _failures(main, told)
        _rent(main, told)
        _calibration(main, told)
    _how(main)
    return html_page.text(html)


# --- the first screen -----------------------------------------------------------------------------


def _top(main: Element, told: RetroPage) -> None:
    look = told.look
    where = output.one_line(look.workspace or "all workspaces")
    said(main, "h1", f"Retro · {where}")
    if not look.sessions:
        said(main, "p", "There are no sessions to look back at.", "word")
        said(main, "p", "`hansei` shows where it looked for transcripts; `--all` looks at every")
        return
    said(
        main, "p", f"{output.span(look.first_at, look.last_at)} · {bet_words.window(look)}", "soft"
    )
    said(main, "p", headline(told), "word")
    tiles = SubElement(main, "ul", {"class": "tiles"})
    for number, words, kind in _tiles(look):
        one = SubElement(tiles, "li")
        said(one, "b", number)
        said(one, "span", f"{words} ({kind})", "soft")


def headline(told: RetroPage) -> str:
    """What matters, in one sentence."""
    if not told.bets:
        return bet_words.nothing(told.look)
    best = told.bets[0].offer
    claim = best.claim.rstrip(".")
    if best.weekly is None:
        return f"{claim}: {bet_words.costs(best)}."
    part = _share(best, told.look)
    minutes = output.plural(max(round(best.effort_minutes), 1), "minute")
    week = bet_words.roughly(best.weekly.middle)
    return f"{claim}: {week} tokens a week{part}, and about {minutes} to change it."


def _share(offer: Offer, look: Retrospect) -> str:
    """What a bet is of all that a week takes, where that is worth saying."""
    if offer.weekly is None or not look.tokens or not look.weeks:
        return ""
    share = offer.weekly.middle / (look.tokens / look.weeks)
    return f" ({share:.0%} of all)" if share >= 0.01 else ""


def _tiles(look: Retrospect) -> Iterator[tuple[str, str, str]]:
    drivers = ", ".join(f"{count:,} {driver(name)}" for name, count in look.drivers.items())
    yield f"{look.sessions:,}", f"sessions: {drivers}", MEASURED
    yield output.tokens(look.tokens), "tokens", MEASURED if look.tokens is not None else "–"
    if look.cost_nanodollars is not None:
        more = f", {look.unpriced_requests:,} requests unpriced" if look.unpriced_requests else ""
        yield output.dollars(look.cost_nanodollars), f"at list prices{more}", DERIVED
    else:
        yield output.UNKNOWN, "cost: no price is known", "unknown"
    yield f"{look.active_days:,}", f"active days, {look.requests:,} requests", MEASURED


# --- the bets -------------------------------------------------------------------------------------


def _bets(main: Element, told: RetroPage) -> None:
    if not told.look.offers:
        return
    said(main, "h2", "What to change")
    for bet in told.bets:
        _bet(main, bet, told)
    left = len(told.look.offers) - len(told.bets)
    if left > 0:
        count = output.plural(left, "more bet")
        said(main, "p", f"{count} below the floor: `hansei retro --html -n 0` shows all.", "soft")


def _bet(main: Element, bet: Told, told: RetroPage) -> None:
    offer, look = bet.offer, told.look
    card = SubElement(main, "article")
    said(card, "h3", f"{offer.rank}. {output.one_line(offer.claim)}")
    where = "" if look.workspace else f" · in {output.one_line(offer.workspace)}"
    standing = f"{offer.heuristic} · {bet_words.standing(offer, look, told.made_at)}{where}"
    said(card, "p", standing, "soft")
    facts = SubElement(card, "dl")
    for name, words in _facts(offer):
        if words:
            said(facts, "dt", name)
            said(facts, "dd", words)
    said(card, "p", "The change", "kind")
    shown(card, offer.change.text)
    if bet.opened:
        places = output.plural(len(bet.opened), "place")
        opened = folded(card, f"The evidence: {places} of {len(offer.evidence):,}", is_open=True)
        for one in bet.opened:
            _evidence(opened, one)
    counted = folded(card, "How its numbers came about")
    table(counted, ("", "", "from"), numbers(offer), left=(2,), names=True)
    said(counted, "p", f"Wrong if: {output.one_line(offer.disproof)}")


def _facts(offer: Offer) -> Iterator[tuple[str, str]]:
    yield "costs", bet_words.costs(offer)
    yield "sessions", f"{offer.sessions:,} of {offer.of_sessions:,}"
    yield "seen", "; ".join(map(output.one_line, offer.because))
    yield "fix", output.one_line(offer.fix or "")
    yield "change", bet_words.change(offer)
    yield "told", bet_words.told_already(offer)
    yield "proof", bet_words.proof(offer)
    yield "demoted", bet_words.demotion(offer)
    yield "do it", f"`hansei apply {offer.short}`"


def _evidence(parent: Element, one: Opened) -> None:
    said(parent, "p", f"`hansei show {one.place}` · {output.moment(one.at)}", "kind")
    lines = [click.unstyle(line) for it in one.events for line in event_in_full(it)]
    while lines and not lines[-1].strip():
        lines.pop()
    shown(parent, "\n".join(excerpt(lines)))


def excerpt(lines: Sequence[str]) -> list[str]:
    """The beginning and the end of a text that is too long for a page."""
    cut = [line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for line in lines]
    if len(cut) <= EXCERPT:
        return cut
    tail = EXCERPT // 3
    more = f"… {output.plural(len(cut) - EXCERPT, 'line')} more"
    return [*cut[: EXCERPT - tail], more, *cut[-tail:]]


# --- the ground -----------------------------------------------------------------------------------


def _put(main: Element, told: RetroPage) -> None:
    said(main, "h2", "Where the tokens went")
    if not told.put or not told.input_tokens:
        said(main, "p", "No agent here tells what its requests took: unknown.")
        return
    known = sum(it.billed for it in told.put)
    rest = max(told.input_tokens - known, 0)
    whole = max(told.input_tokens, known)
    first = told.put[0]
    words = (
        f"Every request carries its whole context again. Of {output.tokens(told.input_tokens)}"
        f" input tokens (measured), {first.billed / whole:.0%} were for"
        f" {MEANINGS.get(first.kind, first.kind)}; the models wrote"
        f" {output.tokens(told.output_tokens)}."
    )
    said(main, "p", words)
    rows = [
        plots.Bar(it.kind, it.billed, f"{it.billed / whole:.0%}", _colour(it.kind))
        for it in told.put[:BARS]
    ]
    caption = (
        "Billed input tokens by what put them into the context (derived: the growth of the context"
        " is measured and divided among the events in between by their size)."
    )
    words = ", ".join(f"{it.name} {it.told}" for it in rows)
    figure(main, plots.bars(rows), caption, f"Share of input tokens: {words}", _SHARES)
    opened = folded(main, "As a table")
    lines = [
        (
            it.kind,
            output.tokens(it.billed),
            f"{it.billed / whole:.1%}",
            output.tokens(it.tokens),
            f"{it.pieces:,}",
            MEANINGS.get(it.kind, ""),
        )
        for it in told.put
    ]
    if rest:
        untold = "of requests that are not told apart"
        lines.append(("not told", output.tokens(rest), f"{rest / whole:.1%}", "–", "–", untold))
    head = ("kind", "billed", "share", "put in", "pieces", "what it is")
    table(opened, head, lines, left=(5,), roomy=(4, 5), names=True)


def _colour(kind: str) -> str:
    """What comes with the agent program is told from what the work put in."""
    return "var(--without)" if kind in _BROUGHT else "var(--with)"


def _trend(main: Element, told: RetroPage) -> None:
    said(main, "h2", "Week by week")
    if not told.weeks:
        said(main, "p", "No request is dated: unknown.")
        return
    names = [_monday(it.monday) for it in told.weeks]
    layers = (
        ("with", "read from the cache", [it.cached for it in told.weeks]),
        ("without", "new input", [it.fresh for it in told.weeks]),
        ("third", "output", [it.output for it in told.weeks]),
    )
    drawn = plots.columns(
        names, [plots.Layer(values, f"var(--{css})") for css, _, values in layers]
    )
    caption = "Tokens a week as billed (measured), by the Monday it began; the last may go on."
    words = ", ".join(
        f"{name} {output.tokens(it.cached + it.fresh + it.output)}"
        for name, it in zip(names, told.weeks, strict=True)
    )
    figure(main, drawn, caption, words, [(css, meaning) for css, meaning, _ in layers])
    opened = folded(main, "As a table")
    rows = [
        (
            name,
            f"{it.days:,}",
            output.tokens(it.cached),
            output.tokens(it.fresh),
            output.tokens(it.output),
            output.dollars(it.cost_nanodollars) if it.days else "–",
        )
        for name, it in zip(names, told.weeks, strict=True)
    ]
    head = ("week of", "days", "cached", "new input", "output", "cost (derived)")
    table(opened, head, rows, roomy=(1,), names=True)
    unmeasured = sum(it.unmeasured_requests for it in told.weeks)
    if unmeasured:
        said(main, "p", f"{unmeasured:,} requests tell no tokens and are in no column.", "soft")


def _monday(day: str) -> str:
    date = datetime.fromisoformat(day)
    return f"{date.day} {date:%b}"


def _failures(main: Element, told: RetroPage) -> None:
    said(main, "h2", "What failed again and again")
    again = [it for it in told.failures if it.sessions > 1]
    if not again:
        said(main, "p", "No failure was met in more than one session.")
        return
    sessions = max(told.look.sessions, 1)
    rows = [
        plots.Bar(output.one_line(it.signature), it.sessions, f"{it.sessions:,}")
        for it in again[:BARS]
    ]
    caption = f"Sessions that met each failure (measured), of {sessions:,}."
    words = ", ".join(f"{it.name}: {it.told}" for it in rows)
    figure(main, plots.bars(rows), caption, f"Sessions by failure: {words}")
    opened = folded(main, "As a table, with what ended it", is_open=True)
    lines = [
        (
            output.one_line(it.signature),
            f"{it.sessions:,}",
            f"{it.times:,}",
            output.tokens(it.tokens),
            output.one_line(it.recovery) if it.recovery else "–",
            it.evidence[0] if it.evidence else "–",
        )
        for it in again[:ROWS]
    ]
    head = ("failure", "sessions", "times", "tokens until it ended (measured)", "ended by", "open")
    table(opened, head, lines, left=(4,), roomy=(2, 4, 5))


def _rent(main: Element, told: RetroPage) -> None:
    said(main, "h2", "What instructions take")
    if not told.rents:
        words = (
            "No instruction file, rule or skill of these repositories is on this machine: unknown."
        )
        said(main, "p", words)
        return
    for rent in told.rents:
        _one_rent(main, rent, alone=len(told.rents) == 1)
    _faults(main, told.look)


def _faults(main: Element, look: Retrospect) -> None:
    """What the files say twice or against one another."""
    if look.faults:
        said(main, "h3", "Said twice, or against one another")
        rows = [(str(it.kind), bet_words.fault(it)) for it in look.faults[:ROWS]]
        table(main, ("", "where and what"), rows, left=(0, 1), roomy=(1,))


def _one_rent(main: Element, rent: Rent, *, alone: bool) -> None:
    if not alone:
        said(main, "h3", output.one_line(rent.workspace))
    agents = ", ".join(f"{output.tokens(n)} for {agent}" for agent, n in rent.told.items())
    if agents:
        said(main, "p", f"Tokens of them in every session (derived from the text): {agents}.")
    known = [it for it in rent.texts if _takes(it)]
    weekly = any(it.weekly_tokens is not None for it in known)
    rows = [
        plots.Bar(output.one_line(it.path), _takes(it), output.tokens(_takes(it)))
        for it in sorted(known, key=lambda it: (-_takes(it), it.path))[:BARS]
    ]
    unit = "a week, in every request that carries them" if weekly else "in every session"
    if rows:
        words = ", ".join(f"{it.name}: {it.told}" for it in rows)
        figure(main, plots.bars(rows), f"Tokens {unit} (derived).", words)
    opened = folded(main, "As a table, with when each was last of use")
    lines = [
        (
            output.one_line(it.path),
            it.kind,
            output.tokens(it.tokens),
            output.tokens(it.weekly_tokens),
            _fired(it),
        )
        for it in rent.texts[:ROWS]
    ]
    head = ("text", "kind", "tokens", "a week", "fired in")
    table(opened, head, lines, left=(1,), roomy=(1,))


def _takes(it: Rented) -> int:
    return it.weekly_tokens if it.weekly_tokens is not None else it.tokens or 0


def _fired(it: Rented) -> str:
    if it.fired is None:
        return output.UNKNOWN
    return f"{it.fired:,} of {output.plural(it.fired_known, 'session')}"


# --- how far to trust it --------------------------------------------------------------------------


def _calibration(main: Element, told: RetroPage) -> None:
    said(main, "h2", "Do such bets come true here?")
    if not told.calibrations:
        said(main, "p", calibration_page.nothing((), told.look.workspace))
        return
    head = [it.title for it in calibration_page.COLUMNS if it.title not in _ON_SCREEN]
    last = len(head) - 1
    for one in told.calibrations:
        cells = (calibration_page.cells(it) for it in one.scores)
        rows = ([told[it] for it in head] for told in cells)
        caption = calibration_page.heading(one)
        roomy = (3, 5, 6, 7)
        table(main, head, rows, caption=caption, left=(last,), roomy=roomy, names=True)
        for score in one.scores:
            if score.reason:
                said(main, "p", f"Demoted: {score.reason}.")
    opened = folded(main, "The rules")
    for name, rule in REPLAY_RULES.items():
        said(opened, "p", f"{name}: {rule}")


def _how(main: Element) -> None:
    said(main, "h2", "How the numbers came about")
    kinds = SubElement(main, "dl")
    for name, words in (
        (MEASURED, "read from a transcript, or counted in several"),
        (DERIVED, "computed from measured numbers by a rule that is printed"),
        ("unknown", "nothing that was recorded tells; it is in no sum, and never 0"),
    ):
        said(kinds, "dt", name)
        said(kinds, "dd", words)
    opened = folded(main, "The rules of bets")
    for name, rule in RULES.items():
        said(opened, "p", f"{name}: {rule}")
    said(
        main,
        "p",
        "Made by `hansei retro --html` from transcripts on this machine. Secrets that we know are"
        " replaced; the excerpts are still your colleagues' words: mind where you send it.",
        "soft",
    )
