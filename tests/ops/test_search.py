"""Searching, end to end: what is found, what is shown of it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from any_event import events as any_events
from hansei.cli.commands.search import listing
from hansei.errors import UsageError
from hansei.events.keys import event_key
from hansei.events.model import (
    AnyEvent,
    Basis,
    FileEdit,
    Hunk,
    Status,
    ToolResult,
)
from hansei.ops import search as ops
from hansei.ops.scope import Scope
from hansei.ops.search import Found, Line, Wanted, around, search, texts_of
from hansei.ops.show import show
from hansei.store import log, reading
from hansei.store.database import Store, open_store
from hansei.store.query import Pattern
from pieces import call, piece, prompt, reply, request

DAY = 86_400_000
WEEK = 7 * DAY


def keep(
    store: Store, now: int, events: Iterable[AnyEvent], path: str = "/t/one.jsonl", **facts: str
) -> None:
    one = piece(events, path=path, **facts)
    log.commit(store, [one], now=now, seal_before=now - WEEK)


def look(
    store: Store,
    text: str,
    *,
    kinds: Sequence[str] = (),
    context: int = 0,
    limit: int | None = 20,
    scope: Scope | None = None,
    **pattern: bool,
) -> Found:
    wanted = Wanted(Pattern(text, **pattern), kinds)
    return search(store, scope or Scope(), wanted, limit=limit, context=context)


def references(found: Found) -> list[str]:
    return [hit.reference for result in found.results for hit in result.hits]


def shown_lines(found: Found) -> list[str]:
    return [
        line.text
        for result in found.results
        for hit in result.hits
        for passage in hit.passages
        for line in passage.lines
    ]


LETTERS = st.text(
    st.sampled_from('aAbsSkK\u212a\u017füÜß "\\\n\tn/é🙂\x00'), min_size=1, max_size=3
)


@settings(max_examples=25)
@given(told=st.lists(any_events(), min_size=1, max_size=8), data=st.data())
def test_both_tiers_find_just_the_events_that_hold_the_text(
    tmp_path_factory: pytest.TempPathFactory, told: list[AnyEvent], data: st.DataObject
) -> None:
    """The reference is Python: a text in any of an event's strings, capitals told apart."""
    now = 2**62
    for seal_before in (-(2**63), now):  # all hot, then all sealed that has a time
        store = open_store(tmp_path_factory.mktemp("law"), now=now)
        try:
            one = piece(told, entrypoint="cli")
            log.commit(store, [one], now=now, seal_before=seal_before)
            stored = {
                (native, seq): [text for _, text in texts_of(event)]
                for number, native in store.db.execute("SELECT id, native FROM sessions").fetchall()
                for seq, event in reading.events(store, number)
            }
            texts = sorted({text for held in stored.values() for text in held if text.strip()})
            whole = data.draw(st.sampled_from(texts) if texts else LETTERS)
            begin = data.draw(st.integers(0, len(whole) - 1))
            wanted = whole[begin : begin + data.draw(st.integers(1, 5))]
            if not wanted.strip():
                continue
            expected = {key for key, held in stored.items() if any(wanted in t for t in held)}
            found = look(store, wanted, limit=None, case_sensitive=True)
            assert {
                (result.id, hit.seq) for result in found.results for hit in result.hits
            } == expected
            assert found.hits == found.shown == len(expected)
            assert all(hit.passages for result in found.results for hit in result.hits)
        finally:
            store.close()


@settings(max_examples=25)
@given(texts=st.lists(LETTERS, min_size=1, max_size=6), wanted=LETTERS.filter(str.strip))
def test_small_letters_find_capitals_as_python_would(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], wanted: str
) -> None:
    now = 1_790_000_000_000
    store = open_store(tmp_path_factory.mktemp("case"), now=now)
    try:
        ages = [0 if number % 2 else 30 * DAY for number in range(len(texts))]
        told = [
            call("a", number, now - age, text)
            for number, (age, text) in enumerate(zip(ages, texts, strict=True))
        ]
        keep(store, now, told)
        same = re.compile(re.escape(wanted), re.IGNORECASE)
        expected = [n for n, text in enumerate(texts, 1) if same.search(text)]
        found = look(store, wanted)
        assert sorted(hit.seq for result in found.results for hit in result.hits) == expected
    finally:
        store.close()


