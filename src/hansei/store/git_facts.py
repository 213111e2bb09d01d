"""What was found in git's objects, kept so that no object is read twice.

Blobs and commits never change, so what is known of one stays true. The table can be emptied at any
time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.store.database import Store

MOST_ROWS: Final = 500_000
"""About 250 MB; beyond that the table is begun anew."""
_AT_ONCE: Final = 500


class GitFacts:
    """The table as a cache of snapshots."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, names: Sequence[str]) -> dict[str, bytes]:
        """Those of the names that are known."""
        db = self._store.db
        found: dict[str, bytes] = {}
        for some in _parts(names):
            marks = ", ".join("?" * len(some))
            query = f"SELECT name, facts FROM git_facts WHERE name IN ({marks})"
            found.update(db.execute(query, some).fetchall())
        return found

    def put(self, facts: Mapping[str, bytes]) -> None:
        """Keep what was found; a store that cannot be written keeps nothing."""
        if not facts or not self._store.writable:
            return
        with self._store.transaction() as db:
            (rows,) = db.execute("SELECT count(*) FROM git_facts").fetchone()
            if rows + len(facts) > MOST_ROWS:
                db.execute("DELETE FROM git_facts")
            db.executemany("INSERT OR REPLACE INTO git_facts VALUES (?, ?)", facts.items())


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _AT_ONCE):
        yield names[start : start + _AT_ONCE]
