"""What was learned before a day, held against what came after: split, verdicts, chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.learn.backtest import (
    Split,
    Trial,
    Verdict,
    again,
    judged,
    share,
    split,
    summed,
    tally,
    tried,
)
from hansei.learn.claims import Claim, Remedy, Trigger, of_classic, of_offer, of_skill
from hansei.learn.classic import offers as simple_offers
from hansei.learn.classic import transcript
from hansei.learn.detectors.error_recovery import ErrorRecovery
from hansei.learn.detectors.user_correction import UserCorrection
from hansei.learn.meetings import Later, Meeting, Point
from hansei.learn.model import Offer, Predicates, Skill
from hansei.learn.wordings import wording
from hansei.ops.backtest import Report, mined
from hansei.store.reading import Numbered
from hansei.synth.troubles import MISSED_EDIT
from learn_window import found
from retro_window import DAY, Telling, window
from retro_world import NOW, Place, place
from told import numbered

ERROR = "ERROR: No matching distribution found for request"
WRONG, RIGHT = "pip install request", "pip install requests"
RECALL = 0.95


def session(*calls: tuple[str, str, int]) -> Telling:
    telling = Telling().say("go on")
    for command, output, code in calls:
        telling.run(command, output, code)
    return telling


def failed(command: str) -> tuple[str, str, int]:
    return command, ERROR, 1


def well(command: str) -> tuple[str, str, int]:
    return command, "done", 0


def learned(*tellings: Telling) -> Offer:
    (offer,) = found(ErrorRecovery(), *tellings)
    return offer


LEARNED = session(failed(WRONG), well(RIGHT))


def verdict(later: Telling) -> Verdict:
    """What a later session says of the fix that the first one shows."""
    whole = window([LEARNED, later])
    claim = of_offer(window([LEARNED]), learned(LEARNED), 1)
    return tried(claim, Later(whole), {2}).verdict


# --- verdicts -------------------------------------------------------------------------------------


def test_the_same_failure_got_past_by_what_the_skill_says_is_right() -> None:
    assert verdict(session(failed(WRONG), well(RIGHT))) is Verdict.RIGHT


def test_what_to_avoid_that_worked_the_next_time_is_wrong() -> None:
    assert verdict(session(failed(WRONG), well(WRONG))) is Verdict.WRONG


def test_what_to_do_that_failed_in_the_same_way_is_wrong() -> None:
    assert verdict(session(failed(WRONG), failed(RIGHT))) is Verdict.WRONG


@pytest.mark.parametrize(
    "later",
    [
        session(well(RIGHT)),
        session(failed(WRONG)),
        session((WRONG, "ERROR: disk full", 1), well(RIGHT)),
        session(failed(WRONG), well("pip install requests-toolbelt")),
    ],
    ids=["never met", "never resolved", "another failure", "another remedy"],
)
def test_everything_else_is_untested(later: Telling) -> None:
    assert verdict(later) is Verdict.UNTESTED


def test_what_a_command_works_on_is_left_out_where_it_is_not_the_change() -> None:
    trace = "E   ModuleNotFoundError: No module named 'quay'"
    first = session(
        ("pytest -q tests/test_a.py", trace, 1), well("uv run pytest -q tests/test_a.py")
    )
    later = session(
        ("pytest -q tests/test_b.py", trace, 1), well("uv run pytest -q tests/test_b.py")
    )
    claim = of_offer(window([first]), learned(first), 1)
    assert tried(claim, Later(window([first, later])), {2}).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (session(well("node scripts/sync.js south")), Verdict.RIGHT),
        (session(well("node scripts/wipe.js north")), Verdict.UNTESTED),
        (session(("node -e 'x'", "boom", 1)), Verdict.UNTESTED),
    ],
    ids=["the script", "another script", "no script"],
)
def test_a_script_is_what_is_done_and_not_what_it_is_done_to(
    later: Telling, expected: Verdict
) -> None:
    told = Predicates(command="node sync.js", do=("node sync.js",))
    claim = of_skill(window([]), Skill("sync", "d", "b", predicates=told), 1)
    assert tried(claim, Later(window([later])), {1}).verdict is expected


def test_failures_that_came_again_are_told_and_how_many_ended_as_before() -> None:
    other = "pip install berth", "ERROR: No matching distribution found for berth", 1
    first = session(failed(WRONG), well(RIGHT), other, well("pip install berths"))
    last = session(failed(WRONG), well(RIGHT), other, ("pip install quay", "ERROR: disk full", 1))
    whole = window([first, last, session(well("ls"))])
    assert again(Later(whole), [Split(0, frozenset((1,)), frozenset((2,)))]) == (2, 1)
    assert again(Later(whole), [Split(0, frozenset((1,)), frozenset((3,)))]) == (0, 0)


def test_what_only_looks_is_counted_apart() -> None:
    told = Predicates(command="ls", do=("ls -la",))
    claim = of_skill(window([]), Skill("look", "d", "b", predicates=told), 1)
    row = tried(claim, Later(window([session(well("ls -la"))])), {1})
    made = tally([row, *rows(1)], 2)
    assert (made.by_claim[Verdict.RIGHT].hits, made.looks) == (2, 1)


def test_a_claim_is_not_tested_on_what_it_was_made_from() -> None:
    claim = of_offer(window([LEARNED]), learned(LEARNED), 1)
    assert tried(claim, Later(window([LEARNED])), {1}).met == ()


def test_a_subagent_of_a_session_it_was_made_from_does_not_test_it() -> None:
    below = replace(session(failed(WRONG), well(RIGHT)), parent=1)
    claim = of_offer(window([LEARNED]), learned(LEARNED), 1)
    assert tried(claim, Later(window([LEARNED, below])), {2}).met == ()


def corrected(words: str) -> Telling:
    return Telling().say("add a page").run("npm run build", "done").say(words).run("ls", "a")


def test_people_who_say_it_again_make_it_right_and_the_opposite_makes_it_wrong() -> None:
    words = "no, always use tabs for indentation in this repository"
    said = [corrected(words), corrected(words)]
    (offer,) = (it for it in found(UserCorrection(), *said) if it.sessions > 1)
    opposite = "no, do not use tabs for indentation in this repository"
    later = Later(window([*said, corrected(words), corrected(opposite), corrected("no, in red")]))
    claim = of_offer(window(said), offer, 1)
    assert tried(claim, later, {3}).verdict is Verdict.RIGHT
    assert tried(claim, later, {4}).verdict is Verdict.WRONG
    assert tried(claim, later, {5}).verdict is Verdict.UNTESTED


STEPS = ("terraform init", "terraform import", "terraform apply")
PROCEDURE = Claim(
    "procedure-terraform",
    "multi-step",
    1,
    Trigger(begins=wording(STEPS[0]).loose),
    Remedy(tuple(map(wording, STEPS)), in_order=True),
)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([well(it) for it in STEPS], Verdict.RIGHT),
        ([well(STEPS[0]), well("ls"), *map(well, STEPS[1:])], Verdict.RIGHT),
        ([well(STEPS[0]), well(STEPS[2]), well(STEPS[1])], Verdict.WRONG),
        ([well(STEPS[0]), (STEPS[1], "Error: no such address", 1)], Verdict.WRONG),
        ([(STEPS[0], "Error: no configuration", 1), well("ls")], Verdict.UNTESTED),
        ([well(STEPS[0]), well(STEPS[2])], Verdict.UNTESTED),
        ([well(STEPS[1]), well(STEPS[2])], Verdict.UNTESTED),
    ],
    ids=[
        "taken",
        "with others",
        "other order",
        "a step failed",
        "not begun",
        "skipped",
        "no start",
    ],
)
def test_a_procedure_is_right_where_it_is_taken_in_its_order(
    calls: list[tuple[str, str, int]], expected: Verdict
) -> None:
    later = Later(window([session(*calls)]))
    assert tried(PROCEDURE, later, {1}).verdict is expected


@pytest.mark.parametrize(
    ("told", "later", "expected"),
    [
        (Predicates(path="api/**"), Telling().edit("/work/app/api/a.py"), Verdict.UNTESTED),
        (
            Predicates(path="api/**", do=("make types",)),
            Telling().say("go").edit("/work/app/api/a.py").run("make types"),
            Verdict.RIGHT,
        ),
        (
            Predicates(path="api/**", do=("make types",)),
            Telling().say("go").edit("/work/app/web/a.ts").run("make types"),
            None,
        ),
        (
            Predicates(path="api/**", do=("make types",)),
            Telling().say("go").run("make types").edit("/work/app/api/a.py"),
            Verdict.UNTESTED,
        ),
        (
            Predicates(path="api/**", do=("make types",)),
            Telling().say("go").edit("/work/app/api/a.py").say("and?").run("make types"),
            Verdict.UNTESTED,
        ),
        (
            Predicates(tool="edit", do=("make types",), avoid=("make all",)),
            Telling().say("go").edit("/work/app/web/a.ts").run("make all"),
            Verdict.WRONG,
        ),
        (
            Predicates(tool="edit", do=("make types",)),
            Telling().say("go").read("/work/app/web/a.ts").run("make types"),
            None,
        ),
    ],
)
def test_a_skill_about_files_or_a_tool_is_met_where_a_call_has_them(
    told: Predicates, later: Telling, expected: Verdict | None
) -> None:
    seen = window([later])
    claim = of_skill(seen, Skill("s", "d", "b", predicates=told), 1)
    found = tried(claim, Later(seen), {1})
    assert bool(found.met) is (expected is not None and bool(told.do))
    assert found.verdict is (expected or Verdict.UNTESTED)


def test_what_several_meetings_say_is_what_more_of_them_say_and_in_doubt_wrong() -> None:
    right, wrong, untested = Verdict.RIGHT, Verdict.WRONG, Verdict.UNTESTED
    assert summed([right, right, wrong, untested]) is right
    assert summed([right, wrong]) is wrong
    assert summed([untested]) is summed([]) is untested


def test_a_skill_that_says_nothing_to_do_is_untested_wherever_it_is_met() -> None:
    for point in Point:
        assert judged(Remedy(), Meeting(point, 1, 1)) is Verdict.UNTESTED


# --- the simple rules -----------------------------------------------------------------------------


def simple_claims(telling: Telling) -> dict[str, Claim]:
    told = [Numbered(seq, event) for seq, event in numbered(telling.events)]
    made = window([telling])
    found = simple_offers("s1", transcript(told))
    return {it.detector: of_classic(made, it, 1, {}) for it in found}


def test_the_simple_rules_are_tested_as_ours_are() -> None:
    first = session(failed(WRONG), well(RIGHT))
    claim = simple_claims(first)["error-recovery"]
    later = Later(window([first, session(failed(WRONG), well(RIGHT))]))
    assert tried(claim, later, {2}).verdict is Verdict.RIGHT


def test_what_only_they_take_for_a_failure_is_met_where_that_very_command_fails() -> None:
    first = session(("cat notes.md", "error: is a word in it", 0), well("ls docs"))
    claim = simple_claims(first)["error-recovery"]
    assert not claim.trigger.signatures
    same = session(("cat notes.md", "cat: notes.md: No such file", 1), well("ls docs"))
    other = session(("cat other.md", "cat: other.md: No such file", 1), well("ls docs"))
    later = Later(window([first, same, other]))
    assert tried(claim, later, {2}).met
    assert not tried(claim, later, {3}).met


# --- which sessions -------------------------------------------------------------------------------


def test_a_task_is_learned_from_if_it_ended_before_and_tests_if_it_began_after() -> None:
    whole = window([LEARNED, LEARNED, replace(LEARNED, parent=2), LEARNED, LEARNED])
    cut = split(whole, at=4 * DAY)
    assert (set(cut.before), set(cut.after), cut.across) == ({1, 2, 3}, {4, 5}, 0)
    inside = split(whole, at=3 * DAY)  # the second task is at work: its subagent has not begun
    assert (set(inside.before), set(inside.after), inside.across) == ({1}, {4, 5}, 1)


def test_without_a_day_a_share_of_the_tasks_is_learned_from() -> None:
    cut = split(window([LEARNED] * 10), share=60)
    assert (cut.tasks_before, cut.tasks_after) == (6, 4)


@given(st.integers(1, 30), st.integers(1, 99))
def test_no_session_is_on_both_sides(count: int, percent: int) -> None:
    cut = split(window([Telling()] * count), share=percent)
    assert not cut.before & cut.after
    assert len(cut.before) + len(cut.after) + cut.across + cut.undated == count


# --- chance ---------------------------------------------------------------------------------------


@given(st.integers(0, 50), st.integers(0, 50))
def test_an_interval_holds_what_was_counted(hits: int, rest: int) -> None:
    made = share(hits, hits + rest)
    if made.per_hundred is None:
        assert (made.low, made.high) == (None, None)
    else:
        assert made.low is not None
        assert made.high is not None
        assert 0 <= made.low <= made.per_hundred + 1e-9
        assert made.per_hundred - 1e-9 <= made.high <= 100


def troubles(count: int) -> tuple[list[Telling], list[Claim]]:
    tellings = [
        session(
            (f"tool{it} sync --x{it}", f"Error: unknown flag: --x{it}", 1), well(f"tool{it} sync")
        )
        for it in range(count)
    ]
    claims = [
        Claim(
            f"error-{it}",
            "error-recovery",
            1,
            Trigger(
                signatures=frozenset(
                    row.signature for s, row in window(tellings).failures if s == it + 1
                )
            ),
            Remedy((wording(f"tool{it} sync"),), (wording(f"tool{it} sync --x{it}"),)),
        )
        for it in range(count)
    ]
    return tellings, claims


def rows(count: int) -> list[Trial]:
    tellings, claims = troubles(count)
    later = Later(window(tellings))
    return [tried(it, later, set(later.window.sessions)) for it in claims]


def test_exchanged_remedies_are_right_by_chance_only() -> None:
    made = tally(rows(4), 4)
    assert made.by_claim[Verdict.RIGHT].hits == made.exchanged == 4
    assert made.chance_by_claim == (0, 0, 0)


def test_one_claim_alone_cannot_be_exchanged() -> None:
    assert tally(rows(1), 1).chance_by_claim is None


def test_skills_that_say_the_same_are_not_exchanged_with_each_other() -> None:
    first, *others = rows(3)
    same = [replace(first, claim=replace(it.claim, remedy=first.claim.remedy)) for it in others]
    assert tally([first, *same], 3).chance_by_claim == (0, 0, 0)


def test_the_same_seed_gives_the_same_chance() -> None:
    made = rows(5)
    assert tally(made, 5, seed=7) == tally(made, 5, seed=7)


def test_requests_between_are_paid_once_however_many_claims_are_about_them() -> None:
    (row,) = rows(1)
    assert tally([row], 1).tokens == tally([row, row], 1).tokens == Telling().tokens


# --- a generated history --------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[3, 29])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("world"), seed=request.param, sessions=110) as made:
        yield made


@pytest.fixture(scope="module")
def report(world: Place) -> Report:
    return mined(world.window.store, NOW)


def test_troubles_that_recur_with_the_same_remedy_are_right(world: Place, report: Report) -> None:
    planted = {
        world.calls[it.call]: it
        for it in world.truth.failures
        if it.decidable and it.trouble != MISSED_EDIT
    }
    again = right = 0
    for row in report.after.rows:
        for met in row.met:
            truth = planted.get((met.session, met.seq))
            if truth is not None and truth.recovered_by is not None:
                again += 1
                right += judged(row.claim.remedy, met) is Verdict.RIGHT
    assert again >= 10
    assert right >= RECALL * again


def test_nothing_planted_is_wrong_and_nothing_is_right_by_chance(report: Report) -> None:
    made = report.after.troubles
    assert made.by_claim[Verdict.WRONG].hits == 0
    assert made.by_claim[Verdict.RIGHT].hits >= RECALL * made.met
    assert made.chance_by_claim is not None
    assert made.chance_by_claim.high == 0


def test_claims_know_nothing_of_what_came_after(report: Report) -> None:
    (part,) = report.parts
    for row in report.after.rows:
        assert row.claim.evidence <= part.split.before
        assert {it.session for it in row.met} <= part.split.after


def test_there_is_no_other_workspace_to_test_on(report: Report) -> None:
    assert report.elsewhere.tasks == 0
    assert not any(it.met for it in report.elsewhere.rows)
