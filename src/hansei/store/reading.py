"""The read side of the log: both tiers as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.store import cold
from hansei.store.rows import COLUMNS, from_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent
    from hansei.store.cold import StoredRow
    from hansei.store.database import Store

_LIST = ", ".join(COLUMNS)


class Numbered(NamedTuple):
    """An event and its number in its session."""

    seq: int
    event: AnyEvent


def rows(store: Store, session: int) -> list[StoredRow]:
    """All rows of a session in order; a hot row replaces the sealed one with its number."""
    files = store.db.execute(
        "SELECT s.path FROM sealed_sessions ss JOIN sealed s ON s.id = ss.file"
        " WHERE ss.session = ? ORDER BY s.id",
        (session,),
    ).fetchall()
    sealed = [row for (path,) in files for row in cold.read_file(store.folder / path, [session])]
    hot = store.db.execute(f"SELECT {_LIST} FROM events WHERE session = ?", (session,))
    return cold.newest([*sealed, *hot])


def row(store: Store, session: int, seq: int) -> StoredRow | None:
    """One row, wherever it is."""
    hot: StoredRow | None = store.db.execute(
        f"SELECT {_LIST} FROM events WHERE session = ? AND seq = ?",
        (session, seq),
    ).fetchone()
    return hot or next((found for found in rows(store, session) if found[1] == seq), None)


def events(store: Store, session: int) -> Iterator[Numbered]:
    """All events of a session in order."""
    (native,) = store.db.execute("SELECT native FROM sessions WHERE id = ?", (session,)).fetchone()
    for stored in rows(store, session):
        yield Numbered(stored[1], from_row(native, stored))
