"""What is counted for a skill in a generated history, against what was planted there."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import msgspec
import pytest

from hansei.config import DAY_MS, Config, Environment, Settings
from hansei.events.keys import digest
from hansei.events.model import ToolCall
from hansei.experiments.experiment import Bind, Experiment, Terms
from hansei.learn.compile import block, whole
from hansei.learn.counters import HALF_LIFE_DAYS, Case, Counters, How, Vote
from hansei.learn.formats.agent_skills import skill_md
from hansei.learn.model import Predicates, Skill, State
from hansei.ops import skill_counters, skills
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.ops.sessions import short_id
from hansei.ops.skills import Desk
from hansei.store import experiments, reading
from hansei.store.database import open_store
from hansei.synth import Truth, World, build
from hansei.synth.guides import AVOID, CHECK, COURSES, DO, GUIDE, SIGN, GuideTruth

NOW = 1_790_000_000_000
WEEKS = 8
BEGIN = NOW - WEEKS * 7 * DAY_MS
MIDDLE = NOW - WEEKS * 7 * DAY_MS // 2
TOLD = Predicates(error=f"python: {SIGN}", do=(DO,), avoid=(AVOID,), check=CHECK)
SKILL = Skill(GUIDE.name, GUIDE.about, f"Run `{DO}`.", predicates=TOLD)


@dataclass(frozen=True)
class Planted:
    """A world, the skill in its book in two versions, and what is counted."""

    desk: Desk
    world: World
    events: dict[str, int]
    """Events by the agent's id of a call."""
    told: Counters

    @property
    def truth(self) -> Truth:
        return self.world.truth

    @cached_property
    def began(self) -> dict[str, int]:
        return {short_id(it.id): it.started for it in self.truth.sessions}

    def family(self, session: str) -> str:
        """The session that a fork or a subagent goes back to."""
        parents = {it.id: it.parent for it in self.truth.sessions}
        while (parent := parents[session]) is not None:
            session = parent
        return short_id(session)

    @cached_property
    def cases(self) -> dict[str, Case]:
        return {it.session: it for it in self.told.cases}

    @cached_property
    def guides(self) -> dict[str, list[GuideTruth]]:
        """What was planted where the skill was in force, by family."""
        had = {it.id for it in self.truth.sessions if it.guided}
        found: dict[str, list[GuideTruth]] = defaultdict(list)
        for it in self.truth.guides:
            if it.session in had or it.loaded:
                found[self.family(it.session)].append(it)
        return found

    @cached_property
    def had_it(self) -> set[str]:
        """The families that the skill was before, as the world has it."""
        return {self.family(it.id) for it in self.truth.sessions if it.guided} | {*self.guides}

    def seen(self, calls: Iterable[str]) -> list[int]:
        return sorted(self.events[it] for it in calls)


@pytest.fixture(scope="module", params=[5, 23])
def planted(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Planted]:
    folder = tmp_path_factory.mktemp("world")
    world = build(
        folder,
        seed=request.param,
        now_ms=NOW,
        sessions=110,
        weeks=WEEKS,
        agents=("claude_code", "codex"),
        guided=True,
    )
    with taken_in(world, folder / "store") as desk:
        events = {
            event.call: seq
            for (number,) in desk.store.db.execute("SELECT id FROM sessions").fetchall()
            for seq, event in reading.events(desk.store, number)
            if isinstance(event, ToolCall)
        }
        yield Planted(desk, world, events, counted(desk))


@contextmanager
def taken_in(world: World, folder: Path) -> Iterator[Desk]:
    """A store with the world's sessions, and the skill in its book in two versions."""
    config = Config(folder, Settings(), Environment(world.home, {}))
    with closing(open_store(folder, now=NOW)) as store:
        ingest(store, config, now=NOW)
        refresh(store, config, workspace=None, now=NOW)
        desk = Desk(store, config, world.repo, NOW)
        shutil.rmtree(world.home / ".hansei" / "skills", ignore_errors=True)
        skills.add(replace(desk, now=BEGIN), SKILL, place=False)
        skills.update(replace(desk, now=MIDDLE), GUIDE.name, body=f"Always run `{DO}`.")
        yield desk


