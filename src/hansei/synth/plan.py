"""Who works when, on what, and what is planted where; no text yet.

Patterns are dealt out by quota and not by chance, so that a small world has each of them too. Only
the rule of the world is left to chance, because it stands for an effect that has to be estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import log
from typing import TYPE_CHECKING, Literal, TypeAlias

from hansei.errors import UsageError
from hansei.synth.dice import dice, fingerprint
from hansei.synth.troubles import ENVIRONMENT, TROUBLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from hansei.synth.story import Driver, Era, Fate

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

SPACING = 150 * SECOND
"""Least time between two starts; room for a short session and a commit after it."""
REST = 60 * SECOND
"""Least time between the end of a session and the next start."""

BROKEN_BEFORE = 0.7
"""Chance that a working session runs tests the wrong way while no rule says otherwise."""
BROKEN_AFTER = 0.15
"""The same chance once the rule stands in the instruction file."""

Kind: TypeAlias = Literal["feature", "fix", "question", "chore"]


@dataclass(frozen=True)
class Developer:
    name: str
    mail: str
    rhythm: Literal["constant", "bursty", "nightly"]


STEADY = Developer("Mira Okafor", "mira@berthline.example", "constant")
BURSTY = Developer("Jonas Lindqvist", "jonas@berthline.example", "bursty")
ROBOT = Developer("Harbour Robot", "robot@berthline.example", "nightly")

SHARES = {BURSTY: 0.38, ROBOT: 0.16}
"""Part of the sessions that are not Mira's."""


@dataclass(frozen=True)
class Span:
    """A sitting: from its start to the moment its work is done."""

    developer: Developer
    start: int
    end: int


@dataclass(frozen=True)
class Outline:
    """A session before it is told."""

    index: int
    key: str
    agent: str
    driver: Driver
    era: Era
    kind: Kind
    sittings: tuple[Span, ...]
    exposed: bool
    """Whether the rule stood in the instruction file."""
    breaks_rule: bool
    patterns: frozenset[str] = frozenset()
    fate: Fate | None = None
    topic: str | None = None
    """What the human corrects in it."""
    fork_of: int | None = None

    @property
    def developer(self) -> Developer:
        return self.sittings[0].developer

    @property
    def in_worktree(self) -> bool:
        """Whether it is done beside the main folder: what is on a branch of its own is."""
        return self.fate == "squashed"

    @property
    def works(self) -> bool:
        """Whether it changes code."""
        return self.kind in {"feature", "fix"}


@dataclass(frozen=True)
class WorldPlan:
    seed: int
    start: int
    outlines: tuple[Outline, ...]
    rule_before: int
    """The rule is committed just before the session of this index."""
    note_before: int


@dataclass(frozen=True)
class Pattern:
    """Something planted in a share of the sessions it fits."""

    name: str
    share: float
    least: int = 1
    fits: Callable[[Outline], bool] = lambda outline: outline.driver == "human"
    within: Literal["world", "agent", "era"] = "world"
    """What the quota is counted in; what an agent writes in its own way is counted per agent."""


def _works(outline: Outline) -> bool:
    return outline.works


