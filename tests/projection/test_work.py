"""What spend was for, and that none of it is lost or doubled by telling it apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.git.merges import MainLine, Merge
from hansei.projection.work import (
    GOALS,
    Goal,
    Landed,
    Record,
    Spent,
    Why,
    by_branch,
    by_commit,
    by_request,
    divided,
)

LINE = MainLine(
    frozenset(("main",)),
    {
        "m1": Merge("m1", 100, "Login", "#12", "login"),
        "m2": Merge("m2", 200, "Search", "#13"),
        "m3": Merge("m3", 300, "By hand"),
        "m4": Merge("m4", 400, "Login again", "#14", "login"),
    },
    {"m1": "m1", "c1": "m1", "m2": "m2", "m3": "m3", "m4": "m4"},
)


def record(*landed: Landed, **unlanded: Why) -> Record:
    return Record(landed, {int(task[1:]): why for task, why in unlanded.items()}, LINE)


def test_a_merge_that_names_the_branch_takes_all_spend_on_it_though_nothing_landed() -> None:
    told = record(t1=Why.NOTHING_LANDED)
    assert by_request(told, Spent(1, "login", 50)) == [(Goal("#12"), 1)]


def test_a_name_that_is_used_again_belongs_to_the_next_merge() -> None:
    assert by_request(record(), Spent(1, "login", 150)) == [(Goal("#14"), 1)]
    assert by_request(record(), Spent(1, "login", 450)) == [(Goal(None, Why.NOT_MERGED), 1)]


def test_a_squashed_branch_is_found_by_its_lines_also_for_those_who_landed_none() -> None:
    told = record(Landed(1, "search", "m2", 30), t2=Why.NOTHING_LANDED)
    assert by_request(told, Spent(2, "search", 50)) == [(Goal("#13"), 30)]


def test_work_that_began_on_the_main_line_belongs_to_what_brought_its_lines() -> None:
    told = record(Landed(1, "login", "c1", 30), Landed(1, "main", "m3", 10))
    shares = by_request(told, Spent(1, "main", 0))
    assert shares == [(Goal("#12"), 30), (Goal(None, Why.NO_REQUEST), 10)]


@pytest.mark.parametrize("why", [Why.NOTHING_LANDED, Why.UNKNOWN])
def test_what_landed_nowhere_says_why(why: Why) -> None:
    told = record(t1=why)
    assert by_commit(told, Spent(1, "login", 0)) == [(Goal(None, why), 1)]
    assert by_commit(told, Spent(2, "login", 0)) == [(Goal(None, Why.NO_EDITS), 1)]


@pytest.mark.parametrize("branch", [None, "HEAD"])
def test_without_a_branch_the_merged_lines_tell_it(branch: str | None) -> None:
    told = record(Landed(1, branch, "c1", 3), Landed(1, branch, "m3", 1))
    assert by_branch(told, Spent(1, branch, 0)) == [
        (Goal("login"), 3),
        (Goal(None, Why.NO_BRANCH), 1),
    ]
    assert by_branch(told, Spent(2, branch, 0)) == [(Goal(None, Why.NO_BRANCH), 1)]


amounts = st.none() | st.integers(0, 10**15)


@given(amounts, st.lists(st.integers(1, 10**6), min_size=1, max_size=9))
def test_parts_add_up_to_the_whole_and_are_as_large_as_their_weights(
    amount: int | None, weights: list[int]
) -> None:
    parts = list(divided(amount, weights))
    if amount is None:
        assert parts == [None] * len(weights)
        return
    known = [it for it in parts if it is not None]
    assert sum(known) == amount
    for part, weight in zip(known, weights, strict=True):
        assert abs(part - amount * weight / sum(weights)) < 1 + amount * 1e-12


names = st.sampled_from(["main", "login", "search", "HEAD", None])
landings = st.builds(
    Landed,
    st.integers(1, 4),
    names,
    st.sampled_from(["m1", "c1", "m2", "m3", "m4", "lost"]),
    st.integers(1, 500),
)
spends = st.builds(Spent, st.integers(1, 6), names, st.integers(0, 500))


@given(st.lists(landings), spends, st.sampled_from(sorted(GOALS)))
def test_every_spend_has_goals_with_weight_and_each_only_once(
    landed: list[Landed], spent: Spent, goal: Any
) -> None:
    shares = GOALS[goal](Record(landed, {}, LINE), spent)
    assert shares
    assert all(weight > 0 for _, weight in shares)
    assert len({name for name, _ in shares}) == len(shares)
    assert all((name.name is None) is (name.why is not None) for name, _ in shares)
