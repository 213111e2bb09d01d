"""Facts put in the place of older ones, and all of them worked out anew where the rules changed."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.keys import digest
from hansei.projection.facts.folds import OUTCOMES, STANDS, TABLES
from hansei.projection.facts.subjects import all_roots
from hansei.store.due import cross_off, mark
from hansei.store.removal import fact_tables
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.store.database import Store

STAMP = "facts"
"""Under this name the store remembers which rules its facts were worked out by."""


class Worked(NamedTuple):
    """What was worked out of a session: for each table its rows as plain values."""

    session: int
    tables: list[list[list[Any]]]


def keep(store: Store, worked: Sequence[Worked], changes: Mapping[int, int]) -> None:
    """Write what was worked out, and cross it off."""
    with store.transaction() as db:
        known = _known(store, worked)
        for session, tables in worked:
            for table, rows in zip(TABLES, tables, strict=True):
                if session in known:
                    table.clear(store, session)
                if rows:
                    table.write(store, session, rows)
            cross_off(db, session, changes[session])


def _known(store: Store, worked: Sequence[Worked]) -> set[int]:
    """Sessions that have facts already."""
    rows = store.db.execute(
        f"SELECT session FROM {STANDS.name} WHERE session IN (SELECT value FROM json_each(?))",
        (json_list(it.session for it in worked),),
    )
    return {session for (session,) in rows}


def make_ready(store: Store, own: Mapping[str, CommandClass]) -> bool:
    """Have tables for the facts; says whether everything is to be worked out again."""
    if is_ready(store, own):
        return False
    with store.transaction() as db:
        for name in fact_tables(db):
            db.execute(f"DROP TABLE {name}")
        for table in (*TABLES, OUTCOMES):
            db.execute(table.statement)
        db.execute("DELETE FROM judged")
        mark(db, "SELECT id FROM sessions")
        store.set_meta(STAMP, rules_stamp(own))
    return True


def is_ready(store: Store, own: Mapping[str, CommandClass]) -> bool:
    """Whether the tables are there, made by the rules of this version."""
    return store.meta(STAMP) == rules_stamp(own)


def mark_moved(store: Store, workspace: int | None) -> None:
    """Have sessions worked out again whose repository is now known to lie elsewhere.

    A folder above the one they ran in may turn out to be the top of a worktree later.
    """
    stood = {session: stand.roots for session, stand in STANDS.read(store, "true")}
    moved = [
        session
        for session, roots in all_roots(store, workspace)
        if stood.get(session, roots) != roots
    ]
    if moved:
        with store.transaction() as db:
            mark(db, "SELECT value AS id FROM json_each(?)", (json_list(moved),))


def rules_stamp(own: Mapping[str, CommandClass]) -> str:
    """What the rules are known by: the text of this package, and the person's own patterns."""
    parts = [text_of("hansei.projection"), *(f"{pattern}\0{kind}" for pattern, kind in own.items())]
    return digest("\n".join(parts).encode())


def text_of(package: str) -> str:
    """What the text of a package is known by."""
    files = _files(resources.files(package), "")
    return digest("\n".join(f"{name}\0{digest(text)}" for name, text in files).encode())


def _files(folder: Any, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(folder.iterdir(), key=lambda it: it.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}{entry.name}/")
        elif entry.name.endswith(".py"):
            yield f"{name}{entry.name}", entry.read_bytes()
