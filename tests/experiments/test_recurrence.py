"""Whether the target of a bet came up again in a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hansei.bets.model import Finding
from hansei.bets.recurring import Fact, in_words
from hansei.events.model import Driver, Tool
from hansei.experiments.metrics.recurrence import Recurrence, by_family, recurrences
from hansei.projection.facts import folds
from hansei.projection.facts.tables import Found
from hansei.projection.files import Again, Crowded
from hansei.projection.funnel import Use
from hansei.projection.window import Window
from hansei.retro.catalogue import HEURISTICS
from hansei.retro.contract import Heuristic
from hansei.retro.heuristics.big_file import BigFile
from hansei.retro.heuristics.crowded_search import CrowdedSearch
from hansei.retro.heuristics.idle_rent import IdleRent
from hansei.retro.heuristics.large_output import LargeOutput
from hansei.retro.heuristics.rediscovered import Rediscovered
from hansei.retro.heuristics.reread import Reread
from happenings import HAPPENINGS, migrate, quiet, telling
from made_window import Made, Told, edit, listing, read, seq_of, shell, window_of
from retro_window import Telling, narrowed, window
from retro_world import Place, place

WIDER = frozenset({Fact.LISTINGS})
"""Facts that also count sessions which opened a file that the bet's line has no room for."""
Session = list[Callable[[Telling], None]]


def counted(seen: Window, fact: Fact, subject: str) -> Recurrence:
    found = recurrences(seen, fact, subject)
    assert found is not None
    return found


def met(seen: Window, fact: Fact, subject: str) -> dict[int, int]:
    return {session: times for session, times in counted(seen, fact, subject).hits.items() if times}


def bets(seen: Window, heuristics: Iterable[Heuristic] = HEURISTICS) -> Iterator[Finding]:
    for heuristic in heuristics:
        yield from heuristic.find(seen)


def agrees(seen: Window, bet: Finding) -> None:
    """What is counted later is what the bet counted, and never more often than it could be."""
    found = counted(seen, bet.metric.fact, bet.metric.subject)
    told = Counter(it.session for it in bet.occurrences)
    hits = {session: times for session, times in found.hits.items() if times}
    if bet.metric.fact in WIDER:
        assert all(hits[session] >= times for session, times in told.items())
    else:
        assert hits == told
    if found.opportunities is not None:
        assert found.opportunities.keys() >= found.hits.keys()
        assert all(found.opportunities[it] >= times for it, times in found.hits.items())


# --- every bet ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("world"), seed=5, sessions=90) as made:
        yield made


def test_every_bet_on_a_world_counts_the_sessions_it_was_made_from(world: Place) -> None:
    found = list(bets(world.window))
    assert len({it.metric.fact for it in found}) >= 8
    for bet in found:
        agrees(world.window, bet)


def test_half_of_a_world_says_of_itself_what_the_whole_says_of_it(world: Place) -> None:
    whole = world.window
    half = {number: it for number, it in whole.sessions.items() if number % 2}
    alone = Window(whole.store, half, whole.since, whole.until)
    for bet in bets(whole):
        one, other = (counted(it, bet.metric.fact, bet.metric.subject) for it in (whole, alone))
        assert other.hits == {it: times for it, times in one.hits.items() if it in half}
        if one.opportunities is not None and other.opportunities is not None:
            assert other.opportunities.items() <= one.opportunities.items()


@settings(max_examples=25)
@given(some.lists(some.lists(some.sampled_from(HAPPENINGS), max_size=4), min_size=2, max_size=5))
def test_bets_on_failures_and_words_count_what_they_were_made_from(sessions: list[Session]) -> None:
    seen = window([telling(it) for it in sessions])
    for bet in bets(seen):
        agrees(seen, bet)


@settings(max_examples=25)
@given(some.lists(some.lists(some.sampled_from(HAPPENINGS), max_size=4), min_size=3, max_size=5))
def test_a_session_counts_the_same_whatever_later_ones_did(sessions: list[Session]) -> None:
    seen = window([telling(it) for it in sessions])
    for bet in bets(seen):
        fact, subject = bet.metric.fact, bet.metric.subject
        whole = counted(seen, fact, subject).hits
        for number in seen.sessions:
            alone = counted(narrowed(seen, {number}), fact, subject).hits
            assert alone == {it: times for it, times in whole.items() if it == number}


