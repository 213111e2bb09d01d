"""Waste in a generated history, against what was planted there."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hansei.events.model import Driver
from hansei.projection.files import LOOKS
from hansei.retro.heuristics.idle_rent import IdleRent
from hansei.retro.heuristics.large_output import LargeOutput
from hansei.retro.heuristics.rediscovered import Rediscovered
from hansei.retro.heuristics.reread import Reread
from hansei.synth.skills import IDLE
from waste_world import Seen, seen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.retro.contract import Heuristic

RECALL, PRECISION, NEAR, SHARE = 0.95, 0.9, 0.25, 0.9
HEURISTICS: tuple[Heuristic, ...] = (Rediscovered(), Reread(), LargeOutput(), IdleRent())


class Planted(NamedTuple):
    """Something that a heuristic should find, and what it took."""

    heuristic: str
    key: str
    tokens: int


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> list[Seen]:
    return [
        seen(tmp_path_factory.mktemp("world") / str(seed), seed=seed, sessions=sessions)
        for seed, sessions in ((5, 90), (8, 70), (13, 110))
    ]


def planted(world: Seen) -> set[Planted]:
    """Everything that is in enough sessions and large enough for a bet."""
    return {*_rereads(world), *_hauls(world), *_discoveries(world), *_idle(world)}


def _rereads(world: Seen) -> Iterator[Planted]:
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for it in world.world.truth.rereads:
        if not it.excused:
            cost = it.tokens * it.requests_carried + (it.alone or 0)
            found[it.path][it.session] += cost
    for path, sessions in found.items():
        if len(sessions) >= Reread.sessions and sum(sessions.values()) >= Reread.tokens:
            yield Planted("reread", path, sum(sessions.values()))


def _hauls(world: Seen) -> Iterator[Planted]:
    names = {
        "git log -p --stat": "git log",
        "docker compose logs app": "docker compose logs",
        "cat /tmp/serve.log": "cat {tmp}",
    }
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for it in world.world.truth.hauls:
        if it.requests_carried >= LargeOutput.requests:
            found[names[it.command]][it.session] += it.tokens * it.requests_carried
    for command, sessions in found.items():
        if len(sessions) >= LargeOutput.sessions:
            yield Planted("large-output", command, sum(sessions.values()))


def _discoveries(world: Seen) -> Iterator[Planted]:
    """Of sessions that went on to change something and that no agent started."""
    changed = {session for session, it in world.window.touches if it.verb not in LOOKS}
    workers = {
        it.name
        for number, it in world.window.sessions.items()
        if number in changed and it.driver != Driver.SUBAGENT
    }
    told = [it for it in world.world.truth.discoveries if it.session in workers]
    assert {it.folder for it in told} == {"src/berthline/services/"}
    total = sum(it.cost for it in told)
    if total >= Rediscovered.tokens:
        yield Planted("rediscovered", "names src/berthline/services/", total)


def _idle(world: Seen) -> Iterator[Planted]:
    """The line of the skill nobody wants, at each session's own rate, in all its requests."""
    listed = {
        session
        for session, use in world.window.uses
        if (use.kind, use.name) == ("skill", IDLE.name)
    }
    names = {world.window.sessions[it].name for it in listed}
    total = 0.0
    for it in world.world.truth.sessions:
        if it.id in names:
            bare = f"- {IDLE.name}: {IDLE.about}"
            line = f"{bare} (file: {world.world.repo}/{IDLE.path})" if it.agent == "codex" else bare
            total += len(line) * it.tokens_per_byte * it.requests
    yield Planted("idle-rent", "skill .agents/skills", round(total))


def found(world: Seen) -> dict[tuple[str, str], int]:
    return {
        (it.heuristic, it.key): sum(once.tokens or 0 for once in it.occurrences)
        for heuristic in HEURISTICS
        for it in heuristic.find(world.window)
    }


def test_what_was_planted_is_found(worlds: list[Seen]) -> None:
    wanted = [(number, it[:2]) for number, world in enumerate(worlds) for it in planted(world)]
    there = [(number, it) for number, world in enumerate(worlds) for it in found(world)]
    assert len(wanted) >= 15
    assert len({*wanted} & {*there}) >= RECALL * len(wanted)


def test_what_is_found_was_planted(worlds: list[Seen]) -> None:
    wanted = {(number, it[:2]) for number, world in enumerate(worlds) for it in planted(world)}
    there = {(number, it) for number, world in enumerate(worlds) for it in found(world)}
    assert len(wanted & there) >= PRECISION * len(there)


def test_what_it_took_is_told_to_within_a_quarter(worlds: list[Seen]) -> None:
    errors = [
        abs(there[it[:2]] / it.tokens - 1)
        for world in worlds
        for there in [found(world)]
        for it in planted(world)
        if it[:2] in there
    ]
    assert sum(it <= NEAR for it in errors) >= SHARE * len(errors)