def test_a_hit_can_be_opened_by_its_reference(store: Store, now: int) -> None:
    keep(store, now, [prompt("aaaa-1", 1, now, "hay"), prompt("aaaa-1", 2, now, "a needle")])
    found = look(store, "needle")
    (reference,) = references(found)
    ((seq, event),) = show(store, reference).events
    assert seq == 2
    assert event.at == now


def test_hits_are_grouped_under_their_session(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now - 9, "first needle"), prompt("a", 2, now, "needle")])
    keep(store, now, [prompt("b", 1, now - 5, "needle")], "/t/b", title="Sewing")
    found = look(store, "needle")
    assert [(result.id, result.name, len(result.hits)) for result in found.results] == [
        ("a", "first needle", 2),
        ("b", "Sewing", 1),
    ]


def test_the_totals_count_what_is_not_shown(store: Store, now: int) -> None:
    for session in ("a", "b", "c"):
        told = [prompt(session, number, now - number, "needle") for number in range(4)]
        keep(store, now, told, f"/t/{session}")
    found = look(store, "needle", limit=5)
    assert (found.hits, found.sessions, found.shown) == (12, 3, 5)
    assert len(references(found)) == 5
    assert look(store, "needle", limit=None).shown == 12


def test_more_events_than_are_opened_at_once_are_all_shown_once(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ops, "OPENED_AT_ONCE", 2)
    keep(store, now, [prompt("a", number, now, f"needle {number}") for number in range(5)])
    found = look(store, "needle", limit=None)
    assert [len(result.hits) for result in found.results] == [5]
    assert len(set(references(found))) == 5


def test_the_scope_narrows_the_search(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now, "needle")], cwd="/work/one")
    keep(store, now, [prompt("b", 1, now - 90 * DAY, "needle")], "/t/b", cwd="/work/two")
    numbers = dict(store.db.execute("SELECT name, id FROM workspaces").fetchall())
    two = look(store, "needle", scope=Scope(workspace=numbers["two"], workspace_name="two"))
    assert references(two) == ["b#1"]
    assert two.searched_sessions == 1
    assert references(look(store, "needle", scope=Scope(since=now - DAY))) == ["a#1"]
    assert references(look(store, "needle", scope=Scope(agent="other"))) == []


def test_of_a_long_session_only_the_events_of_the_time_asked_for_are_found(
    store: Store, now: int
) -> None:
    keep(store, now, [prompt("a", age, now - age * DAY, "needle") for age in (20, 10, 0)])
    assert references(look(store, "needle", scope=Scope(since=now - DAY))) == ["a#3"]
    assert references(look(store, "needle", scope=Scope(until=now - 15 * DAY))) == ["a#1"]


def test_matching_lines_come_with_their_neighbours(store: Store, now: int) -> None:
    lines = ["one", "two needle", "three", "four", "five", "six needle"]
    keep(store, now, [reply("a", 1, now, "\n".join(lines))])
    assert shown_lines(look(store, "needle")) == ["two needle", "six needle"]
    near = look(store, "needle", context=1)
    assert shown_lines(near) == ["one", "two needle", "three", "five", "six needle"]
    (passage,) = near.results[0].hits[0].passages
    assert [line.number for line in passage.lines] == [1, 2, 3, 5, 6]
    assert [line.matches for line in passage.lines] == [[], [(4, 10)], [], [], [(4, 10)]]


def test_of_many_matching_lines_the_first_are_shown_and_the_rest_counted(
    store: Store, now: int
) -> None:
    keep(store, now, [reply("a", 1, now, "\n".join(f"needle {n}" for n in range(10)))])
    (hit,) = look(store, "needle").results[0].hits
    assert [line.text for line in hit.passages[0].lines] == ["needle 0", "needle 1", "needle 2"]
    assert hit.more_lines == 7


def test_a_match_over_several_lines_marks_its_part_of_each(store: Store, now: int) -> None:
    keep(store, now, [reply("a", 1, now, "an old\nrusty\r\nneedle")])
    (hit,) = look(store, "OLD\nrusty\r\nneed").results[0].hits
    assert [(line.text, line.matches) for line in hit.passages[0].lines] == [
        ("an old", [(3, 6)]),
        ("rusty", [(0, 5)]),
        ("needle", [(0, 4)]),
    ]


def test_a_match_that_ends_with_its_line_does_not_mark_the_next(store: Store, now: int) -> None:
    keep(store, now, [reply("a", 1, now, "a needle\nhay")])
    assert shown_lines(look(store, "needle\n")) == ["a needle"]


