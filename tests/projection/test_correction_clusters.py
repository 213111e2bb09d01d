"""Corrections of several sessions that say the same."""

from __future__ import annotations

from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from hansei.projection.corrections import Correction, Kind, Rule, clusters
from hansei.projection.corrections.likeness import normal_form


def said(words: str, seq: int = 1, at: int | None = None) -> Correction:
    return Correction(seq, Kind.CORRECTS, at, words, 1, None, None, Rule.NO, 1, normal_form(words))


def groups(*words: str) -> list[set[str]]:
    """Which sentences come together; each is said in a session of its own."""
    rows = [(f"s{number}", said(text, at=number)) for number, text in enumerate(words)]
    names = {f"s{number}#1": text for number, text in enumerate(words)}
    return [{names[member] for member in it.members} for it in clusters(rows)]


def test_small_differences_are_one_cluster() -> None:
    one, other = "Please use metres in the tide table.", "no, use metres in the tide tables, please"
    third = "Write a test for the pier module."
    assert groups(one, third, "use metres in the tide table!") == [
        {one, "use metres in the tide table!"},
        {third},
    ]
    assert groups(one, other) == [{one, other}]


def test_what_to_do_and_what_not_to_do_are_never_one_cluster() -> None:
    for one, other in (
        ("use metres in the tide table", "don't use metres in the tide table"),
        ("use metres, not feet", "use feet, not metres"),
        ("always write the unit behind the number", "never write the unit behind the number"),
        ("写单位", "不要写单位"),
    ):
        assert len(groups(one, other)) == 2


def test_a_cluster_keeps_its_name_when_more_is_said() -> None:
    first = ("a", said("use metres in the tide table", at=1))
    later = ("b", said("use metres in the tide table please", at=5))
    earlier_name = clusters([first])[0].name
    (both,) = clusters([later, first])
    assert both.name == earlier_name
    assert (both.members, both.sessions, both.first, both.last) == (("a#1", "b#1"), 2, 1, 5)


def test_the_most_common_comes_first() -> None:
    rows = [
        ("a", said("write tests", at=1)),
        ("b", said("use metres", at=2)),
        ("c", said("use metres", at=3)),
    ]
    assert [it.words for it in clusters(rows)] == ["use metres", "write tests"]


WORDS = st.lists(
    st.sampled_from(["use", "not", "metres", "feet", "table", "pier", "the", "never"]), max_size=7
)


@given(st.lists(WORDS.map(" ".join), max_size=12))
def test_order_changes_nothing_and_nothing_is_lost(texts: list[str]) -> None:
    rows = [(f"s{number}", said(text, at=number)) for number, text in enumerate(texts)]
    made = clusters(rows)
    assert clusters(reversed(rows)) == made
    assert sorted(it for one in made for it in one.members) == sorted(f"{s}#1" for s, _ in rows)


def test_four_times_as_many_rows_take_no_sixteen_times_as_long() -> None:
    few, many = (min(_seconds(count) for _ in range(2)) for count in (2_500, 10_000))
    assert many < 12 * few


def _seconds(count: int) -> float:
    rows = [
        (
            f"s{number % 500}",
            said(f"use part {number % 4000} of shelf {number % 37} for the table", number, number),
        )
        for number in range(count)
    ]
    begun = process_time()
    assert len(clusters(rows)) > 1
    return process_time() - begun
