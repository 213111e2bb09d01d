"""Questions put to the whole log: both tiers answer as one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from hansei.errors import UsageError
from hansei.events.keys import event_key
from hansei.events.model import (
    AnyEvent,
    Basis,
    FileEdit,
    Hunk,
    SlashCommand,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.ops.search import KINDS
from hansei.store import cold, log, query, seal
from hansei.store.database import Store, open_store
from hansei.store.query import MARKS, Choice, Pattern
from pieces import call, piece, prompt, reply, result

DAY = 86_400_000
WEEK = 7 * DAY


def keep(store: Store, now: int, events: Iterable[AnyEvent], path: str = "/t/one.jsonl") -> None:
    """Take in events; those older than a week are sealed at once."""
    one = piece(events, path=path)
    log.commit(store, [one], now=now, seal_before=now - WEEK)


def everything(store: Store, **narrowed: object) -> Choice:
    sessions = [number for (number,) in store.db.execute("SELECT id FROM sessions")]
    fields = {"sessions": sessions, "kinds": list(KINDS.values()), **narrowed}
    return Choice(**fields)  # type: ignore[arg-type]


def found(store: Store, pattern: Pattern | str, **narrowed: object) -> list[tuple[int, int]]:
    """Session and number of every match, in the order of `places`."""
    wanted = Pattern(pattern) if isinstance(pattern, str) else pattern
    with query.opened(store) as opened:
        matches = opened.find(wanted, everything(store, **narrowed))
        places = [place for part in opened.places(None, 100) for place in part]
    assert matches.events == len(places)
    assert matches.sessions == len({place.session for place in places})
    assert matches.damaged == []
    return [(place.session, place.seq) for place in places]


def test_both_tiers_are_searched(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now - 30 * DAY, "an old needle")])
    keep(store, now, [prompt("a", 2, now, "a new needle")])
    assert store.db.execute("SELECT count(*) FROM sealed").fetchone() == (1,)
    assert found(store, "needle") == [(1, 1), (1, 2)]


def test_a_hot_row_hides_the_sealed_one_it_replaces(store: Store, now: int) -> None:
    old = now - 30 * DAY
    keep(store, now, [reply("a", 1, old, "a needle")])
    keep(store, now, [reply("a", 1, old, "only hay")])
    assert store.db.execute("SELECT count(*) FROM events").fetchone() == (1,)
    assert found(store, "needle") == []
    assert found(store, "hay") == [(1, 1)]


def test_of_two_sealed_rows_the_newer_file_counts(store: Store, now: int) -> None:
    old = now - 30 * DAY
    for text in ("a needle", "only hay", "a pin"):
        keep(store, now, [reply("a", 1, old, text)])
        seal.seal(store, now=now, seal_before=now - WEEK)
    assert store.db.execute("SELECT count(*) FROM sealed").fetchone() == (3,)
    assert found(store, "needle") == []
    assert found(store, "hay") == []
    assert found(store, "pin") == [(1, 1)]


def test_a_status_that_was_corrected_later_counts_as_corrected(store: Store, now: int) -> None:
    old = now - 30 * DAY
    keep(store, now, [call("a", 1, old, "make"), result("a", 1, old, Status.UNKNOWN)])
    keep(store, now, [result("a", 1, old, Status.FAILED)])
    assert found(store, "make", status="failed") == [(1, 1)]
    assert found(store, "make", status="unknown") == []


def test_folding_files_changes_nothing(store: Store, now: int) -> None:
    old = now - 30 * DAY
    for number in range(cold.SMALL_FILES + 1):
        keep(store, now, [prompt("a", number, old, f"needle {number}")])
    assert store.db.execute("SELECT count(*) FROM sealed").fetchone() == (1,)
    assert len(found(store, "needle")) == cold.SMALL_FILES + 1


@pytest.mark.parametrize("age", [0, 30 * DAY])
def test_call_result_and_edit_share_the_tool_and_status_of_the_call(
    store: Store, now: int, age: int
) -> None:
    at = now - age
    edit = FileEdit(
        key=event_key("edit"),
        session="a",
        at=at,
        call="call-a-1",
        path="needle.py",
        operation="update",
    )
    other = ToolCall(
        key=event_key("other"),
        session="a",
        at=at,
        call="other",
        tool=Tool.READ,
        name="Read",
        text="needle.py",
    )
    answer = ToolResult(
        key=event_key("answer"),
        session="a",
        at=at,
        call="call-a-1",
        text="needle not found",
        status=Status.FAILED,
        basis=Basis.EXIT_CODE,
    )
    keep(
        store,
        now,
        [prompt("a", 1, at, "needle"), call("a", 1, at, "grep needle"), answer, edit, other],
    )
    assert found(store, "needle", status="failed") == [(1, 2), (1, 3), (1, 4)]
    assert found(store, "needle", tool="shell") == [(1, 2), (1, 3), (1, 4)]
    assert found(store, "needle", tool="read", status="failed") == []
    assert found(store, "needle", status="ok") == []


def test_a_call_without_an_answer_has_an_unknown_status(store: Store, now: int) -> None:
    keep(store, now, [call("a", 1, now, "sleep needle")])
    assert found(store, "needle", status="unknown") == [(1, 1)]


def test_time_and_kind_narrow_the_search(store: Store, now: int) -> None:
    for age in (0, 20, 40):
        keep(store, now, [prompt("a", age, now - age * DAY, "needle")])
    keep(store, now, [reply("a", 1, now, "needle"), prompt("a", 99, None, "needle")])
    assert found(store, "needle", since=now - 30 * DAY) == [(1, n) for n in (1, 2, 4, 5)]
    assert found(store, "needle", until=now - 30 * DAY) == [(1, 3), (1, 5)]
    assert found(store, "needle", kinds=["reply"]) == [(1, 4)]
    assert found(store, "needle", sessions=[]) == []


def test_the_session_with_the_newest_match_comes_first_and_reads_forward(
    store: Store, now: int
) -> None:
    keep(store, now, [prompt("a", 1, now - 3, "needle"), prompt("a", 2, now - 1, "needle")])
    keep(store, now, [prompt("b", 1, now - 2, "needle"), prompt("b", 2, now, "hay")], "/t/b")
    keep(store, now, [prompt("c", 1, now - 40 * DAY, "needle")], "/t/c")
    assert found(store, "needle") == [(1, 1), (1, 2), (2, 1), (3, 1)]
    with query.opened(store) as opened:
        opened.find(Pattern("needle"), everything(store))
        (newest,) = opened.places(2, 100)
    assert [(place.session, place.seq) for place in newest] == [(1, 2), (2, 1)]


def test_places_come_in_parts_of_the_size_asked_for(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", number, now, "needle") for number in range(5)])
    with query.opened(store) as opened:
        opened.find(Pattern("needle"), everything(store))
        assert [len(part) for part in opened.places(None, 2)] == [2, 2, 1]


def test_rows_are_those_of_the_log_in_the_order_asked_for(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now - 30 * DAY, "needle 1")])
    keep(store, now, [prompt("a", 2, now, "needle 2")])
    with query.opened(store) as opened:
        opened.find(Pattern("needle"), everything(store))
        (places,) = opened.places(None, 100)
        rows = opened.rows(places[::-1])
    assert [row[1] for row in rows] == [2, 1]
    assert rows[0] in store.db.execute("SELECT * FROM events").fetchall()
    (path,) = store.db.execute("SELECT path FROM sealed").fetchone()
    assert rows[1:] == cold.read_file(store.folder / path)


@pytest.mark.parametrize("age", [0, 30 * DAY])
@pytest.mark.parametrize(
    "text",
    ['say "hi"', "one\ntwo", "back\\slash", "tab\there", "Grüße, Welt", "日本語", "a\x1b[0m", "n"],
)
def test_what_json_escapes_is_found_in_arguments_and_hunks(
    store: Store, now: int, age: int, text: str
) -> None:
    at = now - age
    arguments = {"edits": [{"new": f"before {text} after"}], "limit": 3}
    asked = ToolCall(
        key=1, session="a", at=at, call="c", tool=Tool.EDIT, name="Edit", arguments=arguments
    )
    hunks = [Hunk(1, "", f"x {text} y"), Hunk(None, "z", "")]
    edit = FileEdit(key=2, session="a", at=at, call="c", path="p", operation="update", hunks=hunks)
    keep(store, now, [asked, edit])
    for case_sensitive in (False, True):
        assert found(store, Pattern(text, False, case_sensitive)) == [(1, 1), (1, 2)]


@pytest.mark.parametrize("regex", [False, True])
@pytest.mark.parametrize("text", ["edits", "update", "message", "nbefore", '":', "tool_call"])
def test_names_of_fields_and_escapes_are_not_text(
    store: Store, now: int, text: str, regex: bool
) -> None:
    asked = ToolCall(
        key=1,
        session="a",
        at=now,
        call="c",
        tool=Tool.EDIT,
        name="Edit",
        message="message",
        arguments={"edits": [{"new": "x\nbefore"}]},
    )
    edit = FileEdit(key=2, session="a", at=now, call="c", path="p", operation="update")
    keep(store, now, [asked, edit])
    assert found(store, Pattern(text, regex)) == []


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ("^import os$", True),
        (r"\bimport\b.*\bos\b", True),
        (r"import\s+(os|sys)", True),
        ("(?-i)IMPORT", False),
        ("^os", False),
        ("IMPORT os", True),
        (r'"quoted"', True),
    ],
)
def test_a_regular_expression_sees_the_lines_inside_arguments(
    store: Store, now: int, expression: str, matches: bool
) -> None:
    arguments = {"content": 'first\nimport os\n"quoted"\n'}
    asked = ToolCall(
        key=1, session="a", at=now, call="c", tool=Tool.WRITE, name="Write", arguments=arguments
    )
    keep(store, now, [asked])
    assert bool(found(store, Pattern(expression, regex=True))) is matches


def test_letter_case_is_told_apart_only_on_request(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now, "ÜBER den Wolken"), prompt("a", 2, now, "über")])
    assert found(store, "über") == [(1, 1), (1, 2)]
    assert found(store, Pattern("über", case_sensitive=True)) == [(1, 2)]
    assert found(store, Pattern("ü.er", regex=True, case_sensitive=True)) == [(1, 2)]


@pytest.mark.parametrize("age", [0, 30 * DAY])
def test_letters_outside_ascii_that_are_ascii_capitals_are_found(
    store: Store, now: int, age: int
) -> None:
    kelvin_and_long_s = "\u212aelvin me\u017f\u017fage"
    keep(store, now, [prompt("a", 1, now - age, kelvin_and_long_s)])
    assert found(store, "kelvin message") == [(1, 1)]
    assert found(store, Pattern("kelvin message", case_sensitive=True)) == []


def test_plain_text_is_no_regular_expression(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now, "[secret:x] a.b(c) $1 \\d"), prompt("a", 2, now, "axb")])
    for text in ("[secret:", "a.b", "(c)", "$1", "\\d"):
        assert found(store, text) == [(1, 1)]
    assert found(store, "' OR 'a' = 'a") == []


def test_a_slash_command_is_found_by_its_name(store: Store, now: int) -> None:
    told = SlashCommand(key=1, session="a", at=now, name="compact", text="keep the plan")
    keep(store, now, [told])
    assert found(store, "compact") == found(store, "the plan") == [(1, 1)]


def test_marks_stand_around_every_match_and_nowhere_else(store: Store) -> None:
    before, after = MARKS
    with query.opened(store) as opened:
        marked = opened.marked(Pattern(r"\bfoo\b", regex=True), ["foobar foo FOO", before, ""])
        assert marked == [f"foobar {before}foo{after} {before}FOO{after}", "\ufffd", ""]
        assert opened.marked(Pattern("a.b"), ["axb A.B"]) == [f"axb {before}A.B{after}"]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("foo(bar", "at character 4: missing )"),
        ("ab[c-", "at character 3: missing ]"),
        (r"a\q", r"at character 2: invalid escape sequence"),
        ("(?<=a)b", "at character 1"),
        ("x**", "at character 2: bad repetition"),
        ("a{5000}", "invalid repetition size"),
        ("((a{100}){100}){100}", "repetition"),
        ("a*", "also matches where nothing stands"),
    ],
)
def test_an_expression_that_cannot_be_meant_is_refused(
    store: Store, expression: str, words: str
) -> None:
    with query.opened(store) as opened, pytest.raises(UsageError) as refused:
        opened.check(Pattern(expression, regex=True))
    assert words in refused.value.message


def test_long_text_is_found_and_longer_text_refused(store: Store, now: int) -> None:
    text = 'nee"dle ' * (query.MOST_CHARACTERS // 9)
    keep(store, now, [prompt("a", 1, now, f"x{text}y"), call("a", 1, now - 30 * DAY, text)])
    assert found(store, text.upper()) == [(1, 1), (1, 2)]
    with query.opened(store) as opened, pytest.raises(UsageError, match="1,001 characters long"):
        opened.check(Pattern("x" * 1001))


@pytest.mark.timeout(20)
def test_an_expression_that_ruins_a_backtracking_engine_is_harmless(store: Store, now: int) -> None:
    keep(store, now, [prompt("a", 1, now, "a" * 50_000 + "!")])
    assert found(store, Pattern(r"(a+)+$", regex=True)) == []


def damaged_store(store: Store, now: int) -> Path:
    """Two sealed files, one of which is cut short; its path."""
    keep(store, now, [prompt("a", 1, now - 30 * DAY, "needle")])
    keep(store, now, [prompt("b", 1, now - 30 * DAY, "needle")], "/t/b")
    keep(store, now, [prompt("b", 2, now, "needle")], "/t/b")
    (path,) = store.db.execute("SELECT path FROM sealed ORDER BY id").fetchone()
    return store.folder / str(path)


@pytest.mark.parametrize("harm", ["cut short", "overwritten", "gone", "emptied"])
def test_a_damaged_file_is_named_and_the_rest_is_searched(
    store: Store, now: int, harm: str
) -> None:
    path = damaged_store(store, now)
    data = path.read_bytes()
    if harm == "gone":
        path.unlink()
    else:
        half = len(data) // 2
        path.write_bytes(
            {"cut short": data[:half], "overwritten": b"\xff" * len(data), "emptied": b""}[harm]
        )
    with query.opened(store) as opened:
        matches = opened.find(Pattern("needle"), everything(store))
        (places,) = opened.places(None, 100)
    assert [(place.session, place.seq) for place in places] == [(2, 1), (2, 2)]
    assert matches.events == 2
    assert [bad.path for bad in matches.damaged] == [str(path)]
    assert matches.damaged[0].reason


def test_files_folded_by_another_process_meanwhile_are_not_taken_for_damage(
    store: Store, now: int
) -> None:
    old = now - 30 * DAY
    for number in range(cold.SMALL_FILES):
        keep(store, now, [prompt("a", number, old, f"needle {number}")])
    other = open_store(store.folder, now=now)
    try:
        with query.opened(store) as opened:
            choice = everything(store)  # from here on the old manifest is what this reader sees
            keep(other, now, [prompt("a", 99, old, "needle 99")])
            cold.sweep(other)
            matches = opened.find(Pattern("needle"), choice)
    finally:
        other.close()
    assert matches.damaged == []
    assert matches.events == cold.SMALL_FILES + 1


@pytest.mark.parametrize("name", ["s*", "s[t]*? 'x'", "s?x", "**"])
def test_a_folder_whose_name_looks_like_a_pattern_is_read_and_no_other(
    tmp_path: Path, now: int, name: str
) -> None:
    for folder in ("stx", name):
        store = open_store(tmp_path / folder, now=now)
        try:
            keep(store, now, [prompt("a", 1, now - 30 * DAY, "needle")])
            assert found(store, "needle") == [(1, 1)]
        finally:
            store.close()


def test_nothing_outside_the_sealed_files_can_be_read(store: Store, tmp_path: Path) -> None:
    import duckdb

    (tmp_path / "other.csv").write_text("a\n1\n")
    with query.opened(store) as opened, pytest.raises(duckdb.PermissionException):
        opened.duck.execute(f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")


def test_a_search_leaves_no_file_behind(store: Store, now: int, tmp_path: Path) -> None:
    keep(store, now, [prompt("a", 1, now - 30 * DAY, "needle")])
    before = sorted(path for path in tmp_path.rglob("*") if path.suffix != ".db-wal")
    found(store, "needle")
    assert sorted(path for path in tmp_path.rglob("*") if path.suffix != ".db-wal") == before


def test_reading_many_hot_rows_in_parts_finds_them_all(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "HOT_BYTES", 50)
    keep(store, now, [prompt("a", number, now, f"a needle {number}") for number in range(30)])
    assert len(found(store, "needle")) == 30


def test_the_query_layer_is_imported_without_heavy_libraries() -> None:
    code = (
        "import sys, hansei.store.query; print('duckdb' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
