"""Cursor: what its fixtures do not already show."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import databases
from databases import Program
from hansei.config import Environment
from hansei.errors import UnreadableTranscript
from hansei.events.model import (
    Basis,
    FileEdit,
    Prompt,
    Reply,
    RequestUsage,
    Status,
    Tool,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.sources.agents import cursor
from hansei.sources.agents.cursor import DATABASE, LINES, SOURCE, STATE, TEXT, plain
from hansei.sources.agents.cursor.changes import compared
from hansei.sources.agents.cursor.places import unsqueezed
from hansei.sources.agents.cursor.records import CHAT, IGNORED, ITEMS, MESSAGE, ToolData
from hansei.sources.agents.cursor.results import ending
from hansei.sources.agents.cursor.tools import tool_of
from hansei.sources.contract import START, Cursor, Reading, Transcript
from hansei.sources.families import sqlite
from hansei.sources.families.addresses import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents" / "cursor"
DOCS = Path(__file__).parents[2] / "docs" / "formats" / "cursor.md"
ONE = "c0de1000-0000-4000-8000-000000000001"
TWO = "c0de1000-0000-4000-8000-000000000002"
TABLES = "".join(
    f"CREATE TABLE {name} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);"
    for name in ("ItemTable", "cursorDiskKV")
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "globalStorage"
    folder.mkdir()
    return folder / STATE


@pytest.fixture
def editor(path: Path) -> Iterator[Program]:
    running = Program(path)
    running(*(f"{part};" for part in TABLES.split(";") if part))
    yield running
    if running.process.poll() is None:
        running.kill()


def message(text: str, chat: str = ONE, identity: str = "m1", **fields: Any) -> str:
    value = json.dumps({"type": 2, "text": text, **fields}).replace("'", "''")
    return f"INSERT INTO cursorDiskKV VALUES ('bubbleId:{chat}:{identity}', '{value}')"


def write(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def create(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(TABLES)
    write(path, *statements)


def read(path: Path, since: Cursor = START, limit: int = 2**20) -> Reading:
    return SOURCE.read(Transcript(SOURCE.name, path, DATABASE), since, limit)


def replies(reading: Reading) -> list[str]:
    return [event.text for event in reading.events if isinstance(event, Reply)]


def state_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file of a folder: when it was changed, and what is in it."""
    return {
        item.name: (item.stat().st_mtime_ns, item.read_bytes())
        for item in folder.iterdir()
        if item.is_file()
    }


# --- a database in use is never locked or changed -------------------------------------------------


def test_rows_that_are_only_in_the_log_of_a_running_editor_are_read(
    path: Path, editor: Program
) -> None:
    editor("PRAGMA journal_mode = WAL", message("in the log"))
    before = state_of(path.parent)
    assert {STATE, f"{STATE}-wal", f"{STATE}-shm"} == set(before)
    assert replies(read(path)) == ["in the log"]
    assert state_of(path.parent) == before


def test_an_editor_in_the_middle_of_a_transaction_is_left_alone(
    path: Path, editor: Program
) -> None:
    editor("PRAGMA journal_mode = WAL", message("done"), "BEGIN IMMEDIATE")
    editor(message("half done", identity="m2"))
    before = state_of(path.parent)
    assert replies(read(path)) == ["done"]
    assert state_of(path.parent) == before
    assert editor("COMMIT") == ["[]"]
    assert sorted(replies(read(path))) == ["done", "half done"]


@pytest.mark.parametrize(
    "statements",
    [
        ["BEGIN EXCLUSIVE"],
        ["BEGIN EXCLUSIVE", message("not yet", identity="m2")],
        ["PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL", message("kept")],
        ["PRAGMA journal_mode = TRUNCATE", message("kept")],
        ["PRAGMA journal_mode = PERSIST", message("kept")],
    ],
    ids=["locked", "locked and written", "log kept to itself", "cut journal", "old journal"],
)
def test_a_locked_database_is_read_and_stays_as_it_is(
    path: Path, editor: Program, statements: list[str]
) -> None:
    editor(message("kept"), *statements)
    before = state_of(path.parent)
    assert replies(read(path)) == ["kept"]
    assert state_of(path.parent) == before


