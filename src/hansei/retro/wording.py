"""How claims and changes spell out names and numbers: one line, no signs that steer a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST: Final = 120
"""Letters of a path or command that a person still reads at a glance."""
_THOUSAND = 1000
_MILLION = 1_000_000
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069`]+")


def quoted(text: str, longest: int = LONGEST) -> str:
    """A path or command as code; of a long one the beginning and the end."""
    plain = " ".join(_UNPRINTABLE.sub(" ", text).split())
    if len(plain) > longest:
        half = (longest - 1) // 2
        plain = f"{plain[:half]}…{plain[-half:]}"
    return f"`{plain}`"


def listed(texts: Iterable[str]) -> str:
    """Several of them in a row."""
    return ", ".join(map(quoted, texts))


def amount(tokens: float) -> str:
    """A number of tokens, short."""
    if tokens >= _MILLION:
        return f"{tokens / _MILLION:.1f} M"
    if tokens >= _THOUSAND:
        return f"{tokens / _THOUSAND:.0f} k"
    return f"{tokens:.0f}"


def times(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
