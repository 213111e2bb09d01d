"""Helpful and harmful, counted from what came next and from nobody's opinion.

Exposed: the text was in force in a session. Triggered: a call met its `when`. Followed: its `do`
was run then, or instead. Violated: its `avoid` was done, or the failure it is about came again
without its `do`. What came of following it is the session's vote; a session and all it started has
one. Sessions in which it was not exposed, or had no occasion, have none. Votes halve with age, and
a skill is unproven until enough of them agree on something.

What is counted goes along with a skill; only an experiment that threw a coin may say more. The same
facts, versions and clock give the same bytes.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from hansei.config import DAY_MS
from hansei.events.model import Status
from hansei.learn import matching
from hansei.learn.matching import Call, Done
from hansei.learn.model import Evidence
from hansei.projection.failures import Kind, Refuser

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.learn.model import Predicates, Skill
    from hansei.projection.window import Window

It = TypeVar("It", Call, Done)
Told: TypeAlias = "tuple[Reason, Call | None]"
HALF_LIFE_DAYS: Final = 90
"""A quarter of a year: by then commands, tools and models of a repository have changed."""
SUPPORT: Final = 3
"""Sessions that must tell helpful from harmful before either is said: two may be chance."""
LEAST_WEIGHT: Final = SUPPORT / 2
"""What they must weigh together: three sessions of today weigh 3, of a quarter ago half of it."""
Z: Final = 1.2815515655446004
"""Of the normal distribution, for an interval that holds four times out of five."""
EVEN: Final = 0.5


class How(StrEnum):
    """How a skill's text was before an agent, from the least of it to all."""

    LISTED = "listed"  # its name and what it is for
    BLOCK = "block"  # in a managed block of an instruction file
    DELIVERED = "delivered"  # by a hook, when the session began
    LOADED = "loaded"  # read whole


class Exposure(NamedTuple):
    """A skill that was in force in a session."""

    session: int
    version: int
    how: How
    since: int = 0
    """The event from which on; 0: from the start."""


class Vote(StrEnum):
    """What a session says of a skill."""

    HELPFUL = "helpful"
    HARMFUL = "harmful"
    NEUTRAL = "neutral"


class Reason(StrEnum):
    """What a vote rests on, in words."""

    WORKED = "what it asks for worked"
    PASSED = "its check passed"
    SPARED = "what it is about did not come again"
    FAILED = "what it asks for failed"
    CHECK_FAILED = "its check failed"
    RECURRED = "what it is about came again all the same"
    CORRECTED = "a person corrected what it asked for"
    DECLINED = "a person refused what it asked for"
    UNTOLD = "nothing tells how it ended"
    UNHEEDED = "it was not followed"


AGAINST: Final = frozenset(
    (Reason.FAILED, Reason.CHECK_FAILED, Reason.RECURRED, Reason.CORRECTED, Reason.DECLINED)
)
SPEAKING: Final = frozenset((Reason.WORKED, Reason.PASSED, Reason.SPARED))


class Standing(StrEnum):
    """What may be said of a skill."""

    UNPROVEN = "unproven"
    HELPFUL = "helpful"
    HARMFUL = "harmful"
    MIXED = "mixed"


@dataclass(frozen=True)
class Because:
    """A reason and the event that shows it."""

    reason: Reason
    event: Evidence | None = None


@dataclass(frozen=True)
class Case:
    """One session, with all it started, in which a skill was exposed."""

    session: str
    started: int | None
    version: int
    how: tuple[How, ...]
    triggered: tuple[Evidence, ...]
    followed: tuple[Evidence, ...]
    violated: tuple[Evidence, ...]
    vote: Vote | None
    """None where there was no occasion."""
    reasons: tuple[Because, ...]
    weight: float


@dataclass(frozen=True)
class Share:
    """How many of the voting sessions, and of which share they speak."""

    sessions: int
    weight: float
    low: float | None
    """Of the share, four times out of five; None where no session votes."""
    high: float | None


