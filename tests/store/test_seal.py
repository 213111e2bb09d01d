"""Sealing moves rows and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hansei.errors import StoreDamaged
from hansei.store import cold, log, seal
from hansei.store.database import Store, open_store
from pieces import derived, piece, prompt, reply, request, told

DAY = 86_400_000
WEEK = 7 * DAY


def fill(store: Store, now: int, ages: list[int], *, seal_before: int) -> None:
    """One event per age in days, over a few sessions and files."""
    for number, age in enumerate(ages):
        session = f"s{number % 3}"
        at = now - age * DAY
        events = [
            prompt(session, number, at, text=f"prompt {number}"),
            request(session, f"m{number}", at, input=number, output=1),
        ]
        one = piece(events, path=f"/t/{session}", cwd=f"/work/{session}")
        log.commit(store, [one], now=now, seal_before=seal_before)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ages=st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_hot_and_cold_tell_the_same_as_hot_alone(
    tmp_path_factory: pytest.TempPathFactory, now: int, ages: list[int]
) -> None:
    hot = open_store(tmp_path_factory.mktemp("hot"), now=now)
    mixed = open_store(tmp_path_factory.mktemp("mixed"), now=now)
    later = open_store(tmp_path_factory.mktemp("later"), now=now)
    try:
        fill(hot, now, ages, seal_before=0)
        fill(mixed, now, ages, seal_before=now - WEEK)
        fill(later, now, ages, seal_before=0)
        seal.seal(later, now=now, seal_before=now - WEEK)
        assert told(hot) == told(mixed) == told(later)
        assert derived(hot) == derived(mixed) == derived(later)
        old = sum(2 for age in ages if age > 7)
        assert later.db.execute("SELECT coalesce(sum(rows), 0) FROM sealed").fetchone() == (old,)
        hot_rows = later.db.execute("SELECT count(*) FROM events").fetchone()
        assert hot_rows == (2 * len(ages) - old,)
    finally:
        for store in (hot, mixed, later):
            store.close()


def test_a_change_after_sealing_survives_the_next_sealing(store: Store, now: int) -> None:
    old = now - 30 * DAY
    for text in ("H", "Hel", "Hello"):
        one = piece([reply("a", 1, old, text)])
        log.commit(store, [one], now=now, seal_before=now - WEEK)
        seal.seal(store, now=now, seal_before=now - WEEK)
    assert store.db.execute("SELECT count(*) FROM sealed").fetchone() == (3,)
    ((seq, event),) = told(store)["toy a"]
    assert seq == 1
    assert b'"Hello"' in event


def test_many_small_files_are_folded_into_one(store: Store, now: int) -> None:
    old = now - 30 * DAY
    count = cold.SMALL_FILES + 1
    for number in range(count):
        one = piece([prompt("a", number, old, text=str(number))])
        log.commit(store, [one], now=now, seal_before=now - WEEK)
    cold.sweep(store)
    assert store.db.execute("SELECT count(*), sum(rows) FROM sealed").fetchone() == (1, count)
    assert len(list(store.cold.glob("*/*"))) == 1
    assert [seq for seq, _ in told(store)["toy a"]] == list(range(1, count + 1))


def test_folding_never_brings_an_older_row_back(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small old file must not overtake a large one that tells a row anew."""
    old = now - 30 * DAY

    def tell(session: str, text: str) -> None:
        one = piece([reply(session, 1, old, text)], path=f"/t/{session}")
        log.commit(store, [one], now=now, seal_before=now - WEEK)
        seal.seal(store, now=now, seal_before=now - WEEK)

    tell("a", "Hel")
    monkeypatch.setattr(cold, "SMALL_FILE_BYTES", 0)  # what comes now counts as large
    tell("a", "Hello in full")
    monkeypatch.undo()
    (large,) = store.db.execute("SELECT max(id) FROM sealed").fetchone()
    store.db.execute("UPDATE sealed SET bytes = ? WHERE id = ?", (10**9, large))
    for number in range(cold.SMALL_FILES + 1):
        tell(f"other-{number}", "x")
    ((_, event),) = told(store)["toy a"]
    assert b"Hello in full" in event


def test_history_without_a_list_is_not_swept_away(store: Store, now: int) -> None:
    """A new or restored database knows less than the files: they may be all there is."""
    one = piece([prompt("a", 1, now - 30 * DAY)])
    log.commit(store, [one], now=now, seal_before=now - WEEK)
    for table in ("sealed", "sealed_sessions", "keys", "sessions"):
        store.db.execute(f"DELETE FROM {table}")
    assert cold.sweep(store) == 0
    assert len(list(store.cold.glob("*/*.parquet"))) == 1


def test_what_a_dead_process_left_is_swept_once_the_log_holds_it(store: Store, now: int) -> None:
    one = piece([prompt("a", 1, now - 30 * DAY)])
    log.commit(store, [one], now=now, seal_before=now - WEEK)
    (listed,) = store.cold.glob("*/*.parquet")
    listed.with_name("never-listed.parquet").write_bytes(listed.read_bytes())
    listed.with_name(".123.tmp").write_bytes(b"half")
    assert cold.sweep(store) == 2
    assert list(store.cold.glob("*/*")) == [listed]


def test_a_file_that_no_list_names_does_not_exist(store: Store, now: int) -> None:
    log.commit(store, [piece([prompt("a", 1, now - 30 * DAY)])], now=now, seal_before=now - WEEK)
    before = told(store)
    (listed,) = store.cold.glob("*/*.parquet")
    stray = listed.with_name("stray.parquet")
    stray.write_bytes(listed.read_bytes())
    assert told(store) == before
    assert cold.sweep(store) == 1
    assert not stray.exists()
    assert listed.exists()


def test_a_damaged_sealed_file_is_named(store: Store, now: int) -> None:
    log.commit(store, [piece([prompt("a", 1, now - 30 * DAY)])], now=now, seal_before=now - WEEK)
    (listed,) = store.cold.glob("*/*.parquet")
    listed.write_bytes(b"PAR1 nonsense")
    with pytest.raises(StoreDamaged, match=listed.name):
        told(store)


def test_sealed_files_are_private(store: Store, now: int) -> None:
    log.commit(store, [piece([prompt("a", 1, now - 30 * DAY)])], now=now, seal_before=now - WEEK)
    for path in [store.folder, *store.folder.rglob("*")]:
        mode = path.stat().st_mode & 0o077
        assert mode == 0 or path.name == ".gitignore", f"{path.name}: {mode:o}"


def test_events_without_a_time_go_where_their_session_is(store: Store, now: int) -> None:
    old = now - 30 * DAY
    one = piece([prompt("a", 1, old), prompt("a", 2, None)])
    log.commit(store, [one], now=now, seal_before=now - WEEK)
    assert store.db.execute("SELECT sum(rows) FROM sealed").fetchone() == (2,)


def test_the_store_lies_where_it_was_asked_to(tmp_path: Path, now: int) -> None:
    store = open_store(tmp_path / "deep" / "store", now=now)
    store.close()
    assert (tmp_path / "deep" / "store" / "hansei.db").is_file()