@pytest.mark.parametrize("shared", [True, False], ids=["with an index", "without"])
def test_what_a_killed_editor_left_in_its_log_is_read_and_not_repaired(
    path: Path, editor: Program, shared: bool
) -> None:
    editor("PRAGMA journal_mode = WAL", message("in the log"))
    editor.kill()
    if not shared:
        path.with_name(f"{STATE}-shm").unlink()
    before = state_of(path.parent)
    assert replies(read(path)) == ["in the log"]
    assert state_of(path.parent) == before


def test_a_transaction_a_killed_editor_never_finished_is_not_read_nor_rolled_back(
    path: Path, editor: Program
) -> None:
    editor(message("done"), "PRAGMA cache_size = 1", "BEGIN")
    editor(*(message("x" * 5000, identity=f"half{number}") for number in range(50)))
    editor.kill()
    before = state_of(path.parent)
    assert f"{STATE}-journal" in before
    assert replies(read(path)) == ["done"]
    assert state_of(path.parent) == before


def test_a_database_in_a_folder_nobody_may_write_to_is_read(path: Path) -> None:
    create(path, "PRAGMA journal_mode = WAL", message("hello"))
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert replies(read(path)) == ["hello"]
        assert set(state_of(path.parent)) == {STATE}
    finally:
        path.parent.chmod(0o700)


# --- damaged and unknown databases ----------------------------------------------------------------


def test_of_a_half_written_database_what_can_be_read_is_read(path: Path) -> None:
    number = range(200)
    create(path, *(message("x" * 900, chat=f"chat{n:03d}", identity="m") for n in number))
    whole = len(read(path).events)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 3 // 5 // 4096 * 4096])
    before = state_of(path.parent)
    reading = read(path)
    assert 20 < len(reading.events) < whole == 200
    assert any("damaged" in problem.reason for problem in reading.problems)
    assert not reading.more
    assert state_of(path.parent) == before
    path.write_bytes(content)
    assert len(read(path, reading.cursor).events) == whole


@pytest.mark.parametrize("content", [b"not a database at all " * 99, b"SQLite format 3\x00" + b"x"])
def test_what_is_no_database_cannot_be_read_and_stays_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    before = state_of(path.parent)
    with pytest.raises(UnreadableTranscript):
        read(path)
    assert state_of(path.parent) == before


def test_an_empty_file_is_a_database_without_chats(path: Path) -> None:
    path.write_bytes(b"")
    reading = read(path)
    assert reading.events == []
    assert reading.problems == []


def test_a_database_of_an_unknown_version_is_read_as_far_as_it_is_known(path: Path) -> None:
    create(path, message("hello"), "PRAGMA user_version = 7", "CREATE TABLE more (x)")
    before = state_of(path.parent)
    reading = read(path)
    assert replies(reading) == ["hello"]
    assert [problem.reason for problem in reading.problems] == [
        "version 7 of the database is not known"
    ]
    assert read(path, reading.cursor).problems == []
    assert state_of(path.parent) == before


def test_a_database_without_a_table_we_know_is_reported(path: Path) -> None:
    write(path, "CREATE TABLE conversations (id TEXT, body TEXT)")
    reading = read(path)
    assert [problem.reason for problem in reading.problems] == [
        "none of the tables in the database is known"
    ]


def test_a_value_that_is_too_long_costs_only_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LONGEST_VALUE", 10_000)
    create(path, message("x" * 20_000), message("short", identity="m2"))
    reading = read(path)
    assert replies(reading) == ["short"]
    assert [problem.reason for problem in reading.problems] == ["the row is longer than 64 MiB"]


def test_values_of_any_kind_are_counted_and_never_raise(path: Path) -> None:
    odd = ["NULL", "7", "1.5", "x'ff00'", "''", "'[]'", "'{\"type\":{}}'", "'{\"type\":2'"]
    rows = [f"('bubbleId:{ONE}:m{n}', {value})" for n, value in enumerate(odd)]
    create(path, f"INSERT INTO cursorDiskKV VALUES {', '.join(rows)}", message("hello"))
    reading = read(path)
    assert replies(reading) == ["hello"]
    assert reading.records == len(odd) + 1 - 1  # m1 was written again


