"""What is known after the same things were told twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from hansei.events.model import Reply, RequestUsage
from hansei.sources.contract import latest

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent


def reply(key: int, session: str, text: str) -> Reply:
    return Reply(key=key, session=session, text=text)


def usage(key: int, session: str, output: int) -> RequestUsage:
    return RequestUsage(key=key, session=session, output=output)


events: st.SearchStrategy[AnyEvent] = st.one_of(
    st.builds(reply, st.integers(1, 3), st.sampled_from("ab"), st.text(max_size=2)),
    st.builds(usage, st.integers(4, 6), st.sampled_from("ab"), st.integers(0, 9)),
)


def test_a_session_may_correct_itself_but_no_other() -> None:
    told = [reply(1, "a", "be"), reply(1, "b", "copy"), reply(1, "a", "better")]
    assert latest(told) == [reply(1, "a", "better")]


def test_a_request_is_merged_whoever_tells_it() -> None:
    told = [usage(1, "a", 3), usage(1, "b", 7), usage(1, "a", 5)]
    assert latest(told) == [usage(1, "a", 7)]


@given(st.lists(events), st.lists(events))
def test_what_is_known_can_be_told_again_before_the_rest(
    first: list[AnyEvent], then: list[AnyEvent]
) -> None:
    assert latest(latest(first) + then) == latest(first + then)


@given(st.lists(events))
def test_each_key_is_known_once_in_the_order_of_first_telling(told: list[AnyEvent]) -> None:
    assert [event.key for event in latest(told)] == list(dict.fromkeys(event.key for event in told))
