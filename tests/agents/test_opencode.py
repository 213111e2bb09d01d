"""OpenCode: what its fixtures do not already show."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import databases
from hansei.config import Config, Environment
from hansei.events import codec
from hansei.events.model import (
    AnyEvent,
    Driver,
    FileEdit,
    Notice,
    Prompt,
    Relation,
    Reply,
    RequestUsage,
    SessionFacts,
    Status,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.events.usage import total
from hansei.ops.ingest import ingest
from hansei.sources.agents.opencode import DATABASE, EARLY, SOURCE, STORAGE, usage
from hansei.sources.agents.opencode.records import IGNORED, Cache, Tokens
from hansei.sources.contract import START, Cursor, Reading, Transcript, latest
from hansei.sources.families import sqlite
from hansei.store.database import Store

FIXTURES = databases.FIXTURES / "opencode"
DOCS = Path(__file__).parents[2] / "docs" / "formats" / "opencode.md"
SCHEMA = (FIXTURES / "schema-1.18.33.sql").read_text("utf-8")
NOW = 1_794_000_000_000


class Agent:
    """An agent at work: every row is written at once, and the database stays open."""

    def __init__(self, folder: Path, schema: str = SCHEMA) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "opencode.db"
        self.database = sqlite3.connect(self.path, isolation_level=None)
        self.database.execute("PRAGMA synchronous = OFF")
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.executescript(schema)
        self.now = NOW
        self.number = 0

    def write(self, table: str, **columns: Any) -> None:
        self.now += 10
        databases.write(self.database, {"table": table, **columns})

    def name(self, kind: str) -> str:
        self.number += 1
        return f"{kind}_{self.now & (2**36 - 1):09x}{self.number:03x}aaaaaaaaaaaaaa"

    def session(self, session: str = "ses_1", **columns: Any) -> str:
        usual = {"directory": "/w/app", "title": "A title", "version": "1.18.33"}
        times = {"time_created": self.now, "time_updated": self.now}
        self.write("session", **{"id": session, **usual, **times, **columns})
        return session

    def message(self, session: str, identity: str | None = None, **data: Any) -> str:
        identity = identity or self.name("msg")
        data.setdefault("time", {"created": self.now})
        made = data["time"]["created"]
        row = {"id": identity, "session_id": session, "time_created": made}
        self.write("message", **row, time_updated=self.now, data=data)
        return identity

    def part(self, session: str, message: str, identity: str | None = None, **data: Any) -> str:
        identity = identity or self.name("prt")
        row = {"id": identity, "message_id": message, "session_id": session}
        times = {"time_created": self.now, "time_updated": self.now}
        self.write("part", **row, **times, data=data)
        return identity

    def asks(self, session: str, text: str) -> str:
        message = self.message(session, role="user")
        self.part(session, message, type="text", text=text)
        return message

    def answers(self, session: str, asked: str, text: str, tokens: int = 5) -> str:
        """A whole answer of one step."""
        made = self.now
        told = {"input": tokens, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        data: dict[str, Any] = {"role": "assistant", "parentID": asked, "modelID": "m"}
        data["tokens"] = told
        message = self.message(session, **data)
        self.part(session, message, type="step-start")
        self.part(session, message, type="text", text=text, time={"start": made, "end": made})
        self.part(session, message, type="step-finish", tokens=told)
        self.message(session, message, **data, time={"created": made, "completed": self.now})
        return message

    def read(self, since: Cursor = START) -> Reading:
        return SOURCE.read(Transcript(SOURCE.name, self.path, DATABASE), since)

    def events(self) -> list[AnyEvent]:
        return self.read().events


@pytest.fixture
def agent(tmp_path: Path) -> Any:
    made = Agent(tmp_path / "opencode")
    yield made
    made.database.close()


def look(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.iterdir()
        if not path.name.endswith(sqlite.SHARED)
    }


def kinds(events: list[AnyEvent]) -> Counter[str]:
    return Counter(type(event).__name__ for event in events)


def discovered(folder: Path) -> list[Transcript]:
    nowhere = Environment(folder / "no-home", {})
    return SOURCE.reading_order(list(SOURCE.discover(nowhere, [str(folder)])))


def all_readings(transcript: Transcript) -> list[Reading]:
    readings = [SOURCE.read(transcript, START)]
    while readings[-1].more:
        readings.append(SOURCE.read(transcript, readings[-1].cursor))
    return readings


def read_all(transcripts: list[Transcript]) -> list[AnyEvent]:
    return [
        event for item in transcripts for reading in all_readings(item) for event in reading.events
    ]


# --- finding --------------------------------------------------------------------------------------


def test_the_programs_folder_is_found_in_every_way_it_can_be_named(tmp_path: Path) -> None:
    def roots(**variables: str) -> list[Path]:
        return SOURCE.roots(Environment(tmp_path, variables), ["/more"])

    own = tmp_path / ".local" / "share" / "opencode"
    assert roots() == [own, Path("/more")]
    assert roots(XDG_DATA_HOME="/data") == [Path("/data/opencode"), Path("/more")]
    assert roots(OPENCODE_DB="other.db") == [own, own / "other.db", Path("/more")]
    assert roots(OPENCODE_DB="/x/y.db") == [own, Path("/x/y.db"), Path("/more")]
    assert roots(OPENCODE_DB=":memory:") == [own, Path("/more")]


def test_every_layout_is_found_and_the_oldest_is_read_first(tmp_path: Path) -> None:
    for name in ("opencode.db", "opencode-nightly.db", "auth.json", "opencode.db-wal"):
        (tmp_path / name).touch()
    for name in (
        "storage/session/p1/ses_b.json",
        "storage/session/p2/ses_a.json",
        "storage/session_diff/ses_a.json",
        "project/x/storage/session/info/ses_c.json",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [(item.variant, item.path.name) for item in discovered(tmp_path)]
    assert found == [
        (EARLY, "ses_c.json"),
        (STORAGE, "ses_b.json"),
        (STORAGE, "ses_a.json"),
        (DATABASE, "opencode.db"),
        (DATABASE, "opencode-nightly.db"),
    ]


def test_a_database_can_be_named_by_itself(tmp_path: Path, agent: Agent) -> None:
    nowhere = Environment(tmp_path / "no-home", {})
    named = Environment(tmp_path / "no-home", {"OPENCODE_DB": str(agent.path)})
    assert [item.path for item in SOURCE.discover(nowhere, [str(agent.path)])] == [agent.path]
    assert [item.path for item in SOURCE.discover(named, [str(agent.path)])] == [agent.path]


def test_a_fingerprint_follows_the_wal_and_the_files(tmp_path: Path, agent: Agent) -> None:
    transcript = Transcript(SOURCE.name, agent.path, DATABASE)
    before = SOURCE.fingerprint(transcript)
    agent.session()
    assert SOURCE.fingerprint(transcript) != before
    session = tmp_path / "storage/session/p/ses_1.json"
    session.parent.mkdir(parents=True)
    session.write_text("{}")
    transcript = Transcript(SOURCE.name, session, STORAGE)
    before = SOURCE.fingerprint(transcript)
    (tmp_path / "storage/message/ses_1").mkdir(parents=True)
    assert SOURCE.fingerprint(transcript) != before


def test_finding_transcripts_loads_no_parser() -> None:
    program = (
        "import sys\n"
        "from hansei.sources.agents.opencode import SOURCE\n"
        "print([name for name in sys.modules"
        " if name.startswith('hansei.sources.agents.opencode.') or name == 'json'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


def test_the_page_on_the_format_lists_what_is_left_out() -> None:
    row = re.compile(r"^\| `(part/[\w-]+)` \| ([^|\d][^|]*) \|$", re.MULTILINE)
    listed = row.findall(DOCS.read_text("utf-8"))
    assert dict(listed) == IGNORED


# --- databases in every state ---------------------------------------------------------------------


def talk(agent: Agent, turns: int = 3) -> None:
    session = agent.session()
    for number in range(turns):
        asked = agent.asks(session, f"Question {number}")
        agent.answers(session, asked, f"Answer {number} " + "x" * 3000)


def test_a_locked_database_is_read_and_stays_as_it_is(agent: Agent) -> None:
    talk(agent)
    expected = agent.events()
    agent.database.close()
    with closing(sqlite3.connect(agent.path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("DELETE FROM part")
        before = look(agent.path.parent)
        assert agent.events() == expected
        assert look(agent.path.parent) == before


def test_half_a_database_tells_what_it_still_has(agent: Agent) -> None:
    talk(agent, turns=60)
    agent.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = agent.read()
    agent.database.close()
    content = agent.path.read_bytes()
    agent.path.write_bytes(content[: len(content) // 2])
    before = look(agent.path.parent)
    half = agent.read()
    assert [problem.reason for problem in half.problems] == [sqlite.DAMAGED]
    assert {event.key for event in half.events} < {event.key for event in whole.events}
    assert len(half.events) > len(whole.events) // 5
    assert look(agent.path.parent) == before
    agent.path.write_bytes(content)
    assert len(agent.read(half.cursor).events) == len(whole.events)


def test_damaged_pages_cost_only_their_rows_until_the_database_is_whole_again(
    agent: Agent,
) -> None:
    talk(agent, turns=60)
    whole = agent.read()
    agent.database.close()
    sound = agent.path.read_bytes()
    page = 4096
    pages = len(sound) // page
    for number in range(pages // 2, pages // 2 + 3):
        damaged = sound[: number * page] + b"\xff" * page + sound[(number + 1) * page :]
        agent.path.write_bytes(damaged)
        before = look(agent.path.parent)
        part = agent.read()
        assert look(agent.path.parent) == before
        lost = len(whole.events) - len(part.events)
        if not part.problems:
            assert lost == 0, "an index that was not needed"
            continue
        assert [problem.reason for problem in part.problems] == [sqlite.DAMAGED]
        assert len(part.events) > len(whole.events) // 3
        agent.path.write_bytes(sound)
        again = agent.read(part.cursor)
        assert again.restarted
        assert latest(part.events + again.events)
        assert {event.key for event in again.events} == {event.key for event in whole.events}


def test_a_part_that_is_too_long_costs_only_itself_and_nothing_is_read_again(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LONGEST_VALUE", 10_000)
    session = agent.session()
    asked = agent.asks(session, "Question")
    answer = agent.answers(session, asked, "x" * 20_000)
    agent.part(session, answer, type="text", text="more", time={"start": NOW, "end": NOW})
    first = agent.read()
    assert [problem.reason for problem in first.problems] == [sqlite.TOO_LONG]
    assert kinds(first.events) == {"Prompt": 1, "Reply": 1, "RequestUsage": 1}
    agent.asks(session, "Another")
    second = agent.read(first.cursor)
    assert not second.restarted


def test_an_unknown_schema_is_said_once_and_read_once_it_is_known(tmp_path: Path) -> None:
    agent = Agent(
        tmp_path / "x", "CREATE TABLE session (id text); CREATE TABLE messages (id text);"
    )
    before = look(agent.path.parent)
    first = agent.read()
    assert [problem.reason for problem in first.problems] == [
        "unknown schema: table session has no time_updated"
    ]
    assert (first.events, agent.read(first.cursor).problems) == ([], [])
    assert look(agent.path.parent) == before
    agent.database.executescript(f"DROP TABLE session; {SCHEMA}")
    talk(agent)
    second = agent.read(first.cursor)
    assert second.restarted
    assert kinds(second.events) == {"Prompt": 3, "Reply": 3, "RequestUsage": 3}
    agent.database.close()


def test_columns_and_tables_of_a_later_version_change_nothing(agent: Agent) -> None:
    talk(agent)
    before = agent.events()
    agent.database.execute("ALTER TABLE message ADD COLUMN mood text DEFAULT 'fine'")
    agent.database.execute("ALTER TABLE session DROP COLUMN agent")
    agent.database.execute("DROP TABLE event")
    agent.database.execute("DROP TABLE session_message")
    assert agent.events() == before


def test_a_new_database_is_empty_and_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    path.touch()
    reading = SOURCE.read(Transcript(SOURCE.name, path, DATABASE), START)
    assert (reading.events, reading.problems) == ([], [])


def test_another_database_in_its_place_is_read_from_its_beginning(tmp_path: Path) -> None:
    first, second = Agent(tmp_path / "a"), Agent(tmp_path / "b")
    talk(first)
    second.now = NOW - 1_000_000_000
    session = second.session("ses_other")
    second.answers(session, second.asks(session, "From another machine"), "Yes")
    reading = second.read(first.read().cursor)
    assert reading.restarted
    assert kinds(reading.events) == {"Prompt": 1, "Reply": 1, "RequestUsage": 1}
    first.database.close()
    second.database.close()


def test_messages_of_a_session_without_a_record_are_read_once(agent: Agent) -> None:
    """Nothing to know the database by: it must not be taken for another one again and again."""
    agent.answers("ses_lost", agent.asks("ses_lost", "Anybody there?"), "Yes")
    transcript = Transcript(SOURCE.name, agent.path, DATABASE)
    cursor = START
    told: list[AnyEvent] = []
    for _ in range(5):
        reading = SOURCE.read(transcript, cursor, 1)
        cursor = reading.cursor
        told += reading.events
    assert not reading.more
    assert not reading.restarted
    assert kinds(told) == {"Prompt": 1, "Reply": 1, "RequestUsage": 1}


def test_notes_of_another_version_make_it_begin_again(agent: Agent) -> None:
    talk(agent)
    spoiled = Cursor(0, 0, "ses_1", {"row": "many"})
    again = agent.read(spoiled)
    assert again.restarted
    assert kinds(again.events)["Reply"] == 3


# --- what is new ----------------------------------------------------------------------------------


def test_only_messages_with_news_are_read_again(agent: Agent) -> None:
    talk(agent)
    agent.now += 60_000
    asked = agent.asks("ses_1", "One more")
    first = agent.read()
    agent.now += 60_000
    agent.answers("ses_1", asked, "Here you are")
    second = agent.read(first.cursor)
    assert kinds(second.events) == {"Reply": 1, "RequestUsage": 1}
    assert agent.read(second.cursor).events == []


def test_a_call_is_told_when_it_runs_and_again_with_its_result(agent: Agent) -> None:
    session = agent.session()
    asked = agent.asks(session, "Run it")
    message = agent.message(session, role="assistant", parentID=asked, modelID="m")
    call = {"type": "tool", "tool": "bash", "callID": "call_1"}
    part = agent.part(session, message, **call, state={"status": "pending", "input": {}})
    first = agent.read()
    assert kinds(first.events) == {"Prompt": 1}
    agent.now += 60_000
    state = {"input": {"command": "make"}, "time": {"start": agent.now}}
    agent.part(session, message, part, **call, state={"status": "running", **state})
    second = agent.read(first.cursor)
    assert kinds(second.events) == {"ToolCall": 1}
    agent.now += 60_000
    done = {"status": "completed", "output": "", "metadata": {"exit": 2}, **state}
    agent.part(session, message, part, **call, state=done)
    third = agent.read(second.cursor)
    assert kinds(third.events) == {"ToolCall": 1, "ToolResult": 1}
    (result,) = [event for event in third.events if isinstance(event, ToolResult)]
    assert (result.status, result.exit_code) == (Status.FAILED, 2)
    assert agent.read(third.cursor).events == []


def test_a_clock_that_is_set_back_hides_nothing(agent: Agent) -> None:
    session = agent.session()
    agent.answers(session, agent.asks(session, "Before"), "Yes")
    asked = agent.asks(session, "Now")
    made = agent.now
    data = {"role": "assistant", "parentID": asked, "modelID": "m"}
    message = agent.message(session, **data, time={"created": made})
    part = agent.part(session, message, type="text", text="", time={"start": made})
    first = agent.read()
    agent.now -= 7_200_000
    agent.part(session, message, part, type="text", text="Whole", time={"start": made, "end": made})
    second = agent.read(first.cursor)
    assert [event.text for event in second.events if isinstance(event, Reply)] == ["Whole"]
    agent.message(session, message, **data, time={"created": made, "completed": made + 9})
    third = agent.read(second.cursor)
    agent.answers(session, agent.asks(session, "Later"), "Still here")
    fourth = agent.read(third.cursor)
    assert kinds(fourth.events)["Prompt"] == 1
    assert [event.text for event in fourth.events if isinstance(event, Reply)] == ["Still here"]


def test_a_row_that_was_written_late_is_not_missed(agent: Agent) -> None:
    """Another program put its time on the row before we read, and wrote it after."""
    talk(agent)
    first = agent.read()
    agent.now -= 3_000
    session = agent.session("ses_2")
    agent.answers(session, agent.asks(session, "Late"), "Better than never")
    assert kinds(agent.read(first.cursor).events) == {"Prompt": 1, "Reply": 1, "RequestUsage": 1}


def test_what_takes_the_place_of_reverted_rows_is_read(agent: Agent) -> None:
    """The numbers of deleted rows are given out again."""
    session = agent.session()
    agent.answers(session, agent.asks(session, "First"), "One")
    asked = agent.asks(session, "Second")
    answer = agent.answers(session, asked, "Two")
    first = agent.read()
    for message in (asked, answer):
        agent.database.execute("DELETE FROM part WHERE message_id = ?", (message,))
        agent.database.execute("DELETE FROM message WHERE id = ?", (message,))
    agent.answers(session, agent.asks(session, "Third"), "Three")
    second = agent.read(first.cursor)
    texts = [event.text for event in second.events if isinstance(event, Prompt | Reply)]
    assert texts == ["Third", "Three"]


def test_a_late_title_is_told(agent: Agent) -> None:
    session = agent.session(title="New session - 2026-11-06T10:00:00.000Z")
    agent.asks(session, "Hello")
    first = agent.read()
    assert first.sessions[session].title is None
    agent.now += 60_000
    agent.session(session, title="Greetings")
    second = agent.read(first.cursor)
    assert (second.events, second.sessions[session].title) == ([], "Greetings")


# --- copies ---------------------------------------------------------------------------------------


def test_a_fork_counts_once_whichever_is_read_first() -> None:
    found = discovered(FIXTURES / "storage_files")
    assert len(found) == 2
    tokens = [
        sum(total(event) for event in latest(read_all(order)) if isinstance(event, RequestUsage))
        for order in (found, found[::-1])
    ]
    assert tokens == [10241 + 10238 + 10234] * 2
    assert kinds(latest(read_all(found))) == kinds(latest(read_all(found[::-1])))


def test_a_fork_counts_once_though_its_original_is_gone(tmp_path: Path) -> None:
    """The original was read, then deleted; the fork is read only after that."""
    database = sqlite3.connect(databases.made(FIXTURES / "fork") / "opencode.db")
    before = latest(read_all(discovered(databases.made(FIXTURES / "fork"))))
    with closing(database), closing(sqlite3.connect(tmp_path / "opencode.db")) as copy:
        database.backup(copy)
        for table, column in (("session", "id"), ("message", "session_id"), ("part", "session_id")):
            copy.execute(f"DELETE FROM {table} WHERE {column} = 'ses_original0000'")
        copy.commit()
    after = latest(read_all(discovered(tmp_path)))
    assert len(after) < len(before)
    assert {event.key for event in after} < {event.key for event in before}


def test_sessions_that_begin_in_the_same_millisecond_stay_apart(agent: Agent) -> None:
    """Providers that number their calls give the same ids in both."""
    for name in ("ses_a", "ses_b"):
        agent.now = NOW + 1000
        session = agent.session(name)
        asked = agent.asks(session, f"Task of {name}")
        agent.now = NOW + 2000
        message = agent.message(session, role="assistant", parentID=asked, modelID="m")
        state = {"status": "completed", "input": {"filePath": "/w/a"}, "output": "1: a"}
        call = {"type": "tool", "tool": "read", "callID": "functions.read:0"}
        agent.part(session, message, **call, state=state)
        agent.part(session, message, type="step-finish", tokens={"input": 7, "output": 1})
    assert kinds(agent.events()) == {"Prompt": 2, "ToolCall": 2, "ToolResult": 2, "RequestUsage": 2}


def test_what_a_fork_copied_is_told_of_it_too_by_a_reading_of_its_own() -> None:
    """Else nobody would know that it has them: a reading tells each thing once."""
    first, *others = all_readings(discovered(databases.made(FIXTURES / "fork"))[0])
    known = {event.key for event in first.events}
    copied = {event.session for it in others for event in it.events if event.key in known}
    assert copied == {"ses_fork00000001", "ses_fork00000002"}


def test_the_first_of_three_forks_names_its_parent(agent: Agent) -> None:
    readings = all_readings(discovered(databases.made(FIXTURES / "fork"))[0])
    lines = {
        name: (facts.relation, facts.parent)
        for reading in readings
        for name, facts in reading.sessions.items()
    }
    assert lines == {
        "ses_original0000": (None, None),
        "ses_fork00000001": (Relation.FORK, "ses_original0000"),
        "ses_fork00000002": (Relation.FORK, "ses_fork00000001"),
    }


def test_a_copied_call_names_the_parent_it_was_made_in(agent: Agent) -> None:
    session = agent.session("ses_fork")
    asked = agent.asks(session, "Go")
    message = agent.message(session, role="assistant", parentID=asked)
    notes = {"sessionId": "ses_child", "parentSessionId": "ses_original"}
    state = {"status": "completed", "input": {}, "output": "done", "metadata": notes}
    agent.part(session, message, type="tool", tool="task", callID="call_9", state=state)
    child = agent.read().sessions["ses_child"]
    assert child == SessionFacts(
        id="ses_child",
        driver=Driver.SUBAGENT,
        driver_recorded=True,
        parent="ses_original",
        relation=Relation.SUBAGENT,
        spawned_by="call_9",
    )


# --- counting -------------------------------------------------------------------------------------

counts = st.integers(0, 10**7)


@given(counts, counts, counts, counts, st.integers(1, 10**6), st.booleans())
def test_output_contains_the_reasoning_however_it_was_told(
    fresh: int, read: int, written: int, words: int, reasoning: int, apart: bool
) -> None:
    tokens = Tokens(
        total=fresh + read + written + words + reasoning,
        input=fresh,
        output=words if apart else words + reasoning,
        reasoning=reasoning,
        cache=Cache(read, written),
    )
    told = usage.counts(tokens)
    assert (told.output, told.reasoning) == (words + reasoning, reasoning)
    assert (told.input, told.cache_read, told.cache_write_5m) == (fresh, read, written)


@pytest.mark.parametrize("number", [-1, 2**60, 1.5])
def test_a_count_that_cannot_be_is_unknown(number: float) -> None:
    told = usage.counts(Tokens(input=number, output=3))
    assert told.output == 3
    assert told.input == (1 if number == 1.5 else None)


# --- files ----------------------------------------------------------------------------------------


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """A session of one prompt, kept as files."""
    folder = tmp_path / "storage"
    record = {"id": "ses_1", "directory": "/w/app", "title": "T", "time": {"created": NOW}}
    put(folder / "session/p/ses_1.json", record)
    put(folder / "message/ses_1/msg_1.json", {"role": "user", "time": {"created": NOW}})
    put(folder / "part/msg_1/prt_1.json", {"type": "text", "text": "Hello"})
    return folder


def test_files_are_read_on_when_they_are_rewritten(storage: Path, tmp_path: Path) -> None:
    (transcript,) = discovered(tmp_path)
    first = SOURCE.read(transcript, START)
    assert kinds(first.events) == {"Prompt": 1}
    assert SOURCE.read(transcript, first.cursor).events == []
    answer = {"role": "assistant", "parentID": "msg_1", "time": {"created": NOW + 5}}
    put(storage / "message/ses_1/msg_2.json", answer)
    growing = {"type": "text", "text": "Half", "time": {"start": NOW}}
    put(storage / "part/msg_2/prt_2.json", growing)
    second = SOURCE.read(transcript, first.cursor)
    assert second.events == []
    put(storage / "part/msg_2/prt_2.json", {**growing, "text": "Half of it", "time": {"end": NOW}})
    third = SOURCE.read(transcript, second.cursor)
    assert [event.text for event in third.events if isinstance(event, Reply)] == ["Half of it"]


@pytest.mark.parametrize("content", ["", '{"type":"text","te', "[]", "\0\0\0"])
def test_a_half_written_file_is_a_problem_until_it_is_whole(
    storage: Path, tmp_path: Path, content: str
) -> None:
    put(storage / "part/msg_1/prt_2.json", content)
    (transcript,) = discovered(tmp_path)
    first = SOURCE.read(transcript, START)
    assert len(first.problems) == 1
    assert kinds(first.events) == {"Prompt": 1}
    put(storage / "part/msg_1/prt_2.json", {"type": "text", "text": "More"})
    second = SOURCE.read(transcript, first.cursor)
    assert (len(second.problems), kinds(second.events)["Prompt"]) == (0, 2)


def test_ids_never_lead_out_of_the_folder(storage: Path, tmp_path: Path) -> None:
    put(tmp_path / "storage/message/secret.json", {"role": "user", "time": {"created": 1}})
    answer = {"role": "assistant", "parentID": "../secret", "time": {"created": NOW + 5}}
    put(storage / "message/ses_1/msg_2.json", {**answer, "error": {"name": "X"}})
    (transcript,) = discovered(tmp_path)
    told = SOURCE.read(transcript, START).events
    put(tmp_path / "storage/message/secret.json", {"role": "user", "time": {"created": 2}})
    assert SOURCE.read(transcript, START).events == told


def test_a_session_whose_own_file_is_broken_still_tells_its_messages(
    storage: Path, tmp_path: Path
) -> None:
    put(storage / "session/p/ses_1.json", "{")
    reading = SOURCE.read(discovered(tmp_path)[0], START)
    assert kinds(reading.events) == {"Prompt": 1}
    assert [problem.reason for problem in reading.problems] == ["session: not JSON"]


# --- from end to end ------------------------------------------------------------------------------


def test_a_home_with_forks_is_taken_in_once(store: Store, config: Config, now: int) -> None:
    home = config.environment.home / ".local" / "share" / "opencode"
    home.mkdir(parents=True)
    made = databases.made(FIXTURES / "fork") / "opencode.db"
    (home / "opencode.db").write_bytes(made.read_bytes())
    first = ingest(store, config, now=now)
    assert (first.read, first.unreadable, first.skipped) == (1, [], 0)
    again = ingest(store, config, now=now)
    assert (again.read, again.events) == (0, 0)
    (tokens,) = store.db.execute("SELECT sum(input) + sum(output) FROM requests").fetchone()
    assert tokens == 219 + 96 + 117


def test_real_files_lose_nothing(corpus: Path) -> None:
    """Every part of every message is told, is looked at together with others, or is left out."""
    found = [
        item
        for home in sorted((corpus / "opencode").rglob("storage"))
        for item in discovered(home.parent)
    ]
    if not found:
        pytest.skip("no OpenCode files among the real transcripts")
    readings = [SOURCE.read(item, START) for item in found]
    events = latest(event for reading in readings for event in reading.events)
    assert [problem for reading in readings for problem in reading.problems] == []
    assert [event for event in events if isinstance(event, Unrecognised)] == []
    parts = [
        json.loads(path.read_text("utf-8"))
        for home in sorted((corpus / "opencode").rglob("storage"))
        for path in sorted(home.glob("part/*/*.json"))
    ]
    by_kind = Counter(part["type"] for part in parts)
    told = kinds(events)
    assert told["RequestUsage"] == by_kind["step-finish"]
    assert told["ToolCall"] == told["ToolResult"] == by_kind["tool"]
    assert told["Prompt"] + told["Reply"] == by_kind["text"]
    steps = [part["tokens"] for part in parts if part["type"] == "step-finish"]
    assert sum(total(event) for event in events if isinstance(event, RequestUsage)) == sum(
        step["input"] + step["output"] + step["cache"]["read"] + step["cache"]["write"]
        for step in steps
    )
    edits = [event for event in events if isinstance(event, FileEdit)]
    written = sum(part.get("tool") in ("edit", "write") for part in parts)
    assert len(edits) == written
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert len({event.call for event in calls}) == len(calls)
    assert (
        sum(isinstance(event, Notice) and event.name == "patch" for event in events)
        == (by_kind["patch"])
    )
    for event in events:
        assert codec.decode(codec.encode(event)) == event


def test_a_real_database_of_the_first_program_of_this_name_is_read_whole(corpus: Path) -> None:
    paths = sorted((corpus / "opencode_sqlite").rglob("*.db"))
    if not paths:
        pytest.skip("no OpenCode database among the real transcripts")
    for path in paths:
        reading = SOURCE.read(Transcript(SOURCE.name, path, DATABASE), START)
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as plain:
            rows = plain.execute("SELECT session_id, role, parts FROM messages").fetchall()
        assert (reading.problems, reading.records) == ([], len(rows))
        assert reading.sessions.keys() == {session for session, _, _ in rows}
        parts = Counter(
            (role, part["type"]) for _, role, parts in rows for part in json.loads(parts)
        )
        told = kinds(reading.events)
        assert told["Unrecognised"] == 0
        assert told["Prompt"] == parts["user", "text"]
        assert told["Reply"] == parts["assistant", "text"]
        assert told["ToolCall"] == parts["assistant", "tool_call"]
        assert told["ToolResult"] == parts["tool", "tool_result"]
        assert told["RequestUsage"] == sum(role == "assistant" for _, role, _ in rows)
        assert SOURCE.read(Transcript(SOURCE.name, path, DATABASE), reading.cursor).events == []