@pytest.mark.parametrize("key", ["'bubbleId:'", "'bubbleId:x'", "'bubbleId:x:y z'", "7", "NULL"])
def test_a_key_that_is_none_costs_no_other_row(path: Path, key: str) -> None:
    create(path, message("hello", chat="x"), f"INSERT INTO cursorDiskKV VALUES ({key}, '{{}}')")
    assert replies(read(path)) == ["hello"]


@pytest.mark.parametrize("key", [b"bubbleId:\xff:m", b"bubbleId:a\xffb:m", b"\xff\xff"])
def test_a_key_that_is_no_text_costs_no_other_row(path: Path, key: bytes) -> None:
    create(path, message("hello", chat="z"))
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO cursorDiskKV VALUES (CAST(? AS TEXT), '{}')", (key,))
        db.execute("INSERT INTO cursorDiskKV VALUES (?, '{}')", (key,))
        db.commit()
    assert replies(read(path)) == ["hello"]


# --- what is new ----------------------------------------------------------------------------------


def test_only_what_is_new_is_read(path: Path) -> None:
    create(path, message("one"), message("two", identity="m2"))
    first = read(path)
    write(path, message("three", identity="m3"))
    second = read(path, first.cursor)
    assert replies(second) == ["three"]
    assert second.taken < 200
    assert not second.restarted


def test_a_message_that_grows_stays_one_event(path: Path) -> None:
    create(path, message("I will"), message("other", identity="m2"))
    first = read(path)
    write(path, message("I will look"))
    second = read(path, first.cursor)
    (grown,) = second.events
    assert isinstance(grown, Reply)
    assert grown.text == "I will look"
    assert grown.key in {event.key for event in first.events}


def test_a_number_that_is_given_away_again_is_noticed(path: Path) -> None:
    create(path, message("one"), message("two", identity="m2"))
    first = read(path)
    write(path, "DELETE FROM cursorDiskKV WHERE key LIKE '%m2'", message("three", identity="m3"))
    second = read(path, first.cursor)
    assert replies(second) == ["three"]
    assert not second.restarted


def test_a_packed_database_is_read_again_under_the_same_keys(path: Path) -> None:
    create(path, *(message(f"text {n}", identity=f"m{n}") for n in range(9)))
    first = read(path)
    write(path, "DELETE FROM cursorDiskKV WHERE key LIKE '%m0'", "VACUUM")
    write(path, "UPDATE cursorDiskKV SET rowid = rowid + 100", "VACUUM")
    second = read(path, first.cursor)
    assert second.restarted
    assert {event.key for event in second.events} < {event.key for event in first.events}


def test_notes_of_another_version_make_it_begin_again(path: Path) -> None:
    create(path, message("hello"))
    cursor = read(path).cursor
    again = read(path, Cursor(cursor.offset, 0, "", {"anchors": 5}))
    assert again.restarted
    assert replies(again) == ["hello"]


PREFIXES = ["a", "a1", "a-b", "ab", "a.c"]
"""Ids of chats that begin alike."""


