"""What hansei needs to know of an agent to install hooks: where, since when, and how written.

An agent is a value. Its `events` say since which version each hook exists and where that was
learnt; its `targets` say which files to change and how, as pure functions of their text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hansei.installation.jsonc import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hansei.config import Environment
    from hansei.installation.launcher import Launcher


@dataclass(frozen=True)
class HookEvent:
    """A moment at which an agent runs hooks."""

    name: str
    since: str
    """The first version that accepts it."""
    evidence: str
    """Where that was learnt."""


class Edit(Protocol):
    """How a file gets our hooks and loses them again. All four are pure."""

    def install(self, text: str | None) -> str | None:
        """The file with our hooks; None is a file that is not there."""
        ...

    def uninstall(self, text: str) -> str | None:
        """The file without our hooks; None if it was ours alone."""
        ...

    def events(self, text: str, /) -> list[str]:
        """The events for which a hook of ours is in the file."""
        ...

    def is_empty(self, text: str) -> bool:
        """Whether what `uninstall` left is nothing that anyone wants."""
        ...


@dataclass(frozen=True)
class OwnFile:
    """A file that is ours alone."""

    text: str | None
    """None where it should not be there."""
    names: tuple[str, ...] = ()
    """The events it listens to."""

    def install(self, text: str | None) -> str | None:
        if text is not None and not _ours(text):
            raise Malformed(text, 0, "it has our name but is not ours")
        return self.text

    def uninstall(self, text: str) -> str | None:
        return None if _ours(text) else text

    def events(self, text: str) -> list[str]:
        return sorted(self.names) if _ours(text) else []

    def is_empty(self, text: str) -> bool:
        return not text.strip()


def _ours(text: str) -> bool:
    names = ("hansei init", "hansei-hook", "hansei-mcp")
    return any(name in text for name in names) or not text.strip()


@dataclass(frozen=True)
class Both:
    """Two edits of one file, one after the other."""

    one: Edit
    two: Edit

    def install(self, text: str | None) -> str | None:
        return self.two.install(self.one.install(text))

    def uninstall(self, text: str) -> str | None:
        left = self.one.uninstall(text)
        return None if left is None else self.two.uninstall(left)

    def events(self, text: str) -> list[str]:
        return sorted({*self.one.events(text), *self.two.events(text)})

    def is_empty(self, text: str) -> bool:
        return self.one.is_empty(text) and self.two.is_empty(text)


@dataclass(frozen=True)
class Target:
    """A file to change, and how."""

    path: Path
    edit: Edit


@dataclass(frozen=True)
class Agent:
    """An agent whose hooks we can install."""

    name: str
    title: str
    programs: tuple[str, ...]
    """What it is called on the PATH."""
    folder: Callable[[Environment], Path]
    """Where it keeps its settings; the agent counts as used where this exists."""
    events: tuple[HookEvent, ...]
    targets: Callable[[Environment, tuple[str, ...], Launcher], tuple[Target, ...]]
    """The files to change so that these events reach the launcher."""
    package_since: str | None = None
    """The first version that was seen to load our package; None where we have none for it."""
    manifests: tuple[str, ...] = ()
    """More places where a package.json may tell its version, `~` being the home folder."""
    to_do: Callable[[Environment], str | None] = lambda _: None
    """What the person has to do before the hooks run; None if nothing is left to do."""
    switched_off: Callable[[Environment], str | None] = lambda _: None
    """Which setting keeps this agent from running any hooks; None if none does."""

    def known_to(self, version: str) -> tuple[str, ...]:
        """The events that a version accepts."""
        number = numbers(version)
        return tuple(event.name for event in self.events if numbers(event.since) <= number)

    @property
    def first(self) -> str:
        """The first version with hooks that we can use."""
        return min((event.since for event in self.events), key=numbers)


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers to compare: 2.1.9 comes before 2.1.10."""
    leading = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in leading[0].split(".")) if leading else ()
