"""What a format of other people's books is: files to skills, and skills to files.

Reading is reading a stranger's text: what cannot be a skill is a problem with its place, never an
exception, and the rest is taken. Whether a skill that was read may be used is not for a format to
say; it only hands over the seal that the text carried (`seals`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hansei.learn.model import Skill

NAMES: Final = ("agent-skills", "json", "kayba-0.7", "kayba-0.9", "kayba-0.13", "playbook")
"""Every format; those of one family stand in one file of `formats`."""

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of a file that is taken in: a book of a thousand skills has a tenth of that."""


@dataclass(frozen=True)
class Refused:
    """A piece of a foreign book that is no skill, and why."""

    place: str
    message: str


@dataclass(frozen=True)
class Foreign:
    """What was read of a foreign book."""

    skills: tuple[Skill, ...] = ()
    refused: tuple[Refused, ...] = ()
    notes: tuple[str, ...] = ()
    """What was there and is not kept."""
    seals: Mapping[str, str] = field(default_factory=dict)
    """By skill: the seal that an export of hansei put on it."""


class Format(Protocol):
    """One way to write books."""

    def read(self, files: Mapping[str, bytes]) -> Foreign:
        """Skills of some files, by their paths."""

    def write(self, skills: Sequence[Skill], seal: Callable[[Skill], str], /) -> dict[str, bytes]:
        """Files of some skills, by their paths; the one of a book in one file has no path."""


def of_name(name: str) -> Format:
    """A format by its name."""
    from hansei.learn.formats import agent_skills, json_book, kayba, playbook

    if name.startswith("kayba-"):
        return kayba.Kayba(name.removeprefix("kayba-"))
    known: dict[str, Format] = {
        "agent-skills": agent_skills.FORMAT,
        "json": json_book.FORMAT,
        "playbook": playbook.FORMAT,
    }
    return known[name]


def recognised(files: Mapping[str, bytes]) -> str | None:
    """The format that some files are written in, told by their content."""
    from hansei.learn.formats import json_book, kayba, playbook

    if any(path.rpartition("/")[2] == "SKILL.md" for path in files):
        return "agent-skills"
    content = next(iter(files.values()), b"")
    if json_book.recognises(content):
        return "json"
    version = kayba.version_of(content)
    if version is not None:
        return f"kayba-{version}"
    return "playbook" if playbook.recognises(content) else None
