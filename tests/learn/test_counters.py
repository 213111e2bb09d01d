"""What sessions tell of a skill, on sessions told in a few words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.learn import matching
from hansei.learn.counters import (
    HALF_LIFE_DAYS,
    Counters,
    Exposure,
    How,
    Reason,
    Standing,
    Vote,
    counters,
    interval,
    weight,
)
from hansei.learn.model import Predicates, Skill
from retro_window import DAY, Telling, window

MISSING = "ModuleNotFoundError: No module named 'yaml'"
ERROR = "pytest: ModuleNotFoundError: No module named 'yaml'"
USE_UV = Predicates(
    command="pytest", error=ERROR, do=("uv run pytest",), avoid=("pytest",), check="uv run pytest"
)
TYPES = Predicates(path="api/**", tool="edit", do=("make types",))
STEPS = Predicates(command="make build", do=("make build", "make sign", "make upload"))


def skill(told: Predicates, version: int = 1) -> Skill:
    return Skill(
        "use-uv", "How tests run.", "Run `uv run pytest`.", version=version, predicates=told
    )


def counted(
    told: Predicates,
    *tellings: Telling,
    exposed: Sequence[int] | None = None,
    unknown: Sequence[int] = (),
    now: int | None = None,
) -> Counters:
    """Counters where the skill was in force in some sessions, or in all."""
    seen = window(tellings)
    numbers = range(1, len(tellings) + 1) if exposed is None else exposed
    shown = [Exposure(it, 1, How.LISTED) for it in numbers]
    when = (len(tellings) + 1) * DAY if now is None else now
    return counters(seen, [skill(told)], shown, unknown, when)


def failing() -> Telling:
    return Telling().run("pytest tests", f"{MISSING}\n", code=1)


def vote(told: Predicates, telling: Telling) -> Vote | None:
    (case,) = counted(told, telling).cases
    return case.vote


def reasons(told: Predicates, telling: Telling) -> list[Reason]:
    (case,) = counted(told, telling).cases
    return [it.reason for it in case.reasons]


# --- what matches ---------------------------------------------------------------------------------


def test_the_signature_of_the_planted_failure_is_the_one_tests_name() -> None:
    ((_, row),) = window([failing()]).failures
    assert row.signature == ERROR


@pytest.mark.parametrize(
    ("told", "ran", "fits"),
    [
        ("pytest", "pytest -q tests/a.py", True),
        ("pytest -x", "pytest -q -x tests", True),
        ("pytest -x", "pytest -q tests", False),
        ("uv run pytest", "uv run pytest tests", True),
        ("uv run pytest", "pytest tests", False),
        ("npm run build", "cd web && npm run build", True),
        ("cd web && npm run build", "cd web && npm run build", True),
        ("cd web && npm run build", "npm run build", False),
        ("npm run build", "npm run lint", False),
        ("make", "make types", True),
        ("types", "make types", False),
        ("FOO= make", "FOO=1 make types", True),
        ("FOO= make", "make types", False),
    ],
)
def test_a_command_is_matched_by_its_words(told: str, ran: str, fits: bool) -> None:
    seen = window([Telling().run(ran)])
    assert bool(matching.triggers(seen, skill(Predicates(command=told)))) is fits


def test_everything_that_when_names_must_hold_of_one_call() -> None:
    seen = window([Telling().edit("/work/app/api/a.py").read("/work/app/api/b.py")])
    (found,) = matching.triggers(seen, skill(TYPES))
    assert seen.called[found].name == seen.calls[0].row.name
    assert len(matching.triggers(seen, skill(Predicates(path="api/**")))) == 2
    assert matching.triggers(seen, skill(Predicates(path="web/**"))) == []
    assert matching.triggers(seen, skill(Predicates())) == []


def test_the_more_exact_wording_is_meant() -> None:
    seen = window([Telling().run("uv run pytest tests").run("pytest tests")])
    told = skill(USE_UV)
    (first, second) = [row.seq for _, row in seen.calls]
    assert [it.seq for it in matching.follows(seen, told)] == [first]
    assert [it.seq for it in matching.avoided(seen, told)] == [second]


def test_steps_are_followed_in_their_order_only() -> None:
    right = Telling().run("make build").run("ls").run("make sign").run("make upload")
    wrong = Telling().run("make build").run("make upload").run("make sign")
    assert len(matching.follows(window([right]), skill(STEPS))) == 1
    assert matching.follows(window([wrong]), skill(STEPS)) == []


# --- what a session says --------------------------------------------------------------------------


def test_following_it_instead_of_failing_is_helpful() -> None:
    telling = Telling().run("uv run pytest tests", "3 passed")
    assert vote(USE_UV, telling) is Vote.HELPFUL


def test_not_heeding_it_is_violated_and_no_vote_against_it() -> None:
    (case,) = counted(USE_UV, failing()).cases
    assert case.vote is Vote.NEUTRAL
    assert case.violated == case.triggered != ()
    assert [it.reason for it in case.reasons] == [Reason.UNHEEDED]


def test_following_it_after_failing_is_violated_and_helpful() -> None:
    (case,) = counted(USE_UV, failing().run("uv run pytest tests", "3 passed")).cases
    assert (case.vote, len(case.violated), len(case.followed)) == (Vote.HELPFUL, 1, 1)


def test_the_same_failure_in_spite_of_it_is_harmful() -> None:
    telling = Telling().run("uv run pytest tests", f"{MISSING}\n", code=1)
    assert reasons(USE_UV, telling) == [Reason.RECURRED]
    assert vote(USE_UV, telling) is Vote.HARMFUL


def test_tests_that_fail_for_the_code_show_that_the_old_failure_is_gone() -> None:
    output = "FAILED tests/a.py::test_a - assert 1 == 2\n1 failed\n"
    telling = Telling().run("uv run pytest tests", output, code=1)
    assert reasons(USE_UV, telling) == [Reason.SPARED]


def test_a_command_it_asks_for_that_fails_is_harmful() -> None:
    telling = (
        Telling()
        .edit("/work/app/api/a.py")
        .run("make types", "make: *** No rule to make target 'types'.  Stop.", code=2)
    )
    assert reasons(TYPES, telling) == [Reason.FAILED]


def test_the_last_run_decides() -> None:
    telling = Telling().edit("/work/app/api/a.py").run("make types", "make: *** x", code=2)
    telling.run("make types", "ok")
    assert vote(TYPES, telling) is Vote.HELPFUL


def test_a_check_of_its_own_decides_too() -> None:
    told = Predicates(command="make build", do=("make sign",), check="make verify")
    telling = Telling().run("make build").run("make sign").run("make verify", "bad", code=1)
    assert reasons(told, telling) == [Reason.WORKED, Reason.CHECK_FAILED]
    assert vote(told, telling) is Vote.HARMFUL


def test_what_was_done_before_the_occasion_follows_nothing() -> None:
    telling = Telling().run("make types", "ok").edit("/work/app/api/a.py")
    (case,) = counted(TYPES, telling).cases
    assert (case.followed, case.vote) == ((), Vote.NEUTRAL)


def test_a_person_who_corrects_what_it_asks_for_makes_it_harmful() -> None:
    telling = Telling().say("check the api").edit("/work/app/api/a.py").run("make types", "ok")
    telling.say("No, that's wrong: don't run make types, use make check.").run("make check")
    assert Reason.CORRECTED in reasons(TYPES, telling)
    assert vote(TYPES, telling) is Vote.HARMFUL


def test_a_session_without_an_occasion_has_no_vote() -> None:
    told = counted(TYPES, Telling().run("ls"))
    assert told.cases[0].vote is None
    assert (told.total.exposed, told.total.triggered) == (1, 0)


def test_nothing_counts_before_the_skill_was_there() -> None:
    seen = window([Telling().run("uv run pytest a", "ok").run("ls")])
    after = seen.calls[0].row.seq + 1
    shown = [Exposure(1, 1, How.LOADED, after)]
    (case,) = counters(seen, [skill(USE_UV)], shown, (), DAY).cases
    assert case.vote is None


def test_a_failure_that_comes_again_unheeded_is_violated() -> None:
    told = Predicates(error=ERROR, do=("uv sync",))
    again = failing().run("pytest tests", f"{MISSING}\n", code=1)
    mended = failing().run("uv sync").run("pytest tests", "3 passed")
    first, second = reversed(counted(told, again, mended).cases)
    assert (len(first.violated), len(second.violated)) == (1, 0)
    assert (first.vote, second.vote) == (Vote.NEUTRAL, Vote.HELPFUL)


# --- many sessions --------------------------------------------------------------------------------


def good() -> Telling:
    return Telling().run("uv run pytest tests", "3 passed")


def bad() -> Telling:
    return Telling().run("uv run pytest tests", f"{MISSING}\n", code=1)


def test_a_session_and_its_subagents_have_one_vote() -> None:
    told = counted(USE_UV, good(), Telling(parent=1).run("uv run pytest a", "1 passed"))
    assert told.total.helpful.sessions == 1
    assert len(told.cases[0].followed) == 2


def test_it_is_unproven_until_three_sessions_tell() -> None:
    two = counted(USE_UV, good(), good()).total
    assert (two.standing, two.helpful.sessions) == (Standing.UNPROVEN, 2)
    assert "2 of 3" in two.why
    three = counted(USE_UV, good(), good(), good()).total
    assert three.standing is Standing.HELPFUL


def test_what_went_badly_is_told_as_such() -> None:
    assert counted(USE_UV, bad(), bad(), bad()).total.standing is Standing.HARMFUL
    assert counted(USE_UV, good(), bad(), good(), bad()).total.standing is Standing.MIXED


def test_old_sessions_prove_nothing() -> None:
    years = 4 * HALF_LIFE_DAYS * DAY
    told = counted(USE_UV, good(), good(), good(), now=years).total
    assert told.standing is Standing.UNPROVEN
    assert "long ago" in told.why


def test_sessions_without_it_are_told_apart() -> None:
    told = counted(USE_UV, failing(), failing(), good(), exposed=[3], unknown=[2])
    assert (told.total.exposed, told.unexposed, told.unknown) == (1, 1, 1)


def test_a_skill_that_says_nothing_a_machine_can_check_stays_unproven() -> None:
    told = counted(Predicates(), good(), good(), good()).total
    assert (told.triggered, told.followed, told.violated) == (None, None, None)
    assert told.standing is Standing.UNPROVEN


def test_each_version_is_counted_with_its_own_words() -> None:
    seen = window([good(), Telling().run("tox", "ok"), Telling().run("tox", "ok")])
    new = skill(Predicates(do=("tox",), avoid=("pytest",)), version=2)
    shown = [Exposure(1, 1, How.LISTED), Exposure(2, 2, How.LISTED), Exposure(3, 2, How.LISTED)]
    told = counters(seen, [skill(USE_UV), new], shown, (), 4 * DAY)
    assert [(it.version, it.helpful.sessions) for it in told.versions] == [(1, 1), (2, 2)]
    assert told.total.helpful.sessions == 3


def test_the_same_facts_and_clock_give_the_same_bytes() -> None:
    tellings = [failing(), good(), bad(), failing().run("uv run pytest", "1 passed")]
    first, second = (msgspec.json.encode(counted(USE_UV, *tellings)) for _ in range(2))
    assert first == second


# --- laws -----------------------------------------------------------------------------------------


@given(part=st.floats(0, 50), rest=st.floats(0, 50))
def test_an_interval_holds_its_share_and_lies_within_0_and_1(part: float, rest: float) -> None:
    low, high = interval(part, part + rest)
    share = part / (part + rest) if part + rest else 0.0
    assert 0 <= low <= share + 1e-4
    assert share - 1e-4 <= high <= 1


@given(days=st.integers(0, 4000))
def test_a_vote_halves_with_every_half_life(days: int) -> None:
    now = 10_000 * DAY
    older = weight(now - (days + HALF_LIFE_DAYS) * DAY, now)
    assert older == pytest.approx(weight(now - days * DAY, now) / 2)