@given(chats=st.lists(st.tuples(st.sampled_from(PREFIXES), st.integers(0, 5)), max_size=30))
def test_any_order_of_writing_and_reading_tells_the_last_state(
    tmp_path_factory: pytest.TempPathFactory, chats: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("db") / STATE
    create(path)
    cursor, known, truth = START, {}, {}
    for number, (chat, identity) in enumerate(chats):
        write(path, message(f"text {number}", chat=chat, identity=f"m{identity}"))
        truth[chat, identity] = f"text {number}"
        if number % 3 == 0:
            continue
        reading = read(path, cursor, limit=60)
        while True:
            known.update({event.key: event for event in reading.events})
            if not reading.more:
                break
            reading = read(path, reading.cursor, limit=60)
        cursor = reading.cursor
    known.update({event.key: event for event in read(path, cursor).events})
    told = [event.text for event in known.values() if isinstance(event, Reply)]
    assert sorted(told) == sorted(truth.values())


def test_an_edit_is_told_again_once_the_file_after_it_has_come(path: Path) -> None:
    data = {
        "name": "edit_file_v2",
        "toolCallId": "toolu_01MMMMMMMMMMMMMMMMMMMMMM",
        "status": "completed",
        "params": json.dumps({"relativeWorkspacePath": "a.py"}),
        "result": json.dumps({"afterContentId": "composer.content.ab12"}),
    }
    create(path, message("", toolFormerData=data), message("other", identity="m2"))
    first = read(path)
    assert read(path, first.cursor).events == []
    write(path, "INSERT INTO cursorDiskKV VALUES ('composer.content.ab12', 'x = 1')")
    second = read(path, first.cursor)
    (edit,) = (event for event in second.events if isinstance(event, FileEdit))
    assert (edit.operation, edit.added) == ("create", 1)
    assert edit.key in {event.key for event in first.events}
    assert read(path, second.cursor).events == []


def test_the_fingerprint_tells_of_rows_that_are_only_in_the_log(
    path: Path, editor: Program
) -> None:
    editor("PRAGMA journal_mode = WAL", message("one"))
    transcript = Transcript(SOURCE.name, path, DATABASE)
    before = SOURCE.fingerprint(transcript)
    editor(message("two", identity="m2"))
    assert SOURCE.fingerprint(transcript) != before


# --- finding --------------------------------------------------------------------------------------

USER_FOLDERS = [".config/Cursor/User", "Library/Application Support/Cursor/User"]
USER_FOLDERS += ["AppData/Roaming/Cursor/User"]


def found(home: Path, extra: list[str] | None = None, **variables: str) -> list[tuple[str, str]]:
    listed = SOURCE.discover(Environment(home, variables), extra or [])
    return sorted((item.variant, str(item.path)) for item in listed)


@pytest.mark.parametrize("user", USER_FOLDERS)
def test_databases_are_found_where_each_system_has_them(home: Path, user: str) -> None:
    for place in ("globalStorage", "workspaceStorage/f00d", "workspaceStorage/beef"):
        (home / user / place).mkdir(parents=True)
        create(home / user / place / STATE)
        (home / user / place / f"{STATE}.backup").write_bytes(b"")
    databases_found = found(home)
    assert len(databases_found) == 3
    assert {variant for variant, _ in databases_found} == {DATABASE}


def test_variables_move_the_folders(home: Path, tmp_path: Path) -> None:
    for place in ("roaming", "configuration"):
        folder = tmp_path / place / "Cursor" / "User" / "globalStorage"
        folder.mkdir(parents=True)
        create(folder / STATE)
    roaming, configuration = str(tmp_path / "roaming"), str(tmp_path / "configuration")
    assert len(found(home, APPDATA=roaming)) == 1
    assert len(found(home, APPDATA=roaming, XDG_CONFIG_HOME=configuration)) == 2
    lines = tmp_path / "own" / "projects" / "w" / "agent-transcripts" / "a.jsonl"
    lines.parent.mkdir(parents=True)
    lines.write_text("")
    assert found(home, CURSOR_CONFIG_DIR=str(tmp_path / "own")) == [(LINES, str(lines))]


def test_a_linux_inside_windows_also_looks_there(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursor, "_WINDOWS_USERS", tmp_path / "c")
    folder = tmp_path / "c" / "kim" / "AppData/Roaming/Cursor/User/globalStorage"
    folder.mkdir(parents=True)
    (tmp_path / "c" / "Public").mkdir()
    create(folder / STATE)
    assert found(home) == []
    assert found(home, WSL_DISTRO_NAME="Ubuntu") == [(DATABASE, str(folder / STATE))]


def test_of_two_forms_of_a_transcript_the_lines_are_read(home: Path) -> None:
    folder = home / ".cursor" / "projects" / "w-shop" / "agent-transcripts"
    (folder / "b").mkdir(parents=True)
    for name in ("a.txt", "a.jsonl", "b/b.jsonl", "b/b.txt", "c.txt", "notes.md"):
        (folder / name).write_text("")
    (folder.parent / "terminals").mkdir()
    (folder.parent / "terminals" / "1.txt").write_text("")
    assert [(variant, Path(path).name) for variant, path in found(home)] == [
        (LINES, "a.jsonl"),
        (LINES, "b.jsonl"),
        (TEXT, "c.txt"),
    ]


def test_finding_does_not_load_the_parser() -> None:
    code = (
        "import sys; from hansei.sources.agents.cursor import SOURCE;"
        "names = [n for n in sys.modules if n.startswith('hansei.sources.agents.cursor.')];"
        "print(names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- folders --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "folder"),
    [
        ("file:///c%3A/Users/kim/shop", "C:\\Users\\kim\\shop"),
        ("file:///C:/Users/kim/shop/", "C:\\Users\\kim\\shop"),
        ("file:///d%3A/", "D:\\"),
        ("c:\\Users\\kim\\shop", "C:\\Users\\kim\\shop"),
        ("file:///home/kim/my%20shop", "/home/kim/my shop"),
        ("file:///", "/"),
        ("/home/kim/shop/", "/home/kim/shop"),
        ("file://server/share/shop", "\\\\server\\share\\shop"),
        ("file://wsl.localhost/Ubuntu/home/kim/shop", "/home/kim/shop"),
        ("file://wsl%24/Ubuntu/home/kim/shop", "/home/kim/shop"),
        ("vscode-remote://wsl+Ubuntu/home/kim/shop", "/home/kim/shop"),
        ("vscode-remote://wsl%2Bubuntu-24.04/mnt/c/shop", "/mnt/c/shop"),
        ("vscode-remote://ssh-remote%2Bbox/srv/shop", "vscode-remote://ssh-remote+box/srv/shop"),
        ({"scheme": "file", "external": "file:///c%3A/shop", "fsPath": "c:\\shop"}, "C:\\shop"),
        ({"scheme": "file", "path": "/w/shop"}, "/w/shop"),
        ({"scheme": "vscode-remote", "authority": "wsl+Ubuntu", "path": "/w/shop"}, "/w/shop"),
        ({"fsPath": 5}, None),
        ("", None),
        (None, None),
    ],
)
def test_an_address_is_told_as_the_folder_it_names(address: object, folder: str | None) -> None:
    assert folder_of(address) == folder


@given(st.text() | st.dictionaries(st.sampled_from(["scheme", "path", "external"]), st.text()))
def test_no_address_is_too_odd(address: object) -> None:
    assert folder_of(address) != ""


def test_a_squeezed_folder_is_found_if_there_is_only_one(tmp_path: Path) -> None:
    (tmp_path / "home" / "kim" / "my-shop.app").mkdir(parents=True)
    transcript = Path("/x/projects/home-kim-my-shop-app/agent-transcripts/a/a.jsonl")
    assert unsqueezed(transcript, tmp_path) == str(tmp_path / "home" / "kim" / "my-shop.app")
    (tmp_path / "home" / "kim" / "my" / "shop" / "app").mkdir(parents=True)
    assert unsqueezed(transcript, tmp_path) is None
    assert unsqueezed(Path("/x/projects/gone/agent-transcripts/a.jsonl"), tmp_path) is None


# --- chats in two places --------------------------------------------------------------------------


@pytest.fixture
def both(tmp_path: Path) -> Path:
    home = tmp_path / "both"
    shutil.copytree(databases.made(FIXTURES / "both"), home)
    return home


def told_by(home: Path) -> list[AnyEvent]:
    listed = SOURCE.reading_order(list(SOURCE.discover(Environment(home, {}), [])))
    return [event for item in listed for event in SOURCE.read(item, START).events]


def prompts(events: list[AnyEvent]) -> list[str]:
    return [event.text for event in events if isinstance(event, Prompt)]


def test_a_turn_in_a_database_and_a_transcript_is_told_once(both: Path) -> None:
    assert prompts(told_by(both)) == ["add a test", "continue", "continue"]


def test_without_the_database_the_transcript_tells_all(both: Path) -> None:
    shutil.rmtree(both / ".config")
    assert prompts(told_by(both)) == ["add a test", "continue", "continue"]


def test_an_unreadable_database_does_not_keep_a_transcript_from_being_told(both: Path) -> None:
    (both / ".config/Cursor/User/globalStorage" / STATE).write_bytes(b"no database")
    (lines,) = (
        item for item in SOURCE.discover(Environment(both, {}), []) if item.variant == LINES
    )
    assert len(prompts(SOURCE.read(lines, START).events)) == 3


def test_databases_are_read_before_transcripts(both: Path) -> None:
    listed = SOURCE.reading_order(list(SOURCE.discover(Environment(both, {}), [])))
    assert [item.variant for item in listed] == [DATABASE, LINES]


# --- calls and what came of them ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "status", "basis"),
    [
        ({"status": "completed", "result": '{"exitCodeV2":0}'}, Status.OK, Basis.EXIT_CODE),
        ({"status": "completed", "result": '{"exitCode":2}'}, Status.FAILED, Basis.EXIT_CODE),
        ({"status": "completed", "result": '{"output":"x"}'}, Status.UNKNOWN, Basis.NONE),
        (
            {"status": "completed", "additional_data": {"status": "success"}},
            Status.OK,
            Basis.FLAG,
        ),
        ({"status": "error"}, Status.FAILED, Basis.FLAG),
        ({"status": "error", "error": "gone"}, Status.FAILED, Basis.FLAG),
        ({"status": "cancelled"}, Status.UNKNOWN, Basis.INTERRUPTED),
        ({"status": "rejected"}, Status.UNKNOWN, Basis.DECLINED),
        ({"status": "completed", "user_decision": "rejected"}, Status.UNKNOWN, Basis.DECLINED),
        (
            {"status": "completed", "result": '{"rejected":true,"exitCode":1}'},
            Status.UNKNOWN,
            Basis.DECLINED,
        ),
    ],
)
def test_how_a_command_ended_is_told_by_several_fields(
    fields: dict[str, Any], status: Status, basis: Basis
) -> None:
    end = ending(ToolData(**fields), Tool.SHELL, "make")
    assert end is not None
    assert (end.status, end.basis) == (status, basis)


