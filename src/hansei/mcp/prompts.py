"""Two things a person can have their agent do by name."""

from __future__ import annotations

from typing import Final, NamedTuple

from hansei.events.model import MARKER


class Ready(NamedTuple):
    name: str
    about: str
    text: str


PROMPTS: Final = (
    Ready(
        "retro",
        "Look back at this project's sessions and propose what to change.",
        f"{MARKER}\nCall `retro`, then `bet` for each bet worth acting on. For each say in two"
        " lines what recurs, what it costs and the exact change, and name a session to open. Do not"
        " change any file: I will decide.",
    ),
    Ready(
        "brief me",
        "What to know before working here.",
        f"{MARKER}\nCall `brief` with the task at hand and the files you expect to touch. Tell me"
        " in at most five lines what you will do differently because of it.",
    ),
)
