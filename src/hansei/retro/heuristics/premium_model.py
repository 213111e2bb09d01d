"""Small sessions on a dear model, in a workspace whose larger work is done with a cheaper one.

Small is a session of a person with one or two short prompts, a dozen requests at most, no subagents
and next to no edits. What it would have cost is counted by pricing the very same tokens at the
model that most other sessions of people use there, of the same provider; no other model is looked
at. Tokens stay what they are, so none are counted: the saving is money. Floor: three such sessions,
a dollar, and half of the price.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.projection.small_sessions import main_model, small_sessions
from hansei.projection.wording import counted, dollars, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.small_sessions import Small
    from hansei.projection.window import Window

_A_DOLLAR: Final = 1_000_000_000


class _Usual(NamedTuple):
    model: str
    sessions: int


@dataclass(frozen=True)
class PremiumModel:
    """Knobs: how often, and what the difference must be."""

    name: str = "premium-model"
    sessions: int = 3
    """Twice is chance; and so many have to be done with the cheaper model for it to be usual."""
    nanodollars: int = _A_DOLLAR
    """In all; below, nobody would change a habit."""
    share: float = 0.5
    """Of the price that must fall away: for less it is not worth a thought."""
    effort: float = 5
    """Minutes to set a default and to remember it."""

    def find(self, window: Window) -> Iterator[Finding]:
        small = small_sessions(window)
        found: dict[tuple[str, str], list[Small]] = defaultdict(list)
        for it in small:
            found[window.sessions[it.session].agent, it.model].append(it)
        work = window.sessions.keys() - {it.session for it in small}
        for (agent, model), told in sorted(found.items()):
            usual = _usual(window, agent, work)
            if len(told) < self.sessions or usual is None or usual.sessions < self.sessions:
                continue
            cost, then = _cost(window, told, None), _cost(window, told, usual.model)
            if cost is None or then is None or not _alike(window, model, usual.model):
                continue
            if cost - then >= max(self.nanodollars, self.share * cost):
                yield self._finding(model, told, cost, then, usual)

    def _finding(
        self, model: str, told: Sequence[Small], cost: int, then: int, usual: _Usual
    ) -> Finding:
        dear, cheap = quoted(model), quoted(usual.model)
        because = (
            (
                f"{counted(len(told), 'session')} of at most two short prompts and hardly an edit "
                f"cost {dollars(cost)} with {dear}"
            ),
            (
                f"the same tokens cost {dollars(then)} with {cheap}, which does most other work "
                f"here ({usual.sessions} sessions)"
            ),
        )
        return Finding(
            heuristic=self.name,
            key=model,
            claim=f"Small sessions run on {dear}: {cheap} would have cost {dollars(cost - then)} "
            f"less in {len(told)} of them",
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, None) for it in told),
            change=Change(
                Design.BRIEF,
                f"# Use {cheap} for questions and small changes\n\n"
                + "".join(f"- {it}\n" for it in because)
                + f"\nMake {cheap} what sessions begin with, and choose {dear} for work that needs "
                "it; or begin a quick question with that model named on the command line.\n",
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"the same questions take {cheap} so many more requests that the price is as "
            "high, or its answers are not good enough",
            metric=Metric(Fact.PREMIUM, model),
        )


def _usual(window: Window, agent: str, work: Iterable[int]) -> _Usual | None:
    """The model of most sessions of people that were not small."""
    used = Counter(
        name
        for session in work
        if window.sessions[session].agent == agent and window.sessions[session].is_persons
        if (name := main_model(window, session)) is not None
    )
    if not used:
        return None
    name = min(used, key=lambda it: (-used[it], it))
    return _Usual(name, used[name])


def _cost(window: Window, told: Iterable[Small], model: str | None) -> int | None:
    """Nano-dollars of sessions, as they were or with another model; None where not all tell."""
    found = 0
    for it in told:
        for paid in window.paid[it.session]:
            if paid.model != it.model:
                continue
            usage = paid.usage() if model is None else paid.usage(model=model, tier=None)
            cost = window.prices.cost(usage)
            if cost is None:
                return None
            found += cost
    return found


def _alike(window: Window, one: str, other: str) -> bool:
    """Whether two models are the same provider's: their tokens are alike, and both can be had."""
    rows = window.prices.known((one, other))
    providers = {it.model: it.provider for it in rows}
    return providers.get(one) is not None and providers.get(one) == providers.get(other)