@pytest.mark.parametrize("status", ["loading", "pending", "running", None])
def test_a_call_that_runs_has_no_result(status: str | None) -> None:
    assert ending(ToolData(status=status), Tool.SHELL, "make") is None


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("run_terminal_cmd", Tool.SHELL),
        ("run_terminal_command_v2", Tool.SHELL),
        ("Shell", Tool.SHELL),
        ("read_file_v2", Tool.READ),
        ("edit_file_v2", Tool.EDIT),
        ("StrReplace", Tool.EDIT),
        ("Write", Tool.WRITE),
        ("ripgrep_raw_search", Tool.SEARCH),
        ("glob_file_search", Tool.SEARCH),
        ("WebSearch", Tool.WEB),
        ("task_v2", Tool.SUBAGENT),
        ("todo_write", Tool.PLAN),
        ("mcp_tickets_find", Tool.MCP),
        ("mcp-tickets-find", Tool.MCP),
        ("CallMcpTool", Tool.MCP),
        ("brand_new", Tool.OTHER),
    ],
)
def test_a_tool_is_known_by_both_of_its_names(name: str, tool: Tool) -> None:
    assert tool_of(name) is tool


def test_tokens_are_never_told(path: Path) -> None:
    counts = {"inputTokens": 400, "outputTokens": 0}
    create(path, message("hello", tokenCount=counts))
    assert not SOURCE.capabilities.tokens
    assert not [event for event in read(path).events if isinstance(event, RequestUsage)]


