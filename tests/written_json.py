"""JSON as different people would write it: any indentation, comments, commas at the end."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.text(alphabet='abcxyz é"\\/', min_size=1, max_size=6)
ATOMS = st.one_of(
    st.none(), st.booleans(), st.integers(-9, 99), st.text(alphabet='ab /*,}]é"\\', max_size=8)
)
SPACES = ["", " ", "  ", "\n", "\n    ", "\n\t", "\r\n  "]
NOTES = [" /* note , } */ ", " // note , ]\n", "\n  // note\n  "]


def values() -> st.SearchStrategy[Any]:
    return st.recursive(
        ATOMS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
        max_leaves=5,
    )


def objects() -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(NAMES, values(), max_size=3)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """An object, written in some way, and its value."""
    value = draw(objects())
    return written(draw, value), value


def written(draw: st.DrawFn, value: Any) -> str:
    """A value as text, with white space and comments wherever they may stand."""
    gap = st.sampled_from(SPACES * 3 + NOTES)
    if isinstance(value, dict):
        parts = [
            f"{json.dumps(k)}{draw(gap)}:{draw(gap)}{written(draw, v)}" for k, v in value.items()
        ]
        return "{" + _joined(draw, parts) + "}"
    if isinstance(value, list):
        return "[" + _joined(draw, [written(draw, item) for item in value]) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def _joined(draw: st.DrawFn, parts: list[str]) -> str:
    gap = st.sampled_from(SPACES * 3 + NOTES)
    text = draw(gap)
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        comma = "," if not last or draw(st.booleans()) else ""
        text += part + draw(gap) + comma + draw(gap)
    return text