PATTERNS: tuple[Pattern, ...] = (
    Pattern("delegate", 0.15, fits=_works, within="era"),
    Pattern("compact", 0.06, within="agent"),
    Pattern("interrupt", 0.08, within="agent"),
    Pattern("decline", 0.06, fits=_works, within="agent"),
    Pattern("copy", 0.03, fits=lambda outline: outline.fork_of is None, within="agent"),
    Pattern(
        "unanswered",
        0.03,
        fits=lambda outline: outline.driver == "automated",
        within="agent",
    ),
    Pattern(
        "put_away",
        0.1,
        fits=lambda outline: outline.driver == "human" and outline.era == "old",
        within="agent",
    ),
    Pattern(
        "spill",
        0.1,
        fits=lambda outline: outline.works and outline.era == "new",
        within="agent",
    ),
    Pattern("slash", 0.12),
    Pattern("queue", 0.06, fits=_works),
    Pattern("reread", 0.3, least=3, fits=_works),
    Pattern("haul", 0.16, least=2, fits=_works),
    Pattern("missed_edit", 0.12, least=2, fits=_works),
    Pattern("decoy", 0.25, least=2, fits=_works),
    Pattern("fetch", 0.05),
    Pattern("consult", 0.05),
    Pattern("skill", 0.2, least=4, fits=_works, within="agent"),
    Pattern("misread", 0.15, least=2, within="agent"),
    Pattern("ask_again", 0.06, within="agent"),
    Pattern("struggle", 0.08, least=3, fits=_works),
    Pattern("routine", 0.1, least=3, fits=_works),
    Pattern("aside", 0.25, least=2, within="agent"),
    Pattern("leak_prompt", 0.04),
    Pattern("leak_output", 0.04),
    Pattern("leak_file", 0.04),
    *(
        Pattern(f"trouble:{trouble.name}", trouble.share, trouble.least, fits=_works)
        for trouble in TROUBLES
    ),
    *(
        Pattern(f"masked:{trouble.name}", trouble.share / 2, fits=_works)
        for trouble in TROUBLES
        if trouble.masked
    ),
    Pattern(
        f"masked:{ENVIRONMENT.name}",
        0.2,
        fits=lambda outline: outline.works and outline.breaks_rule,
    ),
)


GUIDED: tuple[Pattern, ...] = (
    Pattern("guide", 0.9, least=8, fits=_works, within="agent"),
    Pattern("guide:listed", 0.7, fits=lambda outline: outline.era == "new", within="agent"),
)
"""What only worlds have that ask for it."""


def _takes_shape(outline: Outline) -> bool:
    """Whether a slip in its code can be told from what a formatter does."""
    return outline.kind == "feature" and outline.fate != "reformatted"


TOPICS: tuple[tuple[str, float, int, Callable[[Outline], bool]], ...] = (
    ("logger", 0.2, 3, _takes_shape),
    ("environment", 0.12, 1, lambda outline: outline.works and outline.breaks_rule),
    ("cents", 0.08, 1, _takes_shape),
    ("clock", 0.07, 1, _takes_shape),
    ("scope", 0.07, 1, _works),
)
"""What is corrected, in which share of the working sessions, and at least how often."""

FATES: tuple[tuple[Fate, float], ...] = (
    ("reverted", 0.1),
    ("reworked", 0.13),
    ("squashed", 0.12),
    ("reformatted", 0.1),
    ("abandoned", 0.1),
)
"""Shares of the fates other than landing as written."""