@given(st.lists(st.sampled_from("abc\n"), max_size=30), st.lists(st.sampled_from("abc\n")))
def test_two_states_of_a_file_differ_by_their_hunks(before: list[str], after: list[str]) -> None:
    old, new = "".join(before), "".join(after)
    lines = new.splitlines(keepends=True)
    change = compared(old, new)
    for hunk in reversed(change.hunks):
        assert hunk.start is not None
        come = hunk.new.splitlines(keepends=True)
        first = hunk.start - 1
        assert lines[first : first + len(come)] == come
        lines[first : first + len(come)] = hunk.old.splitlines(keepends=True)
    assert "".join(lines) == old


# --- plain text -----------------------------------------------------------------------------------

MARKS = ["user:", "assistant:", "[Tool call] Read", "[Tool result] Read", "[Thinking]", "  a: b"]
MARKS += ["", "words", "  indented"]


@given(st.lists(st.sampled_from(MARKS)))
def test_every_call_in_an_answer_is_told_and_none_in_a_prompt(lines: list[str]) -> None:
    role, calls = "", 0
    for line in lines:
        role = line if line in ("user:", "assistant:") else role
        calls += role == "assistant:" and line == "[Tool call] Read"
    blocks = [block for spoken in plain.messages("\n".join(lines)) for block in spoken.blocks]
    assert sum(block.type == "tool_use" for block in blocks) == calls