def counted(desk: Desk) -> Counters:
    shelf, skill = skills.find(desk.config, desk.here, GUIDE.name)
    return skill_counters.counted(desk, [(shelf, skill)])[GUIDE.name]


def vote(planted: Iterable[GuideTruth]) -> str | None:
    """What a family says: harm weighs more than help, and both more than nothing."""
    votes = {it.vote for it in planted}
    return next((it for it in ("harmful", "helpful", "neutral") if it in votes), None)


def test_the_world_has_every_course_with_the_skill_and_without(planted: Planted) -> None:
    listed = Counter(it.listed for it in planted.truth.guides)
    assert {it.course for it in planted.truth.guides} == COURSES.keys()
    assert min(listed[True], listed[False]) >= 10


def test_it_was_exposed_exactly_where_it_was_planted(planted: Planted) -> None:
    assert planted.cases.keys() == planted.had_it
    assert planted.told.total.exposed == len(planted.had_it)
    loaded = {name for name, own in planted.guides.items() if any(it.loaded for it in own)}
    assert {name for name, it in planted.cases.items() if How.LOADED in it.how} == loaded


def test_triggers_follows_violations_and_votes_are_those_that_were_planted(
    planted: Planted,
) -> None:
    for name, case in planted.cases.items():
        own = planted.guides.get(name, [])
        failed, followed, avoided = (
            sorted(planted.events[call] for it in own for call in getattr(it, kind))
            for kind in ("failed", "followed", "avoided")
        )
        assert sorted(it.event for it in case.triggered) == failed
        assert sorted(it.event for it in case.followed) == followed
        assert sorted(it.event for it in case.violated) == avoided
        assert case.vote == vote(own), own


def test_counters_equal_the_planted_truth(planted: Planted) -> None:
    families = planted.guides
    votes = {name: vote(own) for name, own in families.items()}
    total = planted.told.total
    assert total.triggered == sum(any(it.failed for it in own) for own in families.values())
    assert total.followed == sum(any(it.followed for it in own) for own in families.values())
    assert total.violated == sum(any(it.avoided for it in own) for own in families.values())
    for word, share in zip(Vote, (total.helpful, total.harmful, total.neutral), strict=True):
        own = [name for name, it in votes.items() if it == word]
        ages = [(NOW - planted.began[name]) / DAY_MS for name in own]
        assert share.sessions == len(own) > 0
        weights = sum(0.5 ** (age / HALF_LIFE_DAYS) for age in ages)
        assert share.weight == pytest.approx(weights, abs=1e-3)


def test_every_session_counts_for_the_version_it_had(planted: Planted) -> None:
    latest: dict[str, int] = {}
    for it in planted.truth.sessions:
        if it.guided or any(own.session == it.id for own in planted.truth.guides if own.loaded):
            name = planted.family(it.id)
            latest[name] = max(it.started, latest.get(name, 0))
    expected = {name: 1 if at < MIDDLE else 2 for name, at in latest.items()}
    assert {name: it.version for name, it in planted.cases.items()} == expected
    told = {it.version: it.exposed for it in planted.told.versions}
    assert told == Counter(expected.values())
    assert told.keys() == {1, 2}


def test_sessions_without_it_are_counted_apart(planted: Planted) -> None:
    had = {it.id for it in planted.truth.sessions if it.guided}
    missed = {
        planted.family(it.session)
        for it in planted.truth.guides
        if it.failed and it.session not in had and not it.loaded
    }
    told = planted.told
    assert told.unexposed > 0 < told.unknown
    assert told.unexposed + told.unknown == len(missed)


def test_recomputing_gives_the_same_bytes(planted: Planted, tmp_path: Path) -> None:
    first = msgspec.json.encode(planted.told)
    assert msgspec.json.encode(counted(planted.desk)) == first
    with taken_in(planted.world, tmp_path / "again") as desk:
        assert msgspec.json.encode(counted(desk)) == first


# --- how it was before a session ------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A small world in which no session is told of the skill by its transcript."""
    agents = ("claude_code",)
    world = build(tmp_path, seed=4, now_ms=NOW, sessions=14, weeks=WEEKS, agents=agents)
    with taken_in(world, tmp_path / "store") as made:
        yield made


