"""A store with a session on each of some days."""

from __future__ import annotations

from collections.abc import Iterable

from findings import DAY
from hansei.projection import spend
from hansei.projection.facts import keeping
from hansei.store import log
from hansei.store.database import Store
from pieces import piece, prompt, request

MINUTE = 60_000


def work(store: Store, now: int, days: Iterable[int], *, cwd: str = "/work/app") -> list[str]:
    """A session on each of these days before now; returns their names."""
    names = [f"{cwd[-3:]}-{day:03}" for day in days]
    made = []
    for name, day in zip(names, days, strict=True):
        at = now - day * DAY
        events = [
            prompt(name, 1, at),
            request(name, f"m{name}", at + MINUTE, input=900, output=100),
        ]
        made.append(piece(events, path=f"/t/{name}", cwd=cwd))
    log.commit(store, made, now=now, seal_before=0)
    spend.refresh(store, {})
    keeping.make_ready(store, {})
    return names
