"""The gate between sources and the store: events go in, clean events come out.

`Clean` is the type the store accepts, and only `redact` makes it. Every text of an event passes the
redactor except the ids that tie events together. On the way arguments are made storable, since they
are whatever JSON an agent wrote.
"""

from __future__ import annotations

import math
from functools import cache
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec

from hansei.redaction.env_events import EnvWatch
from hansei.redaction.env_files import shows_env_file
from hansei.redaction.redactor import Redactor, names_secret, storable_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hansei.events.model import AnyEvent, SessionFacts

__all__ = ["Clean", "Redactor", "redact", "redact_facts", "shows_env_file"]

IDS: Final = frozenset(
    {"session", "call", "message", "request", "child", "id", "parent", "spawned_by"}
)
"""Fields that tie events together; changing one would cut the tie."""

DEEPEST: Final = 100
"""Arguments nested deeper than this are cut, so that no transcript exhausts the stack."""

_SMALLEST_INTEGER: Final = -(2**63)
_LARGEST_INTEGER: Final = 2**63 - 1
"""What SQLite and Parquet hold; a larger number is kept as text."""

_SEAL: Final = object()
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class Clean:
    """An event without secrets. Only `redact` makes one."""

    __slots__ = ("_event",)

    def __init__(self, event: AnyEvent, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only redact() makes clean events")
        self._event = event

    @property
    def event(self) -> AnyEvent:
        return self._event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clean) and self._event == other._event

    def __hash__(self) -> int:
        return hash((self._event.session, self._event.key))

    def __repr__(self) -> str:
        return f"Clean({self._event!r})"


def redact(
    events: Iterable[AnyEvent], redactor: Redactor, *, env_calls: dict[str, None] | None = None
) -> list[Clean]:
    """Take the secrets out of events.

    `env_calls` is an ordered set, a dict of which only the keys count: what showed an env file and
    has no output yet, the newest last. What is met here is added and what was answered is taken
    out, so that an output is recognised even when it comes in a later batch.
    """
    watch = EnvWatch({} if env_calls is None else env_calls)
    clean = []
    for event in events:
        scrub = redactor.scrub_env if watch.shows_env(event) else redactor.scrub
        clean.append(Clean(_changed(event, scrub, redactor), _SEAL))
    watch.forget_answered()
    return clean


def redact_facts(facts: SessionFacts, redactor: Redactor) -> SessionFacts:
    """Take the secrets out of what is known of a session."""
    return _changed(facts, redactor.scrub, redactor)


def _changed(struct: _Struct, scrub: Callable[[str], str], redactor: Redactor) -> _Struct:
    """The struct with every text scrubbed; the same one where nothing is to change."""
    fields = _fields(type(struct))
    changes: dict[str, Any] = {}
    for name, before in zip(fields.texts, fields.of_texts(struct), strict=True):
        if before:
            after = scrub(before) if isinstance(before, str) else _storable(before, scrub, redactor)
            if after is not before:
                changes[name] = after
    for name, before in zip(fields.ids, fields.of_ids(struct), strict=True):
        if before and not before.isascii():
            changes[name] = storable_text(before)
    return msgspec.structs.replace(struct, **changes) if changes else struct


class _Fields(NamedTuple):
    """The fields of a struct that hold text, and a quick way to get at all of them."""

    texts: tuple[str, ...]
    ids: tuple[str, ...]
    of_texts: Callable[[msgspec.Struct], tuple[Any, ...]]
    of_ids: Callable[[msgspec.Struct], tuple[str | None, ...]]


@cache
def _fields(kind: type[msgspec.Struct]) -> _Fields:
    names = [
        field.name
        for field in msgspec.structs.fields(kind)
        if _holds_text(msgspec.inspect.type_info(field.type))
    ]
    texts = tuple(name for name in names if name not in IDS)
    ids = tuple(name for name in names if name in IDS)
    return _Fields(texts, ids, _getter(texts), _getter(ids))


def _getter(names: tuple[str, ...]) -> Callable[[msgspec.Struct], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda struct: tuple(getattr(struct, name) for name in names)


def _holds_text(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(map(_holds_text, kind.types))
    if isinstance(kind, msgspec.inspect.StructType):
        return any(_holds_text(field.type) for field in kind.fields)
    return isinstance(
        kind, (msgspec.inspect.StrType, msgspec.inspect.DictType, msgspec.inspect.ListType)
    )


def _storable(
    value: Any, scrub: Callable[[str], str], redactor: Redactor, depth: int = DEEPEST
) -> Any:
    """A value of JSON with its texts scrubbed, in numbers that can be stored and encoded."""
    if isinstance(value, str):
        return scrub(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if _SMALLEST_INTEGER <= value <= _LARGEST_INTEGER else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, msgspec.Struct):
        return _changed(value, scrub, redactor)
    if depth == 0:
        return "[nested too deeply]"
    if isinstance(value, dict):
        return _storable_fields(value, scrub, redactor, depth - 1)
    if isinstance(value, (list, tuple)):
        items = [_storable(item, scrub, redactor, depth - 1) for item in value]
        same = isinstance(value, list) and all(map(is_, items, value))
        return value if same else items
    return scrub(str(value))


def _storable_fields(
    fields: dict[Any, Any], scrub: Callable[[str], str], redactor: Redactor, depth: int
) -> dict[Any, Any]:
    result = {}
    same = True
    for key, before in fields.items():
        name = scrub(key) if isinstance(key, str) else _storable(key, scrub, redactor, depth)
        if isinstance(before, str):
            after = scrub(before)
            if after is before and names_secret(name):
                after = redactor.scrub_named(name, before)
        else:
            after = _storable(before, scrub, redactor, depth)
        same = same and after is before and name is key
        result[name] = after
    return fields if same else result
