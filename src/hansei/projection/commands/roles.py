"""What a program's words are to it: files, patterns, or words of which nothing more is known."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from hansei.projection.commands import programs

if TYPE_CHECKING:
    from hansei.projection.commands.arguments import Arguments


class Role(Enum):
    """What one word is."""

    OTHER = auto()
    FILE = auto()
    """A path, whatever stands in it."""
    PATTERN = auto()
    """A regular expression or a script: never a path."""
    NAME = auto()
    """A word that would be a subcommand were it spelled shorter."""


def roles(given: Arguments) -> dict[int, Role]:
    """The words of which something is known, by identity."""
    family = programs.SAME.get(given.program, given.program)
    found: dict[int, Role] = {}
    full = f"{family} {given.subcommand}" if given.subcommand else family
    if full in programs.SEARCHES:
        return _searching(given)
    if family in programs.SUBCOMMANDS and given.subcommand is None and given.targets:
        found[id(given.targets[0])] = Role.NAME
    if full in programs.NAMES_FILES:
        found |= {id(word): Role.FILE for word in given.targets}
        for option in given.options:
            if option.value is not None and option.name in programs.FILE_OPTIONS:
                found[id(option.value)] = Role.FILE
    return found


def _searching(given: Arguments) -> dict[int, Role]:
    found = {id(word): Role.FILE for word in given.targets}
    told = False
    for option in given.options:
        if option.name in programs.PATTERN_OPTIONS and option.value is not None:
            found[id(option.value)] = Role.PATTERN
            told = True
        told = told or option.name in programs.PATTERN_FILES
    # `sed -i ''` of BSD: the empty word belongs to the option.
    pattern = next((word for word in given.targets[: given.rest or None] if word.text), None)
    if pattern is not None and not told:
        found[id(pattern)] = Role.PATTERN
    return found
