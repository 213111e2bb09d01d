"""The instruction texts of a repository as statements, each with the place where it holds.

A file in a folder holds there, a rule for the files of its pattern, a skill for its kind of work.
A skill that lies in several agents' folders is one skill.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.hook import places
from hansei.instructions.census import files_of
from hansei.instructions.statements import Place, Statement, statements

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.instructions.census import Text


def place_of(path: str, kind: str, content: str) -> Place:
    """Where a text holds, by its path and its header."""
    folders = (places.matched(agent, path) for agent in places.IN_REPOSITORY)
    folder = next((it[1] for it in folders if it is not None), "")
    if kind == places.SKILL:
        return Place(folder, skill=path.split("/")[-2])
    return Place(folder, files_of(content) if kind == places.RULE else "")


def statements_of(texts: Iterable[Text]) -> list[Statement]:
    """What the texts say, in the order they are given."""
    found: list[Statement] = []
    skills: set[str] = set()
    for text in texts:
        if text.kind == places.SERVER:
            continue
        place = place_of(text.path, text.kind, text.content)
        if place.skill not in skills:
            found += statements(text.path, text.content, place)
        skills |= {place.skill} - {""}
    return found
