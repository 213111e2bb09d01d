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
