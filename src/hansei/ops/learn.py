"""What sessions showed that is worth keeping: found, sifted, judged, and ready to be asked about.

Nothing is offered that a skill or an instruction file says already, nor what a person did not want
a short while ago. What is left goes through the gate; only what passes is asked about.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.counting import USUAL_DAYS
from hansei.config import DAY_MS
from hansei.errors import UsageError
from hansei.events.keys import digest
from hansei.hook.places import SERVER
from hansei.hook.repository import top
from hansei.instructions.census import census
from hansei.instructions.targets import SKILL_FOLDERS
from hansei.learn import gate, offers
from hansei.learn.known import Known, Written
from hansei.learn.model import Scope as Holds
from hansei.learn.model import Skill, State
from hansei.learn.validation import name_from
from hansei.ops import gating, sessions, skills
from hansei.ops.processes import seldom_collecting
from hansei.ops.scope import Scope
from hansei.ops.windows import grounds, usual
from hansei.projection.spend import QUARTER_MS
from hansei.store import reading, skips, workspaces
from hansei.store.rows import json_list
from hansei.store.skips import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.config import Config
    from hansei.events.model import AnyEvent
    from hansei.learn.gate import Reason, Verdict
    from hansei.learn.model import Offer
    from hansei.ops.skills import Desk
    from hansei.ops.windows import Ground
    from hansei.store.database import Store

RETURN_DAYS: Final = USUAL_DAYS
"""After these an offer that was not wanted is made again.

