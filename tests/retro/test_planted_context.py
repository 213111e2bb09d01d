"""Habits of context and money planted in made-up windows, against what is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from context_world import OPUS, SONNET, Story, made, ordinary, prose
from hansei.events.model import AnyEvent, Driver, RequestUsage, Tool, ToolResult
from hansei.experiments.metrics.recurrence import recurrences
from hansei.prices import PriceBook
from hansei.retro.heuristics.abandoned_sessions import AbandonedSessions
from hansei.retro.heuristics.cold_cache import ColdCache
from hansei.retro.heuristics.compacted_by import CompactedBy
from hansei.retro.heuristics.cost_outlier import CostOutlier
from hansei.retro.heuristics.crowded_search import CrowdedSearch
from hansei.retro.heuristics.paged_file import PagedFile
from hansei.retro.heuristics.premium_model import PremiumModel
from hansei.retro.heuristics.unfinished_plan import UnfinishedPlan
from hansei.retro.heuristics.unused_report import UnusedReport

if TYPE_CHECKING:
    from hansei.bets.model import Finding
    from hansei.projection.window import Window
    from hansei.retro.contract import Heuristic

WINDOWS = 8
RECALL, PRECISION, NEAR, SHARE = 0.95, 0.9, 0.25, 0.9
HEURISTICS: tuple[Heuristic, ...] = (
    PagedFile(),
    ColdCache(),
    CompactedBy(),
    UnusedReport(),
    PremiumModel(),
    CostOutlier(),
    AbandonedSessions(),
    UnfinishedPlan(),
    CrowdedSearch(),
)


@dataclass
class World:
    """Sessions, and what was planted in them."""

    stories: list[Story]
    key: str = ""
    cost: int | None = None
    """What the planted habit took; None where it is not tokens."""
    also: frozenset[tuple[str, str]] = frozenset()
    """Other bets about the very same thing."""
    parents: dict[int, int] = field(default_factory=dict)

    @property
    def window(self) -> Window:
        return made(self.stories, self.parents)


def some_ordinary(dice: Random) -> list[Story]:
    return [ordinary(dice) for _ in range(dice.randrange(7, 11))]


def paging(dice: Random) -> World:
    """One long file, five pages in a row, in several sessions; a search would have done."""
    cost = 0
    stories = some_ordinary(dice)
    for _ in range(dice.randrange(3, 6)):
        story = Story().say(f"where is {prose(dice, 8)} done?")
        for page in range(dice.randrange(4, 8)):
            before = story.billed
            story.look("/work/app/src/big.py", prose(dice, 1_500), 1 + 400 * page, 400)
            cost += (story.billed - before) * (page >= 2)
        stories.append(story.answer())
    return World(stories, "src/big.py", cost)


def pausing(dice: Random) -> World:
    """Breaks of hours in sessions that go on with what they had."""
    cost = 0
    stories = some_ordinary(dice)
    for story in stories[:4]:
        story.look("/work/app/notes.txt", prose(dice, 20_000)).answer()
        for _ in range(2):
            cost += story.cached
            story.pause(dice.randrange(70, 600)).say("now add a buoy").answer()
    return World(stories, "idle long", cost)


def switching(dice: Random) -> World:
    """Another model in the middle."""
    cost = 0
    stories = some_ordinary(dice)
    for story in stories[:5]:
        story.look("/work/app/notes.txt", prose(dice, 30_000)).answer()
        cost += story.cached
        story.model, story.cached = OPUS, 0
        story.say("go on").answer()
    return World(stories, "model", cost)


def filling(dice: Random) -> World:
    """One file that is read until the context is full; then a summary, and the file once more."""
    cost = 0
    stories = some_ordinary(dice)
    for _ in range(4):
        story = Story().say(f"change {prose(dice, 8)}")
        for _ in range(4):
            story.look("/work/app/src/huge.py", prose(dice, 4_000))
            story.look(f"/work/app/src/part_{dice.randrange(10**6)}.py", prose(dice, 2_000))
            story.edit("/work/app/src/huge.py")
        summary = prose(dice, 2_000)
        share = 4 / 6
        story.compact(summary)
        before = story.billed
        story.look("/work/app/src/huge.py", prose(dice, 4_000))
        cost += story.billed - before
        requests = dice.randrange(6, 12)
        for _ in range(requests):
            story.run("make test", prose(dice, 40))
        story.answer()
        cost += round(share * len(summary) / 4 * (requests + 2))
        stories.append(story)
    also = ("cost-outlier", "carrying file src/huge.py")
    return World(stories, "file src/huge.py", cost, frozenset({also}))


def ignoring(dice: Random) -> World:
    """A reviewer is asked in every session, and nobody reads what it says."""
    cost = 0
    stories = some_ordinary(dice)
    parents = {}
    for number, parent in enumerate(stories[:4]):
        child = Story(driver=Driver.SUBAGENT).say("review it")
        for _ in range(3):
            child.look(f"/work/app/src/seen_{number}.py", prose(dice, 700))
        stories.append(child.answer(prose(dice, 90)))
        parents[len(stories) - 1] = number
        report = " ".join(f"quay{number}x{n} leaks in Dock{number}{n}.open()" for n in range(40))
        before = parent.context
        parent.use(Tool.SUBAGENT, "review it", report, prompt="review it", subagent_type="reviewer")
        tokens = (parent.context - before) * 4
        parent.say("thanks, now the next thing")
        for _ in range(3):
            parent.run("make test", "all passed")
        parent.answer("Everything is as it was before.")
        parent.events = [_named(it, f"s{len(stories)}") for it in parent.events]
        cost += child.billed + tokens
    return World(stories, "reviewer", cost, parents=parents)


def _named(event: AnyEvent, child: str) -> AnyEvent:
    """A report with the session that made it."""
    is_report = isinstance(event, ToolResult) and event.text.startswith("quay")
    return replace(event, child=child) if is_report else event


def looping(dice: Random) -> World:
    """Two tasks of many that tried one failing program for most of their length."""
    cost = 0
    stories = some_ordinary(dice)
    for _ in range(2):
        story = Story().say("make it deploy")
        story.run("shipit up", "error: no berth", 1)
        before = story.billed
        for number in range(50):
            if number % 2:
                story.run("shipit up", f"error: no berth\n{prose(dice, 600)}", 1)
            else:
                story.run("cat notes.txt", prose(dice, 600))
        story.run("shipit up", "up")
        cost += story.billed - before
        stories.append(story.answer())
    return World(stories, "failing shipit", cost)


def leaving(dice: Random) -> World:
    """The same request, stopped every time."""
    cost = 0
    stories = some_ordinary(dice)
    for _ in range(4):
        story = Story().say("migrate harbour database schema to the new cluster")
        for _ in range(dice.randrange(3, 9)):
            story.run("dbtool plan", prose(dice, 400))
        cost += story.billed
        stories.append(story.stop())
    return World(stories, "migrate harbour database schema", cost)


def planning(dice: Random) -> World:
    """Plans whose tests stay open when the agent says that it is done."""
    stories = some_ordinary(dice)
    for number, story in enumerate(stories):
        done = "completed" if number >= 4 else "pending"
        todos = [
            {"content": f"Change {prose(dice, 4)}", "status": "completed"},
            {"content": "Run all tests", "status": done},
        ]
        story.use(Tool.PLAN, "", "ok", todos=todos).answer("All done.")
    return World(stories, "tests")


def splurging(dice: Random) -> World:
    """Questions to the dear model where work is done with the other one."""
    stories = some_ordinary(dice)
    for _ in range(6):
        story = Story(model=OPUS).say(f"what is {prose(dice, 3)}?")
        for _ in range(4):
            story.look(f"/work/app/src/part_{dice.randrange(10**6)}.py", prose(dice, 900))
        stories.append(story.answer())
    return World(stories, OPUS)


def crowding(dice: Random) -> World:
    """Searches from the top that find packages, among those that do not."""
    cost = 0
    stories = some_ordinary(dice)
    for number, story in enumerate(stories):
        if number >= 6:
            continue
        installed = [f"/work/app/node_modules/{prose(dice, 6)[:18]}/{it}.ts" for it in range(60)]
        own = [f"/work/app/src/{prose(dice, 4)[:12]}{it}.ts" for it in range(dice.randrange(20))]
        carried = dice.randrange(12, 20)
        found = [it.replace(" ", "_") for it in (*installed, *own)]
        share = sum(map(len, found[:60])) / sum(map(len, found))
        tokens = story.context
        story.use(Tool.SEARCH, "**/*.ts", "\n".join(found), pattern="**/*.ts")
        tokens = round((story.context - tokens) * share)
        for _ in range(carried):
            story.run("make test", prose(dice, 40))
        cost += tokens * carried
        story.answer()
    return World(stories, "top", cost)


PLANTS: tuple[tuple[Callable[[Random], World], str], ...] = (
    (paging, "paged-file"),
    (pausing, "cold-cache"),
    (switching, "cold-cache"),
    (filling, "compacted-by"),
    (ignoring, "unused-report"),
    (looping, "cost-outlier"),
    (leaving, "abandoned-sessions"),
    (planning, "unfinished-plan"),
    (splurging, "premium-model"),
    (crowding, "crowded-search"),
)


def found(world: World) -> list[Finding]:
    window = world.window
    return [it for heuristic in HEURISTICS for it in heuristic.find(window)]


@pytest.mark.parametrize(("plant", "name"), PLANTS)
def test_what_is_planted_is_found_with_what_it_took_and_nothing_else(
    plant: Callable[[Random], World], name: str
) -> None:
    right = wrong = near = 0
    for number in range(WINDOWS):
        world = plant(Random(f"{name} {number}"))
        told = {(it.heuristic, it.key): it for it in found(world)}
        bet = told.pop((name, world.key), None)
        wrong += len(told.keys() - world.also)
        if bet is not None:
            right += 1
            took = sum(it.tokens or 0 for it in bet.occurrences)
            known = any(it.tokens is not None for it in bet.occurrences)
            exact = known and world.cost and abs(took / world.cost - 1) <= NEAR
            near += bool(exact or (world.cost is None and not known))
    assert right >= RECALL * WINDOWS
    assert right >= PRECISION * (right + wrong)
    assert near >= SHARE * right


@pytest.mark.parametrize(("plant", "name"), PLANTS)
def test_what_is_counted_later_is_what_the_bet_was_made_from(
    plant: Callable[[Random], World], name: str
) -> None:
    window = plant(Random(f"{name} 0")).window
    for heuristic in HEURISTICS:
        for bet in heuristic.find(window):
            counted = recurrences(window, bet.metric.fact, bet.metric.subject)
            assert counted is not None
            hits = {session: times for session, times in counted.hits.items() if times}
            assert hits == Counter(it.session for it in bet.occurrences)
            could = counted.opportunities
            assert could is None or all(could[it] >= times for it, times in hits.items())


def test_ordinary_sessions_make_no_bet() -> None:
    for number in range(WINDOWS):
        assert found(World(some_ordinary(Random(f"ordinary {number}")))) == []


def test_the_difference_in_price_is_that_of_the_very_same_tokens() -> None:
    world = splurging(Random("price"))
    (bet,) = PremiumModel().find(world.window)
    events = [it for story in world.stories if story.model == OPUS for it in story.events]
    told = [it for it in events if isinstance(it, RequestUsage)]
    prices = PriceBook()
    dear = sum(prices.cost(it) or 0 for it in told)
    cheap = sum(prices.cost(replace(it, model=SONNET)) or 0 for it in told)
    assert f"${(dear - cheap) / 1e9:,.2f} less" in bet.claim


def test_a_file_that_dear_tasks_change_is_what_they_are_about_and_no_cause() -> None:
    dice = Random("about it")
    stories = some_ordinary(dice)
    for _ in range(3):
        story = Story().say("write the page anew")
        for _ in range(60):
            story.look("/work/app/src/page.tsx", prose(dice, 900))
        stories.append(story)
    (bet,) = CostOutlier().find(made(stories))
    assert bet.key == "carrying file src/page.tsx"
    for story in stories[-3:]:
        story.edit("/work/app/src/page.tsx")
        story.answer()
    assert list(CostOutlier().find(made(stories))) == []
