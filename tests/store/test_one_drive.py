"""Workspaces of one folder that editors spell with `c:` and with `C:`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hansei.store import bets, workspaces
from hansei.store.bets import Kept
from hansei.store.database import Store, open_store

SMALL, LARGE = "c:\\Users\\me\\shop", "C:\\Users\\me\\shop"
BEFORE = 8
"""Steps that a store had been through when the two were told apart."""


def older(folder: Path, *folders: str) -> sqlite3.Connection:
    """A store of that time, with a session in each folder, numbered from one."""
    open_store(folder, now=0).close()
    db = sqlite3.connect(folder / "hansei.db", isolation_level=None)
    for number, place in enumerate(folders, 1):
        db.execute(
            "INSERT INTO workspaces (id, identity, name, basis, folder) VALUES (?, ?, ?, ?, ?)",
            (number, f"folder:{place}", "shop", "folder", place),
        )
        db.execute("INSERT INTO folders VALUES (?, ?)", (place, number))
        db.execute(
            "INSERT INTO sessions (agent, native, workspace, next_seq) VALUES ('a', ?, ?, 1)",
            (f"s{number}", number),
        )
    db.execute("DELETE FROM migrations WHERE name > 'm009'")
    for table in ("skips", "replayed"):  # of later steps
        db.execute(f"DROP TABLE {table}")
    db.execute(f"PRAGMA user_version = {BEFORE}")
    return db


def decide(db: sqlite3.Connection, workspace: int, about: str, decided: int | None) -> None:
    state = "proposed" if decided is None else "dismissed"
    bets.keep(db, Kept(workspace, about, f"{about}-{workspace}", state, 1, 2, decided, None, None))


def reopened(folder: Path, db: sqlite3.Connection) -> Store:
    db.close()
    return open_store(folder, now=1)


@pytest.mark.parametrize("folders", [(SMALL, LARGE), (LARGE, SMALL)])
def test_two_that_differ_in_their_drive_letter_become_one(
    tmp_path: Path, folders: tuple[str, str]
) -> None:
    store = reopened(tmp_path, older(tmp_path, *folders))
    assert store.db.execute("SELECT count(DISTINCT workspace) FROM sessions").fetchone() == (1,)
    assert store.db.execute("SELECT identity, folder FROM workspaces").fetchall() == [
        (f"folder:{LARGE}", LARGE)
    ]
    assert workspaces.find(store, SMALL) == workspaces.find(store, LARGE) is not None
    store.close()


def test_one_alone_is_spelled_in_capitals_and_keeps_its_number(tmp_path: Path) -> None:
    store = reopened(tmp_path, older(tmp_path, "/home/me/shop", SMALL))
    assert store.db.execute("SELECT id, folder FROM workspaces ORDER BY id").fetchall() == [
        (1, "/home/me/shop"),
        (2, LARGE),
    ]
    store.close()


def test_what_was_decided_in_either_of_them_stays_decided(tmp_path: Path) -> None:
    db = older(tmp_path, SMALL, LARGE)
    decide(db, 1, "left", 5)
    decide(db, 2, "left", None)
    decide(db, 2, "right", 6)
    decide(db, 1, "right", None)
    decide(db, 1, "only", 7)
    store = reopened(tmp_path, db)
    known = bets.known(store, [1, 2])
    assert {about: it.decided_at for (_, about), it in known.items()} == {
        "left": 5,
        "right": 6,
        "only": 7,
    }
    store.close()
