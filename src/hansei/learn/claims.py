"""What a skill claims, in a form that later sessions can answer: where it applies, and what to do.

Both parts stand apart, so that the one of a skill can be tried with the other of another: what is
right even then is right by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.learn.model import Predicates
from hansei.learn.steps import called
from hansei.learn.wordings import run_of, wording
from hansei.projection.corrections.likeness import normal_form
from hansei.projection.failures import Kind
from hansei.projection.ways import How, about, changes, matching, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.learn.model import Evidence, Offer, Skill
    from hansei.learn.wordings import Wording
    from hansei.projection.facts.ran import Ran
    from hansei.projection.ways import Way
    from hansei.projection.window import Window

TROUBLES: Final = ("error-recovery", "user-correction")
"""Detectors whose offers are about something that goes wrong again."""


@dataclass(frozen=True)
class Trigger:
    """Where a claim applies: any of what it names."""

    signatures: frozenset[str] = frozenset()
    """Failures."""
    failing: tuple[Wording, ...] = ()
    """Commands that fail, where it is not known with what."""
    folder: str = ""
    """Where files are looked for in vain."""
    said: frozenset[str] = frozenset()
    """Corrections, in their normal form."""
    begins: frozenset[str] = frozenset()
    """Commands that a way of doing begins with."""
    at: Predicates | None = None
    """Calls by their tool or the files they touch."""

    def __bool__(self) -> bool:
        return self != Trigger()


@dataclass(frozen=True)
class Remedy:
    """What a claim says to do there."""

    do: tuple[Wording, ...] = ()
    avoid: tuple[Wording, ...] = ()
    said: frozenset[str] = frozenset()
    """What people say, where that is all there is."""
    folder: str = ""
    """Where the files are."""
    not_folder: str = ""
    in_order: bool = False
    """Whether all of it is to be done, one after the other."""

    def __bool__(self) -> bool:
        return bool(self.do or self.said or self.folder)


@dataclass(frozen=True)
class Claim:
    """One skill or offer, ready to be tested."""

    name: str
    detector: str
    workspace: int
    trigger: Trigger
    remedy: Remedy
    evidence: frozenset[int] = frozenset()
    """The sessions it was made from, which cannot test it."""

    @property
    def is_testable(self) -> bool:
        return bool(self.trigger) and bool(self.remedy)

    @property
    def only_looks(self) -> bool:
        """Whether all it says to do is to look at something, which needs no skill."""
        return bool(self.remedy.do) and all(it.shows for it in self.remedy.do)

    @property
    def is_trouble(self) -> bool:
        return self.detector in TROUBLES


def of_offer(window: Window, offer: Offer, workspace: int) -> Claim:
    """What an offer claims; `window` holds the sessions it was made from."""
    return _claim(window, offer.name, offer.detector, workspace, offer.predicates, offer.evidence)


def of_skill(window: Window, skill: Skill, workspace: int) -> Claim:
    """What a kept skill claims."""
    return _claim(window, skill.name, skill.origin, workspace, skill.predicates, skill.evidence)


def _claim(
    window: Window,
    name: str,
    detector: str,
    workspace: int,
    told: Predicates,
    evidence: Sequence[Evidence],
) -> Claim:
    places = list(_places(window, evidence))
    do, avoid = tuple(map(wording, told.do)), tuple(map(wording, told.avoid))
    said = frozenset(_said(window, places))
    sessions = frozenset(session for session, _ in places)
    if told.avoid and told.path == f"{told.avoid[0]}/**":  # a folder that is not there
        trigger = Trigger(folder=told.avoid[0])
        remedy = Remedy(folder=told.do[0] if told.do else "", not_folder=told.avoid[0])
    elif detector == "user-correction":
        trigger, remedy = Trigger(said=said), Remedy(do, avoid, frozenset() if do else said)
    elif told.error:
        seen = _signatures(window, places)
        alone = (wording(told.check),) if told.check and not avoid else ()
        trigger = Trigger(signatures=frozenset((told.error, *seen)))
        remedy = Remedy(do, avoid or alone)  # what has to run first: the command without it
    elif told.path or told.tool:
        trigger = Trigger(at=Predicates(told.tool, told.command, told.path))
        remedy = Remedy(do, avoid, in_order=len(do) > 1 and not avoid)
    else:
        begun = wording(told.command) if told.command else next(iter(do), wording(""))
        trigger = Trigger(begins=(begun.loose | {told.command}) - {""})
        remedy = Remedy(do, avoid, in_order=len(do) > 1 and not avoid)
    return Claim(name, detector, workspace, trigger, remedy, sessions)


# --- the simple rules -----------------------------------------------------------------------------


def of_classic(
    window: Window, offer: Offer, workspace: int, prompts: Mapping[tuple[int, int], str]
) -> Claim:
    """What an offer of the simple rules claims, read in its favour.

    They have no predicates. Their evidence says which calls they mean, and facts say what those
    calls ran, so their commands are compared as ours are. Where a call of theirs did not fail by
    our rules, any failing of the same command later is taken for what they mean.
    """
    places = list(_places(window, offer.evidence))
    sessions = frozenset(session for session, _ in places)
    trigger, remedy = Trigger(), Remedy()
    if offer.detector == "error-recovery" and len(places) == len(("before", "after")):
        seen = frozenset(_signatures(window, places[:1]))
        remedy = _fix(window, *places)
        trigger = Trigger(signatures=seen, failing=() if seen else remedy.avoid)
    elif offer.detector == "user-correction" and len(places) == len(("before", "said", "after")):
        said = frozenset((*_said(window, places[1:2]), normal_form(prompts.get(places[1], ""))))
        trigger, remedy = Trigger(said=said - {""}), _fix(window, places[0], places[2])
    elif offer.detector == "repeated-action":
        do = tuple(dict.fromkeys(_ran(window, places)))
        trigger = Trigger(begins=frozenset(_names(window, places[:1])))
        remedy = Remedy(do)
    else:
        said_first = offer.detector == "explicit-instruction"
        steps = places[said_first:]
        do = tuple(_ran(window, steps))
        trigger = Trigger(begins=frozenset(_names(window, steps[:1])))
        remedy = Remedy(do, in_order=len(do) > 1)
    return Claim(offer.name, offer.detector, workspace, trigger, remedy, sessions)


def _fix(window: Window, before: tuple[int, int], after: tuple[int, int]) -> Remedy:
    """Two calls as what to avoid and what to do."""
    failed = about(window, *before)
    worked = about(window, *after) if failed is None else matching(window, *after, failed)
    if worked is None:
        return Remedy()
    way = next(iter(changes(window, before[0], before[1], after[1])), None)
    avoid = () if failed is None else (wording(spelled(failed)),)
    return Remedy((wording(_worded(way, worked)),), avoid)


def _worded(way: Way | None, worked: Ran) -> str:
    """What worked, as our detectors would say it: what ran first, or the folder, if that was it."""
    if way is not None and way.how is How.FIRST:
        return way.text
    if way is not None and way.how is How.FOLDER and worked.directory:
        return f"cd {worked.directory} && {spelled(worked)}"
    return spelled(worked)


# --- what stands at the evidence ------------------------------------------------------------------


def _places(window: Window, evidence: Sequence[Evidence]) -> Iterator[tuple[int, int]]:
    """Evidence as facts number it; what is no longer there is left out."""
    numbers = {it.name: number for number, it in window.sessions.items()}
    for it in evidence:
        if it.session in numbers:
            yield numbers[it.session], it.event


def _signatures(window: Window, places: Sequence[tuple[int, int]]) -> Iterator[str]:
    wanted = set(places)
    for session, row in window.failures:
        if (session, row.seq) in wanted and row.kind is Kind.FAILURE:
            yield row.signature


def _said(window: Window, places: Sequence[tuple[int, int]]) -> Iterator[str]:
    wanted = set(places)
    for session, row in window.corrections:
        if (session, row.seq) in wanted and row.normal:
            yield row.normal


def _ran(window: Window, places: Sequence[tuple[int, int]]) -> Iterator[Wording]:
    for place in places:
        ran = about(window, *place)
        if ran is not None:
            yield wording(spelled(ran))


def _names(window: Window, places: Sequence[tuple[int, int]]) -> Iterator[str]:
    for place in places:
        ran = about(window, *place)
        if ran is not None:
            yield from (called(ran), *run_of(ran).loose)
