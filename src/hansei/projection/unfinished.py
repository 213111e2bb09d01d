"""Steps that agents plan and leave open when a session ends, by the kind of step.

Plans are in words, and each is in others. What they have in common are the steps at their end that
every piece of work has: tests, documentation, the commit, the review. Only those are told apart; a
step that is about the task itself is nobody's habit.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.facts.ended import End
from hansei.projection.facts.planned import State

if TYPE_CHECKING:
    from hansei.projection.window import Window

STEPS: Final = {
    "tests": r"\b(?:run|re-?run|execute|write|add|create|fix|update|pass)\w*\b.*\btests?\b"
    r"|\btest (?:suite|coverage)\b|\b(?:pytest|jest|vitest|hardhat test|npm test)\b",
    "documentation": r"\b(?:docs?|documentation|readme|changelog)\b",
    "commit": r"\b(?:commit|push|pull request|open a pr|create (?:a )?pr|merge)\b",
    "checks": r"\b(?:lint|type-?check|build|format|compile|verify|validate)\w*\b",
    "review": r"\breview\b",
    "deployment": r"\bdeploy\w*\b",
}
"""Kinds of steps, the first that fits; the words are those that plans use."""
_STEPS: Final = {kind: re.compile(form, re.IGNORECASE) for kind, form in STEPS.items()}


class Unfinished(NamedTuple):
    """A step of one kind that a plan left open; of several of a kind the first."""

    session: int
    seq: int
    kind: str
    text: str


def kind_of(text: str) -> str | None:
    """The kind of a step, if it is one that every piece of work has."""
    return next((kind for kind, form in _STEPS.items() if form.search(text)), None)


def planned_steps(window: Window) -> dict[int, dict[str, bool]]:
    """Which kinds of steps each session planned, and whether all of a kind were done."""
    found: dict[int, dict[str, bool]] = {}
    for session, item in window.planned:
        kind = kind_of(item.text)
        if kind is not None:
            steps = found.setdefault(session, {})
            steps[kind] = steps.get(kind, True) and item.state is State.DONE
    return found


def unfinished(window: Window) -> list[Unfinished]:
    """The steps that were left open by sessions that came to an answer, in order.

    Whoever was stopped had no say in it.
    """
    answered = {session for session, it in window.ended if it.end is End.ANSWERED}
    found: dict[tuple[int, str], Unfinished] = {}
    for session, item in window.planned:
        kind = kind_of(item.text)
        if kind is not None and item.state is not State.DONE and session in answered:
            found.setdefault((session, kind), Unfinished(session, item.seq, kind, item.text))
    return sorted(found.values())