FILES = ("app/src/a.py", "app/src/b.py", "app/src/c.py", "docs/d.md")
CALLS = some.one_of(
    some.builds(lambda path: read(path, 6_000, first=1, last=900), some.sampled_from(FILES)),
    some.builds(
        lambda path: read(path, 700, redundant=1, again=Again.REPEAT), some.sampled_from(FILES)
    ),
    some.builds(lambda path: edit(path, 300, 310), some.sampled_from(FILES)),
    some.builds(listing, some.sampled_from(("./", "app/", "app/src/"))),
    some.builds(
        shell, some.sampled_from(("git log", "tickets list")), some.sampled_from((50, 4_000))
    ),
)
STORIES = some.lists(
    some.lists(some.lists(CALLS, max_size=2), min_size=1, max_size=9), min_size=1, max_size=9
)
WASTE: tuple[Heuristic, ...] = (
    Rediscovered(sessions=1, tokens=1, least=1, readers=1),
    Reread(sessions=1, tokens=1),
    LargeOutput(sessions=1, total=1),
    BigFile(sessions=1, tokens=1),
    IdleRent(sessions=1, days=1, tokens=1),
    CrowdedSearch(sessions=1, tokens=1),
)
IDLE = Use(
    "skill", "tides", "/home/me/skills/tides/SKILL.md", 3, None, None, None,
    False, False, None, 0, 0, 400, 100, 4_000, "transcript",
)  # fmt: skip


def made(stories: Iterable[Told], uses: Iterable[Use] = (IDLE,)) -> Window:
    told = dict(enumerate(stories, 1))
    return window_of(told, dict.fromkeys(told, tuple(uses)))


@settings(max_examples=60)
@given(STORIES)
def test_bets_on_waste_count_what_they_were_made_from(stories: list[Told]) -> None:
    seen = made(stories)
    for bet in bets(seen, WASTE):
        agrees(seen, bet)


def test_the_hand_made_stories_hold_every_kind_of_waste() -> None:
    work = [[listing("./")], *([read(it, 6_000, first=1, last=900)] for it in FILES[:3])]
    again = read(FILES[0], 700, redundant=1, again=Again.REPEAT)
    long: list[list[Made]] = [[] for _ in range(6)]
    loud = [shell("git log", 4_000)]
    stories: list[Told] = [[*work, [again], loud, [edit(FILES[0], 300, 310)], *long]] * 4
    facts = {it.metric.fact for it in bets(made(stories), WASTE)}
    assert facts == {
        Fact.LISTINGS_ABOVE, Fact.REREADS, Fact.LARGE_OUTPUTS, Fact.WHOLE_READS, Fact.IDLE
    }  # fmt: skip


# --- each fact ------------------------------------------------------------------------------------


def test_a_failure_could_have_come_up_in_every_run_of_its_program() -> None:
    seen = window([telling([migrate]), telling([quiet]), Telling().run("make migrate")])
    (signature,) = {it.signature for _, it in seen.failures if it.program == "make"}
    assert counted(seen, Fact.FAILURES, signature) == ({1: 1, 2: 0, 3: 0}, {1: 2, 2: 0, 3: 1})


def test_a_broken_line_of_shell_could_have_been_written_anywhere() -> None:
    broken = Telling().run("if true; then", "bash: line 1: syntax error: unexpected end of file", 2)
    seen = window([broken])
    (signature,) = {it.signature for _, it in seen.failures}
    found = counted(seen, Fact.FAILURES, signature)
    assert found == ({1: 1}, None)


def test_who_is_refused_could_have_been_where_the_same_was_run() -> None:
    no = "The user doesn't want to proceed with this tool use."
    seen = window([
        Telling().refused("git push --force", no),
        Telling().run("git push --force").run("git push"),
    ])  # fmt: skip
    found = counted(seen, Fact.DECLINED, "person git push --force")
    assert found == ({1: 1, 2: 0}, {1: 1, 2: 1})


def test_only_people_can_say_it_again() -> None:
    said = [Telling(driver=it) for it in (Driver.HUMAN, Driver.HUMAN, Driver.AUTOMATED)]
    for it in said:
        it.say("Add a limit.").edit("/work/app/src/limit.py").answer("Done.")
    said[0].say("No, use the logger, not print.").edit("/work/app/src/limit.py")
    seen = window(said)
    (name,) = {it.key for it in _clusters(seen)}
    assert counted(seen, Fact.CORRECTIONS, name) == ({1: 1, 2: 0}, {1: 2, 2: 1})


def test_a_cluster_that_nobody_knows_any_more_is_known_of_no_session() -> None:
    assert counted(window([telling([quiet])]), Fact.CORRECTIONS, "gone").hits == {}


def _clusters(seen: Window) -> Iterator[Any]:
    from hansei.retro.heuristics.repeated_correction import RepeatedCorrection

    yield from RepeatedCorrection(sessions=1).find(seen)


def test_an_output_is_not_known_to_be_small_where_the_context_is_not_known() -> None:
    long: list[list[Made]] = [[] for _ in range(6)]
    seen = made([[[shell("git log", 9_000)], *long], [[shell("git log", 90)], *long]])
    dark = replace(seen, sessions={**seen.sessions, 3: seen.sessions[1]._replace(number=3)})
    assert counted(dark, Fact.LARGE_OUTPUTS, "git log") == ({1: 1, 2: 0}, {1: 1, 2: 1})


