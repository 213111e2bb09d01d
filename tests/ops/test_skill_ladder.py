"""A skill that agents do not heed goes up the ladder in a generated history, and back down."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hansei.config import DAY_MS, Config, Environment, Settings
from hansei.learn.curation import Kind, Step
from hansei.learn.ladder import VIOLATIONS
from hansei.learn.model import Predicates, Rung, Skill, State
from hansei.ops import curation, hooks, skill_counters, skill_guards, skill_ladder, skills
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.ops.skills import Desk
from hansei.store.database import open_store
from hansei.synth import World, build
from hansei.synth.guides import AVOID, CHECK, DO, GUIDE, SIGN
from hansei.synth.skills import IDLE
from hook_calls import refused

NOW = 1_790_000_000_000
BEGIN = NOW - 56 * DAY_MS
TOLD = Predicates(error=f"python: {SIGN}", do=(DO,), avoid=(AVOID,), check=CHECK)
CODE = Predicates(path="src/**", avoid=("src/nowhere",), do=("src/services",))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Desk, World]]:
    folder = tmp_path_factory.mktemp("world")
    world = build(
        folder, seed=5, now_ms=NOW, sessions=110, weeks=8, agents=("claude_code",), guided=True
    )
    variables = {"HANSEI_HOME": str(folder / "store")}
    config = Config(folder / "store", Settings(), Environment(world.home, variables))
    with closing(open_store(folder / "store", now=NOW)) as store:
        ingest(store, config, now=NOW)
        refresh(store, config, workspace=None, now=NOW)
        shutil.rmtree(world.home / ".hansei" / "skills", ignore_errors=True)
        desk = Desk(store, config, world.repo, NOW)
        made = Skill(GUIDE.name, GUIDE.about, f"Run `{DO}`.", predicates=TOLD)
        skills.add(replace(desk, now=BEGIN), made, place=False)
        yield desk, world


def steps(desk: Desk) -> dict[str, Step]:
    rows, _ = skills.listed(desk.config, desk.here)
    told = skill_counters.counted(desk, rows)
    return {it.skills[0]: it for it in skill_ladder.steps(desk, rows, told)}


def files(*roots: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for root in roots
        for path in sorted(root.rglob("*"))
        if path.is_file() and not {".git", "backups", "spool", "cold"} & {*path.parts}
        and path.suffix not in (".db", ".db-wal", ".db-shm", ".lock", ".jsonl")
    }  # fmt: skip


def trees(desk: Desk) -> dict[str, bytes]:
    return files(desk.here, desk.store.folder, desk.config.environment.home)


def ask(desk: Desk, command: str) -> str:
    """Run the hook as the agent's settings name it."""
    settings = json.loads((desk.config.environment.home / ".claude/settings.json").read_text())
    (entry,) = settings["hooks"]["PreToolUse"]
    said = {"session_id": "s", "cwd": str(desk.here), "tool_name": "Bash",
            "tool_input": {"command": command}}  # fmt: skip
    done = subprocess.run(
        entry["hooks"][0]["command"], shell=True, input=json.dumps(said).encode(), check=True,
        capture_output=True,
    )  # fmt: skip
    return done.stdout.decode()


def test_the_planted_violations_are_those_that_promote(built: tuple[Desk, World]) -> None:
    desk, world = built
    had = {it.id for it in world.truth.sessions if it.guided}
    planted = {it.session for it in world.truth.guides if it.avoided and it.session in had}
    assert len(planted) >= VIOLATIONS
    step = steps(desk)[GUIDE.name]
    assert step.kind is Kind.PROMOTE
    assert step.reason == f"violated while in context in {len(planted)} sessions"
    assert step.wanted[0].rung is Rung.SKILL


