"""Token provenance against a world whose meter is known to the token."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import pytest

from hansei.config import Config, Environment, Settings
from hansei.events.model import ToolResult
from hansei.ops.ingest import ingest
from hansei.projection.exchanges import conversation
from hansei.projection.provenance import Kind, provenance
from hansei.projection.provenance.check import held_out
from hansei.store import reading
from hansei.store.database import open_store
from synthetic_world import NOW, stock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.store.reading import Numbered
    from hansei.synth import Truth

Sessions = dict[str, list["Numbered"]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Truth, Sessions]]:
    folder: Path = tmp_path_factory.mktemp("provenance")
    shelf = stock(folder / "world")
    home = shelf.world.home
    config = Config(folder / "store", Settings(workers=1), Environment(home, {}))
    store = open_store(config.store, now=NOW)
    ingest(store, config, now=NOW)
    rows = store.db.execute("SELECT id, native FROM sessions ORDER BY id").fetchall()
    # A subagent's id in the world is the last part of the one it is known by in the store.
    yield (
        shelf.truth,
        {native.rpartition("/")[2]: list(reading.events(store, it)) for it, native in rows},
    )
    store.close()


def test_every_billed_token_is_booked(world: tuple[Truth, Sessions]) -> None:
    truth, told = world
    assert len(told) >= len(truth.sessions) / 2
    for events in told.values():
        found = provenance(conversation(events))
        assert sum(it.billed for it in found.totals) == found.billed


def test_planted_hauls_are_found_with_their_size_and_rent(world: tuple[Truth, Sessions]) -> None:
    truth, told = world
    off = []
    for haul in truth.hauls:
        events = told[haul.session]
        seq = next(it.seq for it in events if _is_result(it, haul.call))
        pieces = [it for it in provenance(conversation(events)).pieces if it.seq == seq]
        whole = sum(it.tokens for it in pieces)
        carried = sum(it.billed for it in pieces) / whole
        off.append(abs(whole - haul.tokens) / haul.tokens)
        assert carried == pytest.approx(haul.requests_carried + 1, abs=1), haul
    assert len(off) >= 3
    assert median(off) < 0.05


def test_little_stays_unexplained_where_nothing_is_hidden(world: tuple[Truth, Sessions]) -> None:
    truth, told = world
    shares = []
    for session in truth.sessions:
        if session.requests >= 8 and session.parent is None:
            found = provenance(conversation(told[session.id]))
            lost = sum(it.billed for it in found.pieces if it.kind is Kind.UNEXPLAINED)
            shares.append(lost / found.billed)
    assert median(shares) < 0.02


def test_halves_predict_each_other(world: tuple[Truth, Sessions]) -> None:
    """All bytes weigh the same here, as for no tokenizer: a short session has to find that out."""
    truth, told = world
    checks = [
        held_out(conversation(told[it.id]))
        for it in truth.sessions
        if it.requests >= 8 and not it.parent
    ]
    assert median(it.unexplained for it in checks if it is not None) < 0.1


def _is_result(numbered: Numbered, call: str) -> bool:
    return isinstance(numbered.event, ToolResult) and numbered.event.call == call
