"""Skills that sessions are told of, what they tell to run, and who asks for them.

A skill is listed by its name and what it is for, and read from its file when it is wanted. The
words of each stand in no other text of the world, so that who speaks of a skill is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Skill:
    name: str
    about: str
    """What the list says of it."""
    asked: str
    """What a person says who wants it, without naming it."""
    command: str
    output: str

    @property
    def path(self) -> str:
        return f".agents/skills/{self.name}/SKILL.md"

    @property
    def text(self) -> str:
        """The file itself."""
        return (
            f"---\nname: {self.name}\ndescription: {self.about}\n---\n\n"
            f"Before anything else:\n\n```bash\n{self.command}\n```\n\nThen say what it printed.\n"
        )


WANTED = (
    Skill(
        "tide-forecast",
        "Compute tide tables and currents for a mooring.",
        "By the way, what are the tides at the mooring tomorrow?",
        "python -m berthline.tides --days 3",
        "03:12 high 3.1 m\n09:40 low 0.6 m",
    ),
    Skill(
        "glossary-upkeep",
        "Keep the multilingual glossary of nautical terms in alphabetical sequence.",
        "And sort the nautical glossary, it is out of sequence again.",
        "python tools/glossary.py --sort",
        "sorted 112 terms",
    ),
    Skill(
        "diagram-export",
        "Export sequence diagrams and deployment sketches to vector graphics.",
        "Could I have the deployment sketch as vector graphics too?",
        "make diagrams",
        "wrote docs/diagrams/deployment.svg",
    ),
)
"""Those that are read now and then."""
IDLE = Skill(
    "pilot-roster",
    "Draw up the weekly roster of harbour pilots.",
    "Please draw up the roster of the pilots.",
    "python tools/roster.py",
    "wrote roster.csv",
)
"""One that is listed in every session and that nobody has ever wanted."""
SKILLS = (*WANTED, IDLE)


def listed(skills: Sequence[Skill]) -> str:
    """The list as agents show it to a model."""
    return "\n".join(f"- {skill.name}: {skill.about}" for skill in skills)


def listed_with_files(skills: Sequence[Skill], root: str) -> str:
    """The list of agents that say where each file lies."""
    return "\n".join(
        f"- {skill.name}: {skill.about} (file: {root}/{skill.path})" for skill in skills
    )


@dataclass(frozen=True)
class SkillTruth:
    """A skill that was read; every session of the same world is told of all skills."""

    session: str
    call: str
    skill: str
    asked: bool
    followed_by: str | None
