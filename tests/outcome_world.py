"""Outcomes of a generated history, beside what was planted in it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.config import Config, Environment, Settings
from hansei.events.model import FileEdit
from hansei.git.history import read_history
from hansei.git.objects import Objects
from hansei.ops.ingest import ingest
from hansei.projection.outcomes import Outcome, Texts, judge, paths_of, place, told_once, written
from hansei.redaction.redactor import Redactor
from hansei.store import reading
from hansei.store.database import open_store
from hansei.store.key import redaction_key
from hansei.synth import World, build
from hansei.synth.history import worktree_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hansei.projection.outcomes import Written
    from hansei.synth.truth import EditTruth

NOW = 1_790_000_000_000


@dataclass(frozen=True)
class Judged:
    """What was planted about an edit, and the rows of its hunks."""

    truth: EditTruth
    rows: tuple[Outcome, ...]


@dataclass(frozen=True)
class Judgement:
    world: World
    edits: tuple[Judged, ...]
    rows: tuple[Outcome, ...]


def judged_world(folder: Path, *, seed: int, sessions: int, agents: Sequence[str]) -> Judgement:
    """Make a world, take it in, and judge all its edits."""
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=8, agents=agents)
    hunks, calls, redactor = _read(world, folder / "store")
    hunks = told_once(hunks)
    roots = [str(world.repo), str(worktree_of(world.repo))]
    history = read_history(str(world.repo))
    known = paths_of(history)
    places = [place(hunk.path, roots, known) for hunk in hunks]
    with Objects(str(world.repo)) as objects:
        rows = judge(hunks, places, history, Texts(objects.blob, redactor.scrub), NOW)
    by_call: dict[str, list[Outcome]] = {}
    for row in rows:
        by_call.setdefault(calls[row.session, row.seq], []).append(row)
    edits = tuple(Judged(it, tuple(by_call.get(it.call, ()))) for it in world.truth.edits)
    return Judgement(world, edits, tuple(rows))


def _read(world: World, folder: Path) -> tuple[list[Written], dict[tuple[str, int], str], Redactor]:
    config = Config(folder, Settings(), Environment(world.home, {}))
    hunks: list[Written] = []
    calls: dict[tuple[str, int], str] = {}
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        redactor = Redactor(redaction_key(config.store))
        for (number,) in store.db.execute("SELECT id FROM sessions ORDER BY id").fetchall():
            events = list(reading.events(store, number))
            hunks += written(events, str(number))
            calls |= {
                (str(number), seq): event.call
                for seq, event in events
                if isinstance(event, FileEdit)
            }
    return hunks, calls, redactor
