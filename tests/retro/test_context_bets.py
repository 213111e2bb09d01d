"""What makes a bet about context and money, and what does not."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_world import OPUS, SONNET, Story, made, ordinary, prose
from hansei.bets.model import Design, Finding
from hansei.events.model import Driver, Notice, Tool
from hansei.projection.facts.ended import End
from hansei.projection.facts.planned import State
from hansei.projection.funnel import Use
from hansei.projection.window import Window
from hansei.retro.contract import Heuristic
from hansei.retro.heuristics.abandoned_sessions import AbandonedSessions
from hansei.retro.heuristics.cold_cache import ColdCache
from hansei.retro.heuristics.compacted_by import CompactedBy
from hansei.retro.heuristics.cost_outlier import CostOutlier
from hansei.retro.heuristics.paged_file import PagedFile
from hansei.retro.heuristics.premium_model import PremiumModel
from hansei.retro.heuristics.unfinished_plan import UnfinishedPlan
from hansei.retro.heuristics.unfired_skill import UnfiredSkill
from hansei.retro.heuristics.unused_report import UnusedReport
from made_window import window_of

HEURISTICS: tuple[Heuristic, ...] = (
    PagedFile(),
    ColdCache(),
    CompactedBy(),
    UnusedReport(),
    PremiumModel(),
    CostOutlier(),
    AbandonedSessions(),
    UnfinishedPlan(),
    UnfiredSkill(),
)
FILE = "/work/app/src/big.py"


def found(heuristic: Heuristic, *stories: Story) -> list[Finding]:
    return list(heuristic.find(made(stories)))


def dice(name: object) -> Random:
    return Random(str(name))


# --- paging -----------------------------------------------------------------------------------


def pages(number: int, count: int = 5, lines: int = 100, edit_at: int | None = None) -> Story:
    story = Story().say("where is it?")
    for page in range(count):
        if page == edit_at:
            story.edit(FILE)
        story.look(FILE, prose(dice(number), 900), 1 + lines * page, lines)
    return story.answer()


def test_pages_of_most_of_a_short_file_are_to_be_one_read() -> None:
    (bet,) = found(PagedFile(), *(pages(it) for it in range(3)))
    assert bet.claim == "`src/big.py` is read page by page in 3 sessions, up to 5 reads in a row"
    text = "Read `src/big.py` whole in one call (about 500 lines), not in pages."
    assert (bet.change.design, bet.change.text) == (Design.LINE, text)


def test_a_long_file_is_to_be_searched() -> None:
    (bet,) = found(PagedFile(), *(pages(it, lines=400) for it in range(3)))
    assert "search it for the place" in bet.change.text


def test_three_looks_are_no_paging() -> None:
    assert found(PagedFile(), *(pages(it, count=3) for it in range(5))) == []


def test_coming_back_after_other_work_is_no_paging() -> None:
    stories = []
    for number in range(4):
        story = Story().say("where is it?")
        for page in range(5):
            story.look(FILE, prose(dice(number), 900), 1 + 100 * page, 100)
            for other in range(7):
                story.run(f"harbour show {other}", "ok")
        stories.append(story.answer())
    assert found(PagedFile(), *stories) == []


def test_whoever_edits_in_between_looks_at_what_he_edits() -> None:
    assert found(PagedFile(), *(pages(it, edit_at=3) for it in range(5))) == []


# --- caches -----------------------------------------------------------------------------------


def long_story(number: int) -> Story:
    return Story().say("go").look(FILE, prose(dice(number), 30_000)).answer().answer()


def broken(minutes: float, kept: float = 5, then: str = "now add a buoy") -> list[Story]:
    stories = [long_story(it) for it in range(4)]
    for story in stories:
        for _ in range(2):
            story.pause(minutes, kept).say(then).answer()
    return stories


def test_short_pauses_are_a_matter_of_how_long_the_cache_is_kept() -> None:
    (bet,) = found(ColdCache(), *broken(12))
    assert bet.key == "idle short"
    assert "ENABLE_PROMPT_CACHING_1H" in bet.change.text


def test_an_hour_is_not_proposed_where_it_would_cost_more() -> None:
    stories = broken(12) + [long_story(number) for number in range(60, 90)]
    assert found(ColdCache(), *stories) == []


def test_long_pauses_are_a_reason_to_begin_afresh() -> None:
    (bet,) = found(ColdCache(), *broken(300))
    assert bet.claim.startswith("Begin afresh after a long pause")


@pytest.mark.parametrize("then", ["keep doing", "Continue.", "ok, go on", "Keep working. FIX IT"])
def test_whoever_goes_on_with_what_was_under_way_needs_the_old_context(then: str) -> None:
    assert found(ColdCache(), *broken(300, then=then)) == []


def test_a_cache_that_is_still_there_is_no_loss() -> None:
    assert found(ColdCache(), *broken(12, kept=60)) == []


def test_a_lost_cache_without_a_reason_is_no_bet() -> None:
    stories = [long_story(it) for it in range(6)]
    for story in stories:
        story.cached = 0
        story.say("more").answer()
    assert found(ColdCache(), *stories) == []


def test_servers_that_come_and_go_are_named() -> None:
    stories = [long_story(it) for it in range(6)]
    for story in stories:
        story.cached = 0
        told = Notice(key=1, session="s", name="mcp_instructions_delta", text="")
        story.say("more").events.append(told)
        story.answer()
    (bet,) = found(ColdCache(), *stories)
    assert bet.key == "tools"
    assert "`mcp_instructions_delta`" in bet.claim


def test_a_compaction_is_not_the_fault_of_the_cache() -> None:
    stories = [long_story(it) for it in range(6)]
    for story in stories:
        story.pause(300).compact(prose(dice(1), 24_000)).say("more").answer()
    assert found(ColdCache(), *stories) == []


# --- compactions ------------------------------------------------------------------------------


def compacted(number: int, command: str) -> Story:
    story = Story().say("find it")
    for _ in range(5):
        story.run(command, prose(dice(number), 4_000))
    story.compact(prose(dice(number), 3_000))
    for _ in range(8):
        story.run("make test", "ok")
    return story.answer()


def test_a_command_that_fills_contexts_is_to_be_made_quieter() -> None:
    (bet,) = found(CompactedBy(), *(compacted(it, "harbour dump") for it in range(3)))
    assert bet.key == "command harbour dump"
    assert "a quieter form" in bet.change.text


def test_contexts_that_different_things_fill_have_nothing_in_common() -> None:
    assert found(CompactedBy(), *(compacted(it, f"harbour{it} dump") for it in range(5))) == []


# --- reports ----------------------------------------------------------------------------------


def reported(number: int, answer: str, told: str = "") -> Story:
    report = told or " ".join(f"quay{number}x{n} leaks in Dock{n}.open()" for n in range(40))
    more = {"prompt": "review it", "subagent_type": "reviewer"}
    story = ordinary(dice(number)).use(Tool.SUBAGENT, "review", report, **more)
    for _ in range(60):
        story.run("make test", "ok")
    return story.answer(answer)


def test_reports_of_which_nothing_comes_back_are_not_used() -> None:
    (bet,) = found(UnusedReport(), *(reported(it, "As before.") for it in range(4)))
    assert bet.claim == "Reports of `reviewer` subagents are not used: 4 of 4"


@pytest.mark.parametrize("answer", ["Dock7.open() is wrong.", "it leaks in Dock7.open() and more"])
def test_one_name_out_of_a_report_is_a_use(answer: str) -> None:
    assert found(UnusedReport(), *(reported(it, answer) for it in range(4))) == []


def test_a_report_that_tells_nothing_new_proves_nothing() -> None:
    assert found(UnusedReport(), *(reported(it, "As before.", "all fine") for it in range(4))) == []


# --- models -----------------------------------------------------------------------------------


def question(number: int, looks: int = 4, model: str = OPUS) -> Story:
    story = Story(model=model).say(f"what is quay {number}?")
    for _ in range(looks):
        story.look(FILE, prose(dice(number), 900))
    return story.answer()


def test_small_sessions_are_priced_at_the_model_used_otherwise() -> None:
    work = [ordinary(dice(it)) for it in range(4)]
    (bet,) = found(PremiumModel(), *work, *(question(it) for it in range(6)))
    assert bet.claim.startswith(f"Small sessions run on `{OPUS}`: `{SONNET}` would have cost $")
    assert {it.tokens for it in bet.occurrences} == {None}


def test_a_model_that_nobody_here_uses_is_not_proposed() -> None:
    work = [ordinary(dice(it), OPUS) for it in range(4)]
    assert found(PremiumModel(), *work, *(question(it) for it in range(6))) == []


def test_long_sessions_are_not_small() -> None:
    work = [ordinary(dice(it)) for it in range(4)]
    assert found(PremiumModel(), *work, *(question(it, looks=20) for it in range(6))) == []


# --- outliers ---------------------------------------------------------------------------------


def test_one_dear_task_is_told_on_demand_only() -> None:
    dear = Story().say("look at it")
    for _ in range(60):
        dear.look(FILE, prose(dice(1), 1_500))
    (bet,) = found(CostOutlier(), *(ordinary(dice(it)) for it in range(8)), dear.answer())
    assert bet.on_demand
    assert bet.key == "carrying file src/big.py"


def test_a_dear_task_without_a_cause_is_no_bet() -> None:
    dear = Story().say("look at it")
    for number in range(60):
        dear.look(f"/work/app/src/part_{number}.py", prose(dice(1), 1_500))
    assert found(CostOutlier(), *(ordinary(dice(it)) for it in range(8)), dear.answer()) == []


def test_what_subagents_took_belongs_to_the_task_that_started_them() -> None:
    stories = [ordinary(dice(it)) for it in range(8)]
    for child in range(2):
        story = Story(driver=Driver.SUBAGENT).say("look at it")
        for _ in range(40):
            story.look(FILE, prose(dice(child), 1_500))
        stories.append(story.answer())
    (bet,) = CostOutlier().find(made(stories, {8: 0, 9: 0}))
    assert bet.key == "carrying file src/big.py"
    assert [it.session for it in bet.occurrences] == [1]


def test_that_subagents_took_it_is_no_cause() -> None:
    stories = [ordinary(dice(it)) for it in range(8)]
    story = Story(driver=Driver.SUBAGENT).say("look at it")
    for number in range(60):
        story.look(f"/work/app/src/part_{number}.py", prose(dice(1), 1_500))
    stories.append(story.answer())
    assert list(CostOutlier().find(made(stories, {8: 0}))) == []


def test_failures_that_change_from_try_to_try_are_work_that_goes_on() -> None:
    def dear(words: str) -> Story:
        story = Story().say("make it pass")
        for number in range(60):
            story.run("hardhat test", f"Error: {words.format(n=chr(97 + number % 26) * 3)}", 1)
            story.look(f"/work/app/src/part_{number}.py", prose(dice(number), 1_500))
        return story.answer()

    others = [ordinary(dice(it)) for it in range(8)]
    (stuck,) = found(CostOutlier(), *others, dear("no berth"))
    assert stuck.key == "failing hardhat"
    assert found(CostOutlier(), *others, dear("{n} is not a function")) == []


# --- ends and plans ---------------------------------------------------------------------------


def left(number: int, *, wrote: bool = False) -> Story:
    story = Story().say(f"migrate harbour database schema, try {number}")
    for _ in range(5):
        story.run("dbtool plan", prose(dice(number), 400))
    if wrote:
        story.edit(FILE)
    return story.stop()


def test_a_kind_of_task_that_is_always_stopped_is_told() -> None:
    (bet,) = found(AbandonedSessions(), *(left(it) for it in range(3)))
    assert bet.claim.startswith("Sessions that begin with “migrate harbour database schema, try 0”")


def test_what_was_written_may_have_come_to_something() -> None:
    assert found(AbandonedSessions(), *(left(it, wrote=True) for it in range(5))) == []


def test_what_mostly_works_is_not_given_up() -> None:
    worked = [Story().say(f"migrate harbour database schema, try {it}").answer() for it in range(5)]
    assert found(AbandonedSessions(), *(left(it) for it in range(4)), *worked) == []


def planned(number: int, status: str, *, stopped: bool = False) -> Story:
    plan = [{"step": "Change it", "status": "completed"}, {"step": "Run tests", "status": status}]
    story = Story().say(f"do it {number}").use(Tool.PLAN, "", "ok", plan=plan)
    return story.stop() if stopped else story.answer()


def test_a_step_that_stays_open_is_a_line() -> None:
    (bet,) = found(UnfinishedPlan(), *(planned(it, "pending") for it in range(3)))
    assert bet.change.text == (
        "Before you say that you are done, run the tests that your plan names, or say that it is "
        "not done and why."
    )


def test_whoever_was_stopped_had_no_say_in_it() -> None:
    assert found(UnfinishedPlan(), *(planned(it, "pending", stopped=True) for it in range(5))) == []


def test_single_items_are_followed_from_their_making_to_their_end() -> None:
    story = Story().say("do it")
    story.use(Tool.PLAN, "", "Task #1 created successfully", subject="Run tests")
    story.use(Tool.PLAN, "", "Task #2 created successfully", subject="Write docs")
    story.use(Tool.PLAN, "", "Task #3 created successfully", subject="Deploy")
    story.use(Tool.PLAN, "", "ok", taskId="1", status="completed")
    story.use(Tool.PLAN, "", "ok", taskId="3", status="deleted")
    window = made([story.answer()])
    items = [(it.text, it.state) for _, it in window.planned]
    assert items == [("Run tests", State.DONE), ("Write docs", State.OPEN)]
    assert [it.end for _, it in window.ended] == [End.ANSWERED]


# --- skills -----------------------------------------------------------------------------------


def skills(*rows: tuple[bool, bool, int], path: str = "/home/me/skills/tides/SKILL.md") -> Window:
    """Of each session whether a prompt asked for it, whether it fired, and how long its line is."""
    uses = {
        number: [
            Use("skill", "tides", path, 3, 5 if asked else None, None, None,
                asked, fired, None, 0, 0, size, 100, 4_000, "transcript")
        ]
        for number, (asked, fired, size) in enumerate(rows)
    }  # fmt: skip
    return window_of({number: [[]] for number in uses}, uses)


def test_a_skill_that_is_asked_for_and_not_loaded_needs_other_words() -> None:
    window = skills(*[(True, False, 400)] * 3, (True, True, 400), (False, False, 400))
    (bet,) = UnfiredSkill().find(window)
    assert bet.claim == "The skill `tides` is asked for, not loaded in 3 of 4 sessions"
    assert "Write its description anew" in bet.change.text
    assert {it.tokens for it in bet.occurrences} == {None}


def test_a_description_that_is_cut_is_a_matter_of_the_budget() -> None:
    window = skills(*[(True, False, 60)] * 3, (False, False, 400))
    (bet,) = UnfiredSkill().find(window)
    assert bet.claim.endswith(": its description is cut from the list")
    assert "Switch off skills that nobody uses" in bet.change.text


@pytest.mark.parametrize(
    "window",
    [
        skills(*[(True, False, 400)] * 2),
        skills(*[(True, False, 400)] * 3, *[(True, True, 400)] * 4),
        skills(*[(True, False, 400)] * 5, path="/home/me/.codex/skills/.system/tides/SKILL.md"),
    ],
    ids=["twice is chance", "it mostly fires", "it comes with the program"],
)
def test_no_bet_about_a_skill(window: Window) -> None:
    assert list(UnfiredSkill().find(window)) == []


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from((90, 400))), max_size=14))
def test_what_sessions_asked_for_in_vain_is_a_bet_with_exactly_these_sessions(
    rows: list[tuple[bool, bool, int]],
) -> None:
    asked = [number for number, (wanted, _, _) in enumerate(rows) if wanted]
    in_vain = [number for number in asked if not rows[number][1]]
    bets = list(UnfiredSkill().find(skills(*rows)))
    expected = len(in_vain) >= 3 and 2 * len(in_vain) >= len(asked)
    assert [[it.session for it in bet.occurrences] for bet in bets] == [in_vain] * expected


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda it: it.name)
def test_an_empty_window_has_no_bets(heuristic: Heuristic) -> None:
    assert found(heuristic) == []


@pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda it: it.name)
def test_one_session_alone_never_makes_a_bet(heuristic: Heuristic) -> None:
    story = pages(1, count=9).pause(300)
    story.compact(prose(dice(1), 300)).say("go on").answer()
    assert found(heuristic, story.stop()) == []
