"""Corrections in generated histories, against what was planted there."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from hansei.config import Config, Environment, Settings
from hansei.events.model import Prompt
from hansei.ops.ingest import ingest
from hansei.projection.calls import calls
from hansei.projection.corrections import Correction, Kind, clusters, corrections
from hansei.store import reading
from hansei.store.database import open_store
from hansei.synth import Truth, build

NOW = 1_790_000_000_000
SHARE = 0.98


@dataclass(frozen=True)
class Found:
    """What a world holds and what was found in it, each as session and text."""

    truth: Truth
    rows: list[tuple[str, str, Correction]]

    def planted(self) -> Counter[tuple[str, str]]:
        return Counter((it.session, it.text) for it in self.truth.corrections)

    def told(self) -> Counter[tuple[str, str]]:
        return Counter((session, text) for session, text, _ in self.rows)


@pytest.fixture(scope="module", params=[3, 11, 29])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder: Path = tmp_path_factory.mktemp("world")
    agents = ("claude_code", "codex")
    world = build(folder, seed=request.param, now_ms=NOW, sessions=40, weeks=6, agents=agents)
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    rows = []
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        listed = store.db.execute("SELECT id, native, driver FROM sessions ORDER BY id").fetchall()
        for number, native, driver in listed:
            events = list(reading.events(store, number))
            texts = {seq: it.text for seq, it in events if isinstance(it, Prompt)}
            made = corrections(events, calls(events), driver)
            rows += [(native, texts[row.seq], row) for row in made]
    return Found(world.truth, rows)


def test_planted_corrections_are_found(found: Found) -> None:
    planted = found.planted()
    missed = planted - found.told()
    assert planted.total() >= 15
    assert missed.total() <= (1 - SHARE) * planted.total(), missed


def test_nothing_else_is_taken_for_a_correction(found: Found) -> None:
    told = found.told()
    wrong = told - found.planted()
    assert found.truth.asides
    assert wrong.total() <= (1 - SHARE) * told.total(), wrong


def test_each_manner_has_its_kind(found: Found) -> None:
    manners = {(it.session, it.text): it.manner for it in found.truth.corrections}
    kinds = {(session, text): row.kind for session, text, row in found.rows}
    for place, manner in manners.items():
        if manner == "interrupted":
            assert kinds[place] is Kind.INTERRUPTS
        elif manner == "repeated":
            assert kinds[place] is Kind.REPEATS
        else:
            assert kinds[place] is not Kind.INTERRUPTS


def test_what_is_said_in_several_sessions_is_one_cluster(found: Found) -> None:
    rows = [(session, row) for session, _, row in found.rows]
    made = clusters(rows)
    assert sum(len(it.members) for it in made) == len(rows)
    assert clusters(reversed(rows)) == made
    said: dict[str, set[str]] = {}
    for session, text, row in found.rows:
        said.setdefault(text, set()).add(f"{session}#{row.seq}")
    for members in said.values():
        assert any(members <= set(it.members) for it in made)
