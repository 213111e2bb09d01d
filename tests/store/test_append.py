"""What was read goes in once, whatever is read twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from any_event import events
from hansei.events.codec import encode
from hansei.events.model import AnyEvent, Status
from hansei.redaction.engine import Redactor, redact
from hansei.store import log
from hansei.store.database import Store
from hansei.store.rows import from_row, to_row
from hansei.store.transcripts import Piece
from pieces import KEY, call, derived, piece, prompt, reply, request, result, told

HOUR = 3_600_000


def commit(store: Store, *pieces: Piece, now: int, days: int = 7) -> log.Appended:
    return log.commit(store, pieces, now=now, seal_before=now - days * 24 * HOUR)


@given(events())
def test_a_row_is_the_whole_event(event: AnyEvent) -> None:
    (clean,) = redact([event], Redactor(KEY))
    row, body = to_row(clean)
    stored = (1, 2, row.key, row.at, row.kind, *body)
    assert encode(from_row(event.session, stored)) == encode(clean.event)


def test_committing_twice_adds_nothing(store: Store, now: int) -> None:
    told_events = [prompt("a", 1, now), call("a", 1, now), result("a", 1, now)]
    first = commit(store, piece(told_events), now=now)
    before = told(store), derived(store)
    second = commit(store, piece(told_events), now=now)
    assert (first.events, second.events, second.changed, second.replayed) == (3, 0, 0, 0)
    assert (told(store), derived(store)) == before


def test_events_are_numbered_in_the_order_they_were_told(store: Store, now: int) -> None:
    commit(store, piece([prompt("a", 1, now), prompt("b", 1, now)]), now=now)
    commit(store, piece([prompt("a", 2, now - HOUR)]), now=now)
    assert [seq for seq, _ in told(store)["toy a"]] == [1, 2]
    assert [seq for seq, _ in told(store)["toy b"]] == [1]


def test_a_later_telling_replaces_the_earlier_one(store: Store, now: int) -> None:
    commit(store, piece([reply("a", 1, now, "Hel")]), now=now)
    changed = commit(store, piece([reply("a", 1, now, "Hello")]), now=now)
    assert changed.changed == 1
    ((_, event),) = told(store)["toy a"]
    assert b'"Hello"' in event


def test_a_late_change_to_a_sealed_event_wins_over_it(store: Store, now: int) -> None:
    old = now - 30 * 24 * HOUR
    commit(store, piece([reply("a", 1, old, "Hel"), reply("a", 2, old, "second")]), now=now)
    assert store.db.execute("SELECT count(*) FROM events").fetchone() == (0,)
    commit(store, piece([reply("a", 1, old, "Hello")]), now=now)
    assert [b'"Hello"' in event for _, event in told(store)["toy a"]] == [True, False]


def test_a_result_that_changes_its_mind_is_tallied_once(store: Store, now: int) -> None:
    commit(store, piece([call("a", 1, now), result("a", 1, now, Status.UNKNOWN)]), now=now)
    commit(store, piece([result("a", 1, now, Status.FAILED)]), now=now)
    rows = store.db.execute("SELECT detail, n FROM tallies WHERE kind = 'tool_result' AND n > 0")
    assert rows.fetchall() == [("failed", 1)]


def test_a_fork_in_another_file_counts_once(store: Store, now: int) -> None:
    usage = {"input": 10, "cache_read": 1000, "output": 50}
    commit(store, piece([prompt("a", 1, now), request("a", "m1", now, **usage)]), now=now)
    fork = [
        request("b", "m1", now, **usage),
        request("b", "m2", now, **usage),
    ]
    appended = commit(store, piece(fork, path="/t/two.jsonl", cwd="/elsewhere"), now=now)
    assert (appended.events, appended.replayed) == (1, 1)
    assert store.db.execute("SELECT sum(input), count(*) FROM requests").fetchone() == (20, 2)
    assert store.db.execute("SELECT sum(tokens) FROM replays").fetchone() == (1060,)


def test_a_copy_that_knows_more_improves_the_original(store: Store, now: int) -> None:
    """The original was cut off while the response was streamed; the fork has its end."""
    commit(store, piece([request("a", "m1", now, input=10, output=1)]), now=now)
    commit(store, piece([request("b", "m1", now, input=10, output=70)], path="/two"), now=now)
    assert store.db.execute("SELECT sum(output) FROM requests").fetchone() == (70,)
    ((_, event),) = told(store)["toy a"]
    assert b'"output":70' in event


usage_lines = st.lists(
    st.tuples(st.sampled_from(["a", "b"]), st.integers(1, 3), st.integers(0, 99)), max_size=12
)


@given(usage_lines, st.randoms(use_true_random=False))
def test_requests_sum_up_the_same_in_any_order_and_grouping(
    tmp_path_factory: object, lines: list[tuple[str, int, int]], dice: object
) -> None:
    """The largest telling of each request counts, however the tellings were cut into readings."""
    import random

    from hansei.store.database import open_store

    assert isinstance(dice, random.Random)
    largest: dict[int, int] = {}
    for _, message, output in lines:
        largest[message] = max(largest.get(message, 0), output)
    shuffled = list(lines)
    dice.shuffle(shuffled)
    folder = tmp_path_factory.mktemp("sums")  # type: ignore[attr-defined]
    store = open_store(folder, now=0)
    try:
        for session, message, output in shuffled:
            telling = request(session, f"m{message}", 10, output=output)
            commit(store, piece([telling], path=f"/{session}"), now=100)
        total = store.db.execute("SELECT coalesce(sum(output), 0) FROM requests").fetchone()
        assert total == (sum(largest.values()),)
    finally:
        store.close()


def test_a_forgotten_session_does_not_come_back(store: Store, now: int) -> None:
    from hansei.store.removal import forget

    commit(store, piece([prompt("a", 1, now), prompt("b", 1, now)]), now=now)
    (number,) = store.db.execute("SELECT id FROM sessions WHERE native = 'a'").fetchone()
    forget(store, [number], now=now)
    commit(store, piece([prompt("a", 1, now), prompt("a", 2, now)]), now=now)
    assert list(told(store)) == ["toy b"]


def test_sessions_without_a_folder_belong_to_their_parents_workspace(
    store: Store, now: int
) -> None:
    commit(store, piece([prompt("a", 1, now)], cwd="/work/app"), now=now)
    child = piece([prompt("a/agent-1", 1, now)], path="/t/sub.jsonl", cwd=None, parent="a")
    commit(store, child, now=now)
    rows = store.db.execute("SELECT count(DISTINCT workspace) FROM sessions").fetchone()
    assert rows == (1,)


def test_what_is_said_first_stays_and_titles_may_change(store: Store, now: int) -> None:
    commit(store, piece([prompt("a", 1, now)], title="one", version="1.0"), now=now)
    commit(store, piece([prompt("a", 2, now)], cwd="/other", title="two"), now=now)
    row = store.db.execute("SELECT cwd, title, version FROM sessions").fetchone()
    assert row == ("/work/app", "two", "1.0")