def plan_world(
    seed: int,
    now: int,
    sessions: int,
    weeks: int,
    agents: Sequence[str],
    patterns: Sequence[Pattern] = PATTERNS,
) -> WorldPlan:
    """All sessions of a world in outline."""
    if sessions < 1 or weeks < 1 or not agents:
        raise UsageError("a world needs at least one session, one week and one agent")
    start = now - weeks * 7 * DAY
    resumed = max(len(agents), round(sessions * 0.05)) if sessions > len(agents) * 3 else 0
    spans = _spans(dice(seed, "spans"), sessions + resumed, start, now)
    sittings = _resume(dice(seed, "resumes"), spans, resumed)
    rule_before = (len(sittings) + 1) // 2
    outlines = _outlines(seed, sittings, agents, rule_before)
    outlines = _deal(seed, outlines, patterns)
    return WorldPlan(seed, start, tuple(outlines), rule_before, len(outlines) * 3 // 4)


# --- when -----------------------------------------------------------------------------------------


def _spans(rng: Random, count: int, start: int, now: int) -> list[Span]:
    """Sittings in the order of time, none overlapping another."""
    wanted = sorted(_wanted_starts(rng, count, start, now), key=lambda pair: pair[0])
    starts = [min(moment, now - SPACING) for moment, _ in wanted]
    for index in range(1, count):
        starts[index] = max(starts[index], starts[index - 1] + SPACING)
    starts[-1] = min(starts[-1], now - SPACING)
    for index in range(count - 2, -1, -1):
        starts[index] = min(starts[index], starts[index + 1] - SPACING)
    if starts[0] < start + SPACING:
        raise UsageError(
            f"{count} sessions do not fit into this time",
            hint="Ask for more weeks or fewer sessions.",
        )
    ends = [*starts[1:], now]
    return [
        Span(developer, begin, min(begin + _length(rng, developer), end - REST))
        for begin, end, (_, developer) in zip(starts, ends, wanted, strict=True)
    ]


def _wanted_starts(rng: Random, count: int, start: int, now: int) -> list[tuple[int, Developer]]:
    days = list(range(-(-start // DAY), now // DAY))  # whole days only, in UTC
    workdays = [day for day in days if datetime.fromtimestamp(day * 86400, UTC).weekday() < 5]
    workdays = workdays or days
    counts = {who: round(count * share) for who, share in SHARES.items()}
    steady = count - sum(counts.values())
    bursts = rng.sample(workdays, max(1, len(workdays) // 7))
    wanted = [
        (_on(workdays[number * len(workdays) // steady], 8.5 + rng.random() * 9), STEADY)
        for number in range(steady)
    ]
    wanted += [
        (_on(bursts[number % len(bursts)], 10 + rng.random() * 8.5), BURSTY)
        for number in range(counts[BURSTY])
    ]
    wanted += [
        (_on(days[number * len(days) // counts[ROBOT]], 2.2 + rng.random() * 0.3), ROBOT)
        for number in range(counts[ROBOT])
    ]
    return wanted


def _on(day: int, hour: float) -> int:
    return day * DAY + int(hour * HOUR)


def _length(rng: Random, developer: Developer) -> int:
    if developer is ROBOT:
        return int(rng.uniform(1.5, 7) * MINUTE)
    minutes = rng.lognormvariate(log(14), 0.6)
    return int(min(max(minutes, 4), 80) * MINUTE)


def _resume(rng: Random, spans: list[Span], count: int) -> list[tuple[Span, ...]]:
    """Turn some later sittings into second sittings of an earlier session."""
    owner: dict[int, int] = {}
    taken: set[int] = set()
    later = [index for index, span in enumerate(spans) if span.developer is not ROBOT][2:]
    for second in rng.sample(later, len(later)):
        earlier = [
            index
            for index in range(max(0, second - 12), second)
            if spans[index].developer is spans[second].developer
            and index not in taken
            and index not in owner
        ]
        if len(owner) < count and second not in taken and earlier:
            owner[second] = earlier[-1]
            taken.add(earlier[-1])
    seconds = {first: second for second, first in owner.items()}
    sittings: list[tuple[Span, ...]] = [
        (span, spans[seconds[index]]) if index in seconds else (span,)
        for index, span in enumerate(spans)
        if index not in owner
    ]
    return sittings[: len(spans) - count]


# --- who and what ---------------------------------------------------------------------------------


def _outlines(
    seed: int, sittings: list[tuple[Span, ...]], agents: Sequence[str], rule_before: int
) -> list[Outline]:
    rng = dice(seed, "outlines")
    turns: dict[str, int] = {}
    outlines = []
    for index, spans in enumerate(sittings):
        automated = spans[0].developer is ROBOT
        driver: Driver = "automated" if automated else "human"
        turns[driver] = turns.get(driver, rng.randrange(len(agents))) + 1
        exposed = index >= rule_before
        outlines.append(
            Outline(
                index=index,
                key=fingerprint(seed, "session", index),
                agent=agents[turns[driver] % len(agents)],
                driver=driver,
                era=_era(index / len(sittings), automated=automated),
                kind=_kind(turns[driver], automated=automated),
                sittings=spans,
                exposed=exposed,
                breaks_rule=rng.random() < (BROKEN_AFTER if exposed else BROKEN_BEFORE),
            )
        )
    return outlines


def _era(progress: float, *, automated: bool) -> Era:
    """Agents get newer with time; automated runs are only told apart in new versions."""
    if automated:
        return "new"
    return "old" if progress < 0.25 else "middle" if progress < 0.55 else "new"


def _kind(turn: int, *, automated: bool) -> Kind:
    if automated:
        return "chore"
    return "question" if turn % 5 == 4 else "fix" if turn % 8 == 5 else "feature"


def _deal(seed: int, outlines: list[Outline], patterns: Sequence[Pattern]) -> list[Outline]:
    """Hand out forks, patterns, fates and corrections, each by dice of its own."""
    dealt = _forks(dice(seed, "forks"), outlines)
    shared = {it for outline in dealt if outline.fork_of is not None for it in _line(outline)}
    for pattern in patterns:
        rng = dice(seed, "pattern", pattern.name)
        for group in _groups(dealt, pattern.within):
            fitting = [outline for outline in group if pattern.fits(outline)]
            if pattern in GUIDED:
                fitting = [outline for outline in fitting if outline.index not in shared]
            for chosen in _some(rng, fitting, pattern.share, pattern.least):
                dealt[chosen.index] = replace(chosen, patterns=chosen.patterns | {pattern.name})
    dealt = _fates(seed, dealt)
    for topic, share, least, fits in TOPICS:
        free = [outline for outline in dealt if fits(outline) and outline.topic is None]
        for chosen in _some(dice(seed, "topic", topic), free, share, least):
            dealt[chosen.index] = replace(chosen, topic=topic)
    return dealt


def _line(outline: Outline) -> tuple[int, ...]:
    """A fork and what it was forked from: whose their common part is depends on the reader."""
    return (outline.index,) if outline.fork_of is None else (outline.index, outline.fork_of)


def _groups(outlines: list[Outline], within: str) -> list[list[Outline]]:
    groups: dict[tuple[str, ...], list[Outline]] = {}
    for outline in outlines:
        name = {"world": (), "agent": (outline.agent,), "era": (outline.agent, outline.era)}[within]
        groups.setdefault(name, []).append(outline)
    return list(groups.values())


def _some(rng: Random, fitting: list[Outline], share: float, least: int) -> list[Outline]:
    count = max(least, round(share * len(fitting)))
    return rng.sample(fitting, min(count, len(fitting)))


def _forks(rng: Random, outlines: list[Outline]) -> list[Outline]:
    """Some sessions begin as a copy of the latest finished one of the same agent."""
    dealt = list(outlines)
    for group in _groups(outlines, "agent"):
        human = [outline for outline in group if outline.driver == "human"]
        children = _some(rng, human[2:], 0.06, 1)
        originals = [outline for outline in human if outline not in children]
        for child in children:
            begun = child.sittings[0].start
            parents = [
                outline
                for outline in originals
                if outline.index < child.index and outline.sittings[-1].end < begun
            ]
            if parents:
                dealt[child.index] = replace(
                    child, fork_of=parents[-1].index, kind="question", sittings=child.sittings[:1]
                )
    return dealt


def _fates(seed: int, outlines: list[Outline]) -> list[Outline]:
    dealt = [replace(outline, fate="landed") if outline.works else outline for outline in outlines]
    working = sum(outline.works for outline in dealt)
    for fate, share in FATES:
        # Second thoughts take time, so what is undone later is done early.
        last = len(dealt) * (0.6 if fate in {"reverted", "reworked"} else 1)
        free = [
            outline
            for outline in dealt
            if outline.fate == "landed"
            and outline.index < last
            and (outline.kind == "feature" or fate == "abandoned")
        ]
        count = min(len(free), max(1, round(share * working)))
        for chosen in dice(seed, "fate", fate).sample(free, count):
            dealt[chosen.index] = replace(chosen, fate=fate)
    return dealt
