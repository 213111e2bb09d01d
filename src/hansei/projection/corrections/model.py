"""What people said against what an agent did: one value is one row."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a prompt does to the work it follows."""

    CORRECTS = "correct"  # says that it is wrong, or what to do instead
    FORBIDS = "forbid"  # says what not to do
    REPEATS = "repeat"  # asks for the same again, because it was not done
    INTERRUPTS = "interrupt"  # stops or refuses a call and says how to go on


class Rule(StrEnum):
    """Why a prompt counts as one; `RULES` says each in a sentence."""

    NO = "opens_with_no"
    WRONG = "says_wrong"
    TOLD_BEFORE = "told_before"
    BLAMES = "names_a_slip"
    TAKE_BACK = "asks_to_take_back"
    INSTEAD = "names_another_way"
    MUST_BE = "says_how_it_must_be"
    AGAIN = "again"
    FORBIDS = "forbids"
    STILL = "still_not_done"
    REMINDS = "reminds"
    SAME_REQUEST = "same_request"
    INTERRUPTED = "after_interruption"
    DECLINED = "after_refusal"
    REASON = "reason_of_refusal"
    REVIEW = "said_in_review"


RULES: dict[Rule, str] = {
    Rule.NO: "it opens with a no, right after the agent acted",
    Rule.WRONG: "it says that what the agent did is wrong or not what was asked",
    Rule.TOLD_BEFORE: "it says that this was said before",
    Rule.BLAMES: "it names something the agent broke, forgot or did unasked",
    Rule.TAKE_BACK: "it asks to take back what the agent did",
    Rule.INSTEAD: "it names another way instead of the agent's",
    Rule.MUST_BE: "it says how what the agent did has to be",
    Rule.AGAIN: "it says that the same slip happened again",
    Rule.FORBIDS: "it forbids something",
    Rule.STILL: "it says that something is still not done, or not there",
    Rule.REMINDS: "it reminds of something asked before",
    Rule.SAME_REQUEST: "it is a request of this session again, though the agent acted on it",
    Rule.INTERRUPTED: "the agent was stopped at work, and this says how to go on",
    Rule.DECLINED: "a call was refused, and this says how to go on",
    Rule.REASON: "it was typed as the reason for refusing a call",
    Rule.REVIEW: "it was said in review, about lines that the agent wrote",
}
"""Each rule in words, as it is printed."""


class Correction(NamedTuple):
    """A prompt that steers against what the agent did."""

    seq: int
    kind: Kind
    at: int | None
    words: str
    """The sentence that decided, in the person's own words."""
    about: int
    """The event it speaks of: the last call that names one of its names, else the last call of the
    turn, else the last reply."""
    about_tool: str | None
    about_path: str | None
    """A file that call edited."""
    basis: Rule
    strength: int
    """How many rules speak for it."""
    normal: str
    """The sentence as it is compared across sessions; `!` stands before what it negates."""
    remark: str = ""
    """All that was said, where it is a short remark; else the sentence."""


class Cluster(NamedTuple):
    """Corrections of one or more sessions that say the same."""

    name: str
    """Stays the same as long as its earliest member does."""
    words: str
    """Of the earliest member."""
    first: int | None
    last: int | None
    """When it was said for the first and for the last time."""
    sessions: int
    members: tuple[str, ...]
    """Each as `session#seq`, earliest first."""


class Matched(NamedTuple):
    """A review and the edit that wrote what it is about."""

    review: str
    """Its id."""
    session: str
    seq: int
    lines: int
    """How many of the lines it was shown under that edit wrote."""
