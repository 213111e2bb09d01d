"""What a person is shown of bets and decides about them: remembered, and found again by number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hansei.bets.model import State
from hansei.errors import NotFound, UsageError
from hansei.ops.retro import SHORTEST_ID, retro
from hansei.store import bets as memory
from hansei.store.bets import EVERYWHERE, Kept, Listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.ops.retro import Offer, Retrospect
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

_LIST: Final = "`hansei retro` lists them."


def remember(store: Store, look: Retrospect, shown: Sequence[Offer], now: int) -> None:
    """Keep that these bets were shown, in this order; a store that cannot be written keeps none."""
    if not store.writable or not look.sessions:
        return
    known = memory.known(store, {it.home for it in shown})
    with store.transaction() as db:
        for offer in shown:
            kept = known.get((offer.home, offer.about)) or _first(offer, now)
            state = offer.state if offer.returned else kept.state
            memory.keep(db, kept._replace(last_shown=now, state=state))
        ids = tuple(it.id for it in shown)
        times = (look.scope.since, look.scope.until) if look.asked else (None, None)
        memory.keep_list(
            db, _place(look.scope), Listed(now, *times, look.scope.agent, look.scope.driver, ids)
        )


def _first(offer: Offer, now: int) -> Kept:
    return Kept(offer.home, offer.about, offer.id, offer.state, first_shown=now, last_shown=now)


def _place(scope: Scope) -> int:
    return EVERYWHERE if scope.workspace is None else scope.workspace


def offered(
    store: Store, scope: Scope, name: str, now: int, *, anywhere: bool = False
) -> tuple[Retrospect, Offer]:
    """The bet that a person means, and the look back it is of.

    They name it by its number in the list they saw last, or by its id. Where no span of time is
    named, the one of that list is looked at; `anywhere` says that no workspace was named either, so
    that it may be the list over all of them.
    """
    asked, last = _last_seen(store, scope, anywhere=anywhere)
    if last is not None and scope.since is None and scope.until is None:
        asked = replace(
            asked,
            since=last.since,
            until=last.until,
            agent=scope.agent or last.agent,
            driver=scope.driver or last.driver,
        )
    look = retro(store, asked, now)
    if not look.sessions:
        raise NotFound(f"no bet {name!r}: there are no sessions to look at", hint=_LIST)
    return look, find(look, name, () if last is None else last.bets)


def _last_seen(store: Store, scope: Scope, *, anywhere: bool) -> tuple[Scope, Listed | None]:
    """The list that was shown last, and the scope that it is about."""
    here = memory.listed(store, _place(scope))
    over_all = memory.listed(store, EVERYWHERE) if anywhere else None
    if over_all is None or (here is not None and here.at >= over_all.at):
        return scope, here
    return replace(scope, workspace=None, workspace_name=None), over_all


def find(look: Retrospect, name: str, last: Sequence[str] = ()) -> Offer:
    """A bet of a look back; `last` are the ids of the list that numbers speak of."""
    offers = [*look.offers, *look.put_aside]
    if name.isdecimal() and len(name) < SHORTEST_ID:
        ids = last or [it.id for it in look.offers]
        if not 0 < int(name) <= len(ids):
            raise NotFound(f"there is no bet number {name}", hint=_LIST)
        fitting = [it for it in offers if it.id == ids[int(name) - 1]]
    elif len(name) < SHORTEST_ID:
        raise UsageError(
            f"{name!r} is neither a number nor the beginning of an id",
            hint=f"Type at least {SHORTEST_ID} letters of the id, or the number in the list.",
        )
    else:
        fitting = [it for it in offers if it.id.startswith(name.lower())]
    if len(fitting) > 1:
        some = ", ".join(it.id for it in fitting)
        raise NotFound(f"{name!r} fits several bets", hint=f"Type more of it: {some}")
    if not fitting:
        raise NotFound(
            f"no bet {name!r} is found in these sessions (any more)",
            hint=f"{_LIST} --since looks further back.",
        )
    return fitting[0]


def decide(
    store: Store, offer: Offer, state: State, now: int, *, reason: str | None = None
) -> Kept:
    """Remember what a person, or a measurement, decided about a bet."""
    known = memory.known(store, [offer.home]).get((offer.home, offer.about))
    kept = (known or _first(offer, now))._replace(
        state=state,
        decided_at=None if state is State.PROPOSED else now,
        reason=reason,
        claim=offer.claim,
        evidence=tuple(sorted({it.session for it in offer.evidence})),
    )
    with store.transaction() as db:
        memory.keep(db, kept)
    return kept


def restate(store: Store, bet: str, state: State, now: int) -> Kept:
    """Say that a bet, by its whole id, got further or was taken back; it need not be found now."""
    kept = memory.named(store, bet)
    if kept is None:
        raise NotFound(f"nothing is remembered of a bet {bet!r}", hint=_LIST)
    decided = None if state is State.PROPOSED else now
    with store.transaction() as db:
        memory.keep(db, kept._replace(state=state, decided_at=decided))
    return kept