def test_the_field_of_a_match_is_told_and_a_command_is_shown_once(store: Store, now: int) -> None:
    edit = FileEdit(
        key=event_key("edit"),
        session="a",
        at=now,
        call="c",
        path="src/haystack.py",
        operation="update",
        hunks=[Hunk(3, "old", "hay\na needle")],
    )
    keep(store, now, [call("a", 1, now, "grep needle"), edit])
    hits = look(store, "needle").results[0].hits
    assert [(hit.kind, hit.name) for hit in hits] == [("command", "Bash"), ("edit", None)]
    assert [[passage.field for passage in hit.passages] for hit in hits] == [
        ["text"],
        ["hunks.0.new"],
    ]


def test_a_result_tells_how_its_call_ended(store: Store, now: int) -> None:
    failed = ToolResult(
        key=1,
        session="a",
        at=now,
        call="c",
        text="no needle",
        status=Status.FAILED,
        basis=Basis.EXIT_CODE,
        exit_code=2,
    )
    keep(store, now, [failed])
    (hit,) = look(store, "needle").results[0].hits
    assert (hit.kind, hit.status, hit.exit_code) == ("output", "failed", 2)


def test_only_the_kinds_asked_for_are_searched(store: Store, now: int) -> None:
    told: list[AnyEvent] = [
        prompt("a", 1, now, "needle"),
        reply("a", 1, now, "needle"),
        call("a", 1, now, "needle"),
    ]
    keep(store, now, [*told, request("a", "m", now, input=1)])
    assert references(look(store, "needle", kinds=["command", "reply"])) == ["a#2", "a#3"]
    assert references(look(store, "needle", kinds=["notice"])) == []


@given(text=st.text(min_size=1, max_size=60), data=st.data(), room=st.integers(8, 80))
def test_a_long_line_is_cut_around_its_first_match(
    text: str, data: st.DataObject, room: int
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    stop = data.draw(st.integers(start + 1, len(text)))
    cut = around(Line(1, text, [(start, stop)]), room)
    assert len(cut.text) <= room
    ((first, last),) = cut.matches
    assert last > first
    assert text[start:stop].startswith(cut.text[first:last])


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(Pattern("")), "nothing to look for"),
        (Wanted(Pattern("  \t")), "nothing to look for"),
        (Wanted(Pattern("\udcff")), "not valid UTF-8"),
        (Wanted(Pattern("(", regex=True)), "cannot be understood at character 1"),
        (Wanted(Pattern("x"), kinds=["promt"]), "'promt' is not a kind"),
        (Wanted(Pattern("x"), tool="Bash"), "'Bash' is not a tool"),
        (Wanted(Pattern("x"), status="error"), "'error' is not a status"),
    ],
)
def test_what_cannot_be_meant_is_refused(store: Store, wanted: Wanted, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        search(store, Scope(), wanted)
    assert words in refused.value.message


def test_an_empty_store_has_no_hits(store: Store) -> None:
    found = look(store, "needle")
    assert (found.hits, found.sessions, found.searched_sessions) == (0, 0, 0)


def test_a_damaged_file_is_reported_with_the_answer(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now - 30 * DAY, "needle")])
    keep(store, now, [prompt("a", 2, now, "needle")])
    (path,) = store.db.execute("SELECT path FROM sealed").fetchone()
    (store.folder / path).write_bytes(b"PAR1 no more")
    found = look(store, "needle")
    assert references(found) == ["a#2"]
    assert len(found.unreadable) == 1
    assert str(path) in found.unreadable[0]


def test_what_is_printed_cannot_drive_the_terminal(store: Store, now: int) -> None:
    text = "\x1b]0;title\x07needle\x1b[2J" + "x" * 500
    keep(store, now, [reply("a", 1, now, text)], title="\x1b[31mred")
    lines = [click.unstyle(line) for line in listing(look(store, "needle"), everywhere=True)]
    assert not any("\x1b" in line or "\x07" in line for line in lines)
    assert any("needle" in line for line in lines)


def test_a_listing_ends_with_the_honest_total(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", number, now, "needle") for number in range(30)])
    told = [click.unstyle(it) for it in listing(look(store, "needle", limit=4), everywhere=False)]
    assert any(it.startswith("Showing 4 of 30 hits in 1 session") for it in told)
    told = [
        click.unstyle(it) for it in listing(look(store, "needle", limit=None), everywhere=False)
    ]
    assert any(it.startswith("30 hits in 1 session.") for it in told)
