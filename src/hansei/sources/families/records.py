"""One line of JSON as a typed record, whatever state the line is in.

The fast way decodes straight into the record's type. Where that fails the line is decoded again
without types and everything that does fit is kept: one field of a wrong type must not cost a
record, nor one bad byte. Only a line that is no JSON object at all is given up.
"""

from __future__ import annotations

import math
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, Union, get_args, get_origin

import msgspec

from hansei.sources.contract import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T", bound=msgspec.Struct)

BROKEN = "not JSON"
NO_OBJECT = "not a JSON object"
TOO_DEEP = "nested too deeply"
BAD_BYTES = "bytes that are not UTF-8 were replaced"

FAILURES = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding a line may raise."""
_UNIONS = (Union, UnionType)
_PADDING = b"\x00 \t\r\n"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Rescued(NamedTuple):
    """What could be had of a line: an object, or the reason why not; perhaps both."""

    value: dict[str, Any] | None
    reason: str | None = None


def rescue(line: bytes) -> Rescued:
    """A line as a plain object. A blank line gives neither object nor reason."""
    content = line.strip(_PADDING).removeprefix(_BYTE_ORDER_MARK).strip(_PADDING)
    if not content:
        return Rescued(None)
    # Only lines that the fast way refuses need the slower decoder.
    import json

    text, reason = _text(content)
    try:
        value = _scrub(json.loads(text, strict=False))
    except RecursionError:
        return Rescued(None, TOO_DEEP)
    except ValueError:
        return Rescued(None, BROKEN)
    if not isinstance(value, dict):
        return Rescued(None, NO_OBJECT)
    return Rescued(value, reason)


def plain(line: bytes) -> dict[str, Any]:
    """Every field of a line that is known to hold an object."""
    try:
        value = msgspec.json.decode(line)
    except FAILURES:
        return rescue(line).value or {}
    return value if isinstance(value, dict) else {}


def salvage(value: dict[str, Any], kind: type[T]) -> T:
    """A record from whichever fields of the object fit it; the others are as if unrecorded."""
    kept = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in value:
            fitted = _fit(value[field.encode_name], field.type)
            if fitted is not msgspec.UNSET:
                kept[field.name] = fitted
    return kind(**kept)


def value_of(raw: msgspec.Raw) -> Any:
    """What a field that was left undecoded holds; None if it was not recorded."""
    data = bytes(raw)
    if not data:
        return None
    try:
        return msgspec.json.decode(data)
    except FAILURES:
        held = rescue(b'{"held":' + data + b"}").value
        return held and held["held"]


def _text(content: bytes) -> tuple[str, str | None]:
    try:
        return content.decode("utf-8"), None
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace"), BAD_BYTES


def _scrub(value: Any) -> Any:
    """Replace what JSON text may say but no stored text can: lone surrogates, infinite numbers."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _fit(value: Any, wanted: Any) -> Any:
    """The value as the wanted type, as much of it as fits, or UNSET."""
    if wanted is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value))
    try:
        return msgspec.convert(value, wanted, strict=False)
    except msgspec.ValidationError:
        pass
    for choice in get_args(wanted) if get_origin(wanted) in _UNIONS else (wanted,):
        if isinstance(value, dict) and _is_struct(choice):
            return salvage(value, choice)
        if isinstance(value, list) and get_origin(choice) is list:
            return _fit_list(value, get_args(choice)[0])
    return msgspec.UNSET


def _fit_list(values: list[Any], wanted: Any) -> list[Any]:
    fitted = (_fit(value, wanted) for value in values)
    return [value for value in fitted if value is not msgspec.UNSET]


def _is_struct(choice: Any) -> bool:
    return isinstance(choice, type) and issubclass(choice, msgspec.Struct)


class Lines(Protocol):
    """A reading under way: where it is, what it met."""

    line: bytes
    offset: int
    records: int
    problems: list[Problem]


L = TypeVar("L", bound=Lines)


def take_lines(
    reader: L,
    numbered: Iterable[tuple[int, int, bytes]],
    kind: type[T],
    decode: Callable[[bytes], T],
    take: Callable[[L, T], None],
) -> None:
    """Hand every line to `take` as a record; what cannot be one is noted and passed over."""
    for number, offset, line in numbered:
        try:
            record = decode(line)
        except FAILURES:
            value, reason = rescue(line)
            if reason is not None:
                reader.problems.append(Problem(number, offset, reason))
            if value is None:
                reader.records += reason is not None
                continue
            record = salvage(value, kind)
        reader.line, reader.offset = line, offset
        reader.records += 1
        take(reader, record)
