"""Remarks on changes, made where changes are reviewed."""

from __future__ import annotations

from typing import NamedTuple


class Review(NamedTuple):
    """A remark on a change, or on a piece of it."""

    seq: int | None
    """The result that showed it to an agent; None where a person imported it."""
    source: str
    """Where it was made: `github` or `gitlab`."""
    id: str
    thread: str | None
    """What it belongs to, where that is told: the remark it answers, or the discussion."""
    author: str | None
    bot: bool
    path: str | None
    """From the top of the repository."""
    line: int | None
    at: int | None
    revision: str | None
    """The commit it was made on."""
    text: str
    hunk: tuple[str, ...]
    """The added lines it was shown under, in their normal form; the one it is about last."""
