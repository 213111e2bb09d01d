"""Offers planted in a repository with sessions, for tests of what is done with offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import pytest

from hansei.events.model import AnyEvent
from hansei.learn import offers
from hansei.learn.model import Evidence, Offer
from hansei.projection.window import Window

CHECKS = ("make fmt", "make check", "git push")
NATIVE = "{:08x}-session"
"""What sessions in `bet_world.stocked` are called."""


def offer(
    name: str = "procedure-make",
    commands: Sequence[str] = CHECKS,
    *,
    detector: str = "multi-step",
    sessions: Iterable[int] = (7, 8, 9),
    description: str = "Check and push; use it before a branch is handed over.",
) -> Offer:
    """An offer that some of the sessions in `bet_world.stocked` show."""
    steps = "".join(f"{number}. `{it}`\n" for number, it in enumerate(commands, 1))
    evidence = tuple(Evidence(NATIVE.format(it), 3) for it in sessions)
    return Offer(
        detector=detector,
        name=name,
        description=description,
        body=f"## Steps\n\n{steps}",
        commands=tuple(commands),
        evidence=evidence,
        sessions=len(evidence),
        key=f"{detector}:{name}",
    )


def plant(monkeypatch: pytest.MonkeyPatch, planted: Sequence[Offer]) -> None:
    """Have the detectors find these, where the sessions that show them are looked at."""

    def find(
        window: Window,
        texts: Callable[[int, int], AnyEvent | None],
        of: Collection[int] = (),
    ) -> list[Offer]:
        assert callable(texts)
        rows = window.store.db.execute("SELECT id, native FROM sessions").fetchall()
        there = {native for number, native in rows if number in window.sessions}
        return [it for it in planted if there & {place.session for place in it.evidence}]

    monkeypatch.setattr(offers, "offers", find)
