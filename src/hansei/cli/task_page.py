"""A bet as a task in Markdown that can be handed to a person or an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.bets.model import Design
from hansei.cli import bet_words, output
from hansei.cli.bet_pages import fenced, plain
from hansei.instructions.targets import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.retro import Offer

PLACES = 10
"""Named in a task; nobody opens more."""


def task(offer: Offer) -> Iterator[str]:
    """What, why, where, how to check it, and what would show that it is wrong."""
    yield f"# {plain(offer.claim)}"
    yield ""
    yield f"Workspace {plain(offer.workspace)}, bet {offer.short}, found by `{offer.heuristic}`."
    yield from _part("Why", [f"- {plain(it)}" for it in _reasons(offer)])
    yield from _part("What to do", list(_work(offer)))
    share = f"{offer.sessions:,} of {output.plural(offer.of_sessions, 'session')}"
    yield from _part(
        "How to check",
        [
            f"- It was seen in {share}; after the change it should be rarer.",
            f"- What is counted: {plain(offer.metric.words)}.",
            f"- {plain(bet_words.proof(offer))[:1].upper()}{plain(bet_words.proof(offer))[1:]}.",
        ],
    )
    yield from _part("What would show that this is wrong", [f"- {plain(offer.disproof)}"])
    shown = offer.evidence[:PLACES]
    places = [f"- `hansei show {it.place}`, {output.moment(it.at)}" for it in shown]
    more = len(offer.evidence) - len(shown)
    if more:
        places.append(f"- and {more:,} more: `hansei retro --explain {offer.short} -n 0`")
    yield from _part("Evidence", places)


def _part(title: str, lines: list[str]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield from lines


def _reasons(offer: Offer) -> Iterator[str]:
    yield from offer.because
    yield f"it costs {bet_words.costs(offer)}"
    if offer.fix:
        yield f"what ended it: `{offer.fix}`"


def _work(offer: Offer) -> Iterator[str]:
    change = offer.change
    if change.design is Design.LINE:
        yield f"Add this line to `{offer.target or DEFAULT}`:"
        yield ""
        yield from fenced(change.text.strip())
        return
    if change.design is Design.REMOVAL:
        yield "Take this out, and nothing else:"
        yield ""
    yield from (line.rstrip() for line in output.safe(change.text).strip().splitlines())
    if change.design is Design.REMOVAL and change.path:
        file, _, name = change.path.partition("#")
        yield ""
        yield f"It lies in `{file}`{f', under `{name}`' if name else ''}."
