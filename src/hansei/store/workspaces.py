"""Which workspace a recorded folder belongs to, remembered so that git is asked once a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.git.repository import NO_FOLDER, Identity, identify, one_spelling

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from hansei.store.database import Store


def resolve(store: Store, folders: Iterable[str]) -> dict[str, Identity]:
    """Identify the folders we have not met before. Runs git, so do it outside a transaction."""
    wanted = set(folders)
    known = {path for (path,) in store.db.execute("SELECT path FROM folders")}
    return {folder: identify(folder) for folder in sorted(wanted - known)}


def remember(db: sqlite3.Connection, identities: dict[str, Identity]) -> None:
    """Write down newly identified folders."""
    for folder, identity in identities.items():
        db.execute("INSERT OR IGNORE INTO folders VALUES (?, ?)", (folder, number_of(db, identity)))


def workspace_of(db: sqlite3.Connection, folder: str | None) -> int:
    """The workspace of a remembered folder; the one for sessions without a folder if None."""
    if folder is not None:
        row = db.execute("SELECT workspace FROM folders WHERE path = ?", (folder,)).fetchone()
        if row is not None:
            return int(row[0])
    return number_of(db, NO_FOLDER)


def number_of(db: sqlite3.Connection, identity: Identity) -> int:
    """The number of a workspace, given one if it is new.

    A folder becomes a repository, gets a first commit, then a remote: its identity changes with
    each, and it stays the workspace of that folder.
    """
    identity = one_spelling(identity)
    number = _known(db, identity)
    if number is not None:
        db.execute(
            "UPDATE OR IGNORE workspaces SET identity = ?, name = ?, basis = ?, remote = ?"
            " WHERE id = ? AND folder = ? AND identity != ?",
            (
                *(identity.id, identity.name, identity.basis, identity.remote),
                *(number, identity.folder, identity.id),
            ),
        )
        return number
    made = db.execute(
        "INSERT INTO workspaces (identity, name, basis, folder, remote) VALUES (?, ?, ?, ?, ?)",
        (identity.id, identity.name, identity.basis, identity.folder, identity.remote),
    )
    assert made.lastrowid is not None
    return made.lastrowid


def _known(db: sqlite3.Connection, identity: Identity) -> int | None:
    row = db.execute(
        "SELECT id FROM workspaces WHERE identity = ? OR folder = ?"
        " ORDER BY identity = ? DESC, id LIMIT 1",
        (identity.id, identity.folder, identity.id),
    ).fetchone()
    return None if row is None else int(row[0])


def keep_only(store: Store, folder: str) -> None:
    """Make this the store of one repository: sessions of others are not taken in."""
    identity = identify(folder)
    with store.transaction() as db:
        remember(db, {folder: identity})
        store.set_meta("only_workspace", str(number_of(db, identity)))


def only_one(store: Store) -> int | None:
    """The workspace that a repository's own store is for; None for a store of all."""
    number = store.meta("only_workspace")
    return None if number is None else int(number)


def find(store: Store, folder: str) -> int | None:
    """The number of the workspace a folder on this machine belongs to, if we have met it."""
    row = store.db.execute("SELECT workspace FROM folders WHERE path = ?", (folder,)).fetchone()
    return _known(store.db, identify(folder)) if row is None else int(row[0])
