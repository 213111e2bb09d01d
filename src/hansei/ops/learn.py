"""What sessions showed that is worth keeping: found, sifted, judged, and ready to be asked about.

Nothing is offered that a skill or an instruction file says already, nor what a person did not want
a short while ago. What is left goes through the gate; only what passes is asked about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from hansei.config import DAY_MS
from hansei.events.keys import digest
from hansei.hook.places import SERVER
from hansei.instructions.census import census
from hansei.learn.known import Known, Written
from hansei.learn.model import State
from hansei.ops import sessions
from hansei.ops.processes import seldom_collecting
from hansei.ops.scope import Scope
from hansei.ops.windows import USUAL_DAYS, grounds, usual
from hansei.projection.spend import QUARTER_MS
from hansei.store import skips
from hansei.store.rows import json_list
from hansei.store.skips import Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.learn.model import Offer, Skill
    from hansei.ops.windows import Ground
    from hansei.store.database import Store

RETURN_DAYS: Final = USUAL_DAYS
"""After these an offer that was not wanted is made again.

By then the sessions that showed it have left the span that is looked at where nobody names one, so
it comes back only if newer ones show it too.
"""
MOST: Final = 5
"""Offers where sessions are named."""
FEW: Final = 3
"""Sessions below which nothing can be said to recur."""


@dataclass(frozen=True)
class Suggestion:
    """An offer with what is known of it here."""

    offer: Offer
    home: int
    """The number of its workspace."""
    workspace: str
    folder: str | None
    """Where the repository is, or was."""
    places: tuple[str, ...]
    """Its evidence as `hansei show` takes it: newest sessions first, one place of each first."""
    natives: tuple[str, ...]
    """The whole names of the sessions that show it."""
    state: State = State.DRAFT
    reasons: tuple[str, ...] = ()
    """Why the gate keeps it back."""
    said: str | None = None
    """The skill or file that says it already."""
    skipped: Skip | None = None
    """That it is not wanted now."""


@dataclass(frozen=True)
class Learned:
    """What a look at some sessions found."""

    scope: Scope
    sessions: int
    first_at: int | None
    last_at: int | None
    among: tuple[str, ...] = ()
    """Sessions that were asked about; none stands for all."""
    suggestions: tuple[Suggestion, ...] = ()
    kept_back: tuple[Suggestion, ...] = ()
    """By the gate: quarantined until a person promotes them, or refused."""
    said: tuple[Suggestion, ...] = ()
    skipped: tuple[Suggestion, ...] = ()


class Verdict(Protocol):
    """What the gate says of an offer."""

    @property
    def state(self) -> State: ...
    @property
    def reasons(self) -> Sequence[str]: ...


class Saved(NamedTuple):
    """What became of an offer that was wanted."""

    name: str
    state: State
    files: tuple[str, ...]
    """Where agents find it from now on, as people write paths."""


class Means(Protocol):
    """What others do for learning."""

    def find(self, ground: Ground) -> Iterable[Offer]:
        """What the sessions of a workspace offer, the best first."""

    def judge(self, ground: Ground, offer: Offer) -> Verdict:
        """Whether an offer may be used."""

    def skills(self, ground: Ground) -> Iterable[Skill]:
        """Every skill that is kept for a workspace."""

    def save(self, found: Suggestion, now: int, *, user: bool) -> Saved:
        """Keep an offer as a skill and put it where agents find it; for `user` everywhere."""


def learn(
    store: Store, scope: Scope, means: Means, home: Path, now: int, among: Sequence[str] = ()
) -> Learned:
    """What the sessions of a scope are worth keeping for; `among` narrows that to what some show.

    `home` is the home folder: what stands in instruction files there is said already.
    """
    with seldom_collecting():
        only = [sessions.find(store, it) for it in among]
        looked = around(store, only) if only else usual(store, scope)
        places = grounds(store, looked, now)
        aside = skips.known(store, [it.number for it in places])
        found = [
            it
            for ground in places
            for it in _sifted(ground, _offers(ground, means, only), means, home, aside, now)
        ]
    return replace(
        _heading(places, looked),
        among=tuple(among),
        suggestions=tuple(it for it in found if _is_open(it)),
        kept_back=tuple(it for it in found if it.state is not State.DRAFT),
        said=tuple(it for it in found if it.said),
        skipped=tuple(it for it in found if it.skipped),
    )


def _is_open(found: Suggestion) -> bool:
    return found.state is State.DRAFT and not found.said and not found.skipped


def around(store: Store, numbers: Sequence[int]) -> Scope:
    """The workspace of sessions, up to their end: what they are more examples of counts too."""
    home, name, ended = store.db.execute(
        "SELECT s.workspace, w.name, max(coalesce(s.ended_at, s.started_at)) FROM sessions s"
        " JOIN workspaces w ON w.id = s.workspace WHERE s.id IN (SELECT value FROM json_each(?))"
        " GROUP BY s.workspace ORDER BY max(s.id) DESC",
        (json_list(numbers),),
    ).fetchone()
    scope = Scope(workspace=home, workspace_name=name)
    if ended is None:
        return usual(store, scope)
    return replace(scope, since=ended - USUAL_DAYS * DAY_MS, until=ended + QUARTER_MS)


def _offers(ground: Ground, means: Means, only: Sequence[int]) -> list[Offer]:
    """What sessions show together; of some, what they are part of, then what they show alone."""
    found = list(means.find(ground))
    if not only:
        return found
    own = {it: ground.window.sessions[it] for it in only if it in ground.window.sessions}
    names = {name for it in own for name in (own[it].name, ground.natives[it])}
    together = [it for it in found if names & {place.session for place in it.evidence}]
    alone = replace(ground, window=replace(ground.window, sessions=own, _rows={}))
    known = {it.key for it in together}
    more = [it for it in means.find(alone) if it.key not in known] if own else []
    return [*together, *more][:MOST]


def _sifted(
    ground: Ground,
    offers: Sequence[Offer],
    means: Means,
    home: Path,
    aside: Mapping[tuple[int, str], Skip],
    now: int,
) -> Iterator[Suggestion]:
    """Each offer with why it is not made, if so; the gate is asked of those that would be."""
    if not offers:
        return
    known = Known(means.skills(ground), _written(ground, home))
    for offer in offers:
        found = _suggestion(ground, offer)
        where = known.where(offer)
        skip = aside.get((ground.number, about(offer)))
        if where is not None:
            yield replace(found, said=where)
        elif skip is not None and not _returns(skip, ground, found, now):
            yield replace(found, skipped=skip)
        else:
            verdict = means.judge(ground, offer)
            yield replace(found, state=verdict.state, reasons=tuple(verdict.reasons))


def about(offer: Offer) -> str:
    """What an offer is remembered by."""
    told = offer.key or "\0".join((offer.detector, offer.name, *offer.commands))
    return digest(told.encode("utf-8", "surrogatepass"))


def _returns(skip: Skip, ground: Ground, found: Suggestion, now: int) -> bool:
    """Whether an offer that was not wanted is made again: time has passed, or it doubled.

    It has doubled when as many sessions have begun since as had shown it then.
    """
    if skip.for_ever:
        return False
    numbers = {native: number for number, native in ground.natives.items()}
    started = (ground.window.sessions[numbers[it]].started for it in found.natives)
    since = sum((it or 0) > skip.at for it in started)
    return now - skip.at >= RETURN_DAYS * DAY_MS or since >= max(len(skip.evidence), 1)


def _written(ground: Ground, home: Path) -> Iterator[Written]:
    """Every text that agents are given in the repository, where it still is."""
    if ground.folder is None or not Path(ground.folder).is_dir():
        return
    agents = {it.agent for it in ground.window.sessions.values()}
    for text in census(Path(ground.folder), home=home, agents=agents):
        if text.kind != SERVER:
            yield Written(text.path, text.content)


def _suggestion(ground: Ground, offer: Offer) -> Suggestion:
    window = ground.window.sessions
    numbers = {it.name: number for number, it in window.items()}
    numbers |= {native: number for number, native in ground.natives.items() if number in window}
    placed = sorted(
        {(numbers[it.session], it.event) for it in offer.evidence if it.session in numbers},
        key=lambda it: (-(window[it[0]].started or 0), it[0], it[1]),
    )
    first: dict[int, int] = {}
    for session, event in placed:
        first.setdefault(session, event)
    spread = [*first.items(), *(it for it in placed if first[it[0]] != it[1])]
    return Suggestion(
        offer=offer,
        home=ground.number,
        workspace=ground.name,
        folder=ground.folder,
        places=tuple(f"{window[session].name}#{event}" for session, event in spread),
        natives=tuple(ground.natives[session] for session in first),
    )


def _heading(places: Sequence[Ground], scope: Scope) -> Learned:
    found = [it for ground in places for it in ground.window.sessions.values()]
    started = [it.started for it in found if it.started is not None]
    ended = [it.ended for it in found if it.ended is not None]
    return Learned(
        scope=scope,
        sessions=len(found),
        first_at=min(started, default=None),
        last_at=max([*started, *ended], default=None),
    )


# --- what a person answers ------------------------------------------------------------------------


def skip(store: Store, found: Suggestion, now: int, *, for_ever: bool) -> None:
    """Remember that an offer is not wanted, for a while or for ever."""
    with store.transaction() as db:
        skips.keep(
            db, Skip(found.home, about(found.offer), now, for_ever, tuple(sorted(found.natives)))
        )


def reset_skips(store: Store, workspace: int | None) -> int:
    """Have everything offered again in a workspace, or in all; returns how many were skipped."""
    with store.transaction() as db:
        return skips.reset(db, workspace)
