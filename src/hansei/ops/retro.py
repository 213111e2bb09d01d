"""The look back that every front end shows: ranked bets, joined with what was said of them before.

A bet that was dismissed, or whose change was taken back, returns when as many new sessions show it
as had shown it then: the evidence has doubled. One whose change is in place is not proposed again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.counting import about, discounted, rank
from hansei.bets.model import Category, Design, Range, State
from hansei.config import DAY_MS
from hansei.experiments.statistics.foretelling import sessions_to_tell
from hansei.instructions import sizes
from hansei.instructions.already import already
from hansei.instructions.findings import findings
from hansei.ops.calibration import calibrations
from hansei.ops.processes import seldom_collecting
from hansei.ops.windows import grounds, usual
from hansei.retro.catalogue import HEURISTICS
from hansei.retro.retro import distinct, look_back, short_list
from hansei.store import bets as memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hansei.bets.model import Bet, Chances, Change, Metric
    from hansei.instructions.findings import Finding as Fault
    from hansei.ops.calibration import Calibration
    from hansei.ops.judging import Counted
    from hansei.ops.scope import Scope
    from hansei.ops.windows import Ground
    from hansei.retro.calibration import Score
    from hansei.retro.contract import Heuristic
    from hansei.store.bets import Kept
    from hansei.store.database import Store

SHORTEST_ID: Final = 4
"""Letters of an id that are shown, more where two bets begin alike."""
_IN_PLACE: Final = frozenset({State.APPLIED, State.KEPT})
_REFUSED: Final = frozenset({State.DISMISSED, State.REVERTED})


@dataclass(frozen=True)
class Shown:
    """One place that shows it."""

    place: str
    """As `hansei show` takes it."""
    session: str
    at: int | None
    tokens: int | None
    minutes: float | None


@dataclass(frozen=True)
class Offer:
    """A bet as people and programs are shown it."""

    rank: int
    id: str
    short: str
    """As much of the id as tells it from the others."""
    workspace: str
    state: State
    first_shown: int | None
    decided_at: int | None
    reason: str | None
    returned: bool
    """Whether it was refused before and the evidence has doubled since."""
    heuristic: str
    category: Category
    claim: str
    because: tuple[str, ...]
    fix: str | None
    change: Change
    target: str | None
    """The file that the change is about; of a line the instruction file that fits best here."""
    told_at: str | None
    """File and line of an instruction that says so already; None where none is known to."""
    effort_minutes: float
    disproof: str
    metric: Metric
    sessions: int
    of_sessions: int
    sessions_to_tell: int | None
    """With a coin, both arms together; None where experiments would hardly ever tell."""
    tokens: int | None
    untold: int
    minutes: float | None
    weekly: Range | None
    change_tokens: int | None
    rent: int | None
    net: int | None
    confidence: float
    score: float
    last_at: int | None
    days: int
    """Active days on which it happened."""
    silent_days: int
    """Active days since."""
    chances: Chances | None
    """Who could have run into it, before and since; None where that cannot be told."""
    active_days: int
    weeks: float
    """How long the workspace was looked at: from the first session's day to the last one's."""
    evidence: tuple[Shown, ...]
    """The newest sessions first, one place of each before a second one."""
    about: str
    home: int
    """The number of its workspace."""
    calibration: Score | None
    """What became of its heuristic's earlier bets here; None where none was tested."""
    demoted: str | None
    """Why it ranks lower than its own evidence would have it."""


@dataclass(frozen=True)
class Retrospect:
    """A look back."""

    workspace: str | None
    first_at: int | None
    last_at: int | None
    asked: bool
    """Whether a person named the span of time."""
    sessions: int
    drivers: dict[str, int]
    active_days: int
    weeks: float
    requests: int
    tokens: int | None
    cost_nanodollars: int | None
    unpriced_requests: int
    offers: tuple[Offer, ...]
    """The short list, then the others by score."""
    short: int
    """How many of them are the short list."""
    put_aside: tuple[Offer, ...]
    """Refused or in place: not proposed."""
    faults: tuple[Fault, ...]
    """What the instruction files of a repository say twice or against one another, as they are now.
    It is no bet: no session can be searched for it."""
    shown_before: int | None
    """When a list of this place was first shown; None if never."""
    scope: Scope
    """With the span that was looked at."""


