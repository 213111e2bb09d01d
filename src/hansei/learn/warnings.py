"""Whether words warn of what they show, instead of asking for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORBIDS: Final = re.compile(
    r"\b(?:never|avoid|do not|don't|must not|should not|shouldn't|instead of|rather than)\b"
    r"(?!\s+(?:forget|hesitate|skip|miss|fail|worry|leave out))",
    re.IGNORECASE,
)
_SHOWS: Final = re.compile(
    r"[✗❌🚫⛔]|\b(?:bad|wrong|incorrect|unsafe|insecure|vulnerable|dangerous|malicious|anti-?pattern"
    r"|forbidden|prohibited|blocked|denied|attack(?:er)?s?|injection|red flags?|exploits?)\b",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(r"^\s{0,3}#{1,6}\s")
_NEAR: Final = 3
"""Lines above that still speak of what stands here."""


def forbids(text: str) -> bool:
    """Whether a piece of a sentence tells not to do what follows."""
    return _FORBIDS.search(text) is not None


def warned(lines: Sequence[str]) -> list[bool]:
    """Of every line, whether the one above, its heading or itself shows it as something bad."""
    found: list[bool] = []
    heading, above, since = False, "", 0
    for line in lines:
        if _HEADING.match(line):
            heading = _SHOWS.search(line) is not None
        near = above if since <= _NEAR else ""
        shows = _SHOWS.search(line) is not None or _SHOWS.search(near) is not None
        found.append(heading or shows or forbids(near))
        above, since = (line, 0) if line.strip() else (above, since)
        since += 1
    return found
