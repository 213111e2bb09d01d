"""Everything that a page about a look back tells: bets with their evidence opened, and the ground.

The bets are those of the terminal. Where the tokens went, what failed and what instructions take
is told of the same sessions; the trend reaches further back, because four weeks make none.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from hansei.config import DAY_MS
from hansei.errors import NotFound
from hansei.ops.calibration import calibrations
from hansei.ops.facts.chosen import choose
from hansei.ops.facts.failures import failures
from hansei.ops.rent import rents
from hansei.ops.retro import retro
from hansei.ops.show import show
from hansei.ops.summary import summary
from hansei.projection.facts.folds import PIECES
from hansei.projection.failures import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.config import Config
    from hansei.ops.calibration import Calibration
    from hansei.ops.facts.chosen import Chosen
    from hansei.ops.facts.failures import FailureLine
    from hansei.ops.rent import Rent
    from hansei.ops.retro import Offer, Retrospect
    from hansei.ops.scope import Scope
    from hansei.ops.summary import Line
    from hansei.store.database import Store
    from hansei.store.reading import Numbered

WEEKS: Final = 12
"""Of the trend: a quarter of a year."""
OPENED: Final = 3
"""Places of a bet that are opened: one convinces, a second shows that it was no chance."""


@dataclass(frozen=True)
class Put:
    """What one kind of text took of the input tokens."""

    kind: str
    billed: int
    """Derived: its tokens, times the requests that carried them."""
    tokens: int
    pieces: int


@dataclass(frozen=True)
class Week:
    """Seven days from a Monday, as billed. None is unknown."""

    monday: str
    days: int
    """On which something was asked."""
    fresh: int
    """Input that was not read from a cache."""
    cached: int
    output: int
    cost_nanodollars: int | None
    unmeasured_requests: int


@dataclass(frozen=True)
class Opened:
    """A place of evidence, as `hansei show` opens it."""

    place: str
    at: int | None
    events: tuple[Numbered, ...]


@dataclass(frozen=True)
class Told:
    """A bet with its evidence."""

    offer: Offer
    opened: tuple[Opened, ...]


@dataclass(frozen=True)
class RetroPage:
    """What is on the page."""

    look: Retrospect
    bets: tuple[Told, ...]
    input_tokens: int | None
    """Measured; what the kinds below add up to, and what no kind is known of."""
    output_tokens: int | None
    put: tuple[Put, ...]
    """Most first."""
    weeks: tuple[Week, ...]
    """Oldest first, those without a session as well."""
    failures: tuple[FailureLine, ...]
    """Of the work itself: what was declined or interrupted is not in it."""
    rents: tuple[Rent, ...]
    calibrations: tuple[Calibration, ...]
    made_at: int


def retro_page(
    store: Store, config: Config, scope: Scope, now: int, *, limit: int | None = None
) -> RetroPage:
    """The look back with all that goes with it; `limit` is how many bets, 0 for all."""
    look = retro(store, scope, now)
    count = look.short if limit is None else limit or len(look.offers)
    chosen = choose(store, look.scope)
    spent = summary(store, look.scope, ()).total.tokens
    given = [it for it in (spent.input, spent.cache_read, spent.cache_write) if it is not None]
    return RetroPage(
        look=look,
        bets=tuple(Told(it, _opened(store, it)) for it in look.offers[:count]),
        input_tokens=sum(given) if given else None,
        output_tokens=spent.output,
        put=_put(chosen),
        weeks=_weeks(store, scope, look.last_at),
        failures=tuple(it for it in failures(chosen) if it.kind == Kind.FAILURE),
        rents=tuple(it for it in rents(store, config, scope) if it.texts),
        calibrations=tuple(it for it in calibrations(store, scope, now) if it.scores),
        made_at=now,
    )


def _opened(store: Store, offer: Offer) -> tuple[Opened, ...]:
    """The first places of a bet; what cannot be opened any more is left out."""
    found = []
    for it in offer.evidence[:OPENED]:
        seq = it.place.rpartition("#")[2]
        try:
            opened = show(store, f"{it.session}#{seq}")
        except NotFound:
            continue
        found.append(Opened(it.place, it.at, tuple(opened.events)))
    return tuple(found)


def _put(chosen: Chosen) -> tuple[Put, ...]:
    billed: dict[str, int] = defaultdict(int)
    tokens: dict[str, int] = defaultdict(int)
    pieces: dict[str, int] = defaultdict(int)
    for _, piece in chosen.rows(PIECES):
        billed[piece.kind] += piece.billed
        tokens[piece.kind] += piece.tokens
        pieces[piece.kind] += 1
    found = [Put(str(kind), billed[kind], tokens[kind], pieces[kind]) for kind in billed]
    return tuple(sorted(found, key=lambda it: (-it.billed, it.kind)))


def _weeks(store: Store, scope: Scope, last: int | None) -> tuple[Week, ...]:
    """The weeks up to the last session; as many as there are, twelve at most."""
    if last is None:
        return ()
    since = scope.since if scope.since is not None else last - WEEKS * 7 * DAY_MS
    told: dict[str, list[Line]] = defaultdict(list)
    for line in summary(store, replace(scope, since=since), ("day",)).lines:
        day = line.labels["day"]
        if day is not None:
            told[_monday(day)].append(line)
    if not told:
        return ()
    first = max(min(told), _back(max(told), WEEKS - 1))
    mondays = [first]
    while mondays[-1] < max(told):
        mondays.append(_back(mondays[-1], -1))
    return tuple(_week(it, told[it]) for it in mondays)


def _monday(day: str) -> str:
    date = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return (date - timedelta(days=date.weekday())).date().isoformat()


def _back(monday: str, weeks: int) -> str:
    return (datetime.fromisoformat(monday) - timedelta(weeks=weeks)).date().isoformat()


def _week(monday: str, days: Sequence[Line]) -> Week:
    tokens = [it.tokens for it in days]
    costs = [it.cost_nanodollars for it in days if it.cost_nanodollars is not None]
    return Week(
        monday=monday,
        days=len(days),
        fresh=sum((it.input or 0) + (it.cache_write or 0) for it in tokens),
        cached=sum(it.cache_read or 0 for it in tokens),
        output=sum(it.output or 0 for it in tokens),
        cost_nanodollars=sum(costs) if costs else None,
        unmeasured_requests=sum(it.unmeasured_requests for it in days),
    )
