"""A row type is a NamedTuple, and its fields are the columns of a table.

Tables are made from the row types and not by migrations: everything in them follows from the log,
so a change of shape or of a rule throws them away and has them worked out again.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property, partial
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints

import msgspec

from hansei.store.removal import FACTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from hansei.store.database import Store

R = TypeVar("R", bound=tuple[Any, ...])


class Found(NamedTuple, Generic[R]):
    """A row and the session it is of."""

    session: int
    row: R


class Table(Generic[R]):
    """Where the rows of one type are kept: one session after the other, each in its own order."""

    def __init__(self, name: str, row: type[R]) -> None:
        self.name = FACTS + name
        self.row = row

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(self.row._fields)  # type: ignore[attr-defined] # a NamedTuple

    @cached_property
    def _lists(self) -> tuple[int, ...]:
        """Which columns hold several values; those are kept as JSON."""
        types = hints(self.row)
        return tuple(place for place, name in enumerate(self.fields) if _is_list(types[name]))

    @property
    def statement(self) -> str:
        """How it is made. Columns have no type: values are kept as they are."""
        columns = ", ".join(f'"{name}"' for name in self.fields)
        return (
            f"CREATE TABLE {self.name} (session INTEGER, nth INTEGER, {columns},"
            " PRIMARY KEY (session, nth)) WITHOUT ROWID"
        )

    def cells(self, row: R) -> list[Any]:
        """A row as plain values."""
        cells = list(row)
        for place in self._lists:
            if cells[place] is not None:
                cells[place] = msgspec.json.encode(cells[place]).decode()
        return cells

    def clear(self, store: Store, session: int) -> None:
        """Take a session's rows away."""
        store.db.execute(f"DELETE FROM {self.name} WHERE session = ?", (session,))

    def write(self, store: Store, session: int, rows: Iterable[Sequence[Any]]) -> None:
        """Add a session's rows, as cells; it has none yet."""
        marks = ", ".join("?" * (len(self.fields) + 2))
        store.db.executemany(
            f"INSERT INTO {self.name} VALUES ({marks})",
            ((session, nth, *cells) for nth, cells in enumerate(rows)),
        )

    def read(self, store: Store, where: str, values: Any = ()) -> Iterator[Found[R]]:
        """The rows of chosen sessions in order; `where` is a condition on `session`."""
        columns = ", ".join(f'"{name}"' for name in self.fields)
        cursor = store.db.execute(
            f"SELECT session, {columns} FROM {self.name} WHERE {where} ORDER BY session, nth",
            values,
        )
        made, readers = tuple.__new__, self._readers
        for session, *cells in cursor:
            for place, read in readers:
                if cells[place] is not None:
                    cells[place] = read(cells[place])
            # What `_make` does less its check, because looking back reads a hundred thousand.
            yield made(Found, (session, made(self.row, cells)))

    @cached_property
    def _readers(self) -> tuple[tuple[int, Callable[[Any], Any]], ...]:
        """Which columns hold something else than SQLite returns, and how it is made."""
        types = hints(self.row)
        found = ((place, _reader(types[name])) for place, name in enumerate(self.fields))
        return tuple((place, read) for place, read in found if read is not None)


def _reader(kind: Any) -> Callable[[Any], Any] | None:
    kinds = [it for it in get_args(kind) if it is not NoneType] if _is_union(kind) else [kind]
    if _is_list(kind):
        return msgspec.json.Decoder(kind, strict=False).decode
    if len(kinds) == 1 and isinstance(kinds[0], type) and issubclass(kinds[0], Enum):
        return {it.value: it for it in kinds[0]}.__getitem__
    if kinds == [bool]:
        return bool
    if all(it in (int, str, float) for it in kinds):
        return None
    return partial(msgspec.convert, type=kind, strict=False)


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _is_list(kind: Any) -> bool:
    if _is_union(kind):
        return any(map(_is_list, get_args(kind)))
    return get_origin(kind) is tuple or kind is tuple
