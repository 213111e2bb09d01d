"""Databases of agents, made for tests from files that can be read.

A fixture has no database in it but a file `<name>.rows`: its first line names the schema, a file of
SQL in the agent's folder, and every other line is a row, in the order in which the agent wrote
them. A row that comes again with the same id replaces the earlier one, as agents rewrite rows while
they work. Values that are no plain text or numbers are stored as JSON.
"""

from __future__ import annotations

import atexit
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures" / "agents"
SUFFIX = ".rows"

_WRITER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
for line in sys.stdin:
    try:
        answer = db.execute(line).fetchall()
    except sqlite3.Error as problem:
        answer = problem
    print(answer, flush=True)
"""

_made = tempfile.TemporaryDirectory(prefix="hansei-fixtures-")
atexit.register(_made.cleanup)


@cache
def made(case: Path) -> Path:
    """A fixture with its databases; the fixture itself if it has none."""
    if not rows_files(case):
        return case
    folder = Path(_made.name) / case.relative_to(FIXTURES)
    shutil.copytree(case, folder, ignore=shutil.ignore_patterns(f"*{SUFFIX}"))
    for path in rows_files(case):
        database = folder / path.relative_to(case).with_suffix("")
        database.parent.mkdir(parents=True, exist_ok=True)
        agent = begin(path, database)
        for row in rows_of(path):
            write(agent, row)
        agent.close()
    return folder


def rows_files(case: Path) -> list[Path]:
    return sorted(case.rglob(f"*{SUFFIX}"))


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a database in the order in which they were written."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]


def begin(path: Path, database: Path) -> sqlite3.Connection:
    """An agent that has made its tables and has yet to write: rows go to `-wal` first."""
    head = json.loads(path.read_text("utf-8").splitlines()[0])
    schema = FIXTURES / path.relative_to(FIXTURES).parts[0] / head["schema"]
    agent = sqlite3.connect(database, isolation_level=None)
    agent.execute("PRAGMA synchronous = OFF")
    agent.execute(f"PRAGMA journal_mode = {head.get('journal', 'WAL')}")
    agent.executescript(schema.read_text("utf-8"))
    return agent


def write(agent: sqlite3.Connection, row: dict[str, Any]) -> None:
    """Insert a row, or rewrite the one with the same id."""
    values = _values(row)
    agent.execute(_statement(row, ["?"] * len(values)), tuple(values.values()))


def spelled_out(row: dict[str, Any]) -> str:
    """The same as a statement without parameters, for another program to run."""
    with closing(sqlite3.connect(":memory:")) as speller:
        quoted = [
            speller.execute("SELECT quote(?)", (value,)).fetchone()[0]
            for value in _values(row).values()
        ]
    return _statement(row, quoted)


def _values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in row.items() if name != "table"}


def _statement(row: dict[str, Any], values: list[str]) -> str:
    names = list(_values(row))
    update = ", ".join(f"{name} = excluded.{name}" for name in names)
    return (
        f"INSERT INTO {row['table']} ({', '.join(names)}) VALUES ({', '.join(values)})"
        f" ON CONFLICT ({names[0]}) DO UPDATE SET {update}"
    )


def _value(value: Any) -> Any:
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    return value


class Program:
    """Another program that has a database open."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *statements: str) -> list[str]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        answers = []
        for statement in statements:
            self.process.stdin.write(statement.replace("\n", " ") + "\n")
            self.process.stdin.flush()
            answers.append(self.process.stdout.readline().strip())
        return answers

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()
