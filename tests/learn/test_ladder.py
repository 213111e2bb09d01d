"""Who goes up the ladder, what a hook would have stopped, and who leaves for the rent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import Tool
from hansei.learn import ladder, retirement
from hansei.learn.counters import Counters, Exposure, How, Standing, counters
from hansei.learn.guards import Attempt, needles, reason, stops, typed, why_not
from hansei.learn.ladder import FALSE_BLOCKS, VIOLATIONS, Footing, Trial, past, promotions, trial
from hansei.learn.matching import avoided
from hansei.learn.model import Predicates, Rung, Skill, State
from hansei.learn.model import Scope as Where
from hansei.learn.retirement import DAYS, SESSIONS, TOKENS, rent, retirements
from retro_window import DAY, Telling, window

USE_UV = Predicates(do=("uv run pytest",), avoid=("pytest",))
FOLDER = Predicates(path="lib/**", do=("src",), avoid=("lib/old",))
FAILED = "sh: pytest: command not found\n"


def skill(told: Predicates, **more: object) -> Skill:
    about = "Tests run in the environment of uv."
    made = Skill("use-uv", about, "Text.", state=State.APPROVED, predicates=told)
    return replace(made, **more)  # type: ignore[arg-type] # whatever a test wants otherwise


# --- what a hook stops ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        ("pytest", True),
        ("pytest -q tests/a.py", True),
        ("cd api && pytest", True),
        ("make lint; pytest -x | tail -5", True),
        ("uv run pytest -q", False),
        ("echo pytest", False),
        ("grep -rn pytest docs", False),
        ("cat pytest.ini", False),
        ("pip install pytest", False),
        ("git commit -m 'run pytest'", False),
        ("ls", False),
    ],
)
def test_a_command_is_stopped_by_what_it_runs_and_not_by_what_it_says(
    text: str, stopped: bool
) -> None:
    assert (stops(USE_UV, typed(text)) is not None) is stopped


@pytest.mark.parametrize(
    ("tool", "path", "stopped"),
    [
        (Tool.READ, "lib/old/a.py", True),
        (Tool.WRITE, "lib/old/deep/a.py", True),
        (Tool.EDIT, "lib/a.py", False),
        (Tool.READ, "src/lib/old/a.py", False),
        (Tool.SEARCH, "lib/old/a.py", False),
    ],
)
def test_a_file_is_stopped_by_its_folder(tool: Tool, path: str, stopped: bool) -> None:
    assert (stops(FOLDER, Attempt(tool, "X", paths=(path,))) is not None) is stopped


def test_a_tool_that_is_named_must_be_the_one() -> None:
    only_writes = replace(FOLDER, tool="write")
    there = ("lib/old/a.py",)
    assert stops(only_writes, Attempt(Tool.WRITE, "Write", paths=there)) == "lib/old"
    assert stops(only_writes, Attempt(Tool.READ, "Read", paths=there)) is None


@pytest.mark.parametrize(
    "told",
    [
        Predicates(do=("make types",), path="api/**"),
        Predicates(avoid=("pytest",), path="api/**"),
        Predicates(avoid=("pytest", "lib/old")),
        Predicates(avoid=("lib/old",), command="pytest"),
        Predicates(error="*not found: pytest", do=("uv run pytest",)),
    ],
)
def test_no_hook_where_nothing_can_be_known_before_the_call(told: Predicates) -> None:
    assert why_not(told)
    assert stops(told, typed("pytest")) is None


COMMANDS = st.lists(
    st.sampled_from(
        ["pytest", "uv run pytest", "echo pytest", "ls", "cd api", "npm test", "pytest -q",
         "FOO=1 pytest", "python -m pytest", "time pytest", "true"]
    ),
    min_size=1,
    max_size=3,
)  # fmt: skip


@given(COMMANDS, st.sampled_from([" && ", "; ", " | ", "\n"]))
def test_what_is_stopped_has_a_needle_and_is_what_is_counted_as_done_against_it(
    commands: Sequence[str], joint: str
) -> None:
    text = joint.join(commands)
    stopped = stops(USE_UV, typed(text)) is not None
    assert not stopped or any(it in text for it in needles(USE_UV))
    seen = window([Telling().run(text)])
    assert bool(avoided(seen, skill(USE_UV))) is stopped
    ((_, attempt),) = past(seen)
    assert (stops(USE_UV, attempt) is not None) is stopped


def test_the_agent_is_told_what_to_do_instead() -> None:
    assert reason(skill(USE_UV)) == (
        "Tests run in the environment of uv. Use `uv run pytest` instead. (skill use-uv)"
    )


# --- a hook on the past ---------------------------------------------------------------------------


def went_wrong() -> Telling:
    return Telling().run("pytest tests", FAILED, code=127)


def went_well() -> Telling:
    return Telling().run("pytest tests", "4 passed")


def test_calls_that_failed_were_or_corrected_count_for_a_hook_and_others_against_it() -> None:
    corrected = Telling().run("pytest tests", "4 passed").say("No, use `uv run pytest` instead.")
    refused = Telling().refused("pytest tests", "The user doesn't want to proceed")
    answered = Telling().run("pytest tests", "FAILED tests/a.py::b - assert 1\n1 failed", code=1)
    other = Telling().run("uv run pytest tests").run("ls")
    found = trial(
        window([went_wrong(), corrected, refused, went_well(), answered, other]), skill(USE_UV)
    )
    assert (found.calls, found.harm, found.vain, found.unknown) == (5, 3, 2, 0)
    assert not found.is_safe


def test_a_task_in_which_one_call_did_its_work_was_stopped_in_vain() -> None:
    both = went_wrong().run("pytest tests", "4 passed")
    found = trial(window([both, Telling(parent=1).run("pytest", FAILED, code=127)]), skill(USE_UV))
    assert (found.calls, found.tasks, found.vain) == (3, 1, 1)


def test_what_a_rule_refused_tells_nothing() -> None:
    hooked = Telling().refused("pytest tests", "PreToolUse:Bash hook error: no")
    found = trial(window([hooked]), skill(USE_UV))
    assert found == Trial(0, 0, 0, 0)
    assert not found.is_safe


def test_seven_tasks_without_a_false_block_are_the_fewest() -> None:
    six, seven = (trial(window([went_wrong()] * n), skill(USE_UV)) for n in (6, 7))
    assert (six.is_safe, seven.is_safe) == (False, True)
    spoiled = trial(window([went_wrong()] * 7 + [went_well()]), skill(USE_UV))
    assert spoiled.vain == 1
    assert not spoiled.is_safe


def test_the_failure_it_is_about_may_come_later_in_the_turn() -> None:
    told = replace(USE_UV, avoid=("make draft",), error="*not found: pytest", do=("make seal",))
    later = Telling().say("Go on.").run("make draft").run("pytest", FAILED, code=127)
    next_turn = Telling().say("Go on.").run("make draft").say("And now?").run("pytest", FAILED, 127)
    found = trial(window([later, next_turn]), skill(told))
    assert (found.harm, found.vain) == (1, 1)


# --- who goes up ----------------------------------------------------------------------------------


def told_of(told: Skill, sessions: Sequence[Telling]) -> Counters:
    seen = window(sessions)
    shown = [Exposure(it, 1, How.LISTED) for it in seen.sessions]
    return counters(seen, [told], shown, (), (len(sessions) + 1) * DAY)


SAFE = Trial(9, 9, 0, 0, 0.0, FALSE_BLOCKS / 2)
UNSAFE = Trial(9, 5, 4, 0, 0.3, 0.6)


def steps_of(
    told: Skill, sessions: Sequence[Telling], footing: Footing, tried: Trial = SAFE
) -> list[tuple[str, Rung | None]]:
    counted = {told.name: told_of(told, sessions)}
    found = promotions([told], counted, {told.name: footing}, lambda _: tried, by="ann")
    return [(it.action, it.wanted[0].rung if it.wanted else None) for it in found]


def test_three_sessions_that_did_not_heed_it_bring_a_skill_up_one_step() -> None:
    told = skill(USE_UV)
    note = Footing(Rung.NOTE)
    assert steps_of(told, [went_wrong()] * (VIOLATIONS - 1), note) == []
    heeded = Telling().run("uv run pytest")
    assert steps_of(told, [heeded] * 9, note) == []
    ((_, rung),) = steps_of(told, [went_wrong()] * VIOLATIONS, note)
    assert rung is Rung.SKILL  # it names no files, so it cannot be a rule for some
    ((_, rung),) = steps_of(told, [went_wrong()] * VIOLATIONS, Footing(Rung.SKILL))
    assert rung is Rung.HOOK
    assert steps_of(told, [went_wrong()] * 9, Footing(Rung.HOOK)) == []


def test_a_skill_that_did_harm_is_not_enforced() -> None:
    told = skill(USE_UV)
    harm = Telling().run("uv run pytest", "sh: uv: command not found\n", code=127)
    sessions = [*[went_wrong()] * VIOLATIONS, *[harm] * 6]
    assert told_of(told, sessions).total.standing is Standing.HARMFUL
    assert steps_of(told, sessions, Footing(Rung.NOTE)) == []


def test_the_quick_look_is_for_the_file_that_a_command_names() -> None:
    told = Predicates(avoid=("python tools/cargo.py --draft", "pytest -x"))
    assert needles(told) == ("cargo.py", "pytest")
    for text in ("cd tools && python cargo.py --draft", "python3 ./tools/cargo.py 'a b' --draft"):
        assert "cargo.py" in text
    assert stops(told, typed("python3 tools/cargo.py x --draft")) is not None


def test_one_task_with_its_subagents_is_one_session() -> None:
    family = [went_wrong(), *(replace(went_wrong(), parent=1) for _ in range(5))]
    assert steps_of(skill(USE_UV), family, Footing(Rung.NOTE)) == []


def test_a_rule_is_possible_only_with_files() -> None:
    said = "File does not exist: /work/app/lib/old/a.py"
    read = Telling().read("/work/app/lib/old/a.py", said, failed=True)
    told = skill(FOLDER)
    ((_, rung),) = steps_of(told, [read] * VIOLATIONS, Footing(Rung.NOTE))
    assert rung is Rung.RULE
    none = Footing(Rung.NOTE, possible=frozenset({Rung.SKILL}))
    ((_, rung),) = steps_of(told, [read] * VIOLATIONS, none)
    assert rung is Rung.SKILL


def test_only_what_came_after_the_last_step_counts_for_the_next() -> None:
    sessions = [went_wrong()] * (VIOLATIONS + 1)
    assert steps_of(skill(USE_UV), sessions, Footing(Rung.SKILL, since=2 * DAY))
    assert not steps_of(skill(USE_UV), sessions, Footing(Rung.SKILL, since=3 * DAY))


def test_a_hook_that_would_stop_in_vain_is_shown_and_not_offered() -> None:
    told, sessions = skill(USE_UV), [went_wrong()] * VIOLATIONS
    ((action, rung),) = steps_of(told, sessions, Footing(Rung.SKILL), UNSAFE)
    assert rung is None
    assert "in vain" in action
    bare = Footing(Rung.SKILL, possible=frozenset({Rung.SKILL}))
    ((action, rung),) = steps_of(told, sessions, bare)
    assert rung is None
    assert "hansei init" in action
    everywhere = skill(USE_UV, scope=Where.GLOBAL)
    assert steps_of(everywhere, sessions, Footing(Rung.SKILL)) == []


def test_a_step_tells_the_sessions_and_the_figures() -> None:
    told = skill(USE_UV)
    counted = {told.name: told_of(told, [went_wrong()] * VIOLATIONS)}
    footings = {told.name: Footing(Rung.SKILL)}
    (step,) = promotions([told], counted, footings, lambda _: SAFE)
    assert step.reason == "violated while in context in 3 sessions"
    assert not step.by_itself
    assert "s1#" in step.details[0]
    assert "9 had gone wrong, 0 in vain" in step.details[1]


def test_a_skill_that_nobody_uses_any_more_goes_nowhere() -> None:
    gone = skill(USE_UV, state=State.RETIRED)
    assert ladder.violations(gone, told_of(gone, [went_wrong()] * 5), Footing(Rung.NOTE))
    assert (
        steps_of(replace(gone, state=State.RETIRED), [went_wrong()] * 5, Footing(Rung.NOTE)) == []
    )


# --- who leaves for the rent ----------------------------------------------------------------------

IDLE = [Telling().run("ls")] * SESSIONS
EACH = 60
LATER = (SESSIONS + DAYS) * DAY


def leaving(told: Skill, sessions: Sequence[Telling], each: int = EACH, now: int = LATER) -> bool:
    counted = told_of(told, sessions)
    requests = {it.session: each for it in counted.cases}
    return bool(list(retirements([told], {told.name: counted}, requests, now=now)))


def test_a_skill_that_long_was_carried_for_nothing_is_retired_with_the_figure() -> None:
    told = skill(USE_UV)
    counted = told_of(told, IDLE)
    requests = {it.session: EACH for it in counted.cases}
    paid = rent(told, counted, requests, LATER)
    assert (paid.sessions, paid.requests) == (SESSIONS, SESSIONS * EACH)
    assert paid.tokens == SESSIONS * EACH * retirement.taken(told, counted.cases[0]) >= TOKENS
    (step,) = retirements([told], {told.name: counted}, requests, now=LATER)
    assert step.by_itself
    assert f"{paid.tokens:,} tokens" in step.reason
    assert [it.state for it in step.wanted] == [State.RETIRED]


def test_who_is_young_cheap_seldom_had_or_was_needed_stays() -> None:
    told = skill(USE_UV)
    assert leaving(told, IDLE)
    assert not leaving(told, IDLE[1:])
    assert not leaving(told, IDLE, each=1)
    assert not leaving(told, IDLE, now=(DAYS - 1) * DAY)
    assert not leaving(told, [*IDLE[1:], went_wrong()])
    assert not leaving(told, [])


def test_where_it_was_needed_and_not_in_force_it_stays() -> None:
    told = skill(replace(USE_UV, command="pytest"))
    counted = replace(told_of(told, IDLE), unexposed=1)
    requests = {it.session: EACH for it in counted.cases}
    assert not list(retirements([told], {told.name: counted}, requests, now=LATER))


def test_what_no_machine_can_tell_is_judged_by_whether_agents_loaded_it() -> None:
    told = skill(Predicates())
    counted = told_of(told, IDLE)
    requests = {it.session: EACH for it in counted.cases}
    assert list(retirements([told], {told.name: counted}, requests, now=LATER))
    in_block = replace(
        counted, cases=(replace(counted.cases[0], how=(How.BLOCK,)), *counted.cases[1:])
    )
    assert not list(retirements([told], {told.name: in_block}, requests, now=LATER))
