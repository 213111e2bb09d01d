"""What is remembered of skipped offers outlives the database, and goes with what it is about."""

from __future__ import annotations

from hansei.config import Config
from hansei.ops.rebuild import rebuild
from hansei.store import log, skips
from hansei.store.database import Store, open_store
from hansei.store.removal import forget
from hansei.store.skips import Skip
from pieces import piece, prompt


def fill(store: Store, now: int) -> int:
    """Two sessions of one workspace, in which an offer was skipped."""
    for native in ("a", "b"):
        one = piece([prompt(native, 1, now)], path=f"/t/{native}")
        log.commit(store, [one], now=now, seal_before=now + 1)
    (home,) = store.db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
    with store.transaction() as db:
        skips.keep(db, skipped(home))
    return int(home)


def skipped(home: int) -> Skip:
    return Skip(home, "fingerprint", 7, for_ever=True, evidence=("a", "b"))


def session(store: Store, native: str) -> int:
    query = "SELECT id FROM sessions WHERE native = ?"
    return int(store.db.execute(query, (native,)).fetchone()[0])


def test_what_is_skipped_is_read_back(store: Store, now: int) -> None:
    home = fill(store, now)
    assert skips.known(store, [home]) == {(home, "fingerprint"): skipped(home)}
    assert skips.known(store, [home + 1]) == {}


def test_a_reset_is_for_one_workspace_or_all(store: Store, now: int) -> None:
    home = fill(store, now)
    with store.transaction() as db:
        assert skips.reset(db, home + 1) == 0
        assert skips.reset(db, home) == 1
        skips.keep(db, skipped(home))
        assert skips.reset(db, None) == 1
    assert skips.known(store, [home]) == {}


def test_skips_survive_a_rebuild(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    store.close()
    assert rebuild(config, now=now).choices_kept
    store = open_store(config.store, now=now)
    (home,) = store.db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
    assert skips.known(store, [home]) == {(home, "fingerprint"): skipped(home)}
    store.close()


def test_a_database_older_than_skips_is_salvaged_too(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    store.db.execute("DROP TABLE skips")
    assert skips.known(store, [1]) == {}
    store.close()
    assert rebuild(config, now=now).choices_kept


def test_a_forgotten_session_is_no_evidence_any_more(store: Store, now: int) -> None:
    home = fill(store, now)
    forget(store, [session(store, "a")], now=now)
    assert skips.known(store, [home])[home, "fingerprint"].evidence == ("b",)


def test_the_last_session_of_a_workspace_takes_its_skips_along(store: Store, now: int) -> None:
    home = fill(store, now)
    forget(store, [session(store, "a"), session(store, "b")], now=now)
    assert skips.known(store, [home]) == {}
    assert store.db.execute("SELECT count(*) FROM workspaces").fetchone() == (0,)
