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
