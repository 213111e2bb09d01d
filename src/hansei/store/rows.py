"""Events as rows: the same columns in both tiers.

What one searches, counts or joins by has a column; the rest of an event is JSON in `detail`. Both
directions are exact.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import msgspec

from hansei.events.model import AnyEvent, Event, RequestUsage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.redaction.engine import Clean

SHARED = ("tool", "name", "call", "status", "origin", "model", "cwd", "branch", "text")
"""Event fields that are columns, wherever a kind has them."""

COLUMNS = ("session", "seq", "key", "at", "kind", *SHARED, "detail")


class Row(NamedTuple):
    """An event on its way into the store, before it has a number there."""

    native_session: str
    key: int
    at: int | None
    kind: str
    content: int
    """Checksum of everything but identity: a second reading that changed nothing is skipped."""
    columns: tuple[str | None, ...]
    """`SHARED`, then `detail`."""


class _Layout(NamedTuple):
    kind: str
    shared: tuple[tuple[int, str], ...]
    rest: tuple[tuple[str, Any], ...]


@cache
def _layout(kind: type[Event]) -> _Layout:
    fields = msgspec.structs.fields(kind)
    names = {field.encode_name for field in fields}
    known = {"key", "session", "at", *SHARED}
    tag = kind.__struct_config__.tag
    assert isinstance(tag, str)
    return _Layout(
        kind=tag,
        shared=tuple((i, name) for i, name in enumerate(SHARED) if name in names),
        rest=tuple((f.encode_name, f.default) for f in fields if f.encode_name not in known),
    )


_encoder = msgspec.json.Encoder(order="deterministic")
_WIDTH = len(SHARED) + 1


def to_row(clean: Clean) -> Row:
    """A cleaned event as a row."""
    return _row(clean.event)


def merged_row(event: RequestUsage) -> Row:
    """The row of a usage put together from rows that were clean already."""
    return _row(event)


def _row(event: Event) -> Row:
    layout = _layout(type(event))
    columns: list[str | None] = [None] * _WIDTH
    for index, name in layout.shared:
        value = getattr(event, name)
        columns[index] = None if value is None else str(value)  # an enum becomes plain text
    rest = {}
    for name, default in layout.rest:
        value = getattr(event, name)
        if value != default and value != [] and value != {}:
            rest[name] = value
    if rest:
        columns[-1] = _encoder.encode(rest).decode()
    return Row(event.session, event.key, event.at, layout.kind, content_of(columns), tuple(columns))


def content_of(columns: Sequence[str | None]) -> int:
    """The checksum of a row's `SHARED` columns and `detail`."""
    content = 0
    for column in columns:
        content = crc32(b"\x1f" if column is None else column.encode(), content)
    return content


def json_list(numbers: Iterable[int]) -> str:
    """Numbers as one parameter: `IN (SELECT value FROM json_each(?))` takes any count of them."""
    return f"[{','.join(map(str, numbers))}]"


def usage_of(row: Row) -> RequestUsage:
    """The usage in a row that is on its way into the store."""
    event = from_row(row.native_session, (0, 0, row.key, row.at, row.kind, *row.columns))
    assert isinstance(event, RequestUsage)
    return event


def from_row(session: str, row: tuple[Any, ...]) -> AnyEvent:
    """The event of a stored row (its columns in the order of `COLUMNS`)."""
    fields = {name: value for name, value in zip(COLUMNS, row, strict=True) if value is not None}
    detail = fields.pop("detail", None)
    if detail:
        fields.update(msgspec.json.decode(detail))
    del fields["seq"]
    fields["session"] = session
    return msgspec.convert(fields, AnyEvent)  # type: ignore[no-any-return]