@given(st.lists(st.sampled_from([*MARKS, "<user_query>", "</user_query>", "\x00"]) | st.text()))
def test_no_plain_text_is_too_odd(lines: list[str]) -> None:
    for spoken in plain.messages("\n".join(lines)):
        assert spoken.role in ("user", "assistant", "system")


# --- documentation --------------------------------------------------------------------------------


def test_the_page_on_the_format_lists_every_kind_left_out() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    listed = {kind: reason for kind, reason in rows if kind in IGNORED}
    assert listed == IGNORED


def test_the_page_on_the_format_lists_every_kind_that_is_read() -> None:
    page = DOCS.read_text("utf-8")
    table = page[page.index("| record | becomes |") : page.index("### Left out on purpose")]
    rows = re.findall(r"^\| `([^`:]+)", table, re.MULTILINE)
    assert set(rows) == {CHAT, MESSAGE, "composerHeaders", *ITEMS}
    assert set(re.findall(r"`role` `(\w+)`|line `(\w+)`", table)) == {
        ("user", ""),
        ("assistant", ""),
        ("system", ""),
        ("", "turn_ended"),
    }


@pytest.mark.parametrize("kind", sorted(IGNORED))
def test_kinds_left_out_are_not_reported(path: Path, kind: str) -> None:
    create(path, f"INSERT INTO cursorDiskKV VALUES ('{kind}:x:y', '{{}}')")
    reading = read(path)
    assert reading.events == []
    assert reading.problems == []


# --- real chats -----------------------------------------------------------------------------------


def real(corpus: Path, folder: str) -> dict[Path, Reading]:
    nowhere = Environment(corpus / "no-home", {})
    listed = SOURCE.discover(nowhere, [str(corpus / folder)])
    return {item.path: SOURCE.read(item, START, 2**30) for item in listed}


@pytest.mark.parametrize("folder", ["cursor_transcript", "cursor_vscdb"])
def test_every_real_record_is_known(corpus: Path, folder: str) -> None:
    told = real(corpus, folder)
    assert told
    for reading in told.values():
        assert reading.problems == []
        assert not reading.more
        assert not [event for event in reading.events if isinstance(event, Unrecognised)]


def test_every_call_of_a_real_transcript_is_told_with_its_result(corpus: Path) -> None:
    for path, reading in real(corpus, "cursor_transcript").items():
        text = path.read_text("utf-8")
        for mark, kind in (("call", ToolCall), ("result", ToolResult)):
            names = re.findall(rf"^\[Tool {mark}\] (.+)$", text, re.MULTILINE)
            assert len(names) == sum(isinstance(event, kind) for event in reading.events)
        calls = [event for event in reading.events if isinstance(event, ToolCall)]
        listed = re.findall(r"^\[Tool call\] (.+)$", text, re.MULTILINE)
        assert Counter(call.name for call in calls) == Counter(listed)
        asked = [event for event in reading.events if isinstance(event, Prompt)]
        assert len({event.key for event in asked}) >= text.count("\n<user_query>\n")


def test_every_message_of_a_real_database_is_told(corpus: Path) -> None:
    for path, reading in real(corpus, "cursor_vscdb").items():
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            items = dict(db.execute("SELECT key, value FROM ItemTable"))
        chats = json.loads(items["composer.composerData"])["allComposers"]
        tabs = json.loads(items.get(ITEMS[2], '{"tabs": []}'))["tabs"]
        said = [item for chat in chats for item in chat.get("conversation", ())]
        said += [item for tab in tabs for item in tab["bubbles"]]
        expected = [item for item in said if item.get("text") or item.get("rawText")]
        told = [event for event in reading.events if isinstance(event, Prompt | Reply)]
        assert len(told) == len(expected)
        assert {chat["composerId"] for chat in chats} <= set(reading.sessions)


def test_real_databases_stay_as_they_are(corpus: Path, tmp_path: Path) -> None:
    for number, path in enumerate(sorted((corpus / "cursor_vscdb").rglob(STATE))):
        copy = tmp_path / str(number) / STATE
        copy.parent.mkdir()
        shutil.copyfile(path, copy)
        before = state_of(copy.parent)
        read(copy)
        assert state_of(copy.parent) == before
