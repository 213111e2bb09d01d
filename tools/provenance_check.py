"""How much of the context's growth token provenance cannot explain, over the sessions of a store.

    .venv/bin/python tools/provenance_check.py [STORE] [--requests 4] [--worst 10]

Sizes are fitted on every second request of a session and predict the others; then the halves change
places. Nothing but numbers is printed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.config import Environment
from hansei.projection.exchanges import conversation
from hansei.projection.provenance import provenance
from hansei.projection.provenance.check import Check, held_out
from hansei.store import reading
from hansei.store.database import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.store.database import Store


class Judged(NamedTuple):
    agent: str
    session: str
    requests: int
    billed: int
    check: Check | None


def judge(store: Store) -> Iterator[Judged]:
    """Every session with usage."""
    rows = store.db.execute("SELECT id, agent, native FROM sessions ORDER BY id").fetchall()
    for number, agent, native in rows:
        told = conversation(list(reading.events(store, number)))
        found = provenance(told)
        booked = sum(it.billed for it in found.pieces) + sum(it.context for it in found.asides)
        if booked != found.billed:
            raise AssertionError(f"{native}: {booked} tokens booked, {found.billed} billed")
        if found.requests:
            yield Judged(agent, native, found.requests, found.billed, held_out(told))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of all lies."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def report(name: str, checks: Sequence[Check]) -> Iterator[str]:
    """Shares over sessions, and what was set apart."""
    for label, values in (
        ("unexplained", [it.unexplained for it in checks]),
        ("missed either way", [it.missed for it in checks]),
    ):
        middle, ninety = quantile(values, 0.5), quantile(values, 0.9)
        yield (
            f"{name:<12} {len(checks):>4} sessions  {label:<18}"
            f" median {middle:6.1%}  p90 {ninety:6.1%}"
        )
    growth = sum(it.growth for it in checks)
    yield (
        f"{name:<12} pooled: unexplained {sum(it.beyond for it in checks) / growth:.1%},"
        f" short {sum(it.short for it in checks) / growth:.1%} of {growth:,} tokens of growth;"
        f" {sum(it.shrinks for it in checks)} shrinks"
        f" of {sum(it.shrunk for it in checks):,} tokens,"
        f" {sum(it.compactions for it in checks)} compactions,"
        f" {sum(it.asides for it in checks)} asides,"
        f" {sum(it.unsized for it in checks)} steps of untold size"
    )


def main() -> None:
    default = Environment.current().folder("HANSEI_HOME", ".hansei")
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("store", nargs="?", type=Path, default=default)
    parser.add_argument("--requests", type=int, default=4, help="fewest requests of a session")
    parser.add_argument("--worst", type=int, default=0, help="list this many sessions")
    wanted = parser.parse_args()
    store = open_store(wanted.store, now=time.time_ns() // 1_000_000, create=False)
    every = list(judge(store))
    judged = [
        (it, it.check) for it in every if it.check is not None and it.requests >= wanted.requests
    ]
    print(f"{len(every)} sessions with usage, {len(judged)} of {wanted.requests} requests or more")
    if not judged:
        return
    for agent in sorted({it.agent for it, _ in judged}):
        print(*report(agent, [check for it, check in judged if it.agent == agent]), sep="\n")
    print(*report("all", [check for _, check in judged]), sep="\n")
    worst = sorted(judged, key=lambda it: (-it[1].unexplained, it[0].session))
    for it, check in worst[: wanted.worst]:
        print(f"{check.unexplained:6.1%} of {check.growth:>9,}  {it.agent} {it.session}")


if __name__ == "__main__":
    main()
