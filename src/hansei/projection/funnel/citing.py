"""Replies and thoughts that cite an instruction file or rule: by its name, or word for word.

A file that the turn is about (its prompt names it, or a call of the turn reads or changes it) is
talked of as a file; naming it there cites nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.projection.calls import Call
    from hansei.projection.funnel.record import Record

QUOTED = 8
"""Words in a row that are a quotation: fewer are said by chance."""
_WORD = re.compile(r"[^\W_]+")
_TOUCHING = (Tool.READ, Tool.EDIT, Tool.WRITE)


class Spoken(NamedTuple):
    """A reply or thought, its turn and its words."""

    seq: int
    turn: int
    text: str


class Speech(NamedTuple):
    """What the agent said, and what each turn is about."""

    spoken: tuple[Spoken, ...]
    silent: bool
    """Whether some thoughts are recorded without their words."""
    prompts: dict[int, str]
    """Each turn's prompt, in small letters, by its number."""
    touched: dict[int, str]
    """What calls of each turn read, changed or ran, in small letters."""


def speech(told: Record, calls: Iterable[Call]) -> Speech:
    """Everything the agent said in a session."""
    turns = [0, *(seq for seq, _ in told.prompts)]
    touched: dict[int, list[str]] = {}
    for call in calls:
        if call.event.tool in _TOUCHING or call.script is not None:
            touched.setdefault(_turn(turns, call.seq), []).append(call.event.text.lower())
    return Speech(
        tuple(Spoken(seq, _turn(turns, seq), event.text) for seq, event in told.spoken),
        any(not event.text for _, event in told.spoken),
        {seq: prompt.text.lower() for seq, prompt in told.prompts},
        {turn: "\n".join(texts) for turn, texts in touched.items()},
    )


def _turn(turns: list[int], seq: int) -> int:
    return turns[bisect_right(turns, seq) - 1]


def namings(said: Speech, pattern: re.Pattern[str], name: str) -> list[int]:
    """Replies and thoughts that name a file in turns that are not about that file."""
    hint = name.lower()
    return [
        it.seq
        for it in said.spoken
        if hint in it.text.lower()
        and hint not in said.prompts.get(it.turn, "")
        and hint not in said.touched.get(it.turn, "")
        and pattern.search(it.text)
    ]


def quotations(said: Speech, text: str) -> list[int]:
    """Replies and thoughts that hold a run of words of a text."""
    own = _words(text)
    runs = {" ".join(own[n : n + QUOTED]) for n in range(len(own) - QUOTED + 1)}
    if not runs:
        return []
    begins = {run.partition(" ")[0] for run in runs}
    return [it.seq for it in said.spoken if _holds(_words(it.text), runs, begins)]


def _holds(words: list[str], runs: set[str], begins: set[str]) -> bool:
    return any(
        words[n] in begins and " ".join(words[n : n + QUOTED]) in runs
        for n in range(len(words) - QUOTED + 1)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
