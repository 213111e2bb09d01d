"""The funnel against a world in which skills, servers and an instruction file are planted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from hansei.config import Config, Environment, Settings
from hansei.events.model import ToolCall
from hansei.ops.ingest import ingest
from hansei.projection.calls import calls
from hansei.projection.funnel import funnel
from hansei.store import reading
from hansei.store.database import open_store
from hansei.synth import build
from hansei.synth.skills import SKILLS
from synthetic_world import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.projection.funnel import Use
    from hansei.store.reading import Numbered
    from hansei.synth import Truth

ENOUGH = 0.98


class Told(NamedTuple):
    truth: Truth
    events: dict[str, list[Numbered]]
    rows: dict[str, list[Use]]


@pytest.fixture(scope="module", params=[3, 11])
def told(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Told]:
    folder: Path = tmp_path_factory.mktemp("funnel")
    agents = ("claude_code", "codex")
    world = build(
        folder / "world", seed=request.param, now_ms=NOW, sessions=60, weeks=6, agents=agents
    )
    config = Config(folder / "store", Settings(workers=1), Environment(world.home, {}))
    store = open_store(config.store, now=NOW)
    ingest(store, config, now=NOW)
    numbers = store.db.execute("SELECT id, native FROM sessions ORDER BY id").fetchall()
    events = {
        native.rpartition("/")[2]: list(reading.events(store, number)) for number, native in numbers
    }
    rows = {name: funnel(it, calls(it)) for name, it in events.items()}
    yield Told(world.truth, events, rows)
    store.close()


def call_of(told: Told, session: str, seq: int | None) -> str | None:
    events = dict(told.events[session])
    event = events[seq] if seq is not None else None
    return event.call if isinstance(event, ToolCall) else None


def shares(planted: set[object], found: set[object]) -> tuple[float, float]:
    both = len(planted & found)
    return both / len(planted), both / len(found)


def test_planted_skills_fire_by_the_very_call(told: Told) -> None:
    planted = {(it.session, it.skill) for it in told.truth.skills}
    first = {(it.session, it.skill, it.call) for it in reversed(told.truth.skills)}
    found = {
        (name, use.name, call_of(told, name, use.fired_seq))
        for name, rows in told.rows.items()
        for use in rows
        if use.kind == "skill" and use.fired
    }
    assert len(planted) == len(first) >= 6
    assert min(shares(set(first), set(found))) >= ENOUGH


def test_planted_wishes_match_and_nothing_else_does(told: Told) -> None:
    planted = {(it.session, it.skill) for it in told.truth.skills if it.asked}
    found = {
        (name, use.name)
        for name, rows in told.rows.items()
        for use in rows
        if use.kind == "skill" and use.matched
    }
    # Sessions of old versions tell of no skills, so what these are for is not known there.
    known = {
        (name, use.name)
        for name, rows in told.rows.items()
        for use in rows
        if use.matched is not None
    }
    assert min(shares(set(planted & known), set(found))) >= ENOUGH
    assert len(planted & known) >= 2


def test_skills_are_followed_where_that_is_planted(told: Told) -> None:
    planted = {(it.session, it.skill): it.followed_by for it in told.truth.skills}
    uses = {
        (name, use.name): use
        for name, rows in told.rows.items()
        for use in rows
        if use.kind == "skill"
    }
    right = [
        uses[key].followed is (ran is not None)
        and call_of(told, key[0], uses[key].followed_seq) == ran
        for key, ran in planted.items()
        if key in uses
    ]
    assert sum(right) / len(planted) >= ENOUGH


def test_every_session_that_lists_skills_lists_all_of_them(told: Told) -> None:
    listing = [
        {use.name for use in rows if use.kind == "skill"}
        for rows in told.rows.values()
        if sum(use.kind == "skill" for use in rows) > 1
    ]
    assert len(listing) > 20
    assert all(names == {skill.name for skill in SKILLS} for names in listing)


def test_servers_fire_in_the_sessions_that_call_them(told: Told) -> None:
    planted = {it.id for it in told.truth.sessions if it.calls.get("mcp")}
    found = {
        name
        for name, rows in told.rows.items()
        for use in rows
        if use.kind == "mcp" and use.fired and use.followed
    }
    assert planted
    assert min(shares(set(planted), set(found))) >= ENOUGH


def test_the_instruction_file_of_the_transcript_is_listed_and_never_cited(told: Told) -> None:
    agents = {it.id: it.agent for it in told.truth.sessions}
    listed = {
        name: use for name, rows in told.rows.items() for use in rows if use.kind == "instructions"
    }
    assert {agents[name] for name in listed if name in agents} == {"codex"}
    assert not any(use.fired for use in listed.values())
