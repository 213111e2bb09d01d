"""What is remembered of bets outlives the database, and goes with what it is about."""

from __future__ import annotations

from hansei.config import Config
from hansei.ops.rebuild import rebuild
from hansei.store import bets, log
from hansei.store.bets import Kept, Listed
from hansei.store.database import Store, open_store
from hansei.store.removal import forget
from pieces import piece, prompt

CLAIM = "`make unforgettable` does not exist here"


def kept(workspace: int) -> Kept:
    known = Kept(workspace, "fingerprint", "3f2a0000", "dismissed", 5, 6, 7, "CI needs it", CLAIM)
    return known._replace(evidence=("a", "b"))


def fill(store: Store, now: int) -> int:
    """Two sessions of one workspace, in which a bet was dismissed."""
    for native in ("a", "b"):
        one = piece([prompt(native, 1, now)], path=f"/t/{native}")
        log.commit(store, [one], now=now, seal_before=now + 1)
    (home,) = store.db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
    with store.transaction() as db:
        bets.keep(db, kept(home))
        bets.keep_list(db, home, Listed(9, None, None, None, None, ("3f2a0000",)))
    return int(home)


def everything(store: Store) -> bytes:
    return b"".join(path.read_bytes() for path in store.folder.rglob("*") if path.is_file())


def session(store: Store, native: str) -> int:
    query = "SELECT id FROM sessions WHERE native = ?"
    return int(store.db.execute(query, (native,)).fetchone()[0])


def test_what_is_kept_is_read_back(store: Store, now: int) -> None:
    home = fill(store, now)
    assert bets.known(store, [home]) == {(home, "fingerprint"): kept(home)}
    assert bets.known(store, [home + 1]) == {}
    assert bets.listed(store, home) == Listed(9, None, None, None, None, ("3f2a0000",))
    assert bets.listed(store, bets.EVERYWHERE) is None


def test_decisions_survive_a_rebuild(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    fill(store, now)
    store.close()
    assert rebuild(config, now=now).choices_kept
    store = open_store(config.store, now=now)
    (home,) = store.db.execute("SELECT DISTINCT workspace FROM sessions").fetchone()
    assert bets.known(store, [home]) == {(home, "fingerprint"): kept(home)}
    store.close()


def test_a_database_older_than_bets_is_salvaged_too(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    store.db.execute("DROP TABLE bets")
    assert bets.known(store, [1]) == {}
    assert bets.listed(store, 1) is None
    store.close()
    assert rebuild(config, now=now).choices_kept


def test_a_forgotten_session_takes_the_words_of_its_bets_along(store: Store, now: int) -> None:
    home = fill(store, now)
    forget(store, [session(store, "a")], now=now)
    assert CLAIM.encode() not in everything(store)
    left = bets.known(store, [home])[home, "fingerprint"]
    assert left == kept(home)._replace(claim=None, evidence=("b",))
    assert bets.listed(store, home) is None


def test_the_last_session_of_a_workspace_takes_its_bets_along(store: Store, now: int) -> None:
    home = fill(store, now)
    forget(store, [session(store, "a"), session(store, "b")], now=now)
    assert bets.known(store, [home]) == {}
    assert store.db.execute("SELECT count(*) FROM workspaces").fetchone() == (0,)


def test_bets_whose_sessions_are_still_to_be_read_stay_when_others_are_forgotten(
    store: Store, now: int
) -> None:
    """As after a rebuild, before the transcripts were read again."""
    home = fill(store, now)
    log.commit(
        store, [piece([prompt("c", 1, now)], path="/t/c", cwd="/w/c")], now=now, seal_before=0
    )
    store.db.execute("DELETE FROM sessions WHERE workspace = ?", (home,))
    forget(store, [session(store, "c")], now=now)
    assert bets.known(store, [home])
    assert store.db.execute("SELECT id FROM workspaces").fetchall() == [(home,)]
