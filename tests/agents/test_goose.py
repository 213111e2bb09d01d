"""What only Goose does."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import databases
from hansei.config import Environment
from hansei.events.model import (
    AnyEvent,
    Compaction,
    Origin,
    Prompt,
    RequestUsage,
    ToolResult,
    Unrecognised,
)
from hansei.events.usage import total
from hansei.sources.agents.goose import DATABASE, EARLY, SOURCE
from hansei.sources.contract import START, Cursor, Reading, Transcript, latest
from hansei.sources.families import sqlite

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents" / "goose"


def database(case: str) -> Path:
    return databases.made(FIXTURES / case) / "sessions.db"


def read(path: Path, since: Cursor = START) -> Reading:
    """Everything that is new, over as many readings as it takes."""
    whole = SOURCE.read(Transcript(SOURCE.name, path, DATABASE), since)
    while whole.more:
        part = SOURCE.read(Transcript(SOURCE.name, path, DATABASE), whole.cursor)
        whole.events += part.events
        whole.problems += part.problems
        whole.sessions |= part.sessions
        whole.cursor, whole.more = part.cursor, part.more
    return whole


def events(path: Path) -> list[AnyEvent]:
    return latest(read(path).events)


def at_work(case: str, folder: Path) -> tuple[Path, sqlite3.Connection]:
    """A database whose program still has it open, with all rows of a case in it."""
    path, rows = folder / "sessions.db", FIXTURES / case / "sessions.db.rows"
    agent = databases.begin(rows, path)
    for row in databases.rows_of(rows):
        databases.write(agent, row)
    return path, agent


def test_a_conversation_that_is_replaced_tells_the_same_under_the_same_keys(tmp_path: Path) -> None:
    path, agent = at_work("copied", tmp_path)
    with closing(agent):
        first = read(path)
        held = agent.execute("SELECT * FROM messages WHERE session_id = '20261106_4'").fetchall()
        agent.execute("BEGIN")
        agent.execute("DELETE FROM messages WHERE session_id = '20261106_4'")
        for row in held:
            agent.execute("INSERT INTO messages VALUES (NULL, 'new', ?, ?, ?, ?, ?, ?, ?)", row[2:])
        agent.execute("COMMIT")
        again = read(path, first.cursor)
        assert len(again.events) == len(held)
        assert latest([*first.events, *again.events]) == latest(first.events)
        assert not again.restarted


def test_a_copied_session_is_told_in_a_reading_of_its_own() -> None:
    transcript = Transcript(SOURCE.name, database("copied"), DATABASE)
    first = SOURCE.read(transcript, START)
    second = SOURCE.read(transcript, first.cursor)
    assert (first.more, second.more) == (True, False)
    copies = {event.key for event in second.events} & {event.key for event in first.events}
    assert len(copies) == 2
    assert {event.session for event in second.events if event.key in copies} == {"20261106_5"}


def test_deleted_messages_stay_and_new_ones_are_read(tmp_path: Path) -> None:
    path, agent = at_work("tools", tmp_path)
    with closing(agent):
        first = read(path)
        agent.execute("DELETE FROM messages WHERE created_timestamp >= 1794000008")
        agent.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
            """ VALUES ('20261106_1', 'user', '[{"type":"text","text":"Again"}]', 1794000090)"""
        )
        (prompt,) = read(path, first.cursor).events
        assert isinstance(prompt, Prompt)
        assert prompt.text == "Again"


def test_a_database_that_was_made_anew_is_read_from_its_beginning(tmp_path: Path) -> None:
    first = read(database("tools"))
    path, agent = at_work("early_schema", tmp_path)
    agent.close()
    again = read(path, first.cursor)
    assert again.restarted
    assert again.events == read(path).events


def test_a_running_total_only_ever_grows(tmp_path: Path) -> None:
    rows = FIXTURES / "tools" / "sessions.db.rows"
    told: list[AnyEvent] = []
    with closing(databases.begin(rows, tmp_path / "sessions.db")) as agent:
        cursor, sums = START, []
        for row in databases.rows_of(rows):
            databases.write(agent, row)
            reading = read(tmp_path / "sessions.db", cursor)
            cursor, told = reading.cursor, told + reading.events
            usages = [event for event in latest(told) if isinstance(event, RequestUsage)]
            sums.append(sum(map(total, usages)))
    assert sums == sorted(sums)
    assert sums[-1] == 18_215


def test_a_ledger_row_says_by_its_total_whether_the_input_includes_the_cache() -> None:
    usages = [event for event in events(database("ledger")) if isinstance(event, RequestUsage)]
    included, plain, apart = sorted(
        (event for event in usages if event.at is not None and event.at > 1793990000000),
        key=lambda event: event.at or 0,
    )[-3:]
    assert (included.input, included.cache_read, included.cache_write_5m) == (100, 400, 100)
    assert (plain.input, plain.cache_read, plain.cache_write_5m) == (50, None, None)
    assert (apart.input, apart.cache_read, apart.cache_write_5m) == (10, 900, 50)


def test_a_result_has_the_text_that_the_model_was_shown_once() -> None:
    results = [event for event in events(database("early_schema")) if isinstance(event, ToolResult)]
    assert [event.text for event in results if event.call == "call_1"] == ["a\nb\n"]


def test_the_prompt_repeated_after_a_compaction_is_the_programs() -> None:
    told = events(database("compaction"))
    asked = [event for event in told if isinstance(event, Prompt) and event.text.startswith("Read")]
    assert [event.origin for event in asked] == [Origin.HUMAN, Origin.HARNESS]
    summaries = [event.text for event in told if isinstance(event, Compaction)]
    assert summaries == ["There are three files.", "Three files were read."]


def test_a_file_and_the_database_that_took_it_over_tell_one_session() -> None:
    folder = databases.made(FIXTURES / "both_layouts")
    (file,) = folder.glob("*.jsonl")
    early = SOURCE.read(Transcript(SOURCE.name, file, EARLY), START).events
    later = read(folder / "sessions.db").events
    assert {event.key for event in early} < {event.key for event in later}


def test_a_database_of_another_program_is_a_problem_told_once(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE sessions (id, cookie)")
    first = read(path)
    assert [problem.reason for problem in first.problems] == [
        "unknown schema: table sessions has no updated_at"
    ]
    assert read(path, first.cursor).problems == []


def test_a_new_database_without_tables_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    path.touch()
    assert read(path).events == []


def test_a_message_that_is_too_long_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, agent = at_work("copied", tmp_path)
    with closing(agent):
        whole = read(path)
        agent.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
            f"""VALUES ('20261106_4', 'user', '[{{"type":"text","text":"{"x" * 4000}"}}]', 5)"""
        )
        monkeypatch.setattr(sqlite, "LONGEST_VALUE", 3000)
        reading = read(path)
    assert [problem.reason for problem in reading.problems] == [sqlite.TOO_LONG]
    assert reading.events == whole.events


def test_sessions_are_found_where_the_program_was_told_to_put_them(tmp_path: Path) -> None:
    moved = tmp_path / "moved" / "data" / "sessions"
    usual = tmp_path / ".local" / "share" / "goose" / "sessions"
    for folder in (moved, usual):
        folder.mkdir(parents=True)
        (folder / "sessions.db").touch()
        (folder / "20250420_101500.jsonl").touch()
        (folder / "sessions.db-wal").touch()

    def found(variables: dict[str, str]) -> list[Path]:
        environment = Environment(home=tmp_path, variables=variables)
        return [item.path for item in SOURCE.discover(environment, [])]

    assert found({}) == [usual / "20250420_101500.jsonl", usual / "sessions.db"]
    assert found({"GOOSE_PATH_ROOT": str(tmp_path / "moved")})[1] == moved / "sessions.db"


def test_a_real_database_is_read_without_a_problem(corpus: Path) -> None:
    nowhere = Environment(home=corpus / "nowhere", variables={})
    found = list(SOURCE.discover(nowhere, [str(corpus / "goose_sqlite")]))
    assert found
    for transcript in found:
        reading = SOURCE.read(transcript, START)
        assert reading.problems == []
        assert not any(isinstance(event, Unrecognised) for event in reading.events)
