"""Events survive their journey to bytes and to rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from any_event import events
from hansei.events.codec import decode, encode
from hansei.events.keys import event_key
from hansei.events.model import AnyEvent, RequestUsage
from hansei.events.tools import canonical_tool, mcp_server
from hansei.events.usage import merge, total


@given(events())
def test_every_event_survives_the_codec(event: AnyEvent) -> None:
    assert decode(encode(event)) == event


@given(st.lists(st.text(), min_size=1, max_size=4), st.lists(st.text(), min_size=1, max_size=4))
def test_keys_tell_different_ids_apart(one: list[str], two: list[str]) -> None:
    if not any("\x1f" in part for part in one + two):
        assert (event_key(*one) == event_key(*two)) == (one == two)


def test_keys_fit_into_an_sqlite_integer() -> None:
    for i in range(1000):
        assert -(2**63) <= event_key("a", str(i)) < 2**63


COUNTS = st.none() | st.integers(0, 10**9)
USAGES = st.builds(
    RequestUsage,
    key=st.just(1),
    session=st.just("s"),
    input=COUNTS,
    cache_read=COUNTS,
    cache_write_5m=COUNTS,
    cache_write_1h=COUNTS,
    output=COUNTS,
    reasoning=COUNTS,
    lines=st.integers(1, 50),
    repeated=st.integers(0, 10**6),
)


@given(USAGES, USAGES, USAGES)
def test_tellings_of_a_request_merge_in_any_order(
    one: RequestUsage, two: RequestUsage, three: RequestUsage
) -> None:
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
    assert merge(one, one) == one


@given(USAGES, USAGES)
def test_merging_never_loses_a_token(one: RequestUsage, two: RequestUsage) -> None:
    assert total(merge(one, two)) >= max(total(one), total(two))


def test_tools_have_one_name_over_all_agents() -> None:
    assert canonical_tool("Bash") == canonical_tool("exec_command") == "shell"
    assert canonical_tool("Edit") == canonical_tool("apply_patch") == "edit"
    assert canonical_tool("mcp__github__create_issue") == "mcp"
    assert mcp_server("mcp__github__create_issue") == "github"
    assert canonical_tool("SomethingNew") == "other"