class Found(NamedTuple):
    ground: Ground
    bet: Bet
    kept: Kept | None
    score: Score | None


def retro(
    store: Store,
    scope: Scope,
    now: int,
    heuristics: Sequence[Heuristic] = HEURISTICS,
    *,
    progress: Callable[[Counted], None] | None = None,
) -> Retrospect:
    """What is worth changing, best first, in each workspace of a scope."""
    with seldom_collecting():
        told = calibrations(store, scope, now, heuristics, progress=progress)
        return _retro(store, scope, now, heuristics, {it.home: it for it in told})


def _retro(
    store: Store,
    scope: Scope,
    now: int,
    heuristics: Sequence[Heuristic],
    told: Mapping[int, Calibration],
) -> Retrospect:
    looked = usual(store, scope)
    places = grounds(store, looked, now)
    known = memory.known(store, [it.number for it in places])
    found = [
        _found(ground, bet, known.get((ground.number, about(bet.finding))), told)
        for ground in places
        for bet in look_back(ground.window, ground.frame, size, heuristics)
    ]
    found.sort(key=lambda it: rank(it.bet))
    open_ones = _open(found)
    by_id = {it.bet.id: it for it in open_ones}
    best = [by_id.pop(bet.id) for bet in short_list([it.bet for it in open_ones])]
    ordered = [*best, *by_id.values(), *(it for it in found if _is_aside(it))]
    letters = _letters([it.bet.id for it in ordered])
    offers = [_offer(it, place, letters) for place, it in enumerate(ordered, 1)]
    return replace(
        _heading(places, looked, asked=looked is scope),
        offers=tuple(offers[: len(open_ones)]),
        short=len(best),
        put_aside=tuple(offers[len(open_ones) :]),
        faults=tuple(findings(places[0].texts)) if len(places) == 1 else (),
        shown_before=min((it.first_shown for it in known.values()), default=None),
    )


def size(text: str) -> int:
    """Tokens of a text, derived."""
    return sizes.size(text).tokens


def _found(ground: Ground, bet: Bet, kept: Kept | None, told: Mapping[int, Calibration]) -> Found:
    """A bet with what is known of it.

    It keeps its name, also where its workspace is known by another one now, and counts for less
    where its heuristic does not predict.
    """
    calibration = told.get(ground.number)
    score = None if calibration is None else calibration.of(bet.finding.heuristic)
    named = bet if kept is None else replace(bet, id=kept.id)
    return Found(ground, named if score is None else discounted(named, score.trust), kept, score)


def _open(ranked: Sequence[Found]) -> list[Found]:
    """What is proposed. Of two bets about the same places one is, unless the other was refused.

    A change that is in place is about its places before any other, however well that ranks.
    """
    left = [it for it in ranked if not _is_refused(it)]
    left.sort(key=lambda it: not _is_in_place(it))
    kept = {it.id for it in distinct([it.bet for it in left])}
    return [it for it in left if it.bet.id in kept and not _is_in_place(it)]


def _is_aside(found: Found) -> bool:
    return _is_in_place(found) or _is_refused(found)


def _is_in_place(found: Found) -> bool:
    return found.kept is not None and found.kept.state in _IN_PLACE


def _is_refused(found: Found) -> bool:
    return found.kept is not None and found.kept.state in _REFUSED and not _doubled(found)


def _doubled(found: Found) -> bool:
    """Whether as many sessions have begun since it was refused as had shown it then."""
    bet, kept = found.bet, found.kept
    if kept is None or kept.decided_at is None:
        return False
    started = found.ground.frame.started
    affected = {it.session for it in bet.finding.occurrences}
    since = sum((started.get(it) or 0) > kept.decided_at for it in affected)
    return since >= max(len(kept.evidence), 1)


def _letters(ids: Sequence[str]) -> int:
    for count in range(SHORTEST_ID, max(map(len, ids), default=SHORTEST_ID)):
        if len({it[:count] for it in ids}) == len(set(ids)):
            return count
    return max(map(len, ids), default=SHORTEST_ID)


