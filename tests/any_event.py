"""A strategy for any event at all."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from hypothesis import strategies as st

from hansei.events.model import KINDS, AnyEvent

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
_SPECIAL = {
    "arguments": st.dictionaries(TEXT, JSON, max_size=3),
    "data": st.dictionaries(TEXT, JSON),
}


def events() -> st.SearchStrategy[AnyEvent]:
    """Any event at all."""
    return st.one_of([_of(kind) for kind in KINDS])


def _of(kind: type) -> st.SearchStrategy[AnyEvent]:
    fields = {}
    for field in msgspec.structs.fields(kind):
        special = _SPECIAL.get(field.name)
        fields[field.name] = _value(field.type) if special is None else special
    return st.builds(kind, **fields)


def _value(annotation: object) -> st.SearchStrategy[object]:
    if annotation is int:
        return st.integers(-(2**63), 2**63 - 1)
    if annotation is str:
        return TEXT
    return st.from_type(annotation).filter(_storable)  # type: ignore[arg-type]


def _storable(value: object) -> bool:
    try:
        told = msgspec.to_builtins(value)
        msgspec.json.encode(told)
    except (UnicodeEncodeError, OverflowError):
        return False
    return all(-(2**63) <= number < 2**63 for number in _numbers(told))


def _numbers(told: object) -> Iterator[int]:
    if isinstance(told, int):
        yield told
    elif isinstance(told, list | dict):
        for part in told.values() if isinstance(told, dict) else told:
            yield from _numbers(part)