@dataclass(frozen=True)
class Tally:
    """Sessions counted; a number is None where nothing in the skill lets a machine tell."""

    version: int | None
    """None: all versions."""
    exposed: int
    loaded: int
    triggered: int | None
    followed: int | None
    violated: int | None
    helpful: Share
    harmful: Share
    neutral: Share
    standing: Standing
    why: str
    """What the standing rests on, or lacks."""


@dataclass(frozen=True)
class Counters:
    """All that sessions tell of one skill."""

    name: str
    total: Tally
    versions: tuple[Tally, ...]
    cases: tuple[Case, ...]
    """Sessions in which it was exposed, the latest first."""
    unexposed: int
    """Sessions in which it would have applied and is known not to have been exposed."""
    unknown: int
    """Sessions in which it would have applied and nobody knows what was in force."""


class _Facts(NamedTuple):
    """What one version of a skill is compared with, by session."""

    triggered: Mapping[int, Sequence[Call]]
    followed: Mapping[int, Sequence[Done]]
    avoided: Mapping[int, Sequence[Call]]
    recurred: Mapping[int, Sequence[Call]]
    checked: Mapping[int, Sequence[Done]]


class _Session(NamedTuple):
    """How a skill fared in one session."""

    exposure: Exposure
    triggered: tuple[Call, ...]
    followed: tuple[Done, ...]
    violated: tuple[Call, ...]
    reasons: tuple[Told, ...]


def counters(
    window: Window,
    versions: Sequence[Skill],
    exposures: Iterable[Exposure],
    unknown: Collection[int],
    now: int,
) -> Counters:
    """What the sessions of a window tell of a skill, by the version that was in force.

    `versions` are all of one skill, oldest first; `unknown` are sessions of which nobody knows what
    was in force.
    """
    facts = {it.version: _facts(window, it) for it in versions}
    known = {it.version: it for it in versions}
    there = [it for it in exposures if it.session in window.sessions and it.version in facts]
    by_family: dict[int, list[_Session]] = defaultdict(list)
    for exposure in _first(there):
        found = _fared(window, known[exposure.version], facts[exposure.version], exposure)
        by_family[window.task(exposure.session)].append(found)
    ways = _ways(there)
    cases = [_case(window, family, own, ways, now) for family, own in sorted(by_family.items())]
    cases.sort(key=lambda it: (-(it.started or 0), it.session))
    told = [_tally(known[number], cases, number) for number in sorted(known)]
    last = versions[-1]
    missed = {it.session for it in matching.triggers(window, last)} - ways.keys()
    return Counters(
        name=last.name,
        total=_tally(last, cases, None),
        versions=tuple(it for it in told if it.exposed),
        cases=tuple(cases),
        unexposed=window.tasks(missed - set(unknown)),
        unknown=window.tasks(missed & set(unknown)),
    )


# --- one session ----------------------------------------------------------------------------------


def _first(exposures: Iterable[Exposure]) -> list[Exposure]:
    """Of each session the version that was in force last, from where it first was."""
    found: dict[int, Exposure] = {}
    for it in sorted(exposures, key=lambda it: (it.session, -it.version, it.since)):
        found.setdefault(it.session, it)
    return list(found.values())


def _ways(exposures: Iterable[Exposure]) -> dict[int, set[How]]:
    found: dict[int, set[How]] = defaultdict(set)
    for it in exposures:
        found[it.session].add(it.how)
    return found


def _facts(window: Window, skill: Skill) -> _Facts:
    return _Facts(
        triggered=_by_session(matching.triggers(window, skill)),
        followed=_by_session(matching.follows(window, skill)),
        avoided=_by_session(matching.avoided(window, skill)),
        recurred=_by_session(matching.recurrences(window, skill)),
        checked=_by_session(matching.checks(window, skill)),
    )


def _by_session(found: Iterable[It]) -> dict[int, list[It]]:
    own: dict[int, list[It]] = defaultdict(list)
    for it in found:
        own[it.session].append(it)
    return own


