"""Replies and thoughts that cite an instruction file or rule: by its name, or word for word.

A file that the turn is about (its prompt names it, or a call of the turn reads or changes it) may
be talked of as a file; whether naming it there cites it cannot be known.
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
    """Whether some thoughts are not recorded, or without their words."""
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
        told.thinks_unseen or any(not event.text for _, event in told.spoken),
        {seq: prompt.text.lower() for seq, prompt in told.prompts},
        {turn: "\n".join(texts) for turn, texts in touched.items()},
    )


def _turn(turns: list[int], seq: int) -> int:
    return turns[bisect_right(turns, seq) - 1]


class Namings(NamedTuple):
    """Replies and thoughts that name a file."""

    citing: list[int]
    unsure: list[int]
    """In turns that are about the file: they may cite it or speak of it as of any other."""


def namings(said: Speech, pattern: re.Pattern[str], name: str) -> Namings:
    """Where a file is named."""
    hint = name.lower()
    found = Namings([], [])
    for it in said.spoken:
        if hint in it.text.lower() and pattern.search(it.text):
            about = hint in said.prompts.get(it.turn, "") or hint in said.touched.get(it.turn, "")
            (found.unsure if about else found.citing).append(it.seq)
    return found


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
