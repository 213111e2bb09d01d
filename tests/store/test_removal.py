"""Forgetting is for good, in both tiers."""

from __future__ import annotations

from hansei.store import log
from hansei.store.database import Store
from hansei.store.removal import forget
from pieces import piece, prompt, request, told

DAY = 86_400_000


def everything(store: Store) -> bytes:
    """Every byte of the store."""
    return b"".join(path.read_bytes() for path in store.folder.rglob("*") if path.is_file())


def numbers(store: Store, *natives: str) -> list[int]:
    rows = store.db.execute("SELECT native, id FROM sessions").fetchall()
    return [number for native, number in rows if native in natives]


def test_a_forgotten_session_leaves_no_byte_behind(store: Store, now: int) -> None:
    word = "unforgettable" + "word"
    for age in (0, 30):
        one = piece(
            [
                prompt("gone", age, now - age * DAY, text=word),
                request("gone", f"m{age}", now - age * DAY, input=1),
                prompt("stays", age, now - age * DAY, text="something else"),
            ]
        )
        log.commit(store, [one], now=now, seal_before=now - 7 * DAY)
    before = told(store)
    assert len(before["toy gone"]) == 4
    forget(store, numbers(store, "gone"), now=now)
    assert told(store) == {"toy stays": before["toy stays"]}
    assert word.encode() not in everything(store)
    assert store.db.execute("SELECT count(*) FROM requests").fetchone() == (0,)


def test_forgetting_the_last_session_of_a_workspace_forgets_the_workspace(
    store: Store, now: int
) -> None:
    log.commit(store, [piece([prompt("a", 1, now)], cwd="/secret/place")], now=now, seal_before=0)
    forget(store, numbers(store, "a"), now=now)
    assert b"/secret/place" not in everything(store)


def test_files_of_other_sessions_stay_readable(store: Store, now: int) -> None:
    old = now - 30 * DAY
    for native in ("a", "b", "c"):
        one = piece([prompt(native, 1, old)], path=f"/t/{native}")
        log.commit(store, [one], now=now, seal_before=now - 7 * DAY)
    forget(store, numbers(store, "b"), now=now)
    assert sorted(told(store)) == ["toy a", "toy c"]


def test_sealed_rows_leave_no_trace_in_the_database_file(store: Store, now: int) -> None:
    from hansei.store import seal

    word = "unforgettable" + "word"
    log.commit(store, [piece([prompt("gone", 1, now, text=word)])], now=now, seal_before=0)
    seal.seal(store, now=now, seal_before=now + 1)
    forget(store, numbers(store, "gone"), now=now)
    assert word.encode() not in everything(store)
    assert store.db.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_a_session_removed_by_age_may_go_on(store: Store, now: int) -> None:
    log.commit(store, [piece([prompt("a", 1, now - 90 * DAY)])], now=now, seal_before=0)
    forget(store, numbers(store, "a"), now=now - 30 * DAY, for_good=False)
    again = piece([prompt("a", 1, now - 90 * DAY), prompt("a", 2, now)])
    log.commit(store, [again], now=now, seal_before=0)
    assert len(told(store)["toy a"]) == 1


def test_subagents_and_typed_prompts_of_a_forgotten_session_stay_out(
    store: Store, now: int
) -> None:
    log.commit(store, [piece([prompt("a", 1, now)])], now=now, seal_before=0)
    forget(store, numbers(store, "a"), now=now)
    later = piece([prompt("a/agent-1", 1, now), prompt("history:a", 1, now)], path="/t/later")
    log.commit(store, [later], now=now, seal_before=0)
    assert told(store) == {}


def test_what_a_fork_shares_is_counted_there_once_the_original_is_forgotten(
    store: Store, now: int
) -> None:
    shared = [request("a", "m1", now, input=10), request("a", "m2", now, input=10)]
    log.commit(store, [piece(shared, path="/t/a")], now=now, seal_before=0)
    fork = [request("b", message, now, input=10) for message in ("m1", "m2", "m3")]
    log.commit(store, [piece(fork, path="/t/b")], now=now, seal_before=0)
    forget(store, numbers(store, "a"), now=now)
    cursor = store.db.execute("SELECT cursor FROM transcripts WHERE path = '/t/b'").fetchone()
    assert not cursor[0], "the fork's transcript is to be read again"
    log.commit(store, [piece(fork, path="/t/b")], now=now, seal_before=0)
    assert store.db.execute("SELECT sum(input), count(*) FROM requests").fetchone() == (30, 3)
