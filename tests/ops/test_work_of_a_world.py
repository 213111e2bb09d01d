"""Cost of work in a generated history, beside what was planted: which session landed where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from hansei.config import Config, Environment, Settings
from hansei.git.merges import told
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.ops.scope import Scope
from hansei.ops.summary import DIMENSIONS, GOALS, summary
from hansei.ops.work import ground, portions
from hansei.store.database import Store, open_store
from hansei.synth import World, build
from synthetic_world import NOW, even_place


@dataclass(frozen=True)
class Worked:
    world: World
    store: Store
    workspace: int

    @property
    def natives(self) -> dict[str, int]:
        return dict(self.store.db.execute("SELECT native, id FROM sessions"))


@pytest.fixture(scope="module")
def worked() -> Iterator[Worked]:
    with even_place() as folder:
        agents = ("claude_code", "codex")
        world = build(folder, seed=11, now_ms=NOW, sessions=30, weeks=5, agents=agents)
        config = Config(folder / "store", Settings(workers=1), Environment(world.home, {}))
        with closing(open_store(config.store, now=NOW)) as store:
            ingest(store, config, now=NOW, wait_seconds=0)
            refresh(store, config, workspace=None, now=NOW)
            (number,) = store.db.execute(
                "SELECT workspace FROM sessions GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
            ).fetchone()
            yield Worked(world, store, number)


def test_spend_goes_to_the_commits_that_were_planted_for_its_session(worked: Worked) -> None:
    tasks = ground(worked.store, worked.workspace, "commit").tasks
    planted: dict[int, set[str]] = {}
    for edit in worked.world.truth.edits:
        session = worked.natives.get(edit.session)
        if edit.commit is not None and session is not None:
            planted.setdefault(tasks.get(session, session), set()).add(edit.commit)
    scope = Scope(workspace=worked.workspace)
    found: dict[int, set[str]] = {}
    for it in portions(worked.store, scope, "commit", (), ("sum(p.requests)",))[0]:
        if it.goal.name is not None:
            found.setdefault(it.task, set()).add(it.goal.name)
    assert len(planted) > 5
    assert found == planted


def test_a_squashed_branch_is_known_by_the_request_in_the_planted_commit(worked: Worked) -> None:
    record = ground(worked.store, worked.workspace, "pr").record
    squashed = {it.commit for it in worked.world.truth.edits if it.squashed_away and it.commit}
    assert squashed
    expected = {told("", 0, record.line.subjects[it]).request: it for it in squashed}
    lines = summary(worked.store, Scope(workspace=worked.workspace), ("pr",)).lines
    found = {
        line.labels["pr"]: line.work.merged_by for line in lines if line.labels["pr"] and line.work
    }
    assert found == expected


def test_before_facts_are_worked_out_what_landed_is_unknown_and_branches_are_known(
    worked: Worked, tmp_path: Path
) -> None:
    config = Config(tmp_path, Settings(workers=1), Environment(worked.world.home, {}))
    with closing(open_store(config.store, now=NOW)) as store:
        ingest(store, config, now=NOW, wait_seconds=0)
        scope = Scope(workspace=worked.workspace)
        (unknown,) = summary(store, scope, ("commit",)).lines
        branches = summary(store, scope, ("branch",)).lines
    assert unknown.work is not None
    assert unknown.work.why == "what landed is unknown"
    assert len(branches) > 1


@pytest.mark.parametrize("goal", GOALS)
def test_sums_are_those_of_the_summary_whatever_else_is_told_apart(
    goal: str, worked: Worked
) -> None:
    for since in (None, NOW - 14 * 86_400_000):
        for workspace in (None, worked.workspace):
            scope = Scope(workspace=workspace, since=since)
            for other in (None, *(it for it in DIMENSIONS if it not in GOALS)):
                by = (goal,) if other is None else (other, goal)
                answer = summary(worked.store, scope, by)
                for name in ("requests", "total_tokens", "cost_nanodollars", "unpriced_requests"):
                    parts = [getattr(line, name) for line in answer.lines]
                    whole = getattr(answer.total, name)
                    assert sum(it or 0 for it in parts) == (whole or 0), (by, name)
