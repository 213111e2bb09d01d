"""Events as rows: the same columns in both tiers.

What one searches, counts or joins by has a column; the rest of an event is JSON in `detail`. Both
directions are exact.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, Union, get_args, get_origin
from zlib import crc32

import msgspec

from hansei.events.model import KINDS, Event, Observation, Origin, Prompt, RequestUsage
from hansei.store.evidence import Evidence, evidence_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hansei.events.model import AnyEvent
    from hansei.redaction.engine import Clean

SHARED = ("tool", "name", "call", "status", "origin", "model", "cwd", "branch", "text")
"""Event fields that are columns, wherever a kind has them."""

OBSERVATION = "observation"
COLUMNS = ("session", "seq", "key", "at", "kind", *SHARED, "detail")
_KIND = COLUMNS.index("kind")


Body = tuple[str | None, ...]
"""What an event says: `SHARED`, then `detail`."""


class Row(NamedTuple):
    """An event on its way into the store, without its `Body`: all that deciding about it takes."""

    native_session: str
    key: int
    at: int | None
    kind: str
    content: int
    """Checksum of the body: a second reading that changed nothing is skipped."""
    counted: str
    """What its kind is counted by: prompts by origin, calls by tool, results by status."""
    opening: str | None = None
    """The beginning of a prompt that may stand for its session."""
    usage: RequestUsage | None = None
    seen: Observation | None = None
    evidence: tuple[Evidence, ...] = ()
    """What it says of texts in force."""


_COUNTED = {
    "prompt": "origin",
    "tool_call": "tool",
    "tool_result": "status",
    "notice": "name",
    "observation": "name",
    "unrecognised": "name",
}
_ASKED = {Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT}
_NOTHING = "\x1e"

OPENING_CHARACTERS = 200
"""How much of a session's first prompt stands for it where the agent gave no title."""


class _Layout(NamedTuple):
    """Where the fields of one kind of event go, and a quick way to get at all of them."""

    kind: str
    places: tuple[int, ...]
    shared: Callable[[Event], tuple[Any, ...]]
    rest: tuple[tuple[str, Any], ...]
    others: Callable[[Event], tuple[Any, ...]]
    counted: int | None


@cache
def _layout(kind: type[Event]) -> _Layout:
    fields = msgspec.structs.fields(kind)
    names = {field.encode_name for field in fields}
    known = {"key", "session", "at", *SHARED}
    tag = kind.__struct_config__.tag
    assert isinstance(tag, str)
    shared = [name for name in SHARED if name in names]
    rest = tuple((f.encode_name, _default(f)) for f in fields if f.encode_name not in known)
    counted = _COUNTED.get(tag)
    return _Layout(
        kind=tag,
        places=tuple(map(SHARED.index, shared)),
        shared=_getter(shared),
        rest=rest,
        others=_getter([name for name, _ in rest]),
        counted=None if counted is None else SHARED.index(counted),
    )


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default


def _getter(names: Sequence[str]) -> Callable[[Event], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda event: tuple(getattr(event, name) for name in names)


_encoder = msgspec.json.Encoder(order="deterministic")
_WIDTH = len(SHARED) + 1


def to_row(clean: Clean) -> tuple[Row, Body]:
    """A cleaned event as a row and its body."""
    return _row(clean.event)


def merged_row(event: RequestUsage | Observation) -> tuple[Row, Body]:
    """The row of an event put together from rows that were clean already."""
    return _row(event)


def _row(event: AnyEvent) -> tuple[Row, Body]:
    layout = _layout(type(event))
    columns: list[str | None] = [None] * _WIDTH
    for index, value in zip(layout.places, layout.shared(event), strict=True):
        # An enum becomes plain text.
        columns[index] = value if value is None or type(value) is str else str(value)
    rest = {
        name: value
        for (name, default), value in zip(layout.rest, layout.others(event), strict=True)
        if value is not default and value != default
    }
    if rest:
        columns[-1] = _encoder.encode(rest).decode()
    body = tuple(columns)
    counted = body[layout.counted] if layout.counted is not None else None
    row = Row(
        native_session=event.session,
        key=event.key,
        at=event.at,
        kind=layout.kind,
        content=content_of(layout.kind, event.at, body),
        counted=counted or "",
        opening=_opening(event) if isinstance(event, Prompt) else None,
        usage=event if isinstance(event, RequestUsage) else None,
        seen=event if isinstance(event, Observation) else None,
        evidence=evidence_of(event),
    )
    return row, body


def _opening(prompt: Prompt) -> str | None:
    return prompt.text[:OPENING_CHARACTERS] or None if prompt.origin in _ASKED else None


def counted_by(kind: str, body: Sequence[str | None]) -> str:
    """`Row.counted` of a stored row."""
    column = _COUNTED.get(kind)
    return "" if column is None else body[SHARED.index(column)] or ""


def content_of(kind: str, at: int | None, body: Sequence[str | None]) -> int:
    """The checksum of a body; of what a hook saw, also of its time."""
    seed = (at or 0) & 0xFFFFFFFF if kind == OBSERVATION else 0
    return crc32("\x1f".join([_NOTHING if it is None else it for it in body]).encode(), seed)


def json_list(numbers: Iterable[int]) -> str:
    """Numbers as one parameter: `IN (SELECT value FROM json_each(?))` takes any count of them."""
    return f"[{','.join(map(str, numbers))}]"


class _Reader(NamedTuple):
    """How rows of one kind become events again."""

    kind: type[Event]
    columns: tuple[tuple[int, str, Mapping[str, Any] | None], ...]
    """Place and field; where the field is an enum, its members by what is stored."""
    enums: tuple[tuple[str, Mapping[str, Any]], ...]
    """The same for fields that have no column."""
    plain: bool
    """Whether all others are what JSON makes of them."""


@cache
def _reader(tag: str) -> _Reader:
    kind = next(it for it in KINDS if it.__struct_config__.tag == tag)
    types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    wanted = ("key", "at", *(name for name in SHARED if name in types))
    rest = {name: it for name, it in types.items() if name not in (*wanted, "session")}
    enums = {name: found for name, it in rest.items() if (found := _members(it)) is not None}
    return _Reader(
        kind=kind,
        columns=tuple((COLUMNS.index(name), name, _members(types[name])) for name in wanted),
        enums=tuple(enums.items()),
        plain=all(_is_plain(it) for name, it in rest.items() if name not in enums),
    )


def _members(annotation: Any) -> Mapping[str, Any] | None:
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return {str(it): it for it in annotation}
    return None


def _is_plain(annotation: Any) -> bool:
    if get_origin(annotation) in (UnionType, Union):
        return all(map(_is_plain, get_args(annotation)))
    return annotation in (str, int, bool, type(None), dict[str, Any])


def from_row(session: str, row: tuple[Any, ...]) -> AnyEvent:
    """The event of a stored row (its columns in the order of `COLUMNS`)."""
    reader = _reader(row[_KIND])
    fields: dict[str, Any] = {"session": session}
    for place, name, members in reader.columns:
        value = row[place]
        if value is not None:
            fields[name] = value if members is None else members[value]
    if row[-1]:
        fields.update(msgspec.json.decode(row[-1]))
    for name, found in reader.enums:
        if name in fields:
            fields[name] = found[fields[name]]
    if reader.plain:
        return reader.kind(**fields)  # type: ignore[return-value] # one of the kinds
    return msgspec.convert(fields, reader.kind)  # type: ignore[return-value] # likewise
