"""What people see first: one best bet, two to look into, two quick fixes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from findings import each, finding, frame
from hansei.bets.counting import count, rank
from hansei.bets.model import Bet, Category
from hansei.retro.retro import short_list

FOUR_WEEKS = frame(range(28))


def bet(key: str, tokens: int | None, heuristic: str, category: Category = Category.FIX) -> Bet:
    told = finding(each(range(28), tokens), key=key, heuristic=heuristic, category=category)
    return count(told, FOUR_WEEKS, of_sessions=28, rent_tokens=None)


def chosen(*bets: Bet) -> list[str]:
    return [it.finding.key for it in short_list(sorted(bets, key=rank))]


def test_the_best_comes_first_whatever_it_is_then_what_to_look_into_then_fixes() -> None:
    look, fix = Category.INVESTIGATE, Category.FIX
    assert chosen(
        *(bet(f"look {i}", 500 - i, f"l{i}", look) for i in range(4)),
        *(bet(f"fix {i}", 900 - i, f"f{i}", fix) for i in range(4)),
    ) == ["fix 0", "look 0", "look 1", "fix 1", "fix 2"]


def test_no_heuristic_fills_the_list() -> None:
    assert chosen(*(bet(f"{i}", 900 - i, "same") for i in range(9))) == ["0", "1"]


def test_what_is_worth_nothing_is_left_out_and_what_is_unknown_is_not() -> None:
    assert chosen(bet("nothing", 0, "a"), bet("unknown", None, "b")) == ["unknown"]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5) | st.none(), st.sampled_from("abc"), st.sampled_from(list(Category))
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
    worth = [it for it in bets if it.net is None or it.score > 0]
    assert found[:1] == worth[:1]
