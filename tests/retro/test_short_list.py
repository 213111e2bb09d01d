"""What people see first: one best bet, two to look into, two quick fixes."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from findings import each, finding, frame
from hansei.bets.counting import count, rank
from hansei.bets.model import Bet, Category, Metric
from hansei.bets.recurring import Fact
from hansei.retro.retro import LEAST, distinct, short_list

FOUR_WEEKS = frame(range(28))


def bet(key: str, tokens: int | None, heuristic: str, category: Category = Category.FIX) -> Bet:
    """One that takes so many tokens a week, on every day of four weeks."""
    once = None if tokens is None else tokens // 7
    told = finding(each(range(28), once), key=key, heuristic=heuristic, category=category)
    return count(told, FOUR_WEEKS, of_sessions=28, rent_tokens=None)


def chosen(*bets: Bet) -> list[str]:
    return [it.finding.key for it in short_list(sorted(bets, key=rank))]


def test_the_best_comes_first_whatever_it_is_then_what_to_look_into_then_fixes() -> None:
    look, fix = Category.INVESTIGATE, Category.FIX
    assert chosen(
        *(bet(f"look {i}", 500_000 - 1_000 * i, f"l{i}", look) for i in range(4)),
        *(bet(f"fix {i}", 900_000 - 1_000 * i, f"f{i}", fix) for i in range(4)),
    ) == ["fix 0", "look 0", "look 1", "fix 1", "fix 2"]


def test_no_heuristic_fills_the_list() -> None:
    assert chosen(*(bet(f"{i}", 900_000 - 1_000 * i, "same") for i in range(9))) == ["0", "1"]


def of_people(told: Bet, fact: Fact = Fact.REPLACED) -> Bet:
    return replace(told, finding=replace(told.finding, metric=Metric(fact, "a → b")))


def test_what_takes_people_s_time_has_the_last_place_of_its_kind() -> None:
    fixes = [bet(f"fix {i}", 900_000 - 1_000 * i, f"f{i}") for i in range(4)]
    assert chosen(*fixes, of_people(bet("people", None, "p"))) == ["fix 0", "fix 1", "people"]
    unknown = of_people(bet("unknown", None, "u"), Fact.IDLE)
    assert chosen(*fixes, unknown) == ["fix 0", "fix 1", "fix 2"]


def test_what_is_worth_nothing_is_left_out_and_what_is_unknown_is_not() -> None:
    assert chosen(bet("nothing", 0, "a"), bet("unknown", None, "b")) == ["unknown"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from((0, 10_000, 60_000, 100_000)) | st.none(),
            st.sampled_from("abc"),
            st.sampled_from(list(Category)),
        ),
        max_size=12,
    )
)
def test_it_is_at_most_five_of_which_the_first_is_the_best(
    told: list[tuple[int | None, str, Category]],
) -> None:
    bets = sorted((bet(f"{i}", *it) for i, it in enumerate(told)), key=rank)
    found = short_list(bets)
    assert len(found) <= 5
    assert len({it.id for it in found}) == len(found)
    worth = [it for it in bets if it.net is None or it.net >= LEAST]
    assert found[:1] == worth[:1]


def test_what_nobody_would_notice_is_told_on_demand() -> None:
    assert chosen(bet("small", 10_000, "a")) == []
    assert chosen(bet("enough", LEAST + 7, "a")) == ["enough"]


def test_what_is_worth_a_fraction_of_the_best_is_told_on_demand() -> None:
    assert chosen(bet("best", 9_000_000, "a"), bet("weak", 60_000, "b")) == ["best"]
    assert chosen(bet("best", 900_000, "a"), bet("other", 60_000, "b")) == ["best", "other"]


def test_what_seems_to_be_over_is_told_on_demand() -> None:
    over = count(
        finding(each(range(3), 900_000), key="over"), FOUR_WEEKS, of_sessions=28, rent_tokens=None
    )
    last = finding(each(range(25, 28), 900_000), key="last", heuristic="b")
    goes_on = count(last, FOUR_WEEKS, of_sessions=28, rent_tokens=None)
    assert over.silent == 25
    assert chosen(over, goes_on) == ["last"]


def test_what_its_heuristic_thinks_little_of_is_told_on_demand() -> None:
    told = replace(finding(each(range(28), 900_000)), on_demand=True)
    assert chosen(count(told, FOUR_WEEKS, of_sessions=28, rent_tokens=None)) == []


def test_of_two_heuristics_about_the_same_places_the_better_one_stays() -> None:
    good, weak = bet("good", 900_000, "a"), bet("weak", 100_000, "b")
    assert distinct([good, weak]) == [good]


def test_what_one_heuristic_tells_apart_is_two_things_also_in_one_list() -> None:
    tides, crew = bet("skill tides", 900_000, "idle"), bet("skill crew", 100_000, "idle")
    assert distinct([tides, crew]) == [tides, crew]


def test_bets_that_share_a_few_places_are_two() -> None:
    some = finding(each(range(10), 900_000), key="some", heuristic="a")
    good = count(some, FOUR_WEEKS, of_sessions=28, rent_tokens=None)
    wide = bet("wide", 900_000, "b")
    assert distinct([good, wide]) == [good, wide]


def about(fact: Fact, subject: str, heuristic: str, days: range) -> Bet:
    told = finding(each(days, 100_000), key=subject, heuristic=heuristic)
    named = replace(told, metric=Metric(fact, subject))
    return count(named, FOUR_WEEKS, of_sessions=28, rent_tokens=None)


def test_of_bets_about_one_file_that_fills_contexts_the_better_one_stays() -> None:
    first = about(Fact.OUTLIERS, "900 carrying file src/a.py", "a", range(5))
    second = about(Fact.COMPACTED, "file src/a.py", "b", range(10, 15))
    third = about(Fact.PAGED, "src/a.py", "c", range(20, 25))
    other = about(Fact.PAGED, "src/b.py", "c", range(20, 26))
    command = about(Fact.COMPACTED, "command src/a.py", "b", range(15, 19))
    told = [first, second, third, other, command]
    assert distinct(told) == [first, other, command]


def test_a_file_that_fails_is_not_a_file_that_fills_contexts() -> None:
    loop = about(Fact.LOOPS, "src/a.py", "a", range(5))
    pages = about(Fact.PAGED, "src/a.py", "b", range(10, 15))
    assert distinct([loop, pages]) == [loop, pages]
