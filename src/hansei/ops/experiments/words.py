"""A report in two sentences, and what to do next: the same for every front end."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, NamedTuple

from hansei.experiments.experiment import RANDOMISED, Bind, Stage
from hansei.experiments.model import Why, Word

if TYPE_CHECKING:
    from hansei.experiments.model import ArmCount, Verdict
    from hansei.ops.experiments.reports import Report

GOOD = (Word.HELPED,)
BAD = (Word.HARMED,)
NOTHING = (Word.NO_EFFECT, Word.NO_CHANGE)

_HEADS = {
    Word.HELPED: "It helped",
    Word.HARMED: "It harmed",
    Word.NO_EFFECT: "It makes no difference that would matter",
    Word.LOWER: "Lower since",
    Word.HIGHER: "Higher since",
    Word.NO_CHANGE: "No change since",
    Word.INCONCLUSIVE: "Not decided",
}


class Step(NamedTuple):
    """Something to do next."""

    command: str
    why: str


def headline(told: Report) -> str:
    """The verdict in a few words."""
    word = told.verdict.word
    aside = "" if told.randomised or word is Word.INCONCLUSIVE else " (not randomised)"
    return f"{word}{aside}"


def sentences(told: Report) -> tuple[str, str]:
    """What was found, and how far it can be believed."""
    return f"{_HEADS[told.verdict.word]}: {_found(told)}.", _belief(told)


def _found(told: Report) -> str:
    verdict = told.verdict
    one, two = verdict.control, verdict.treatment
    if verdict.why is Why.EMPTY:
        return _empty(one, two)
    if one.hits is not None and two.hits is not None:
        return f"it came up in {_of(two)} with the change, and in {_of(one)} without it"
    if verdict.difference is None:
        return f"{_sessions(one.known)} without the change and {two.known} with it"
    factor = exp(verdict.difference)
    return (
        f"{told.counted} with the change are typically {factor:.2f} times those without it"
        f" ({two.known} sessions with, {one.known} without)"
    )


def _of(arm: ArmCount) -> str:
    share = f" ({(arm.hits or 0) / arm.known:.0%})" if arm.known else ""
    return f"{arm.hits} of {arm.known} sessions{share}"


def _empty(control: ArmCount, treatment: ArmCount) -> str:
    if not control.known and not treatment.known:
        return "no session has been counted yet"
    if not treatment.known:
        return f"no session with the change yet, {control.known} without it"
    return f"no session without the change, {treatment.known} with it"


def _belief(told: Report) -> str:
    verdict = told.verdict
    wrong = f"{told.alpha:.0%}"
    if verdict.word is Word.INCONCLUSIVE:
        return _missing(told, verdict)
    if told.randomised:
        return (
            "A coin decided which sessions got it, so nothing else explains the difference;"
            f" at most {wrong} of such verdicts are wrong, however often one looks."
            if verdict.word is not Word.NO_EFFECT
            else "A coin decided which sessions got it, and the whole interval lies inside the"
            f" margin; at most {wrong} of such verdicts are wrong."
        )
    return (
        "No coin decided who got it: whatever else changed at that time may be the reason,"
        " so this says since, not because."
    )


def _missing(told: Report, verdict: Verdict) -> str:
    if verdict.why is Why.UNBALANCED:
        return (
            f"The coin was to give {told.share:.0%} of sessions the change, and the arms are not"
            " like that: something chose the sessions, so no verdict is given."
        )
    if verdict.why is Why.NO_HISTORY:
        which = "to compare with" if told.bet is None else "that did not lead to it"
        return (
            f"There are too few weeks before the change {which};"
            " `--bind exposure` needs no history."
        )
    if verdict.needed is None:
        return "How many more sessions it takes cannot be told yet."
    days = "" if verdict.days is None else f", some {_days(verdict.days)} at the present pace"
    return f"About {_sessions(verdict.needed)} more are needed if they go on like these{days}."


def _sessions(count: int) -> str:
    return f"{count:,} session{'' if count == 1 else 's'}"


def _days(count: int) -> str:
    return f"{count:,} day{'' if count == 1 else 's'}"


def steps(told: Report) -> list[Step]:
    """What a person could do now."""
    word, undo = told.verdict.word, f"hansei undo {told.entry}"
    if told.stage == Stage.DRAFT:
        return [Step(f"hansei exp start {told.short}", "begins it")]
    done = told.stage != Stage.RUNNING
    found: list[Step] = []
    if told.entry is not None and word in (Word.HARMED, Word.HIGHER):
        found.append(Step(undo, "takes the line out again"))
    if told.entry is not None and word in NOTHING:
        found.append(Step(undo, "takes the line out: it costs rent in every request for nothing"))
    if not done and word is not Word.INCONCLUSIVE:
        found.append(Step(f"hansei exp conclude {told.short}", _concluding(told)))
    if told.stage == Stage.CONCLUDED:
        found.append(Step(f"hansei exp archive {told.short}", "puts it away"))
    return found


def _concluding(told: Report) -> str:
    randomised = told.bind in RANDOMISED
    if told.bind is Bind.NUDGE:
        return "freezes the sample and stops telling sessions of known fixes"
    if randomised and told.verdict.word is Word.HELPED:
        return "freezes the sample and offers to put the line into the instruction file for all"
    if randomised:
        return "freezes the sample and stops telling sessions of it"
    return "freezes the sample with this verdict"
