"""What was learned before a day, held against what happened after it and in other workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from hansei.errors import NotFound
from hansei.events.model import Prompt
from hansei.learn import backtest, claims, classic, offers
from hansei.learn.meetings import Later
from hansei.ops.processes import seldom_collecting
from hansei.ops.scope import Scope
from hansei.ops.windows import grounds
from hansei.projection.window import Window
from hansei.store import reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hansei.events.model import AnyEvent
    from hansei.learn.backtest import Again, Split, Tally, Trial
    from hansei.learn.claims import Claim
    from hansei.learn.model import Skill
    from hansei.ops.windows import Ground
    from hansei.store.database import Store


@dataclass(frozen=True)
class Part:
    """A workspace with the day it was split at, and what was claimed from before that day."""

    name: str
    split: Split
    claims: int


@dataclass(frozen=True)
class Side:
    """What some later sessions say of claims."""

    tasks: int
    rows: tuple[Trial, ...]
    whole: Tally
    troubles: Tally
    """Of claims about what goes wrong."""
    doings: Tally
    """Of claims about how something is done."""
    by_detector: Mapping[str, Tally]


@dataclass(frozen=True)
class Report:
    """A back-test."""

    rules: str
    """`ours`, `classic`, or `book` for a skill of the book."""
    parts: tuple[Part, ...]
    after: Side
    elsewhere: Side
    again: Again

    @property
    def tasks_before(self) -> int:
        return sum(it.split.tasks_before for it in self.parts)


@dataclass(frozen=True)
class _World:
    """Every session, and what happened in them."""

    store: Store
    grounds: Mapping[int, Ground]
    later: Later

    @property
    def window(self) -> Window:
        return self.later.window

    def tasks(self, among: Collection[int]) -> int:
        return self.window.tasks(among)


def _world(store: Store, now: int) -> _World:
    places = {it.number: it for it in grounds(store, Scope(), now)}
    sessions = {n: it for ground in places.values() for n, it in ground.window.sessions.items()}
    return _World(store, places, Later(Window(store, sessions, 0, now)))


def mined(
    store: Store,
    now: int,
    workspace: int | None = None,
    *,
    at: int | None = None,
    share: int = backtest.SHARE,
    simple: bool = False,
) -> Report:
    """Offers of the sessions before a day, tested; of one workspace, or of each with its own day.

    Everything else that is stored is another workspace to test on.
    """
    with seldom_collecting():
        world = _world(store, now)
        chosen = [it for it in world.grounds.values() if workspace in (None, it.number)]
        splits = {it.number: backtest.split(it.window, at=at, share=share) for it in chosen}
        found = {
            it.number: list(_claims(store, it, splits[it.number], simple=simple)) for it in chosen
        }
        parts = tuple(Part(it.name, splits[it.number], len(found[it.number])) for it in chosen)
        told = [it for own in found.values() for it in own]
        return _report(world, told, splits, parts, "classic" if simple else "ours")


def of_skill(
    store: Store, now: int, workspace: int, skill: Skill, *, at: int | None = None
) -> Report:
    """A skill of the book, tested on what began after the last session it was made from."""
    with seldom_collecting():
        world = _world(store, now)
        ground = world.grounds.get(workspace)
        if ground is None:
            raise NotFound("no session of this workspace is stored, so nothing can be tested")
        claim = claims.of_skill(ground.window, skill, workspace)
        ends = (ground.window.sessions[it].ended for it in claim.evidence)
        last = max((it for it in ends if it is not None), default=skill.created_at)
        cut = backtest.split(ground.window, at=last + 1 if at is None else at)
        return _report(world, [claim], {workspace: cut}, (Part(ground.name, cut, 1),), "book")


def _report(
    world: _World,
    made: Sequence[Claim],
    splits: Mapping[int, Split],
    parts: tuple[Part, ...],
    rules: str,
) -> Report:
    later = world.later
    after = [backtest.tried(it, later, splits[it.workspace].after) for it in made]
    homes = {it.workspace for it in made}
    others = {home: _others(world, home) for home in homes}
    elsewhere = [backtest.tried(it, later, others[it.workspace]) for it in made]
    among = {it for cut in splits.values() for it in cut.after}
    away = set().union(*others.values())
    return Report(
        rules,
        parts,
        _side(after, world.tasks(among)),
        _side(elsewhere, world.tasks(away)),
        backtest.again(later, splits.values()),
    )


def _others(world: _World, home: int) -> frozenset[int]:
    return frozenset(n for n, it in world.window.sessions.items() if it.workspace != home)


def _side(rows: Sequence[Trial], tasks: int) -> Side:
    names = dict.fromkeys(it.claim.detector for it in rows)
    return Side(
        tasks,
        tuple(rows),
        backtest.tally(rows, tasks),
        backtest.tally([it for it in rows if it.claim.is_trouble], tasks),
        backtest.tally([it for it in rows if not it.claim.is_trouble], tasks),
        {
            name: backtest.tally([it for it in rows if it.claim.detector == name], tasks, rounds=0)
            for name in sorted(names)
        },
    )


def _claims(store: Store, ground: Ground, cut: Split, *, simple: bool) -> Iterator[Claim]:
    """What would have been offered on the day of the split, knowing nothing of what came after."""
    whole = ground.window
    known = {number: it for number, it in whole.sessions.items() if number in cut.before}
    if not known:
        return
    window = Window(store, known, since=whole.since, until=cut.at or whole.until)
    if simple:
        yield from _simple(store, window, ground.number)
        return

    @lru_cache(maxsize=4)  # detectors ask session by session
    def events(session: int) -> dict[int, AnyEvent]:
        return dict(reading.events(store, session))

    def texts(session: int, seq: int) -> AnyEvent | None:
        return events(session).get(seq)

    for offer in offers.offers(window, texts):
        yield claims.of_offer(window, offer, ground.number)


def _simple(store: Store, window: Window, workspace: int) -> Iterator[Claim]:
    for number, session in window.sessions.items():
        told = list(reading.events(store, number))
        prompts = {(number, it.seq): it.event.text for it in told if isinstance(it.event, Prompt)}
        for offer in classic.offers(session.name, classic.transcript(told)):
            yield claims.of_classic(window, offer, workspace, prompts)
