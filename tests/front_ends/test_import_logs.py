"""Taking in logs of other programs, as a person does it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import fake_secrets
from hansei.sources import catalogue
from hansei.sources.logs.hansei import schema

NOW = 1_790_000_000_000
ROOT = Path(__file__).parents[2]
Hansei = Callable[..., subprocess.CompletedProcess[str]]
LOG: list[dict[str, Any]] = [
    {"hansei": 1, "type": "session", "id": "run-1", "agent": "bot", "at": "2026-05-01T10:00:00Z"},
    {"type": "prompt", "text": "make it pass", "at": "2026-05-01T10:00:01Z"},
    {"type": "call", "id": "c1", "tool": "bash", "arguments": {"command": "pytest"}},
    {"type": "result", "call": "c1", "text": "1 failed", "exit_code": 1},
    {"type": "usage", "id": "r1", "model": "m", "input": 100, "output": 5},
]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def hansei(tmp_path: Path, here: Path) -> Hansei:
    def run(*arguments: str, typed: bytes = b"") -> Any:
        script = (
            "import sys, hansei.cli.app as app, hansei.cli.main as main\n"
            f"app.now = lambda: {NOW}\n"
            "main.main(sys.argv[1:])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", "COLUMNS": "120"},
            cwd=here,
            capture_output=True,
            check=False,
            input=typed,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_a_log_is_taken_in_once_and_shows_up_where_it_is_said_to_have_run(
    hansei: Hansei, here: Path
) -> None:
    (here / "log.jsonl").write_bytes(lines(*LOG))
    first = hansei("import", "log.jsonl")
    assert first.returncode == 0, first.stderr
    assert "1 × hansei" in first.stdout
    assert "5 new events" in first.stdout
    assert "--folder DIR" in first.stdout
    assert "0 new events" in hansei("import", "log.jsonl", "--folder", ".").stdout
    (session,) = json.loads(hansei("sessions", "--json").stdout)["sessions"]
    assert (session["agent"], session["calls"], session["failed"]) == ("hansei", 1, 1)
    assert session["tokens"] == 105


def test_standard_input_is_kept_and_read_once(hansei: Hansei, tmp_path: Path) -> None:
    assert "5 new events" in hansei("import", "-", typed=lines(*LOG)).stdout
    assert "0 new events" in hansei("import", "-", typed=lines(*LOG)).stdout
    (kept,) = (tmp_path / "home" / ".hansei" / "imported").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_folder_is_searched_and_what_is_no_log_is_listed(hansei: Hansei, here: Path) -> None:
    (here / "deep").mkdir()
    (here / "deep" / "log.jsonl").write_bytes(lines(*LOG))
    (here / "package.json").write_text('{"name": "x"}', "utf-8")
    done = hansei("import", ".")
    assert done.returncode == 0, done.stderr
    assert "1 file not taken in" in done.stdout
    assert "package.json" in done.stdout


def test_what_no_format_knows_says_what_was_tried_and_what_each_needs(
    hansei: Hansei, here: Path
) -> None:
    (here / "odd.json").write_text('{"colour": 1}', "utf-8")
    done = hansei("import", "odd.json")
    assert done.returncode == 3
    assert "colour" in done.stderr
    assert all(f"  {name}: " in done.stderr for name in catalogue.formats())
    (here / "half.json").write_text('{"messages": [{"role": ', "utf-8")
    assert "cut off" in hansei("import", "half.json").stderr


def test_a_format_that_is_asked_for_must_be_there(hansei: Hansei, here: Path) -> None:
    (here / "log.jsonl").write_bytes(lines(*LOG))
    done = hansei("import", "log.jsonl", "--format", "morse")
    assert done.returncode == 2
    assert "openai_chat" in done.stderr


WRONG: list[tuple[Any, str]] = [
    ({"type": "prompt"}, "field text: it is missing"),
    ({"type": "prompt", "text": "x", "colour": 1}, "field colour"),
    ({"type": "usage", "input": "many"}, "field input: expected `int"),
    ({"type": "usage", "input": -1}, "field input"),
    ({"type": "prompt", "text": "x", "by": "ghost"}, "field by: not one of human"),
    ({"type": "shout"}, "field type: not one of session, prompt"),
    ({"type": "prompt", "text": "x", "at": "soon"}, "field at: not a time"),
    ([1], "not a JSON object"),
]


def test_check_names_file_line_and_field_of_every_fault_and_fails(
    hansei: Hansei, here: Path, tmp_path: Path
) -> None:
    (here / "log.jsonl").write_bytes(lines(*LOG, *(wrong for wrong, _ in WRONG)))
    done = hansei("import", "--check", "log.jsonl")
    assert done.returncode == 1
    for number, (_, says) in enumerate(WRONG, len(LOG) + 1):
        assert f"log.jsonl:{number}: {says}" in done.stdout
    assert "ghost" not in done.stdout
    assert not (tmp_path / "home" / ".hansei" / "hansei.db").exists()


def test_check_of_a_log_without_faults_says_what_it_tells(hansei: Hansei) -> None:
    done = hansei("import", "--check", "-", typed=lines(*LOG))
    assert done.returncode == 0
    assert "Nothing is wrong." in done.stdout
    told = json.loads(hansei("import", "--check", "-", "--json", typed=lines(*LOG)).stdout)
    assert (told["sessions"], told["tokens"]) == (1, 105)


def test_secrets_are_replaced_and_the_doctor_counts_what_was_read(
    hansei: Hansei, here: Path
) -> None:
    secret = fake_secrets.fakes(7)["netlify-token"][0].secret
    told = {"type": "prompt", "text": f"use {secret}"}
    (here / "log.jsonl").write_bytes(lines(*LOG, told, {"type": "prompt"}))
    assert "6 new events" in hansei("import", "log.jsonl", "--folder", ".").stdout
    shown = hansei("show", "run-1").stdout
    assert "use " in shown
    assert secret not in shown
    agents = json.loads(hansei("doctor", "--json").stdout)["agents"]
    (ours,) = [it for it in agents if it["agent"] == "hansei"]
    assert (ours["transcripts"], ours["sessions"], len(ours["skipped"])) == (1, 1, 1)


def test_the_schema_in_the_docs_is_the_one_of_the_code() -> None:
    file = ROOT / "docs" / "formats" / "hansei.schema.json"
    made = msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode()
    assert file.read_text(encoding="utf-8") == made + "\n"


def test_every_format_has_a_page() -> None:
    for name in catalogue.formats():
        assert (ROOT / "docs" / "formats" / f"{name}.md").is_file()


@pytest.mark.parametrize(
    ("typed", "said"),
    [(b"", "standard input holds nothing"), (b"hello", "standard input holds text, in no format")],
)
def test_standard_input_in_no_format_is_not_kept(
    hansei: Hansei, tmp_path: Path, typed: bytes, said: str
) -> None:
    done = hansei("import", "-", typed=typed)
    assert done.returncode == 3
    assert said in done.stderr
    assert not list((tmp_path / "home").rglob("stdin-*"))