By then the sessions that showed it have left the span that is looked at where nobody names one, so
it comes back only if newer ones show it too.
"""
SECTIONS: Final = {
    "multi-step": "Procedures",
    "error-recovery": "Errors",
    "user-correction": "Corrections",
    "repeated-action": "Commands",
    "explicit-instruction": "Asked for",
}
"""Of the book, by the detector whose finds stand there."""
FEW: Final = 3
"""Sessions from which on most detectors take something for recurring."""


@dataclass(frozen=True)
class Suggestion:
    """An offer with what is known of it here."""

    offer: Offer
    home: int
    """The number of its workspace."""
    workspace: str
    root: Path | None
    """The top of the repository; None where it is not on this machine."""
    places: tuple[str, ...]
    """Its evidence as `hansei show` takes it: newest sessions first, one place of each first."""
    natives: tuple[str, ...]
    """The whole names of the sessions that show it."""
    state: State = State.DRAFT
    reasons: tuple[Reason, ...] = ()
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
    """What a person is asked about; some only their word lets pass (`is_unconfirmed`)."""
    kept_back: tuple[Suggestion, ...] = ()
    """By the gate: quarantined until a person promotes them, or refused."""
    said: tuple[Suggestion, ...] = ()
    skipped: tuple[Suggestion, ...] = ()


class Saved(NamedTuple):
    """What became of an offer that was wanted."""

    name: str
    state: State
    files: tuple[Path, ...]
    """Where agents find it from now on."""


def learn(desk: Desk, scope: Scope, among: Sequence[str] = ()) -> Learned:
    """What the sessions of a scope are worth keeping for; `among` narrows it to what some show."""
    store = desk.store
    with seldom_collecting():
        only = [sessions.find(store, it) for it in among]
        looked = around(store, only) if only else usual(store, scope)
        places = grounds(store, looked, desk.now)
        aside = skips.known(store, [it.number for it in places])
        found = [it for ground in places for it in _sifted(desk, ground, only, aside)]
    return replace(
        _heading(places, looked),
        among=tuple(among),
        suggestions=tuple(it for it in found if _is_open(it)),
        kept_back=tuple(it for it in found if _is_kept_back(it)),
        said=tuple(it for it in found if it.said),
        skipped=tuple(it for it in found if it.skipped),
    )


def _is_open(found: Suggestion) -> bool:
    return not (found.said or found.skipped or _is_kept_back(found))


def _is_kept_back(found: Suggestion) -> bool:
    return found.state is not State.DRAFT and not is_unconfirmed(found)


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


def _found(store: Store, ground: Ground, only: Sequence[int]) -> list[Offer]:
    """What the sessions show; of some, what they show alone or are one more example of."""

    @lru_cache(maxsize=4)  # detectors ask session by session
    def events(session: int) -> dict[int, AnyEvent]:
        return dict(reading.events(store, session))

    def texts(session: int, seq: int) -> AnyEvent | None:
        return events(session).get(seq)

    own = [it for it in only if it in ground.window.sessions]
    found = list(offers.offers(ground.window, texts, of=own))
    names = {name for it in own for name in (ground.window.sessions[it].name, ground.natives[it])}
    return [it for it in found if not only or names & {place.session for place in it.evidence}]


def _sifted(
    desk: Desk, ground: Ground, only: Sequence[int], aside: Mapping[tuple[int, str], Skip]
) -> Iterator[Suggestion]:
    """Each offer with why it is not made, if so; the gate is asked of those that would be."""
    found = _found(desk.store, ground, only)
    if not found:
        return
    root = _root(desk, ground)
    known = Known(_skills(desk.config, root), _written(desk.config, ground, root))
    judge = _Judge(desk.store, ground)
    for offer in found:
        it = _suggestion(ground, root, offer)
        where = known.where(offer)
        skip = aside.get((ground.number, about(offer)))
        if where is not None:
            yield replace(it, said=where)
        elif skip is not None and not _returns(skip, ground, it, desk.now):
            yield replace(it, skipped=skip)
        else:
            verdict = judge.judged(it)
            yield replace(it, offer=verdict.offer, state=verdict.state, reasons=verdict.reasons)


class _Judge:
    """The gate, with the texts of sessions at hand."""

    def __init__(self, store: Store, ground: Ground) -> None:
        self._texts = gating.Texts(store)
        self._natives = {name: ground.natives[it] for name, it in _numbers(ground).items()}

    def judged(self, found: Suggestion) -> Verdict:
        names = {it.session for it in found.offer.evidence} & self._natives.keys()
        return gating.judged(self._texts, found.offer, {it: self._natives[it] for it in names})


def _numbers(ground: Ground) -> dict[str, int]:
    """Sessions by what evidence may call them."""
    window = ground.window.sessions
    return {it.name: number for number, it in window.items()} | {
        ground.natives[number]: number for number in window
    }


def _root(desk: Desk, ground: Ground) -> Path | None:
    """The repository on this machine: where the person stands, else where it was seen."""
    here = top(str(desk.here))
    if here is not None and workspaces.find(desk.store, here) == ground.number:
        return Path(here)
    seen = None if ground.folder is None else Path(ground.folder)
    return seen if seen is not None and seen.is_dir() else None


def _skills(config: Config, root: Path | None) -> list[Skill]:
    """Every skill that is kept for a workspace."""
    if root is None:
        return skills.book_for(config, config.environment.home, Holds.GLOBAL).skills()
    return [skill for _, skill in skills.listed(config, root)[0]]


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


def _written(config: Config, ground: Ground, root: Path | None) -> Iterator[Written]:
    """Every text that agents are given in the repository."""
    if root is None:
        return
    agents = {it.agent for it in ground.window.sessions.values()}
    for text in census(root, home=config.environment.home, agents=agents):
        if text.kind != SERVER:
            yield Written(text.path, text.content)


def _suggestion(ground: Ground, root: Path | None, offer: Offer) -> Suggestion:
    window, numbers = ground.window.sessions, _numbers(ground)
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
        root=root,
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


def is_unconfirmed(found: Suggestion) -> bool:
    """Whether nothing speaks against an offer, but nobody typed it and too few sessions show it."""
    return {it.rule for it in found.reasons if it.stops is not None} == {gate.UNCONFIRMED}


def save(desk: Desk, found: Suggestion, *, user: bool = False, promoted: bool = False) -> Saved:
    """Keep an offer as a skill and put it where agents find it; for `user` everywhere.

    One that the gate quarantined is kept as that, and put nowhere; unless a person looked at it and
    said that it is right, and there is nothing else against it.
    """
    if promoted and is_unconfirmed(found):
        skills.must_be_a_person(desk, "hansei learn")
        found = replace(found, state=State.DRAFT)
    if found.root is None and not user:
        raise UsageError(
            f"the repository of {found.workspace} is not on this machine",
            hint="Run this in a clone of it, or save the skill for you everywhere: --user.",
        )
    there = replace(desk, here=found.root or desk.config.environment.home)
    done = skills.add(there, _skill(there, found, user=user))
    (kept,) = done.skills
    files = tuple(it.root / path for it in done.placed for path in it.paths)
    return Saved(kept.name, kept.state, files)


def _skill(desk: Desk, found: Suggestion, *, user: bool) -> Skill:
    offer = found.offer
    name = name_from(offer.name, _taken(desk))
    return Skill(
        name=name,
        description=offer.description,
        body=offer.body.replace(f"## {offer.name}\n", f"## {name}\n", 1),
        section=SECTIONS.get(offer.detector, "General"),
        state=found.state,
        scope=Holds.GLOBAL if user else Holds.WORKSPACE,
        origin=offer.detector,
        key=offer.key,
        topic=offer.topic,
        action=offer.action,
        predicates=offer.predicates,
        evidence=offer.evidence,
        label=offer.label,
    )


def _taken(desk: Desk) -> set[str]:
    """Names that something here has: skills of our books, readable or not, and of other people."""
    kept, broken = skills.listed(desk.config, desk.here)
    roots = (desk.here, desk.config.environment.home)
    folders = (it for root in roots for folder in SKILL_FOLDERS for it in (root / folder).glob("*"))
    return {
        *(skill.name for _, skill in kept),
        *(problem.path.stem for problem in broken),
        *(it.name for it in folders),
    }


def skip(desk: Desk, found: Suggestion, *, for_ever: bool) -> None:
    """Remember that an offer is not wanted, for a while or for ever."""
    natives = tuple(sorted(found.natives))
    with desk.store.transaction() as db:
        skips.keep(db, Skip(found.home, about(found.offer), desk.now, for_ever, natives))


def reset_skips(store: Store, workspace: int | None) -> int:
    """Have everything offered again in a workspace, or in all; returns how many were skipped."""
    with store.transaction() as db:
        return skips.reset(db, workspace)
