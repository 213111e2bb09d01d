"""Which sessions are due, and their facts put in the place of the old ones.

A session is due once its log or what is known of its instructions changed (`unprojected`). Each
change raises a number there, and only the number that was worked on is crossed out: what changes
in the meantime stays due.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.keys import digest
from hansei.projection.facts.folds import TABLES
from hansei.projection.facts.tables import PREFIX

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.store.database import Store

STAMP = "facts"
"""Under this name the store remembers which rules its facts were worked out by."""


class Due(NamedTuple):
    """A session to work out, and the change it is due for."""

    session: int
    change: int


class Worked(NamedTuple):
    """What was worked out of a session: for each table its rows as plain values."""

    session: int
    tables: list[list[list[Any]]]


def due(store: Store, workspace: int | None) -> list[Due]:
    """The sessions of a workspace, or of all, whose facts are not up to date."""
    rows = store.db.execute(
        "SELECT u.session, u.change FROM unprojected u JOIN sessions s ON s.id = u.session"
        " WHERE :workspace IS NULL OR s.workspace = :workspace ORDER BY u.session",
        {"workspace": workspace},
    )
    return [Due(*row) for row in rows]


def keep(store: Store, worked: Sequence[Worked], changes: Mapping[int, int]) -> None:
    """Write what was worked out, and cross it off."""
    with store.transaction() as db:
        for session, tables in worked:
            for table, rows in zip(TABLES, tables, strict=True):
                table.write(store, session, rows)
            db.execute(
                "DELETE FROM unprojected WHERE session = ? AND change = ?",
                (session, changes[session]),
            )


def mark(db: sqlite3.Connection, sessions: str, values: Sequence[Any] = ()) -> None:
    """Have sessions worked out again; `sessions` is a query for their numbers."""
    db.execute(
        f"INSERT INTO unprojected SELECT id, 1 FROM ({sessions}) WHERE true"
        " ON CONFLICT (session) DO UPDATE SET change = change + 1",
        values,
    )


def make_ready(store: Store, own: Mapping[str, CommandClass]) -> bool:
    """Have tables for the facts; says whether everything is to be worked out again."""
    stamp = rules_stamp(own)
    if store.meta(STAMP) == stamp:
        return False
    with store.transaction() as db:
        for name in _kept(store):
            db.execute(f"DROP TABLE {name}")
        for table in TABLES:
            db.execute(table.statement)
        mark(db, "SELECT id FROM sessions")
        store.set_meta(STAMP, stamp)
    return True


def _kept(store: Store) -> list[str]:
    rows = store.db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ?",
        (len(PREFIX), PREFIX),
    )
    return [name for (name,) in rows]


def rules_stamp(own: Mapping[str, CommandClass]) -> str:
    """What the rules are known by: the text of this package, and the person's own patterns."""
    package = resources.files("hansei.projection")
    parts = [f"{name}\0{digest(text)}" for name, text in _files(package, "")]
    parts += [f"{pattern}\0{kind}" for pattern, kind in own.items()]
    return digest("\n".join(parts).encode())


def _files(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda it: it.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{name}{entry.name}", entry.read_bytes()
