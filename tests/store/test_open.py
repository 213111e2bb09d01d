"""Opening a store, and what is said when that does not work."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from hansei.errors import NewerStore, NotFound, StoreDamaged, StoreLocked, StoreUnwritable
from hansei.store import log
from hansei.store.bodies import Bodies
from hansei.store.database import Store, open_store
from hansei.store.migrations import MIGRATIONS
from pieces import piece, prompt


def test_a_store_of_a_later_hansei_is_refused_with_a_hint(tmp_path: Path) -> None:
    open_store(tmp_path, now=0).close()
    db = sqlite3.connect(tmp_path / "hansei.db")
    db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()
    with pytest.raises(NewerStore) as refused:
        open_store(tmp_path, now=0)
    assert refused.value.hint


def test_every_migration_is_recorded_by_name(store: Store, now: int) -> None:
    rows = store.db.execute("SELECT name, applied_at FROM migrations ORDER BY name").fetchall()
    assert rows == [(step.__name__, now) for step in MIGRATIONS]


def test_opening_again_changes_nothing(store: Store, now: int) -> None:
    again = open_store(store.folder, now=now + 1)
    assert again.db.execute("SELECT count(*) FROM migrations").fetchone() == (len(MIGRATIONS),)
    again.close()


def test_nothing_is_made_where_nothing_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_store(tmp_path / "none", now=0, create=False)
    assert not (tmp_path / "none").exists()


def test_a_damaged_database_is_named_and_the_way_out_too(tmp_path: Path) -> None:
    open_store(tmp_path, now=0).close()
    (tmp_path / "hansei.db").write_bytes(b"this is not a database, but it is long enough" * 50)
    with pytest.raises(StoreDamaged) as told:
        open_store(tmp_path, now=0)
    assert "hansei.db" in told.value.message
    assert "--rebuild" in (told.value.hint or "")


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnwritable) as told:
        open_store(tmp_path / "file" / "store", now=0)
    assert "HANSEI_HOME" in (told.value.hint or "")


def test_only_one_process_writes(store: Store, now: int) -> None:
    second = open_store(store.folder, now=now)
    with (
        store.writing(wait_seconds=0),
        pytest.raises(StoreLocked) as told,
        second.writing(wait_seconds=0.1),
    ):
        pass
    assert "--no-ingest" in (told.value.hint or "")
    with second.writing(wait_seconds=0):
        pass
    second.close()


def test_a_failed_transaction_leaves_nothing(store: Store, now: int) -> None:
    broken = piece([prompt("a", 1, now)])
    broken.bodies = Bodies([(object(),) * 10])  # type: ignore[list-item]
    with pytest.raises(Exception, match=r"bind|type"):
        log.commit(store, [broken], now=now, seal_before=0)
    assert store.db.execute("SELECT count(*) FROM sessions").fetchone() == (0,)
    assert not store.db.in_transaction


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")
def test_the_store_is_private_to_its_user(store: Store) -> None:
    assert store.folder.stat().st_mode & 0o077 == 0
    assert (store.folder / "hansei.db").stat().st_mode & 0o077 == 0


def test_a_store_is_never_committed_by_accident(store: Store) -> None:
    assert (store.folder / ".gitignore").read_text() == "*\n"


def test_a_store_that_cannot_be_written_can_be_read(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.commit(store, [piece([prompt("a", 1, now)])], now=now, seal_before=0)
    store.close()
    monkeypatch.setattr(os, "access", lambda *_: False)
    reading = open_store(store.folder, now=now)
    assert not reading.writable
    assert reading.db.execute("SELECT count(*) FROM events").fetchone() == (1,)
    with pytest.raises(StoreUnwritable), reading.writing(wait_seconds=0):
        pass
    reading.close()
