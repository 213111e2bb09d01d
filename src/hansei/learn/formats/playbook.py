"""The playbook of the ACE paper's own code: a line to the skill, under headings.

    ## STRATEGIES
    [calc-00001] helpful=3 harmful=0 :: Round only at the end.

A skill is one line there, so line breaks of ours become blanks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.learn.contents import content, counters, identified, live, parts
from hansei.learn.exchange import Foreign, Refused
from hansei.learn.model import Label, Skill, State, Told
from hansei.learn.validation import name_from, normal, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LINE = re.compile(
    r"\s*(?:[-*] )?\[([A-Za-z][\w&-]{0,80}-[0-9]{1,9})\]"
    r"\s+helpful=([0-9]{1,15})\s+harmful=([0-9]{1,15})\s*::\s*(\S.*)"
)
_HEADING = re.compile(r"#{1,6}\s+(\S.*)")
_LOOKED_AT: Final = 64 * 1024
"""Characters in which the first line of a skill must come."""


def recognises(data: bytes) -> bool:
    """Whether a text has lines of a playbook."""
    text = data[:_LOOKED_AT].decode("utf-8", "replace")
    return any(_LINE.fullmatch(line) for line in text.split("\n"))


class Playbook:
    """One text."""

    def read(self, files: Mapping[str, bytes]) -> Foreign:
        skills: list[Skill] = []
        refused: list[Refused] = []
        for path, data in sorted(files.items()):
            section = "General"
            for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
                heading = _HEADING.fullmatch(line)
                found = _LINE.fullmatch(line)
                if heading:
                    section = heading[1].strip()
                elif found:
                    skill = _skill(found, section, {it.name for it in skills})
                    faults = unfit(skill)
                    if faults:
                        refused.append(Refused(f"{path}, line {number}", faults[0]))
                    else:
                        skills.append(skill)
                elif line.strip():
                    refused.append(Refused(f"{path}, line {number}", "it is no line of a playbook"))
        return Foreign(tuple(skills), tuple(refused))

    def write(self, skills: Sequence[Skill], _seal: Callable[[Skill], str], /) -> dict[str, bytes]:
        sections: dict[str, list[str]] = {}
        for number, skill in identified(it for it in skills if live(it)):
            helpful, harmful = counters(skill)
            text = " ".join(content(skill).split())
            line = f"[{number}] helpful={helpful} harmful={harmful} :: {text}"
            sections.setdefault(skill.section, []).append(line)
        blocks = ["\n".join((f"## {name}", *lines)) for name, lines in sections.items()]
        return {"": ("\n\n".join(blocks) + "\n").encode("utf-8")}


def _skill(found: re.Match[str], section: str, taken: set[str]) -> Skill:
    description, body = parts(found[4])
    helpful, harmful = int(found[2]), int(found[3])
    return normal(
        Skill(
            name=name_from(found[1], taken),
            description=description,
            body=body,
            section=section,
            state=State.DRAFT,
            origin="import",
            label=Label.FOREIGN,
            told=Told("playbook", helpful, harmful) if helpful or harmful else None,
        )
    )


FORMAT: Final = Playbook()
