"""What the funnel is told in: plain values, cheap to store as rows."""

from __future__ import annotations

from typing import NamedTuple


class Use(NamedTuple):
    """How far one instruction file, rule, skill or MCP server got in one session.

    Of each step: True, False, or None where it cannot be known. `*_seq` is the event that shows it.
    """

    kind: str
    """`instructions`, `rule`, `skill` or `mcp`."""
    name: str
    path: str | None
    listed_seq: int | None
    """The event that lists it; None where a hook or the commit tells that it was in force."""
    matched_seq: int | None
    fired_seq: int | None
    followed_seq: int | None
    matched: bool | None
    """Whether a prompt names it or speaks of what it is for."""
    fired: bool | None
    """Whether it was loaded, cited or called."""
    followed: bool | None
    """Whether what it tells to run was run, or a call to it went well."""
    calls: int
    """How often it was loaded, cited or called."""
    failed: int
    """How many of those failed."""
    bytes: int | None
    """Of it, as far as it stood in the context; None where that is not recorded."""
    tokens: int | None
    """Derived: its bytes at the session's own rate."""
    rent: int | None
    """Derived: its tokens times the requests that carried them."""
    basis: str
    """Who says that it was in force: `hook`, `commit` or `transcript`."""

    @property
    def idle(self) -> bool | None:
        """Whether it was carried for nothing: no prompt wanted it, and it did not fire."""
        return None if self.fired is None else not self.fired and not self.matched


class Sum(NamedTuple):
    """One text over many sessions."""

    kind: str
    name: str
    path: str | None
    sessions: int
    """In which it was in force."""
    matched: int
    matched_known: int
    """Sessions in which it is known whether it matched."""
    fired: int
    fired_known: int
    followed: int
    followed_known: int
    calls: int
    failed: int
    tokens: int | None
    """Derived: per session, over those where it is known."""
    rent: int | None
    """Derived: in all sessions where it is known; None where it is in none."""


class Entry(NamedTuple):
    """A text as a transcript lists it."""

    kind: str
    name: str
    path: str | None
    said: str | None
    """What it is for, in the words of the list; None where the list does not say."""
    text: str | None
    """The text itself, where it stands there."""
    bytes: int | None
    """What the listing of it takes; None where more of it was in the context than is recorded."""


class Load(NamedTuple):
    """A skill or rule that was brought into the context."""

    seq: int
    """The call, command or injected text."""
    name: str
    path: str | None
    worked: bool | None
    """None where nothing says what came of it."""
    text: str
    text_seq: int | None
    """The event that holds the text; None where it is not recorded."""
