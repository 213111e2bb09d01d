"""Sessions as trees: who belongs to whom, how long it took, and what it sums up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from any_event import events as any_events
from hansei.events.model import Interruption, Observation, RequestUsage, Status, ToolCall
from hansei.projection.exchanges import conversation
from hansei.projection.spans import Level, Span, State, Tree, spans, tree
from told import call, numbered, prompt, reply, result, usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.events.model import AnyEvent


def grown(*events: AnyEvent, children: Mapping[str, Tree] | None = None) -> Tree:
    told = conversation(numbered(events))
    return tree(told, session="s", cost=lambda it: 10, children=children or {})


def rows(*events: AnyEvent, children: Mapping[str, Tree] | None = None) -> list[Span]:
    return grown(*events, children=children).spans


def names(found: list[Span]) -> list[tuple[str, int | None, int]]:
    return [(it.level.value, it.seq, it.depth) for it in found]


def test_calls_of_one_request_are_siblings_below_it() -> None:
    found = rows(
        prompt("do it"),
        usage(100, 5, message="m1"),
        call("a", message="m1"),
        result("a"),
        call("b", message="m1"),
        result("b"),
        usage(120, 6, message="m2"),
        reply("done", message="m2"),
    )
    assert names(found) == [
        ("session", None, 0),
        ("turn", 1, 1),
        ("request", 2, 2),
        ("call", 3, 3),
        ("call", 5, 3),
        ("request", 7, 2),
    ]
    assert found[3].parent == found[4].parent == 2


def test_what_a_turn_and_a_call_say_stands_beside_their_rows() -> None:
    found = grown(prompt("do it"), usage(9), call("a", text="make test"), result("a"))
    assert found.texts == ["", "do it", "", "make test"]
    assert len(found.texts) == len(found.spans)


def test_the_rows_of_a_session_are_plain_values() -> None:
    told = conversation(numbered([prompt("x"), usage(9), call("a"), result("a")]))
    for span in spans(told, session="s", cost=lambda it: None):
        assert all(value is None or isinstance(value, int | str) for value in span)


def test_sums_are_rolled_up_to_the_session() -> None:
    found = rows(prompt("one"), usage(100, 5), reply("a"), prompt("two"), usage(130, 7), call("c"))
    session, *_ = found
    turns = [it for it in found if it.level is Level.TURN]
    assert [(it.requests, it.calls, it.input, it.output, it.cost) for it in turns] == [
        (1, 0, 100, 5, 10),
        (1, 1, 130, 7, 10),
    ]
    assert (session.requests, session.calls) == (2, 1)
    assert (session.input, session.output, session.cost) == (230, 12, 20)


def test_a_session_that_tells_no_tokens_has_unknown_sums_not_zero() -> None:
    found = rows(prompt("hello"), reply("hi"))
    assert (found[0].input, found[0].output, found[0].cost) == (None, None, None)
    assert (found[0].requests, found[0].unpriced) == (1, 1)


def test_a_call_without_result_is_orphaned_if_work_went_on_and_running_if_not() -> None:
    found = rows(prompt("x"), usage(9), call("a"), usage(9), call("b"), call("c"), result("c"))
    states = [it.state for it in found if it.level is Level.CALL]
    assert states == [State.ORPHANED, State.RUNNING, State.OK]


def test_after_an_interruption_nothing_runs_any_more() -> None:
    stop = Interruption(key=1, session="s")
    found = rows(prompt("x"), usage(9), call("a"), stop)
    assert [it.state for it in found if it.level is Level.CALL] == [State.ORPHANED]


def test_a_prompt_that_was_never_answered_is_a_turn_of_its_own() -> None:
    found = rows(
        prompt("first"),
        Interruption(key=7, session="s"),
        prompt("second"),
        usage(100, 5, message="m1"),
        reply("done", message="m1"),
    )
    turns = [(it.seq, it.requests) for it in found if it.level is Level.TURN]
    assert turns == [(1, 0), (3, 1)]


def test_a_failed_call_says_so() -> None:
    found = rows(prompt("x"), usage(9), call("a"), result("a", status=Status.FAILED))
    assert found[-1].state is State.FAILED


def test_times_run_from_what_a_request_was_given_to_the_end_of_its_answer() -> None:
    found = rows(
        prompt("x", at=1_000),
        usage(9, at=4_000),
        reply("y", at=4_000),
        call("a", at=5_000),
        result("a", at=9_000),
        prompt("next", at=60_000),
    )
    session, first, request, ran, second = found
    assert (request.started, request.ended) == (1_000, 5_000)
    assert (ran.started, ran.ended, ran.lasted) == (5_000, 9_000, 4_000)
    assert (first.started, first.ended) == (1_000, 9_000)
    assert second.waited == 51_000
    assert session.lasted == 59_000


def test_hooks_sharpen_when_a_call_began_and_ended() -> None:
    before = Observation(key=1, session="s", name="PreToolUse", call="a", at=6_000)
    after = Observation(key=2, session="s", name="PostToolUse", call="a", at=8_000)
    found = rows(prompt("x"), usage(9), call("a", at=5_000), result("a", at=9_000), before, after)
    ran = found[-1]
    assert (ran.started, ran.ended, ran.waited) == (6_000, 8_000, 1_000)


def test_times_that_contradict_each_other_give_no_duration() -> None:
    found = rows(prompt("x"), usage(9), call("a", at=9_000), result("a", at=5_000))
    assert found[-1].lasted is None


def test_a_subagent_stands_below_its_call_and_counts_in_every_sum_once() -> None:
    child = grown(prompt("look"), usage(50, 3), call("inner"), result("inner"))
    found = rows(
        prompt("x"), usage(100, 5), call("a"), result("a", child="kid"), children={"kid": child}
    )
    assert names(found)[3:] == [
        ("call", 3, 3),
        ("subagent", None, 4),
        ("turn", 1, 5),
        ("request", 2, 6),
        ("call", 3, 7),
    ]
    assert [it.parent for it in found] == [None, 0, 1, 2, 3, 4, 5, 6]
    assert (found[0].requests, found[0].calls, found[0].input) == (2, 2, 150)
    assert (found[4].requests, found[4].calls, found[4].input) == (1, 1, 50)


def test_a_subagent_no_call_is_known_to_have_started_stands_below_the_session() -> None:
    child = grown(prompt("look"), usage(50, 3))
    found = rows(prompt("x"), usage(100, 5), children={"stray": child})
    assert (found[3].level, found[3].parent, found[0].input) == (Level.SUBAGENT, 0, 150)


def test_usage_before_and_after_its_answer_give_the_same_tree() -> None:
    before = rows(prompt("x"), usage(9, 4), call("a"), result("a"), usage(12, 2), reply("y"))
    after = rows(prompt("x"), call("a"), usage(9, 4), result("a"), reply("y"), usage(12, 2))
    assert [(it.level, it.input, it.calls) for it in before] == [
        (it.level, it.input, it.calls) for it in after
    ]


@settings(max_examples=60)
@given(st.lists(any_events(), max_size=25))
def test_nothing_is_lost_and_nothing_counted_twice(events: list[AnyEvent]) -> None:
    found = rows(*events)
    asked = [it for it in events if isinstance(it, RequestUsage)]
    kept = {(it.message, None if it.message else it.key) for it in asked}
    assert found[0].calls == sum(isinstance(it, ToolCall) for it in events)
    assert (found[0].cost or 0) <= 10 * len(asked)
    assert len(kept) <= found[0].requests
    assert all(
        it.parent is not None and it.parent < place for place, it in enumerate(found) if place
    )
