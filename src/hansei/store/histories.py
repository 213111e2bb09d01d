"""The events of many sessions at once, each file of the cold tier read as seldom as possible."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from hansei.store import cold
from hansei.store.reading import Numbered
from hansei.store.rows import COLUMNS, from_row, json_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.store.cold import StoredRow
    from hansei.store.database import Store

_LIST = ", ".join(COLUMNS)
_CHOSEN = "(SELECT value FROM json_each(?))"


class Size(NamedTuple):
    """A session and how many events it has."""

    session: int
    events: int


def by_place(store: Store, sessions: Iterable[int]) -> list[Size]:
    """Sessions in the order they lie in the cold tier, so that neighbours share their files."""
    rows = store.db.execute(
        "SELECT s.id, s.next_seq - 1 FROM sessions s LEFT JOIN"
        " (SELECT session, min(file) AS file FROM sealed_sessions GROUP BY session) f"
        f" ON f.session = s.id WHERE s.id IN {_CHOSEN} ORDER BY f.file, s.id",
        (json_list(sessions),),
    )
    return [Size(*row) for row in rows]


def histories(store: Store, sessions: Sequence[int]) -> Iterator[tuple[int, list[Numbered]]]:
    """The events of each session in order; sessions without any are left out."""
    chosen = json_list(sessions)
    natives = dict(
        store.db.execute(f"SELECT id, native FROM sessions WHERE id IN {_CHOSEN}", (chosen,))
    )
    rows: dict[int, list[StoredRow]] = defaultdict(list)
    for row in chain(_sealed(store, chosen, sessions), _hot(store, chosen)):
        rows[row[0]].append(row)
    for session in sessions:
        if session in natives and (told := rows.pop(session, None)):
            native = natives[session]
            yield session, [Numbered(row[1], from_row(native, row)) for row in cold.newest(told)]


def _sealed(store: Store, chosen: str, sessions: Sequence[int]) -> Iterator[StoredRow]:
    files = store.db.execute(
        "SELECT DISTINCT s.id, s.path FROM sealed_sessions ss JOIN sealed s ON s.id = ss.file"
        f" WHERE ss.session IN {_CHOSEN} ORDER BY s.id",
        (chosen,),
    ).fetchall()
    for _, path in files:
        yield from cold.rows_of(cold.read_table(store.folder / path, sessions))


def _hot(store: Store, chosen: str) -> list[StoredRow]:
    return store.db.execute(
        f"SELECT {_LIST} FROM events WHERE session IN {_CHOSEN}", (chosen,)
    ).fetchall()
