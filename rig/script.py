"""What the scripted model says, as a pure function of what it was asked.

A prompt carries a cue (`cue:main`). The last cue in a request chooses a list of steps, and the
number of calls answered since then chooses the step. So a retry, a resume or two agents at once
need no state on the server, and the same request always gets the same answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

_CUE = re.compile(r"\bcue:([a-z]+)")
_SUMMARY = re.compile(
    r"create a (?:detailed|structured) |CONTEXT CHECKPOINT COMPACTION|anchored summary"
    r"|(?:generate a new|critically evaluate the) <state_snapshot>|required summary structure",
    re.IGNORECASE,
)
"""How agents ask for the summary of a compaction."""
_SNAPSHOT = "<state_snapshot>"
_SECTIONS = (
    "## Decisions",
    "## Open TODOs",
    "## Constraints/Rules",
    "## Pending user asks",
    "## Exact identifiers",
)
_STRUCTURE = "required summary structure"
"""Without these OpenClaw takes no summary, though it does not always name them."""


class Role(StrEnum):
    """Who speaks in a request."""

    USER = "user"
    MODEL = "model"
    ANSWER = "answer"  # the result of one call


@dataclass(frozen=True)
class Turn:
    role: Role
    text: str


@dataclass(frozen=True)
class Ask:
    """One request to the model, whatever protocol it came in."""

    model: str
    turns: tuple[Turn, ...]
    tools: frozenset[str]


@dataclass(frozen=True)
class Say:
    """End the turn with these words."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call one tool of the agent."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    namespace: str | None = None


Step: TypeAlias = Say | Call
Script: TypeAlias = dict[str, tuple[Step, ...]]


class Purpose(StrEnum):
    """What a request is for, as far as the server can tell."""

    TURN = "turn"
    SUMMARY = "summary"  # of a compaction
    ASIDE = "aside"  # a title and the like: no tools are offered


@dataclass(frozen=True)
class Reply:
    """What to answer, and why."""

    step: Step
    purpose: Purpose
    cue: str | None = None


@dataclass(frozen=True)
class Tokens:
    """What a request is said to have used. The inputs are disjoint; reasoning is part of output."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    reasoning: int


Usage: TypeAlias = tuple[int | None, ...]
"""Tokens in the order of `Tokens`; None where hansei does not know, or nobody tells."""


def reply(script: Script, ask: Ask) -> Reply:
    """The scripted answer to a request."""
    last = next((turn.text for turn in reversed(ask.turns) if turn.role is Role.USER), "")
    if _SUMMARY.search(last):
        return Reply(Say(_summary(last)), Purpose.SUMMARY)
    cue, answered = _place(ask.turns)
    if not ask.tools:
        return Reply(Say("A title"), Purpose.ASIDE, cue)
    steps = script.get(cue or "", ())
    step = steps[answered] if answered < len(steps) else Say("There is nothing more to do.")
    return Reply(step, Purpose.TURN, cue)


def _summary(asked: str) -> str:
    text = "The summary: all is well so far."
    if _STRUCTURE in asked:
        return "\n\n".join(f"{section}\n{text}" for section in _SECTIONS)
    if _SNAPSHOT not in asked:
        return text
    return f"<scratchpad>What was there?</scratchpad>\n{_SNAPSHOT}{text}</state_snapshot>"


def _place(turns: tuple[Turn, ...]) -> tuple[str | None, int]:
    """The last cue, and how many calls were answered since."""
    cue, answered = None, 0
    for turn in turns:
        found = _CUE.findall(turn.text) if turn.role is Role.USER else []
        if found:
            cue, answered = found[-1], 0
        elif turn.role is Role.ANSWER:
            answered += 1
    return cue, answered


SMALL = "small"
"""A model of this name tells small numbers: a context that was too large is not any more."""


def tokens(number: int, model: str) -> Tokens:
    """The usage told for the nth request: no two requests tell the same."""
    carried = 2_000 if model == SMALL else 20_000
    return Tokens(
        input=1000 + number,
        cache_read=carried + 10 * number,
        cache_write=300 + 3 * number,
        output=40 + 2 * number,
        reasoning=number,
    )
