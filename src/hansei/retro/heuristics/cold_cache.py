"""Contexts that are paid for again because the cache was lost: after pauses, or by switching.

A provider forgets a context after minutes, and at once when another model is asked or the tools
change. The next request then pays for all of it as for new text, ten times the price of reading it
or more. Counted are the tokens that the request before had carried and that were billed as new, as
the requests tell them. Each cause is its own bet, because each has another remedy: a cache that is
kept for an hour, a fresh session for what is new after a long pause, or no switch in the middle. A
cause that nothing tells is no bet, and neither is going on after a pause with what was under way.
Floor: five times in two sessions on two days, and 200,000 tokens.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.hook.switches import cache_for_an_hour
from hansei.projection.cold import LONG, MINUTE, Cold, Why, cold, kind_of
from hansei.projection.wording import amount, counted, dollars, most, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.events.model import RequestUsage
    from hansei.projection.window import Window


class _Words(NamedTuple):
    claim: str
    brief: str
    disproof: str


@dataclass(frozen=True)
class ColdCache:
    """Knobs: how often it must happen, and what it must take."""

    name: str = "cold-cache"
    sessions: int = 2
    """Each with its subagents: one may have been left and taken up again."""
    days: int = 2
    """On one it may have been a day of meetings."""
    times: int = 5
    """Fewer are chance."""
    tokens: int = 200_000
    """Written again in all: about two full contexts."""
    effort: float = 5
    """Minutes to change a setting or to agree on a habit."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Cold]] = defaultdict(list)
        for it in cold(window):
            kind = kind_of(it)
            if kind is not None:
                found[kind].append(it)
        for kind, told in sorted(found.items()):
            if (
                window.tasks(it.session for it in told) >= self.sessions
                and len(window.days_of(it.session for it in told)) >= self.days
                and len(told) >= self.times
                and sum(it.again for it in told) >= self.tokens
            ):
                words = _words(window, kind, told)
                if words is not None:
                    yield self._finding(window, kind, told, words)

    def _finding(self, window: Window, kind: str, told: Sequence[Cold], words: _Words) -> Finding:
        more = _more(window, told)
        gaps = [it.gap for it in told if it.gap is not None]
        seen = f"{counted(len(told), 'request')} found an empty cache"
        if told[0].why is Why.IDLE and gaps:
            seen += f"; half of the pauses before them were longer than {_span(median(gaps))}"
        paid = f"{amount(sum(it.again for it in told))} tokens were billed as new once more"
        because = (seen, paid if more is None else f"{paid}: {dollars(more)} above reading them")
        return Finding(
            heuristic=self.name,
            key=kind,
            claim=words.claim,
            because=because,
            occurrences=tuple(Occurrence(it.session, it.seq, it.again) for it in told),
            change=Change(Design.BRIEF, words.brief + "".join(f"\n- {it}" for it in because)),
            category=Category.FIX,
            effort=self.effort,
            disproof=words.disproof,
            metric=Metric(Fact.COLD, kind),
        )


def _words(window: Window, kind: str, told: Sequence[Cold]) -> _Words | None:
    sessions = len({it.session for it in told})
    again = amount(sum(it.again for it in told))
    if told[0].why is Why.MODEL:
        pairs = most(f"{it.before.model} → {it.paid.model}" for it in told)
        return _Words(
            f"Choose the model before a session begins: switching in the middle wrote {again} "
            f"tokens again in {sessions} sessions ({quoted(pairs)} mostly)",
            "# Switch models between sessions, not in the middle\n\nEvery model has a cache of its "
            "own, so the first request after `/model` pays for the whole context. Start a session "
            "with the model it is for, or give the other part to a subagent with its own model.\n",
            "the sessions needed the other model for what they had in their context",
        )
    if told[0].why is Why.TOOLS:
        what = most(name for it in told for name in it.paid.since)
        return _Words(
            f"Have servers and tools in place before a session begins: {quoted(what)} in the "
            f"middle wrote {again} tokens again in {sessions} sessions",
            "# Switch servers and plug-ins between sessions\n\nTools stand in front of everything "
            "in the context: when one comes or goes, all of it is paid for again. Connect servers "
            "before the first prompt, and take out those that drop their connection.\n",
            "the cache is lost just as often where no tool came or went",
        )
    if kind == "idle short":
        return _an_hour(window, told)
    return _Words(
        f"Begin afresh after a long pause: new requests in old sessions wrote {again} tokens "
        f"again in {sessions} sessions",
        "# After an hour away, begin a new session\n\nNo cache is kept that long, so the first "
        "request pays for the whole old context, and each one after it carries that on. Before you "
        "leave, have the agent write down what is done and what is next; then `/clear` and begin "
        "with that note. Go on with the old session only where its details are still needed.\n",
        "the new sessions read again what the old ones held, for as many tokens",
    )


def _an_hour(window: Window, told: Sequence[Cold]) -> _Words | None:
    """A cache for an hour, where that can be set and would have been cheaper all in all."""
    agents = {window.sessions[it.session].agent for it in told}
    setting = cache_for_an_hour(min(agents)) if len(agents) == 1 else None
    spared = _spared_by_the_hour(window, told, min(agents)) if setting else None
    sessions = len({it.session for it in told})
    if setting is None or spared is None or spared <= 0:
        return None
    return _Words(
        f"Keep the cache for an hour: pauses of more than 5 minutes wrote "
        f"{amount(sum(it.again for it in told))} tokens again in {sessions} sessions",
        "# Keep the prompt cache for an hour\n\nThe cache is kept for 5 minutes here, and people "
        "read and think for longer. Written for an hour it costs more to write and is there after "
        f"a pause. All requests of this workspace priced both ways: {dollars(spared)} less with "
        f"an hour.\n\n{setting}\n",
        "requests after pauses of less than an hour still find nothing in the cache",
    )


def _more(window: Window, told: Sequence[Cold]) -> int | None:
    """Nano-dollars above what reading from the cache would have cost; None where not all tell."""
    found = 0
    for it in told:
        now, then = window.prices.cost(it.paid.usage()), window.prices.cost(_warm(it))
        if now is None or then is None:
            return None
        found += now - then
    return found


def _spared_by_the_hour(window: Window, told: Sequence[Cold], agent: str) -> int | None:
    """Nano-dollars that all of an agent's requests would cost less with a cache for an hour."""
    missed = {(it.session, it.seq): it for it in told}
    found = 0
    for session, rows in window.paid.items():
        if window.sessions[session].agent != agent:
            continue
        for row in rows:
            usage = row.usage()
            lost = missed.get((session, row.seq))
            other = usage if lost is None else _warm(lost)
            written = (other.cache_write_5m or 0) + (other.cache_write_1h or 0)
            hour = row.usage(
                input=other.input,
                cache_read=other.cache_read,
                cache_write_5m=0,
                cache_write_1h=written,
            )
            now, then = window.prices.cost(usage), window.prices.cost(hour)
            if now is not None and then is not None:
                found += now - then
    return found


def _warm(it: Cold) -> RequestUsage:
    """The same request, had the cache been there: what was written or new again was read."""
    left = it.again
    told = {}
    for name in ("cache_write_5m", "cache_write_1h", "input"):
        amount_told = getattr(it.paid, name)
        taken = min(left, amount_told or 0)
        told[name] = None if amount_told is None else amount_told - taken
        left -= taken
    return it.paid.usage(**told, cache_read=(it.paid.cache_read or 0) + it.again - left)


def _span(milliseconds: float) -> str:
    minutes = milliseconds / MINUTE
    if milliseconds < LONG:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.1f} hours"
