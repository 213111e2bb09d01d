"""JSON as different people would write it: any indentation, comments, commas at the end."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b c", "é", 'q"', "back\\", "s/*", "//", ""])
ATOMS = st.sampled_from([None, True, 0, -12, 1.5, "", "x", "}", "],", "/* */", "// a", 'é"\\'])
"""Few and tricky: hypothesis takes longer to make up texts than we to read them."""
SPACES = ["", " ", "  ", "\n", "\n    ", "\n\t", "\r\n  "]
NOTES = [" /* note , } */ ", " // note , ]\n", "\n  // note\n  "]


def objects() -> st.SearchStrategy[dict[str, Any]]:
    inner = st.lists(ATOMS, max_size=2) | st.dictionaries(NAMES, ATOMS, max_size=2)
    return st.dictionaries(NAMES, ATOMS | inner | st.lists(inner, max_size=2), max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An object, written in some way, and its value."""
    value = draw(objects())
    return written(value, draw(st.integers(0, 1 << 16))), value


def written(value: Any, seed: int) -> str:
    """A value as text, with white space and comments wherever they may stand.

    The layout comes from a seed: to draw every space on its own would take a second per document.
    """
    return _text(value, Random(seed))


def _text(value: Any, dice: Random) -> str:
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(key)}{_gap(dice)}:{_gap(dice)}{_text(inner, dice)}"
            for key, inner in value.items()
        ]
        return "{" + _joined(parts, dice) + "}"
    if isinstance(value, list):
        return "[" + _joined([_text(item, dice) for item in value], dice) + "]"
    return json.dumps(value, ensure_ascii=dice.random() < 0.5)


def _gap(dice: Random) -> str:
    return dice.choice(SPACES * 3 + NOTES)


def _joined(parts: list[str], dice: Random) -> str:
    text = _gap(dice)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        comma = "," if not last or dice.random() < 0.5 else ""
        text += part + _gap(dice) + comma + _gap(dice)
    return text
