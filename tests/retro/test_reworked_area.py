"""Places where people do not keep what agents write."""

from __future__ import annotations

from random import Random

import pytest

from hansei.bets.model import Category, Design, Finding
from hansei.bets.recurring import Fact
from hansei.config import DAY_MS
from hansei.experiments.metrics.recurrence import recurrences
from hansei.retro.heuristics.reworked_area import ReworkedArea
from people_world import People

WORLDS = 24
RECALL, PRECISION = 0.95, 0.9


def function(name: str, size: int = 8) -> str:
    body = "".join(f"    step_{at} = prepare_{name}({at}, 'of {name}')\n" for at in range(size))
    return f"def {name}(argument):\n{body}    return collect_{name}(step_0)\n\n"


def rewritten(text: str, part: int = 6) -> str:
    """Most lines written otherwise."""
    lines = text.splitlines(keepends=True)
    changed = [it.replace("prepare_", "arranged.by_hand_") for it in lines[1 : part + 1]]
    return "".join([lines[0], *changed, *lines[part + 1 :]])


def found(people: People) -> list[Finding]:
    return list(ReworkedArea().find(people.window()))


def kept_and_changed(changed: int, kept: int, areas: int = 4) -> People:
    """Sessions whose work in one folder is rewritten, and some whose work elsewhere stays."""
    people = People()
    for at in range(kept):
        people.session({f"src/part_{at % areas}/m{at}.py": function(f"kept_{at}")})
    for at in range(changed):
        path, text = f"src/billing/m{at}.py", function(f"bill_{at}")
        people.session({path: text})
        people.change(path, text, rewritten(text))
    return people


def test_a_folder_that_people_rewrite_is_a_brief_with_their_commits() -> None:
    people = kept_and_changed(4, 12)
    (bet,) = found(people)
    assert bet.key == "src/billing/"
    assert bet.claim == (
        "People rewrite 60% of what agents write in `src/billing/`, soon after it lands"
        " (0% elsewhere)"
    )
    assert bet.change.design is Design.BRIEF
    assert bet.category is Category.INVESTIGATE
    assert f"git show {people.commits[13].id[:10]}" in bet.change.text
    assert {it.session for it in bet.occurrences} == {13, 14, 15, 16}
    assert {it.tokens for it in bet.occurrences} == {None}


def test_one_file_is_named_where_nearly_all_of_it_lies_there() -> None:
    people = kept_and_changed(0, 12)
    for at in range(4):
        text = function(f"bill_{at}")
        people.session({"src/billing/one.py": text})
        people.change("src/billing/one.py", text, rewritten(text))
    assert [it.key for it in found(people)] == ["src/billing/one.py"]


@pytest.mark.parametrize(("changed", "kept"), [(2, 12), (4, 2), (0, 12)])
def test_few_sessions_or_no_rest_to_compare_with_are_no_bet(changed: int, kept: int) -> None:
    assert found(kept_and_changed(changed, kept)) == []


def test_subagents_of_one_task_are_one() -> None:
    people = kept_and_changed(0, 12)
    first = people.session({"notes.md": function("notes")})
    for at in range(4):
        path, text = f"src/billing/m{at}.py", function(f"bill_{at}")
        people.session({path: text}, parent=first)
        people.change(path, text, rewritten(text))
    assert found(people) == []


def test_a_sweep_of_one_commit_is_no_bet() -> None:
    people = kept_and_changed(0, 12)
    texts = {f"src/billing/m{at}.py": function(f"bill_{at}") for at in range(4)}
    for path, text in texts.items():
        people.session({path: text})
    people.commit({path: rewritten(text) for path, text in texts.items()}, after=DAY_MS)
    assert found(people) == []


def test_what_agents_change_or_people_change_much_later_is_work_that_went_on() -> None:
    people = kept_and_changed(0, 12)
    for at in range(4):
        path, text = f"src/billing/m{at}.py", function(f"bill_{at}")
        people.session({path: text})
        people.change(path, text, rewritten(text), after=20 * DAY_MS)
    assert found(people) == []


def test_lines_younger_than_two_weeks_are_not_judged() -> None:
    people = kept_and_changed(4, 12)
    assert list(ReworkedArea().find(people.window(later=DAY_MS))) == []


def test_later_sessions_are_counted_once_two_weeks_tell() -> None:
    people = kept_and_changed(2, 3)
    seen = recurrences(people.window(), Fact.REWORKED, "src/billing/")
    assert seen is not None
    assert seen.hits == {4: 1, 5: 1}
    assert recurrences(people.window(later=0), Fact.REWORKED, "src/billing/") == ({}, {})


def planted(number: int) -> tuple[People, str | None]:
    """Sessions that write here and there; in half of the worlds people keep little of one place."""
    dice = Random(f"areas {number}")
    people = People()
    place = "src/billing/" if number % 2 else None
    folders = ["src/billing", "src/api", "src/web", "tests", "docs", "tools"]
    for at in range(dice.randrange(28, 40)):
        folder = folders[0] if at % 4 == 0 else dice.choice(folders[1:])
        path = f"{folder}/m{dice.randrange(12)}_{at}.py"
        text = function(f"f_{number}_{at}", dice.randrange(5, 10))
        people.session({path: text})
        chance = 0.85 if place and folder == folders[0] else 0.08
        if dice.random() < chance:
            people.change(path, text, rewritten(text, dice.randrange(3, 6)))
        people.now += dice.randrange(1, 20) * DAY_MS // 10
    return people, place


def test_planted_places_are_found_and_nothing_else() -> None:
    right = wrong = missed = 0
    for number in range(WORLDS):
        people, place = planted(number)
        there = [it.key for it in found(people)]
        right += place in there
        missed += place is not None and place not in there
        wrong += sum(it != place for it in there)
    assert right >= RECALL * (right + missed)
    assert right >= PRECISION * (right + wrong)