def _offer(found: Found, place: int, letters: int) -> Offer:
    ground, bet, kept, score = found
    finding = bet.finding
    state = State.PROPOSED if kept is None else State(kept.state)
    refused = state in _REFUSED or (state is State.PROPOSED and kept is not None)
    returned = refused and kept is not None and bool(kept.decided_at) and not _is_aside(found)
    return Offer(
        rank=place,
        id=bet.id,
        short=bet.id[:letters],
        workspace=ground.name,
        state=State.PROPOSED if returned else state,
        first_shown=None if kept is None else kept.first_shown,
        decided_at=None if kept is None else kept.decided_at,
        reason=None if kept is None else kept.reason,
        returned=returned,
        heuristic=finding.heuristic,
        category=finding.category,
        claim=finding.claim,
        because=finding.because,
        fix=finding.fix,
        change=finding.change,
        target=_target(finding.change, ground),
        told_at=_told_at(finding.change, ground),
        effort_minutes=finding.effort,
        disproof=finding.disproof,
        metric=finding.metric,
        sessions=bet.sessions,
        of_sessions=bet.of_sessions,
        sessions_to_tell=sessions_to_tell(bet.sessions / (bet.of_sessions or bet.sessions or 1)),
        tokens=bet.total,
        untold=bet.untold,
        minutes=bet.minutes,
        weekly=bet.weekly,
        change_tokens=bet.size,
        rent=bet.rent,
        net=bet.net,
        confidence=bet.confidence,
        score=bet.score,
        last_at=bet.last_at,
        days=len(bet.days),
        chances=bet.finding.chances,
        silent_days=bet.silent,
        active_days=ground.frame.active_days,
        weeks=ground.frame.weeks,
        evidence=tuple(_evidence(ground, bet)),
        about=about(finding),
        home=ground.number,
        calibration=score,
        demoted=(score.reason or None) if score is not None else None,
    )


def _target(change: Change, ground: Ground) -> str | None:
    if change.path is not None or change.design is not Design.LINE:
        return change.path
    return ground.instruction_file


def _told_at(change: Change, ground: Ground) -> str | None:
    if change.design is not Design.LINE:
        return None
    said = already(change.text, ground.said)
    return None if said is None else f"{said.path}:{said.line}"


def _evidence(ground: Ground, bet: Bet) -> Iterable[Shown]:
    sessions = ground.window.sessions
    found = sorted(
        set(bet.finding.occurrences),
        key=lambda it: (-(sessions[it.session].started or 0), it.session, it.seq),
    )
    first: dict[int, int] = {}
    for it in found:
        first.setdefault(it.session, it.seq)
    spread = [it for it in found if first[it.session] == it.seq]
    spread += [it for it in found if first[it.session] != it.seq]
    return (
        Shown(
            place=f"{sessions[it.session].name}#{it.seq}",
            session=ground.natives[it.session],
            at=sessions[it.session].started,
            tokens=it.tokens,
            minutes=it.minutes,
        )
        for it in spread
    )


def _heading(places: Sequence[Ground], scope: Scope, *, asked: bool) -> Retrospect:
    """What was looked at, with no bets yet."""
    sessions = [it for ground in places for it in ground.window.sessions.values()]
    started = [it.started for it in sessions if it.started is not None]
    ended = [it.ended for it in sessions if it.ended is not None]
    tokens = [it.tokens for it in sessions if it.tokens is not None]
    costs = [it.cost_nanodollars for it in places if it.cost_nanodollars is not None]
    days = {at // DAY_MS for at in started}
    drivers = Counter(it.driver or "unknown" for it in sessions)
    return Retrospect(
        workspace=scope.workspace_name,
        first_at=min(started, default=None),
        last_at=max([*started, *ended], default=None),
        asked=asked,
        sessions=len(sessions),
        drivers=dict(sorted(drivers.items(), key=lambda it: (-it[1], it[0]))),
        active_days=len(days),
        weeks=(max(days) - min(days) + 1) / 7 if days else 0.0,
        requests=sum(it.requests for it in sessions),
        tokens=sum(tokens) if tokens else None,
        cost_nanodollars=sum(costs) if costs else None,
        unpriced_requests=sum(it.unpriced_requests for it in places),
        offers=(),
        short=0,
        put_aside=(),
        faults=(),
        shown_before=None,
        scope=scope,
    )
