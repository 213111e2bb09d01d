"""A skill as one text, the way books without descriptions and names keep it, and back.

The first paragraph is the description if it is one line and something follows it; a text that is
only one piece is description and body at once. So what is written once is read back as it was.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.learn.model import LIVE, Skill
from hansei.learn.operations import voted
from hansei.learn.validation import LONGEST_DESCRIPTION, normal_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ID = re.compile(r"([a-z][a-z_]*)-([0-9]{1,9})")
_DIGITS: Final = 5


def content(skill: Skill) -> str:
    """The skill as one text."""
    alone = parts(skill.body) == (skill.description, skill.body)
    return skill.body if alone else f"{skill.description}\n\n{skill.body}"


def parts(text: str) -> tuple[str, str]:
    """Description and body of one text."""
    whole = normal_body(text)
    first, _, rest = whole.partition("\n\n")
    line = " ".join(first.split())
    body = normal_body(rest)
    if body and line == first and len(line) <= LONGEST_DESCRIPTION:
        return line, body
    short = " ".join(whole.split())
    if len(short) > LONGEST_DESCRIPTION:
        short = short[: LONGEST_DESCRIPTION - 1].rstrip() + "…"
    return short, whole


def identified(skills: Iterable[Skill]) -> Iterator[tuple[str, Skill]]:
    """Skills with the kind of id that these books cite: a word, a hyphen, a number.

    A name that is one already stays; so a book that was taken in keeps its ids.
    """
    listed = list(skills)
    numbers = [int(found[2]) for it in listed if (found := _ID.fullmatch(it.name))]
    following = max(numbers, default=0)
    for skill in listed:
        if _ID.fullmatch(skill.name):
            yield skill.name, skill
        else:
            following += 1
            yield f"{_word(skill.section)}-{following:0{_DIGITS}}", skill


def _word(section: str) -> str:
    """The first word of a section, as these books begin an id."""
    found = re.search(r"[a-z]+", section.lower())
    return found[0] if found else "general"


def counters(skill: Skill) -> tuple[int, int]:
    """Helpful and harmful as a foreign book counts them: what one told us, and people's votes."""
    votes = voted(skill)
    told = skill.told
    return (
        (votes.helpful or 0) + (told.helpful if told else 0),
        (votes.harmful or 0) + (told.harmful if told else 0),
    )


def live(skill: Skill) -> bool:
    return skill.state in LIVE
