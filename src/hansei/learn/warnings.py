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


def warns(lines: Sequence[str], number: int) -> bool:
    """Whether the lines around one, from 0, show it as something bad."""
    above = [it for it in lines[max(0, number - _NEAR) : number] if it.strip()]
    heading = next((it for it in reversed(lines[:number]) if _HEADING.match(it)), "")
    near = (lines[number], *above[-1:], heading)
    return any(map(_SHOWS.search, near)) or any(map(_FORBIDS.search, above[-1:]))
