"""A skill that can be told from its outcomes: who had it, who needed it, what they did, what came.

Only worlds that ask for it have it. It is listed in some sessions and not in others, and in both
the work comes up that it is about: a cargo list must be sealed, a draft of it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from hansei.synth.draft import Doing, ran
from hansei.synth.skills import SKILLS, Skill
from hansei.synth.story import Guided, Read

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.synth.scenes import Tale
    from hansei.synth.story import Session

SIGN = "error: unsealed cargo lists are refused"
AVOID = "python tools/cargo.py --draft"
DO = "python tools/cargo.py --sealed"
CHECK = "python tools/cargo_office.py --verify"
GUIDE = Skill(
    "cargo-sealing",
    "Seal cargo lists, because the customs office refuses drafts.",
    "Hand the cargo list of the {entity} desk in, please.",
    DO,
    "sealed 12 lines",
)

Part = Literal["load", "avoid", "do", "do again fails", "check", "check fails", "corrected"]
Verdict = Literal["helpful", "harmful", "neutral"]
COURSES: dict[str, tuple[tuple[Part, ...], Verdict]] = {
    "followed": (("do",), "helpful"),
    "checked": (("do", "check"), "helpful"),
    "loaded": (("load", "do"), "helpful"),
    "violated": (("avoid",), "neutral"),
    "recovered": (("avoid", "do"), "helpful"),
    "recurred": (("do again fails",), "harmful"),
    "check_failed": (("do", "check fails"), "harmful"),
    "corrected": (("do", "corrected"), "harmful"),
}
"""What happens, and what that says of the skill where it was in force."""


def skills_of(session: Session) -> tuple[Skill, ...]:
    """The skills that a session is told of."""
    return (*SKILLS, GUIDE) if session.guided else SKILLS


@dataclass(frozen=True)
class GuideTruth:
    """A session in which the skill's work came up."""

    session: str
    course: str
    listed: bool
    """Whether the session was told of the skill."""
    loaded: str | None
    """The call that read it."""
    failed: tuple[str, ...]
    """Calls that were refused for the reason it is about."""
    avoided: tuple[str, ...]
    followed: tuple[str, ...]
    vote: Verdict
    """What it says of the skill, if that was in force."""


def guided(plant: Guided, session: str, call_id: Callable[[str], str]) -> GuideTruth:
    """What was planted in a session, with the calls as its agent numbers them."""
    calls = {part: call_id(key) for part, key in plant.calls}

    def those(*parts: Part) -> tuple[str, ...]:
        return tuple(calls[part] for part in parts if part in calls)

    return GuideTruth(
        session=session,
        course=plant.course,
        listed=plant.listed,
        loaded=calls.get("load"),
        failed=those("avoid", "do again fails"),
        avoided=those("avoid"),
        followed=those("do", "do again fails"),
        vote=COURSES[plant.course][1],
    )


def guide(tale: Tale) -> None:
    """Hand in a cargo list, one way or another."""
    draft, course = tale.draft, tale.rng.choice(sorted(COURSES))
    draft.say(GUIDE.asked.format(entity=tale.entity))
    made: dict[Part, str] = {}
    for part in COURSES[course][0]:
        if part == "corrected":
            words = (
                "No, that's wrong. Use tools/cargo_office.py instead of tools/cargo.py --sealed."
            )
            draft.say(words, topic="cargo", about=made["do"])
            draft.act(ran("ls tools", "cargo.py\ncargo_office.py", 0.1), reply="Sorry.")
        else:
            (made[part],) = draft.act(_doing(part))
    draft.act(reply=tale.pick("say_run"))
    draft.plants.append(Guided(course, tale.plants("guide:listed"), tuple(made.items())))


def _doing(part: Part) -> Doing:
    if part == "load":
        return Doing(Read(GUIDE.path), GUIDE.text)
    if part == "check":
        return ran(CHECK, "accepted", 0.6)
    if part == "check fails":
        return ran(CHECK, "error: the seal is not that of this office", 0.6, exit_code=4)
    if part == "do":
        return ran(DO, GUIDE.output, 0.8)
    command = AVOID if part == "avoid" else DO
    return ran(command, f"reading 12 lines\n{SIGN}", 0.8, exit_code=3)
