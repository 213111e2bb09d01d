"""Databases of running agents: everything is read, and nothing about them changes."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from databases import Program
from hansei.errors import UnreadableTranscript
from hansei.sources.families import sqlite

Look = dict[str, tuple[int, int, bytes]]


def look(folder: Path) -> Look:
    """Every file but `-shm`, which our own process shares with an agent played by it."""
    return {name: seen for name, seen in whole(folder).items() if not name.endswith(sqlite.SHARED)}


def whole(folder: Path) -> Look:
    """Every file with its size, time and bytes."""
    return {
        path.name: (path.stat().st_size, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.iterdir())
    }


def numbers(path: Path) -> list[int]:
    """What is in the database, read as an agent's database is."""
    return sqlite.read(path, lambda db: [value for (value,) in db.execute("SELECT a FROM t")])


def write(path: Path, *values: int, mode: str = "WAL") -> sqlite3.Connection:
    """An agent at work: the connection stays open."""
    agent = sqlite3.connect(path)
    agent.execute(f"PRAGMA journal_mode = {mode}")
    agent.execute("CREATE TABLE IF NOT EXISTS t (a INTEGER)")
    agent.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    agent.commit()
    return agent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "agent"
    folder.mkdir()
    return folder / "x.db"


@pytest.fixture
def program(path: Path) -> Iterator[Program]:
    """An agent in a process of its own, with a row in its database."""
    running = Program(path)
    running("CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    yield running
    if running.process.poll() is None:
        running.kill()


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_closed_database_is_read_and_nothing_is_left_beside_it(path: Path, mode: str) -> None:
    write(path, 1, 2, mode=mode).close()
    before = look(path.parent)
    assert numbers(path) == [1, 2]
    assert look(path.parent) == before
    assert [item.name for item in path.parent.iterdir()] == ["x.db"]


def test_rows_that_are_only_in_the_wal_are_read(path: Path) -> None:
    with closing(write(path, 1, 2)):
        before = look(path.parent)
        assert before["x.db-wal"][0] > 0
        assert numbers(path) == [1, 2]
        assert look(path.parent) == before


def test_an_agent_in_the_middle_of_writing_neither_waits_nor_is_waited_for(path: Path) -> None:
    with closing(write(path, 1)) as agent:
        agent.execute("BEGIN EXCLUSIVE")
        agent.execute("INSERT INTO t VALUES (2)")
        assert numbers(path) == [1]

        def while_it_is_read(db: sqlite.Connection) -> list[int]:
            db.execute("SELECT a FROM t").fetchall()
            agent.commit()  # would raise if it had to wait
            return [value for (value,) in db.execute("SELECT a FROM t")]

        agent.execute("PRAGMA busy_timeout = 0")
        assert sqlite.read(path, while_it_is_read) == [1], "one state for all that is read"
        assert numbers(path) == [1, 2]


@pytest.mark.parametrize("killed", [False, True], ids=["running", "killed"])
def test_not_even_the_shared_index_of_another_program_changes(
    path: Path, program: Program, killed: bool
) -> None:
    program("PRAGMA journal_mode = WAL", "INSERT INTO t VALUES (2)")
    if killed:
        program.kill()
    before = whole(path.parent)
    assert set(before) == {"x.db", "x.db-wal", "x.db-shm"}
    assert numbers(path) == [1, 2]
    assert whole(path.parent) == before


@pytest.mark.parametrize(("journal", "seen"), [("DELETE", [1, 2]), ("WAL", [1])])
def test_a_program_may_commit_while_its_database_is_read(
    path: Path, program: Program, journal: str, seen: list[int]
) -> None:
    """Without a log it is read again; with one, a state of it lasts."""
    program(f"PRAGMA journal_mode = {journal}", "UPDATE t SET a = 0", "UPDATE t SET a = 1")
    answers: list[str] = []

    def take(db: sqlite.Connection) -> list[int]:
        if not answers:
            answers.extend(program("INSERT INTO t VALUES (2)"))
        return [value for (value,) in db.execute("SELECT a FROM t")]

    assert sqlite.read(path, take) == seen
    assert answers == ["[]"]


def test_a_commit_under_way_is_waited_for(
    path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program("PRAGMA cache_size = 1", "BEGIN", *["INSERT INTO t VALUES (zeroblob(5000))"] * 20)
    program("DELETE FROM t WHERE a <> 1", "INSERT INTO t VALUES (2)")
    assert any(sqlite.beside(path, sqlite.JOURNAL).read_bytes()[:8]), "half of it is in the file"
    pauses: list[float] = []

    def commit(seconds: float) -> None:
        pauses.append(seconds)
        program("COMMIT")

    monkeypatch.setattr("hansei.sources.families.sqlite.time.sleep", commit)
    monkeypatch.setattr(sqlite, "_from_copy", None)
    assert numbers(path) == [1, 2]
    assert pauses == [sqlite.PAUSE_SECONDS]


@pytest.mark.parametrize("mode", ["TRUNCATE", "PERSIST"])
def test_a_journal_that_is_over_is_no_reason_to_wait_or_to_copy(
    path: Path, program: Program, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(f"PRAGMA journal_mode = {mode}", "INSERT INTO t VALUES (2)")
    assert sqlite.beside(path, sqlite.JOURNAL).exists()
    for part in ("_from_copy", "time"):
        monkeypatch.setattr(sqlite, part, None)
    before = whole(path.parent)
    assert numbers(path) == [1, 2]
    assert whole(path.parent) == before


def test_a_commit_that_leaves_size_and_time_as_they_were_is_noticed(
    path: Path, program: Program
) -> None:
    status = path.stat()
    asked: list[int] = []

    def take(db: sqlite.Connection) -> list[int]:
        if not asked:
            program("UPDATE t SET a = 2")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        asked.append(1)
        return [value for (value,) in db.execute("SELECT a FROM t")]

    assert sqlite.read(path, take) == [2]
    assert len(asked) == 2


def test_what_a_crash_left_is_read_without_touching_it(path: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(write(path, 1, 2)):
        for name in ("x.db", "x.db-wal"):
            shutil.copy(path.parent / name, crashed)
    before = look(crashed)
    assert numbers(crashed / "x.db") == [1, 2]
    assert look(crashed) == before
    assert not (crashed / "x.db-shm").exists()


def test_a_database_that_a_program_holds_for_itself_is_read_all_the_same(path: Path) -> None:
    write(path, 1).close()
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("PRAGMA locking_mode = EXCLUSIVE")
        agent.execute("INSERT INTO t VALUES (2)")
        agent.commit()
        address = f"{path.as_uri()}?mode=ro"
        with (
            closing(sqlite3.connect(address, uri=True, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("SELECT a FROM t")
        before = look(path.parent)
        assert numbers(path) == [1, 2]
        assert look(path.parent) == before


def test_a_build_without_the_lockless_part_reads_a_copy(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(write(path, 1, 2)):
        for name in ("x.db", "x.db-wal"):
            shutil.copy(path.parent / name, crashed)
    monkeypatch.setattr(sqlite, "_LOCKLESS", "no-such-part")
    before = look(crashed)
    assert numbers(crashed / "x.db") == [1, 2]
    assert look(crashed) == before


def test_a_transaction_that_was_cut_off_is_rolled_back_only_in_the_copy(path: Path) -> None:
    """A rollback journal holds what the database was: without it, half a transaction is read."""
    with closing(write(path, *range(5000), mode="DELETE")) as agent:
        agent.execute("PRAGMA cache_size = 1")
        agent.execute("UPDATE t SET a = -1")
        crashed = path.parent.parent / "crashed"
        shutil.copytree(path.parent, crashed)
    before = look(crashed)
    assert before["x.db-journal"][0] > 0
    assert numbers(crashed / "x.db") == list(range(5000))
    assert look(crashed) == before


def test_a_file_that_is_never_still_is_unreadable_and_says_so(path: Path) -> None:
    write(path, 1).close()

    def written_meanwhile(db: sqlite.Connection) -> None:
        db.execute("SELECT a FROM t").fetchall()
        path.touch()

    with pytest.raises(UnreadableTranscript, match="written faster"):
        sqlite.read(path, written_meanwhile)


def test_what_changed_while_it_was_read_is_read_again(path: Path) -> None:
    write(path, 1).close()
    asked: list[int] = []

    def take(db: sqlite.Connection) -> list[int]:
        found = [value for (value,) in db.execute("SELECT a FROM t")]
        if not asked:
            write(path, 2).close()
        asked.append(len(found))
        return found

    assert sqlite.read(path, take) == [1, 2]
    assert asked == [1, 2]


@pytest.mark.parametrize(
    "content", [b"no database at all, but longer than a header" * 9, b"\0" * 4096]
)
def test_what_is_no_database_is_unreadable(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(UnreadableTranscript, match=r"x\.db cannot be read: file is not a database"):
        numbers(path)
    assert path.read_bytes() == content


def test_a_database_that_is_gone_is_unreadable(path: Path) -> None:
    with pytest.raises(UnreadableTranscript, match="cannot be read"):
        numbers(path)


def test_an_empty_file_is_a_new_database(path: Path) -> None:
    path.touch()
    assert sqlite.read(path, lambda db: sqlite.unknown_schema(db, {"t": ["a"]})) is None
    assert sqlite.read(path, sqlite.tables) == []
    assert path.stat().st_size == 0


def test_an_unknown_schema_is_named(path: Path) -> None:
    write(path).close()

    def why(wanted: dict[str, list[str]]) -> str | None:
        return sqlite.read(path, lambda db: sqlite.unknown_schema(db, wanted))

    assert why({"t": ["a"]}) is None
    assert why({"t": ["a", "b"]}) == "unknown schema: table t has no b"
    assert why({"u": []}) == "unknown schema: no table u, but t"


def test_a_damaged_page_costs_only_its_own_rows(path: Path) -> None:
    write(path, *range(20_000)).close()
    content = bytearray(path.read_bytes())
    page = 4096
    middle = len(content) // page // 2 * page
    content[middle : middle + page] = b"\xff" * page
    path.write_bytes(content)
    damage: set[str] = set()
    found = sqlite.read(
        path, lambda db: [row[1] for row in sqlite.rows(db, "SELECT rowid, a FROM t", (), damage)]
    )
    assert damage == {sqlite.DAMAGED}
    assert len(set(found)) == len(found)
    assert {0, 19_999} <= set(found)
    assert 19_000 < len(found) < 20_000


def test_a_value_that_is_too_long_costs_only_itself(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LONGEST_VALUE", 10_000)
    with closing(sqlite3.connect(path)) as agent:
        agent.execute("CREATE TABLE t (a TEXT, b TEXT)")
        agent.execute("CREATE INDEX i ON t (a)")
        agent.executemany("INSERT INTO t VALUES ('x', ?)", [("one",), ("2" * 20_000,), ("three",)])
        agent.commit()
    damage: set[str] = set()

    def take(db: sqlite.Connection) -> list[sqlite.Row]:
        return sqlite.Lookup(db, "t", "a", "rowid, b", damage).find("x")

    assert sqlite.read(path, take) == [(1, b"one"), (3, b"three")]
    assert damage == {sqlite.TOO_LONG}


def test_a_fingerprint_sees_rows_that_are_only_in_the_wal(path: Path) -> None:
    with closing(write(path, 1)) as agent:
        first = sqlite.fingerprint(path)
        agent.execute("INSERT INTO t VALUES (2)")
        agent.commit()
        second = sqlite.fingerprint(path)
    assert len({first, second, sqlite.fingerprint(path)}) == 3
    assert numbers(path) == [1, 2]
    assert sqlite.fingerprint(path) == sqlite.fingerprint(path)


def test_a_name_with_signs_that_mean_something_in_an_address_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "50% of #1?.db"
    write(path, 7).close()
    assert numbers(path) == [7]
