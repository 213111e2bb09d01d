"""Every request with what it was billed by kind of input: it tells caches and models apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Compaction, Notice, RequestUsage, SlashCommand

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.events.model import AnyEvent
    from hansei.projection.exchanges import Conversation, Exchange
    from hansei.store.reading import Numbered

TOOLS_CHANGED: Final = "deferred_tools_delta"
SERVERS_CHANGED: Final = "mcp_instructions_delta"
_NOTICES: Final = frozenset({TOOLS_CHANGED, SERVERS_CHANGED})
"""Notices that say that there are other tools now."""


class Paid(NamedTuple):
    """One request, as its agent told it; None is unknown."""

    seq: int
    """Where its answer begins."""
    at: int | None
    model: str | None
    tier: str | None
    input: int | None
    cache_read: int | None
    cache_write_5m: int | None
    cache_write_1h: int | None
    output: int | None
    compacted: bool
    """Whether the context was replaced since the request before."""
    since: tuple[str, ...]
    """What was done to the agent program since the request before: `/model`, other tools."""

    @property
    def written(self) -> int:
        """Tokens that were written to a cache."""
        return (self.cache_write_5m or 0) + (self.cache_write_1h or 0)

    @property
    def context(self) -> int:
        """All input, cached or not."""
        return (self.input or 0) + (self.cache_read or 0) + self.written

    def usage(self, **other: int | str | None) -> RequestUsage:
        """The same request, to be priced; `other` says what would have been different."""
        told = self._asdict() | other
        for name in ("seq", "compacted", "since"):
            del told[name]
        return RequestUsage(key=0, session="", **told)


def paid(talk: Conversation) -> list[Paid]:
    """The requests that were answered and tell what they took, in order."""
    return [
        _row(exchange, exchange.usage)
        for exchange in talk.exchanges
        if exchange.answers and exchange.usage is not None
    ]


def _row(exchange: Exchange, usage: RequestUsage) -> Paid:
    return Paid(
        seq=exchange.answers[0].seq,
        at=usage.at,
        model=usage.model,
        tier=usage.tier,
        input=usage.input,
        cache_read=usage.cache_read,
        cache_write_5m=usage.cache_write_5m,
        cache_write_1h=usage.cache_write_1h,
        output=usage.output,
        compacted=any(isinstance(it.event, Compaction) for it in exchange.inputs),
        since=tuple(_done(exchange.inputs)),
    )


def _done(inputs: Iterable[Numbered]) -> list[str]:
    names = (_name(it.event) for it in inputs)
    return list(dict.fromkeys(name for name in names if name is not None))


def _name(event: AnyEvent) -> str | None:
    if isinstance(event, SlashCommand):
        return "/" + event.name.removeprefix("/")
    return event.name if isinstance(event, Notice) and event.name in _NOTICES else None
