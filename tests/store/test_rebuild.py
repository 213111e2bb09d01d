"""A lost database is made anew from the sealed files."""

from __future__ import annotations

from pathlib import Path

from hansei.config import Config
from hansei.ops.rebuild import rebuild
from hansei.projection import spend
from hansei.store import log, seal
from hansei.store.database import Store, open_store
from pieces import derived, piece, prompt, reply, request, told

DAY = 86_400_000


def fill(store: Store, now: int) -> None:
    old = now - 30 * DAY
    for number in range(4):
        session = f"s{number % 2}"
        events = [
            prompt(session, number, old + number, text=f"prompt {number}"),
            request(session, f"m{number}", old + number, input=5, output=number),
            reply(session, number, old + number, "short"),
        ]
        one = piece(events, path=f"/t/{session}", cwd=f"/w/{session}", title=f"session {session}")
        log.commit(store, [one], now=now, seal_before=now - 7 * DAY)


def test_the_sealed_history_comes_back_whole(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    spend.refresh(store, {})
    before, sums = told(store), derived(store)
    store.close()
    (config.store / "hansei.db").write_bytes(b"damaged beyond reading" * 100)

    rebuilt = rebuild(config, now=now)

    assert rebuilt.events == 12
    assert rebuilt.kept_as
    assert (config.store / rebuilt.kept_as).read_bytes().startswith(b"damaged")
    store = open_store(config.store, now=now)
    spend.refresh(store, {})
    assert told(store) == before
    assert derived(store) == sums
    titles = store.db.execute("SELECT title FROM sessions ORDER BY native").fetchall()
    assert titles == [("session s0",), ("session s1",)]
    store.close()


def test_reading_transcripts_again_after_a_rebuild_doubles_nothing(
    config: Config, now: int
) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    before = told(store)
    store.close()
    rebuild(config, now=now)
    store = open_store(config.store, now=now)
    fill(store, now)
    assert told(store) == before
    store.close()


def test_a_file_that_cannot_be_read_is_left_out(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    store.close()
    (config.store / "cold" / "9").mkdir()
    Path(config.store / "cold" / "9" / "broken.parquet").write_bytes(b"PAR1")
    assert rebuild(config, now=now).events == 12


def test_what_was_forgotten_stays_forgotten(config: Config, now: int) -> None:
    from hansei.store.removal import forget

    store = open_store(config.store, now=now)
    fill(store, now)
    (number,) = store.db.execute("SELECT id FROM sessions WHERE native = 's0'").fetchone()
    forget(store, [number], now=now)
    store.close()
    assert rebuild(config, now=now).choices_kept
    store = open_store(config.store, now=now)
    fill(store, now)
    assert list(told(store)) == ["toy s1"]
    store.close()


def test_events_keep_their_numbers(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    recent = piece([prompt("s0", 99, now, text="recent")], path="/t/s0", cwd="/w/s0")
    log.commit(store, [recent], now=now, seal_before=now - 7 * DAY)
    before = told(store)
    store.close()
    rebuild(config, now=now)
    store = open_store(config.store, now=now)
    log.commit(store, [recent], now=now, seal_before=now - 7 * DAY)
    assert told(store) == before
    store.close()


def test_the_newest_telling_of_a_row_is_right_after_a_rebuild(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    for text in ("short", "a longer telling"):
        one = piece([reply("a", 1, now - 30 * DAY, text)])
        log.commit(store, [one], now=now, seal_before=now - 7 * DAY)
        seal.seal(store, now=now, seal_before=now - 7 * DAY)
    before = told(store)
    for path in sorted(store.cold.glob("*/*"), reverse=True):
        path.touch()
    store.close()
    rebuild(config, now=now)
    store = open_store(config.store, now=now)
    assert told(store) == before
    store.close()
