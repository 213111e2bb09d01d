"""Files read again for nothing in a generated history, against what was planted there."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.projection.calls import calls
from hansei.projection.files import LOOKS, Again, Touch, Verb, touches
from hansei.store import reading
from hansei.store.database import open_store
from hansei.synth import World, build
from hansei.synth.history import worktree_of
from hansei.synth.troubles import MISSED_EDIT

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_790_000_000_000
SHARE = 0.98


class Found(NamedTuple):
    """A row, the session it is from, and the agent's own id of its call."""

    session: int
    call: str
    row: Touch


@dataclass(frozen=True)
class Read:
    """A world and its rows."""

    world: World
    rows: tuple[Found, ...]

    @property
    def repeated(self) -> dict[str, Touch]:
        return {it.call: it.row for it in self.rows if it.row.redundant is not None}


@pytest.fixture(scope="module", params=[(5, 80), (8, 60)], ids=["seed 5", "seed 8"])
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Read:
    seed, sessions = request.param
    return read_world(tmp_path_factory.mktemp("world"), seed, sessions)


def read_world(folder: Path, seed: int, sessions: int) -> Read:
    agents = ("claude_code", "codex")
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=8, agents=agents)
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    roots = [str(world.repo), str(worktree_of(world.repo))]
    rows: list[Found] = []
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        for (number,) in store.db.execute("SELECT id FROM sessions ORDER BY id").fetchall():
            events = list(reading.events(store, number))
            found = calls(events)
            names = {call.seq: call.event.call for call in found}
            rows += [Found(number, names[row.seq], row) for row in touches(events, found, roots)]
    return Read(world, tuple(rows))


def test_planted_repeats_are_found_at_their_file(read: Read) -> None:
    planted = read.world.truth.rereads
    found = [it for it in planted if (row := read.repeated.get(it.call)) and row.path == it.path]
    assert len(found) >= SHARE * len(planted)


def test_nothing_else_is_called_a_repeat(read: Read) -> None:
    planted = {it.call for it in read.world.truth.rereads}
    right = sum(name in planted for name in read.repeated)
    assert right >= SHARE * len(read.repeated)


def test_repeats_after_a_missed_edit_are_told_apart(read: Read) -> None:
    missed = {it.call for it in read.world.truth.failures if it.trouble == MISSED_EDIT}
    after = [row for row in read.repeated.values() if row.again is Again.FAILED_EDIT]
    assert missed
    assert len(after) == len(missed)


def test_the_world_also_has_files_read_again_for_a_reason(read: Read) -> None:
    """Otherwise it would prove nothing that no other read is called a repeat."""
    seen: set[tuple[int, str]] = set()
    for_a_reason = 0
    for session, call, row in read.rows:
        if row.verb is Verb.READ:
            for_a_reason += (session, row.path) in seen and call not in read.repeated
            seen.add((session, row.path))
    assert for_a_reason > len(read.world.truth.rereads) / 4


def test_planted_edits_touch_their_files_in_every_worktree(read: Read) -> None:
    changed = {(it.call, it.row.path) for it in read.rows if it.row.verb not in LOOKS}
    assert {(it.call, it.path) for it in read.world.truth.edits} <= changed