def test_a_filtered_or_quieter_call_of_the_command_was_a_chance_too() -> None:
    long: list[list[Made]] = [[] for _ in range(6)]
    quiet_one = shell("git log", 90, form="git log -n 10", flags=("-n",))
    seen = made([[[shell("git log", 9_000)], [quiet_one], *long]])
    assert counted(seen, Fact.LARGE_OUTPUTS, "git log").opportunities == {1: 2}


def test_searches_that_are_not_crowded_are_chances() -> None:
    story: Told = [[listing("./"), listing("src/")]]
    seen = made([story, story])
    row = Crowded(seq_of(story, 0, 0), 100, 75, 0.75, ("venv",))
    seen.rows(folds.CROWDED).append(Found(1, row))
    assert counted(seen, Fact.CROWDED, "top") == ({1: 1, 2: 0}, {1: 2, 2: 2})


@pytest.mark.parametrize(
    ("use", "hits"),
    [
        (IDLE, {1: 1}),
        (IDLE._replace(fired=True), {1: 0}),
        (IDLE._replace(matched=True), {1: 0}),
        (IDLE._replace(fired=None), {}),
        (IDLE._replace(name="other"), {1: 0}),
    ],
    ids=["idle", "loaded", "wanted", "unknown", "gone"],
)
def test_what_is_carried_unused(use: Use, hits: dict[int, int]) -> None:
    assert counted(made([[[]]], [use]), Fact.IDLE, "skill tides, waves").hits == hits


def test_a_bet_on_a_full_list_counts_shorter_lists_too() -> None:
    """Switching off is for all of them, so all of them are looked at."""
    sizes = {number: (70, 300) if number % 2 else (60, 350) for number in range(1, 11)}
    sizes |= dict.fromkeys((11, 12), (60, 10))
    uses = {
        number: [
            IDLE._replace(name=f"s{it:02}", path=f"/home/me/skills/s{it:02}/SKILL.md", bytes=each)
            for it in range(count)
        ]
        for number, (count, each) in sizes.items()
    }
    seen = window_of({it: [[]] for it in uses}, uses)
    (bet,) = IdleRent().find(seen)
    assert bet.key.startswith("full list")
    assert {it.session for it in bet.occurrences} == set(range(1, 11))
    assert met(seen, Fact.IDLE, bet.metric.subject) == dict.fromkeys(range(1, 13), 1)


def test_a_session_that_lists_nothing_does_not_tell_what_it_carried() -> None:
    assert counted(made([[[]]], []), Fact.IDLE, "skill tides").hits == {}


@pytest.mark.parametrize(("followed", "hits"), [(True, {1: 0}), (False, {1: 1}), (None, {})])
def test_what_was_not_followed(followed: bool | None, hits: dict[int, int]) -> None:
    seen = made([[[]]], [IDLE._replace(followed=followed)])
    found = counted(seen, Fact.UNFOLLOWED, "skill tides")
    assert found == (hits, dict.fromkeys(hits, 1))


def test_a_session_that_writes_a_file_anew_had_no_use_for_parts_of_it() -> None:
    whole = read("src/a.py", 6_000, first=1, last=900)
    small = edit("src/a.py", 300, 310)
    anew = Made(30, ({"path": "src/a.py", "verb": "write"},), tool=Tool.WRITE, name="Write")
    seen = made([[[whole], [small]], [[small]], [[whole]], [[whole], [small], [anew]]])
    found = counted(seen, Fact.WHOLE_READS, "src/a.py")
    assert found == ({1: 1, 2: 0, 3: 0, 4: 0}, {1: 1, 2: 1, 3: 0, 4: 0})


# --- families and words ---------------------------------------------------------------------------


def test_a_session_counts_with_the_subagents_it_started() -> None:
    child = Telling(driver=Driver.SUBAGENT, parent=1)
    migrate(child)
    seen = window([telling([quiet]), child, telling([quiet])])
    (signature,) = {it.signature for _, it in seen.failures if it.program == "make"}
    found = by_family(seen, counted(seen, Fact.FAILURES, signature))
    assert found == ({1: 1, 3: 0}, {1: 2, 3: 0})


def test_a_family_is_unknown_where_its_first_session_is_unless_something_was_seen() -> None:
    seen = window([Telling(), Telling(parent=1), Telling(), Telling(parent=3)])
    assert by_family(seen, Recurrence({2: 0, 4: 2}, None)).hits == {3: 2}


def test_a_fact_of_another_version_cannot_be_counted() -> None:
    assert recurrences(window([]), "moods", "bad") is None


@pytest.mark.parametrize("fact", Fact)
def test_every_fact_can_be_counted_and_said(fact: Fact) -> None:
    seen = window([telling([quiet])])
    assert set(counted(seen, fact, "nothing here").hits.values()) <= {0}
    assert in_words(fact, "nothing here").startswith("sessions ")
