"""Bets in Markdown, for a pull request, a wiki or an agent that is handed the task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.bets.counting import RULES
from hansei.bets.model import Design
from hansei.cli import bet_words, output
from hansei.cli.bet_cards import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.ops.retro import Offer, Retrospect

_CODE = re.compile(r"(`+[^`]*`+)")
_MEANS_SOMETHING = re.compile(r"([\\<>*_\[\]#@|])")


def plain(text: str) -> str:
    """One line in which nothing but code is marked up: words from transcripts link to nothing."""
    parts = _CODE.split(output.one_line(text))
    return "".join(
        part if place % 2 else _MEANS_SOMETHING.sub(r"\\\1", part)
        for place, part in enumerate(parts)
    )


def fenced(text: str, language: str = "text") -> Iterator[str]:
    """A text that is shown as it is, whatever marks it holds."""
    longest = max((len(it) for it in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield f"{fence}{language}"
    yield from output.safe(text).splitlines()
    yield fence


def report(look: Retrospect, shown: Sequence[Offer], now: int) -> Iterator[str]:
    """The look back."""
    title, took = bet_words.heading(look)
    yield f"# {plain(title)}"
    yield ""
    yield f"{plain(took)}. {plain(bet_words.window(look))}."
    if not shown:
        yield ""
        yield bet_words.nothing(look)
    for offer in shown:
        yield ""
        yield f"## {offer.rank}. {plain(offer.claim)}"
        yield ""
        yield from _facts(offer, look, now)
        yield ""
        yield from _change(offer)
    if look.faults:
        yield from ("", "## Instruction files", "")
        yield from (f"- {it.kind}: {plain(bet_words.fault(it))}" for it in look.faults)


def _facts(offer: Offer, look: Retrospect, now: int) -> Iterator[str]:
    facts = {
        "sessions": f"{offer.sessions:,} of {offer.of_sessions:,}"
        + (f", {offer.workspace}" if look.workspace is None else ""),
        "costs": bet_words.costs(offer),
        "seen": "; ".join(offer.because),
        "fix": offer.fix or "",
        "change": bet_words.change(offer),
        "told": bet_words.told_already(offer),
        "proof": bet_words.proof(offer),
        "demoted": bet_words.demotion(offer),
        "wrong if": offer.disproof,
        "open": " ".join(
            f"`hansei show {it.place}`" for it in offer.evidence[: bet_words.EVIDENCE]
        ),
        "bet": bet_words.standing(offer, look, now),
    }
    yield from (f"- **{name}**: {plain(text)}" for name, text in facts.items() if text)


def _change(offer: Offer) -> Iterator[str]:
    yield from fenced(
        offer.change.text, "markdown" if offer.change.design is Design.BRIEF else "text"
    )


def explained(offer: Offer, look: Retrospect, now: int, limit: int) -> Iterator[str]:
    """Everything about one bet."""
    yield f"# {plain(offer.claim)}"
    yield ""
    yield from _facts(offer, look, now)
    yield ""
    yield "## The change"
    yield ""
    yield from _change(offer)
    yield ""
    yield "## Numbers"
    yield ""
    yield "| | | from |"
    yield "|---|---|---|"
    yield from (f"| {name} | {value} | {plain(source)} |" for name, value, source in numbers(offer))
    yield ""
    yield "## Evidence"
    yield ""
    shown = offer.evidence if limit <= 0 else offer.evidence[:limit]
    yield from (
        f"- `hansei show {it.place}`, {output.moment(it.at)}, {output.tokens(it.tokens)} tokens"
        for it in shown
    )
    if len(shown) < len(offer.evidence):
        yield f"- and {len(offer.evidence) - len(shown):,} more"
    yield ""
    yield "## Rules"
    yield ""
    yield from (f"- **{name}**: {rule}" for name, rule in RULES.items())