def session(desk: Desk, *, early: bool) -> int:
    """A session of somebody before the second version, or after it."""
    order = "started_at < ?" if early else "started_at >= ?"
    (number,) = desk.store.db.execute(
        f"SELECT id FROM sessions WHERE {order} AND parent IS NULL ORDER BY id LIMIT 1", (MIDDLE,)
    ).fetchone()
    return int(number)


def put(desk: Desk, number: int, kind: str, path: str, mark: str) -> None:
    """Have the exposure ledger say that a text was in force in a session."""
    with desk.store.transaction() as db:
        row = (number, kind, path, mark, 100, "hook", "start")
        db.execute("INSERT INTO exposure VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def the_case(desk: Desk) -> Case:
    (case,) = counted(desk).cases
    return case


def test_a_skill_file_is_known_by_its_hash_whatever_the_date_says(desk: Desk) -> None:
    old = skill_counters.story(*skills.find(desk.config, desk.here, GUIDE.name)).versions[0]
    path = f".agents/skills/{GUIDE.name}/SKILL.md"
    put(desk, session(desk, early=False), "skill", path, digest(skill_md(old).encode()))
    assert (the_case(desk).version, the_case(desk).how) == (1, (How.LISTED,))


def test_a_skill_file_that_a_person_edited_counts_for_the_version_of_its_day(desk: Desk) -> None:
    put(desk, session(desk, early=False), "skill", f".claude/skills/{GUIDE.name}/SKILL.md", "other")
    assert the_case(desk).version == 2


def test_what_a_hook_delivered_was_before_the_session(desk: Desk) -> None:
    put(desk, session(desk, early=True), "delivered", f"skill:{GUIDE.name}", "mark")
    assert (the_case(desk).version, the_case(desk).how) == (1, (How.DELIVERED,))


def test_a_text_that_an_experiment_delivered_was_before_the_session(desk: Desk) -> None:
    _, skill = skills.find(desk.config, desk.here, GUIDE.name)
    made = Experiment(
        "e7", 1, "h", Bind.EXPOSURE, "failure", NOW, terms=Terms(text=f"Mind:\n{skill.body}")
    )
    with desk.store.transaction() as db:
        body = msgspec.json.encode(made).decode()
        experiments.keep(db, experiments.Row("e7", 1, made.stage, NOW, body))
    put(desk, session(desk, early=False), "delivered", "e7", "mark")
    assert the_case(desk).how == (How.DELIVERED,)


def test_a_managed_block_is_known_by_the_text_in_it(desk: Desk) -> None:
    skills.change_state(desk, GUIDE.name, State.APPROVED, place=False)
    _, skill = skills.find(desk.config, desk.here, GUIDE.name)
    text = f"# Rules\n\n{block([whole(skill)])}".encode()
    (desk.here / "CLAUDE.md").write_bytes(text)
    put(desk, session(desk, early=False), "instructions", "CLAUDE.md", digest(text))
    assert (the_case(desk).version, the_case(desk).how) == (2, (How.BLOCK,))


def test_nothing_is_exposed_before_it_was_kept(desk: Desk) -> None:
    skills.add(replace(desk, now=MIDDLE), replace(SKILL, name="later"), place=False)
    for early in (True, False):
        number = session(desk, early=early)
        put(desk, number, "skill", ".claude/skills/later/SKILL.md", f"other{early}")
    shelf, skill = skills.find(desk.config, desk.here, "later")
    (case,) = skill_counters.counted(desk, [(shelf, skill)])["later"].cases
    assert case.started is not None
    assert case.started >= MIDDLE


def test_an_experiment_that_names_it_is_told_with_its_verdict(desk: Desk) -> None:
    shelf, skill = skills.find(desk.config, desk.here, GUIDE.name)
    made = Experiment("e1", 1, "h", Bind.EXPOSURE, "failure", NOW, f"skill:{GUIDE.name}")
    other = Experiment("e2", 1, "h", Bind.GIT, "failure", NOW, "another")
    with desk.store.transaction() as db:
        for it in (msgspec.structs.replace(made, verdict="helped"), other):
            body = msgspec.json.encode(it).decode()
            experiments.keep(db, experiments.Row(it.id, 1, it.stage, NOW, body))
    told = skill_counters.tried(desk.store, skill_counters.story(shelf, skill))
    assert [(it.id, it.randomised, it.verdict) for it in told] == [("e1", True, "helped")]
