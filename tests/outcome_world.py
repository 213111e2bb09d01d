"""Outcomes of a generated history, beside what was planted in it."""

from __future__ import annotations

import re
import subprocess
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hansei.config import Config, Environment, Settings
from hansei.events.model import FileEdit
from hansei.ops.ingest import ingest
from hansei.projection.calls import calls
from hansei.projection.outcomes import Outcome, Stored, judge_repository, packed, written
from hansei.redaction.redactor import Redactor
from hansei.store import reading
from hansei.store.database import open_store
from hansei.store.key import redaction_key
from hansei.synth import World, build

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

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


@dataclass(frozen=True)
class TakenIn:
    """What the sessions of a world wrote."""

    hunks: list[Stored]
    calls: dict[tuple[int, int], str]
    """The call of each edit, by session and event."""
    scrub: Callable[[str], str]


def judged_world(
    folder: Path, *, seed: int, sessions: int, agents: Sequence[str], rebase: bool = False
) -> Judgement:
    """Make a world, take it in, and judge all its edits; maybe after its history was rewritten."""
    world = build(folder, seed=seed, now_ms=NOW, sessions=sessions, weeks=8, agents=agents)
    taken = take_in(world, folder / "store")
    names = rebased(world.repo, folder / "rebased.git") if rebase else {}
    where = folder / "rebased.git" if rebase else world.repo
    judged = judge_repository(taken.hunks, str(where), NOW, None, taken.scrub)
    by_call: dict[str, list[Outcome]] = {}
    for session, rows in judged.rows.items():
        for row in rows:
            by_call.setdefault(taken.calls[session, row.seq], []).append(row)
    edits = tuple(
        Judged(
            replace(
                it,
                commit=names.get(it.commit or "", it.commit),
                undone_in=names.get(it.undone_in or "", it.undone_in),
            ),
            tuple(by_call.get(it.call, ())),
        )
        for it in world.truth.edits
    )
    return Judgement(world, edits)


def rebased(repo: Path, target: Path) -> dict[str, str]:
    """A copy whose main line was rebased a minute later; the new names of its commits."""
    command = ["git", "-C", str(repo), "fast-export", "--show-original-ids", "main"]
    told = subprocess.run(command, check=True, capture_output=True).stdout
    later = re.sub(
        rb"^(committer .*> )(\d+)( [+-]\d{4})$",
        lambda found: found[1] + b"%d" % (int(found[2]) + 60) + found[3],
        told,
        flags=re.MULTILINE,
    )
    subprocess.run(["git", "init", "--quiet", "--bare", str(target)], check=True)
    marks = target / "marks"
    command = ["git", "-C", str(target), "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(command, check=True, input=later)
    subprocess.run(
        ["git", "-C", str(target), "symbolic-ref", "HEAD", "refs/heads/main"], check=True
    )
    made = dict(line.split() for line in marks.read_text("ascii").splitlines())
    named = re.findall(rb"^mark (:\d+)\noriginal-oid ([0-9a-f]+)$", told, re.MULTILINE)
    return {old.decode(): made[mark.decode()] for mark, old in named}


def take_in(world: World, folder: Path) -> TakenIn:
    """The hunks of all sessions of a world, as they are stored."""
    config = Config(folder, Settings(), Environment(world.home, {}))
    hunks: list[Stored] = []
    made: dict[tuple[int, int], str] = {}
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW)
        scrub = Redactor(redaction_key(config.store)).scrub
        for (number,) in store.db.execute("SELECT id FROM sessions ORDER BY id").fetchall():
            events = list(reading.events(store, number))
            hunks += [Stored(number, packed(it)) for it in written(events, calls(events))]
            made |= {
                (number, seq): event.call for seq, event in events if isinstance(event, FileEdit)
            }
    return TakenIn(hunks, made, scrub)
