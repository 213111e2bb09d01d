"""Sessions that any model would have done: few short prompts, little work, next to no edits."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from hansei.projection.window import Window

PROMPTS: Final = 2
LETTERS: Final = 300
"""Of a prompt: whoever explains more has something that is not small."""
REQUESTS: Final = 12
"""Requests: a question with a few looks at files."""
LINES: Final = 10
"""That were added; none in most of them."""


class Small(NamedTuple):
    """A small session of a person and the model that did most of it."""

    session: int
    seq: int
    """Its first prompt."""
    model: str


def small_sessions(window: Window) -> list[Small]:
    """The sessions of people that were small in every way, and started nothing else."""
    prompts: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for session, said in window.said:
        prompts[session].append((said.seq, len(said.text)))
    lines: Counter[int] = Counter()
    for stored in window.hunks:
        lines[stored.session] += stored.row.lines
    parents = {it.parent for it in window.sessions.values()}
    found = []
    for session, told in sorted(prompts.items()):
        small = len(told) <= PROMPTS and max(size for _, size in told) <= LETTERS
        little = lines[session] <= LINES and len(window.paid.get(session, ())) <= REQUESTS
        if small and little and session not in parents:
            model = main_model(window, session)
            if model is not None:
                found.append(Small(session, told[0][0], model))
    return found


def main_model(window: Window, session: int) -> str | None:
    """The model that read most; None where no request names one."""
    read: Counter[str] = Counter()
    for it in window.paid.get(session, ()):
        if it.model is not None and it.context:
            read[it.model] += it.context
    return min(read, key=lambda name: (-read[name], name)) if read else None