def test_up_to_a_hook_that_stops_the_call_and_down_again_byte_for_byte(
    built: tuple[Desk, World],
) -> None:
    desk, world = built
    hooks.plan(desk.config, [hooks.Wanted("claude_code", "2.1.325")], {}, now=NOW)
    bare = trees(desk)

    curation.applied(desk, [steps(desk)[GUIDE.name]])
    assert (desk.here / ".claude/skills" / GUIDE.name / "SKILL.md").is_file()
    placed = trees(desk)
    late = replace(desk, now=NOW + 1)
    assert GUIDE.name not in steps(late)  # no session began since

    rows = [skills.find(desk.config, desk.here, GUIDE.name)]
    risen = skill_counters.story(*rows[0])
    assert risen.risen == NOW
    tried = skill_ladder.trial(late, rows[0][1])
    avoided = {it.session for it in world.truth.guides if it.avoided}
    assert (tried.vain, tried.unknown) == (0, 0)  # every draft in that history was refused
    assert tried.harm == tried.tasks <= len(avoided)
    assert tried.is_safe

    hooked = replace(rows[0][1], rung=Rung.HOOK)
    skills.keep(late, rows[0][0].book, skills.CURATE, {GUIDE.name: hooked}, place=False)
    assert skill_guards.is_guarded(late, hooked)
    (answer,) = json.loads(refused(lambda: ask(desk, f"{AVOID} --desk 3"))).values()
    assert answer["permissionDecision"] == "deny"
    assert DO in answer["permissionDecisionReason"]
    assert ask(desk, DO) == ask(desk, "python tools/cargo.py --help") == ""

    skills.undo(replace(desk, now=NOW + 2), skills.undoing(late, None))
    assert trees(desk) == placed
    assert ask(desk, AVOID) == ""
    skills.undo(replace(desk, now=NOW + 3), skills.undoing(late, None))
    assert trees(desk) == bare


def test_retiring_a_skill_lets_its_calls_go_on_and_undo_stops_them_again(
    built: tuple[Desk, World],
) -> None:
    desk, _ = built
    shelf, skill = skills.find(desk.config, desk.here, GUIDE.name)
    later = replace(desk, now=NOW + 10)
    hooked = replace(skill, rung=Rung.HOOK)
    skills.keep(later, shelf.book, "edit", {skill.name: hooked}, place=False)
    later = replace(desk, now=NOW + 11)
    skills.change_state(later, skill.name, State.RETIRED)
    assert skill_guards.standing(desk.config) == []
    skills.undo(replace(desk, now=NOW + 12), skills.undoing(later, None))
    assert skill_guards.is_guarded(desk, hooked)
    skills.vote(replace(desk, now=NOW + 13), skill.name, helpful=True)
    assert skill_guards.is_guarded(desk, hooked)
    (desk.store.folder / "guards.json").unlink()  # as on the machine of a colleague
    skills.vote(replace(desk, now=NOW + 14), skill.name, helpful=False)
    assert not skill_guards.is_guarded(desk, hooked)
    for at in range(15, 18):
        skills.undo(replace(desk, now=NOW + at), skills.undoing(desk, None))
    assert skills.find(desk.config, desk.here, GUIDE.name)[1] == skill


def test_a_rule_comes_with_the_files_it_is_about_and_goes_with_undo(
    built: tuple[Desk, World],
) -> None:
    desk, _ = built
    later = replace(desk, now=NOW + 30)
    made = Skill("code-place", "Where code is.", "Look in `src/services`.", predicates=CODE)
    skills.add(later, made, place=False)
    before = trees(desk)
    shelf, skill = skills.find(desk.config, desk.here, "code-place")
    later = replace(desk, now=NOW + 31)
    risen = replace(skill, rung=Rung.RULE)
    skills.keep(later, shelf.book, skills.CURATE, {skill.name: risen}, place=False)
    rule = desk.here / ".claude/rules/hansei-code-place.md"
    assert rule.read_text().startswith('---\npaths:\n  - "src/**"\n---\n')
    assert "Look in `src/services`." in rule.read_text()
    assert skill_ladder.footing(later, shelf, risen).rung is Rung.RULE
    skills.undo(replace(desk, now=NOW + 32), skills.undoing(later, None))
    assert trees(desk) == before
    skills.undo(replace(desk, now=NOW + 33), skills.undoing(later, None))


def test_what_was_carried_for_nothing_is_retired_and_comes_back(
    built: tuple[Desk, World],
) -> None:
    desk, world = built
    told = Predicates(command="terraform apply", do=("terraform plan",))
    idle = Skill(IDLE.name, IDLE.about, "Text.", predicates=told)
    skills.add(replace(desk, now=BEGIN), idle, place=False)
    step = steps(desk)[IDLE.name]
    assert (step.kind, step.by_itself) == (Kind.RETIRE, True)
    sessions = {it.id for it in world.truth.sessions if it.parent is None}
    assert int(step.reason.split()[0]) <= len(sessions)
    assert "tokens over" in step.reason
    curation.applied(replace(desk, now=NOW + 42), [step])
    assert skills.find(desk.config, desk.here, IDLE.name)[1].state is State.RETIRED
    skills.undo(replace(desk, now=NOW + 43), skills.undoing(desk, None))
    assert skills.find(desk.config, desk.here, IDLE.name)[1].state is State.DRAFT
    young = replace(desk, now=BEGIN + 7 * DAY_MS)
    assert IDLE.name not in steps(young)
