"""Offers and skills.

An offer is what a detector found; a skill is what a person kept of it. Both point to the events
they come from, and both say in a form a machine can check when they apply and what to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """What may be done with a skill."""

    DRAFT = "draft"  # kept, loaded by an agent on demand
    APPROVED = "approved"  # may also stand in managed blocks
    REJECTED = "rejected"  # never offered again
    QUARANTINED = "quarantined"  # written nowhere until a person promotes it
    RETIRED = "retired"  # no longer written anywhere, kept for its story


class Scope(StrEnum):
    """Where a skill holds."""

    WORKSPACE = "workspace"
    LANGUAGE = "language"
    GLOBAL = "global"


class Label(StrEnum):
    """Where the text of a skill first appeared, from the most to the least to be trusted."""

    TYPED = "typed"  # by a person
    REPOSITORY = "repository"  # a file of the workspace
    ASSISTANT = "assistant"  # the agent's own words or commands
    PASTED = "pasted"  # into a prompt by a person
    SUBAGENT = "subagent"
    PROPOSED = "proposed"  # by an agent through our own door
    FOREIGN = "foreign"  # a file outside the workspace, or a dependency's
    NETWORK = "network"  # a shell command that fetched something
    MCP = "mcp"
    WEB = "web"


class Rung(StrEnum):
    """How firmly a skill is put before an agent, from the least to the most; see `ladder`."""

    NOTE = "note"  # a text among others
    RULE = "rule"  # a text that comes with the files it is about
    SKILL = "skill"  # a folder of its own, listed and loaded
    HOOK = "hook"  # a call it warns of is stopped


LIVE = frozenset({State.DRAFT, State.APPROVED})
"""States in which a skill may be written where agents read it."""


UNTRUSTED = frozenset(
    {Label.SUBAGENT, Label.PROPOSED, Label.FOREIGN, Label.NETWORK, Label.MCP, Label.WEB}
)


@dataclass(frozen=True)
class Evidence:
    """An event that a person can open: `hansei show SESSION#EVENT`."""

    session: str
    event: int
    label: Label | None = None
    """Whose words of the skill first stood there; None where it has none of them, or nobody knows.
    """

    def __lt__(self, other: Evidence) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, int, str]:
        return self.session, self.event, self.label or ""


@dataclass(frozen=True)
class Predicates:
    """When a skill applies and what it asks for, as far as a machine can check it.

    Commands are normal forms as `projection.commands` makes them, paths are globs, errors are
    failure signatures. Empty means that nothing is said about it.
    """

    tool: str = ""
    command: str = ""
    path: str = ""
    error: str = ""
    do: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    check: str = ""


@dataclass(frozen=True)
class Offer:
    """What a detector found and a person may keep."""

    detector: str
    name: str
    """As the public format wants it: lower case, digits, single hyphens, 64 at most."""
    description: str
    """What it is for and when to use it, in one line."""
    body: str
    """Markdown that an agent can follow."""
    commands: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    topic: str = ""
    action: str = ""
    predicates: Predicates = Predicates()
    sessions: int = 1
    """In how many it was seen."""
    key: str = ""
    """What makes it the same offer next week; skips and books are remembered by it."""
    label: Label = Label.ASSISTANT
    """The worst among the places where its text first appeared."""


@dataclass(frozen=True)
class Vote:
    """What a person thinks of a skill; shown apart from what was counted."""

    by: str
    at: int
    helpful: bool
    note: str = ""


@dataclass(frozen=True)
class Told:
    """What another book says it counted; shown apart, because nobody here saw it."""

    by: str
    helpful: int = 0
    harmful: int = 0
    neutral: int = 0
    used: int = 0


@dataclass(frozen=True)
class Skill:
    """One thing worth knowing here, with its whole story but for what can be counted again."""

    name: str
    description: str
    body: str
    section: str = "General"
    state: State = State.DRAFT
    scope: Scope = Scope.WORKSPACE
    language: str = ""
    version: int = 1
    owner: str = ""
    reason: str = ""
    """Why it was changed last, in its owner's words."""
    origin: str = "person"
    """A detector's name, `person`, `agent` or `import`."""
    key: str = ""
    topic: str = ""
    action: str = ""
    auto_load: bool = False
    rung: Rung = Rung.NOTE
    """The step of the ladder it was promoted to; where it stands by itself is not told here."""
    predicates: Predicates = Predicates()
    evidence: tuple[Evidence, ...] = ()
    label: Label = Label.TYPED
    votes: tuple[Vote, ...] = ()
    told: Told | None = None
    created_at: int = 0
    changed_at: int = 0