def _fared(window: Window, skill: Skill, facts: _Facts, exposure: Exposure) -> _Session:
    number, since = exposure.session, exposure.since
    triggered = [it for it in facts.triggered.get(number, ()) if it.seq >= since]
    followed = [it for it in facts.followed.get(number, ()) if it.seq >= since]
    avoided = [it for it in facts.avoided.get(number, ()) if it.seq >= since]
    told = skill.predicates
    prevents = bool(told.error or told.avoid) or not matching.is_checkable(told)
    if not prevents:  # only what comes after the occasion follows it
        first = triggered[0].seq if triggered else None
        followed = [it for it in followed if first is not None and it.seq >= first]
    recurred = [it for it in facts.recurred.get(number, ()) if it.seq >= since]
    again = [] if told.avoid else list(_again(recurred, followed))
    left = [it for it in recurred if it not in avoided]
    reasons: list[Told] = []
    if followed:
        reasons = _outcome(window, told, followed, left, facts.checked.get(number, ()))
    elif triggered or avoided:
        reasons = [(Reason.UNHEEDED, (triggered or avoided)[0])]
    violated = tuple(sorted({*avoided, *again}))
    return _Session(exposure, tuple(triggered), tuple(followed), violated, tuple(reasons))


def _again(recurred: Sequence[Call], followed: Sequence[Done]) -> Iterator[Call]:
    """Failures that came a second time, though nobody had done what is asked for in between."""
    for before, after in pairwise(recurred):
        if not any(before.seq < it.seq <= after.seq for it in followed):
            yield after


def _outcome(
    window: Window,
    told: Predicates,
    followed: Sequence[Done],
    recurred: Sequence[Call],
    checked: Sequence[Done],
) -> list[Told]:
    """What came of following it, as far as that is told."""
    first = followed[0].seq
    later = [it for it in recurred if it.seq >= first]
    found = [*_persons(window, followed), *((Reason.RECURRED, it) for it in later[:1])]
    if not later:
        found += _ended(followed, told, Reason.WORKED, Reason.FAILED)
    if told.check and told.check not in told.do:
        after = [it for it in checked if it.seq >= first]
        found += _ended(after, told, Reason.PASSED, Reason.CHECK_FAILED)
    return found or [(Reason.UNTOLD, followed[-1].call)]


def _persons(window: Window, followed: Sequence[Done]) -> Iterator[Told]:
    """What people said to the calls that followed it."""
    calls = {it.call for it in followed}
    for session, row in window.corrections:
        if Call(session, row.about) in calls:
            yield Reason.CORRECTED, Call(session, row.seq)
    for call in sorted(calls):
        row_of = window.failed.get(call)
        refused = row_of is not None and row_of.kind is Kind.DECLINED
        if row_of is not None and refused and row_of.line == Refuser.PERSON:
            yield Reason.DECLINED, call


def _ended(done: Sequence[Done], told: Predicates, well: Reason, badly: Reason) -> Iterator[Told]:
    """How the last of some calls ended, among those that tell.

    Tests that fail tell of the code. They still show that what failed before them no longer does.
    """
    ran = [it for it in done if it.status is not Status.UNKNOWN]
    if not ran:
        return
    last = ran[-1]
    if last.status is Status.OK:
        yield well, last.call
    elif not last.is_check:
        yield badly, last.call
    elif told.error:
        yield Reason.SPARED, last.call
    elif badly is Reason.CHECK_FAILED:
        yield badly, last.call


# --- one vote -------------------------------------------------------------------------------------


def _case(
    window: Window, family: int, own: Sequence[_Session], ways: Mapping[int, set[How]], now: int
) -> Case:
    """A session and what it started, as one."""
    head = window.sessions[family]
    reasons = list(dict.fromkeys(it for found in own for it in found.reasons))
    kinds = {reason for reason, _ in reasons}
    if kinds - {Reason.UNHEEDED}:
        reasons = [it for it in reasons if it[0] is not Reason.UNHEEDED]
    return Case(
        session=head.name,
        started=head.started,
        version=max(it.exposure.version for it in own),
        how=tuple(it for it in How if any(it in ways[found.exposure.session] for found in own)),
        triggered=_events(window, (call for it in own for call in it.triggered)),
        followed=_events(window, (done.call for it in own for done in it.followed)),
        violated=_events(window, (call for it in own for call in it.violated)),
        vote=_vote(kinds),
        reasons=tuple(Because(it, call and _event(window, call)) for it, call in reasons),
        weight=round(weight(head.started, now), 6),
    )


