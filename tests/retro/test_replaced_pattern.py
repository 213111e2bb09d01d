"""What agents write and people replace by the same other thing."""

from __future__ import annotations

from random import Random

import pytest

from hansei.bets.model import Design, Finding
from hansei.bets.recurring import Fact
from hansei.config import DAY_MS
from hansei.experiments.metrics.recurrence import recurrences
from hansei.projection.patterns import Pattern, difference, of_key, writes
from hansei.retro.heuristics.replaced_pattern import ReplacedPattern
from people_world import People

WORLDS = 24
RECALL, PRECISION = 0.95, 0.9
OLD, NEW = "datetime.utcnow()", "datetime.now(UTC)"


def found(people: People) -> list[Finding]:
    return list(ReplacedPattern().find(people.window()))


def body(name: str, call: str = OLD) -> str:
    moment = f"    moment_of_{name} = {call}\n"
    return f"def {name}(order):\n{moment}    keep_{name}(order, 'kept {name}')\n"


def replacing(count: int, *, path: str = "src/m{}.py", after: int = DAY_MS) -> People:
    people = People()
    for at in range(count):
        name = path.format(at)
        people.session({name: body(f"f_{at}")})
        people.change(name, OLD, NEW, after)
    return people


def test_what_people_replace_in_several_sessions_is_a_line() -> None:
    (bet,) = found(replacing(3))
    assert bet.claim == "Agents write `datetime.utcnow()`; people make it `datetime.now(UTC)`"
    assert bet.change.design is Design.LINE
    assert bet.change.text == "Write `datetime.now(UTC)`, not `datetime.utcnow()`."
    assert bet.because[0].startswith(
        "3 lines in 3 files, written in 3 sessions, changed by people in 3 commits: `git show "
    )
    assert [it.session for it in bet.occurrences] == [1, 2, 3]
    assert {it.tokens for it in bet.occurrences} == {None}


def test_two_sessions_one_file_or_one_sweep_are_no_bet() -> None:
    assert found(replacing(2)) == []
    assert found(replacing(4, path="src/same.py")) == []
    people = People()
    for at in range(4):
        people.session({f"src/m{at}.py": body(f"f_{at}")})
    swept = {path: text.replace(OLD, NEW) for path, text in people.files.items()}
    people.commit(swept, after=DAY_MS)
    assert found(people) == []


def test_what_is_replaced_after_more_than_a_month_is_another_matter() -> None:
    assert found(replacing(4, after=40 * DAY_MS)) == []


def test_what_agents_replace_themselves_is_none_of_it() -> None:
    people = replacing(2)
    people.session({"src/late.py": body("late")})
    people.session({"src/late.py": body("late", NEW)})
    people.commit({"src/late.py": body("late", NEW)}, after=DAY_MS)
    assert found(people) == []


def test_people_who_replace_it_in_both_directions_agree_on_nothing() -> None:
    people = replacing(3)
    people.session({"src/back.py": body("back", NEW)})
    people.change("src/back.py", NEW, OLD)
    assert found(people) == []


@pytest.mark.parametrize(
    ("line", "now", "pattern"),
    [
        ("moment = datetime.utcnow()", "moment = datetime.now(UTC)", (OLD, NEW)),
        ("print(total, flush=True)", "log.info(total, flush=True)", ("print", "log.info")),
        ("x = os.path.join(a, b)", "x = Path(a, b)", ("os.path.join", "Path")),
        ("timeout = 30", "timeout = 60", None),
        ('say("one")', 'say("two")', None),
        ("call(one, two)", "call(one)", None),
        ("alpha(beta, gamma)", "delta(beta, epsilon)", None),
    ],
)
def test_the_one_thing_in_which_lines_differ(
    line: str, now: str, pattern: tuple[str, str] | None
) -> None:
    expected = None if pattern is None else Pattern(*pattern)
    assert difference(line, now) == expected


def test_a_pattern_is_found_word_for_word() -> None:
    assert writes("    at = datetime.utcnow()", OLD)
    assert not writes("mydatetime.utcnow()", OLD)
    assert writes("print(x)", "print")
    assert not writes("pprint(x)", "print")
    assert not writes("printed(x)", "print")
    assert of_key(Pattern(OLD, NEW).key) == Pattern(OLD, NEW)


def test_later_sessions_are_searched_for_the_old_form() -> None:
    people = replacing(1)
    people.session({"src/good.py": body("good", NEW)})
    seen = recurrences(people.window(), Fact.REPLACED, Pattern(OLD, NEW).key)
    assert seen is not None
    assert seen.hits == {1: 1, 2: 0}
    assert seen.opportunities == {1: 1, 2: 1}


def planted(number: int) -> tuple[People, str | None]:
    """Sessions whose lines people change now and then; in half of the worlds one thing always."""
    dice = Random(f"patterns {number}")
    people = People()
    for at in range(24):
        name, path = f"f_{number}_{at}", f"src/m{dice.randrange(40)}_{at}.py"
        habit = at in {2, 9, 15, 20} or dice.random() < 0.3
        call = OLD if habit and number % 2 else f"count_{dice.randrange(90)}(order)"
        people.session({path: body(name, call)})
        if call == OLD:
            people.change(path, OLD, NEW)
        elif dice.random() < 0.3:
            people.change(path, call, f"other_{dice.randrange(90)}(order)")
        people.now += dice.randrange(1, 10) * DAY_MS // 10
    return people, Pattern(OLD, NEW).key if number % 2 else None


def test_planted_habits_are_found_and_nothing_else() -> None:
    right = wrong = missed = 0
    for number in range(WORLDS):
        people, key = planted(number)
        there = [it.key for it in found(people)]
        right += key in there
        missed += key is not None and key not in there
        wrong += sum(it != key for it in there)
    assert right == WORLDS // 2
    assert right >= RECALL * (right + missed)
    assert right >= PRECISION * (right + wrong)