def _vote(kinds: Collection[Reason]) -> Vote | None:
    if not kinds:
        return None
    if AGAINST.intersection(kinds):
        return Vote.HARMFUL
    return Vote.HELPFUL if SPEAKING.intersection(kinds) else Vote.NEUTRAL


def weight(at: int | None, now: int) -> float:
    """What a session of a time counts; one without a time counts as one of a half-life ago."""
    days = HALF_LIFE_DAYS if at is None else max(0, now - at) / DAY_MS
    return float(EVEN ** (days / HALF_LIFE_DAYS))


def _events(window: Window, calls: Iterable[Call]) -> tuple[Evidence, ...]:
    return tuple(_event(window, it) for it in sorted(set(calls)))


def _event(window: Window, call: Call) -> Evidence:
    return Evidence(window.sessions[call.session].name, call.seq)


# --- many -----------------------------------------------------------------------------------------


def _tally(skill: Skill, cases: Iterable[Case], version: int | None) -> Tally:
    own = [it for it in cases if version in (None, it.version)]
    told = skill.predicates
    voting = [it for it in own if it.vote is not None]
    shares = [_share(voting, vote) for vote in Vote]
    standing, why = _standing(skill, own)
    checkable = matching.is_checkable(told)
    warns = bool(told.avoid or told.error)
    return Tally(
        version=version,
        exposed=len(own),
        loaded=sum(How.LOADED in it.how for it in own),
        triggered=sum(bool(it.triggered) for it in own) if checkable else None,
        followed=sum(bool(it.followed) for it in own) if told.do else None,
        violated=sum(bool(it.violated) for it in own) if warns else None,
        helpful=shares[0],
        harmful=shares[1],
        neutral=shares[2],
        standing=standing,
        why=why,
    )


def _share(voting: Sequence[Case], vote: Vote) -> Share:
    own = [it.weight for it in voting if it.vote is vote]
    whole = sum(it.weight for it in voting)
    low, high = interval(sum(own), whole) if voting else (None, None)
    return Share(len(own), round(sum(own), 4), low, high)


def interval(part: float, whole: float) -> tuple[float, float]:
    """Where a share lies four times out of five, by Wilson's rule on weights."""
    if whole <= 0:
        return 0.0, 1.0
    share = min(part / whole, 1.0)
    middle = part + Z * Z / 2
    wide = Z * sqrt(part * (1 - share) + Z * Z / 4)
    low, high = ((middle + it) / (whole + Z * Z) for it in (-wide, wide))
    return round(max(low, 0.0), 4), round(min(high, 1.0), 4)


def _standing(skill: Skill, cases: Sequence[Case]) -> tuple[Standing, str]:
    """What may be said of a skill, by the sessions that tell helpful from harmful."""
    told = skill.predicates
    if not told.do:
        return Standing.UNPROVEN, "it names nothing to do that a machine could look for"
    if not cases:
        return Standing.UNPROVEN, "no session is known to have had it"
    helped = [it.weight for it in cases if it.vote is Vote.HELPFUL]
    harmed = [it.weight for it in cases if it.vote is Vote.HARMFUL]
    tell, whole = len(helped) + len(harmed), sum(helped) + sum(harmed)
    if tell < SUPPORT:
        return Standing.UNPROVEN, f"{tell} of {SUPPORT} sessions needed tell what came of it"
    if whole < LEAST_WEIGHT:
        return Standing.UNPROVEN, "the sessions that tell what came of it are too long ago"
    low, high = interval(sum(helped), whole)
    if low > EVEN:
        return Standing.HELPFUL, f"following it went well in {len(helped)} of {tell} sessions"
    if high < EVEN:
        return Standing.HARMFUL, f"following it went badly in {len(harmed)} of {tell} sessions"
    return Standing.MIXED, f"it went well in {len(helped)} and badly in {len(harmed)} sessions"
