"""`hansei facts` over a generated history."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hansei.cli import app
from hansei.cli.commands.facts import KINDS
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import NotFound
from hansei.synth import World, build
from synthetic_world import NOW, even_place

Ask = Callable[..., str]
_SIZES = re.compile(r"\d+ +[\d.]+ k(?=  )")
"""Tokens and rent."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    agents = ("claude_code", "codex")
    with even_place() as folder:
        yield build(folder, seed=11, now_ms=NOW, sessions=30, weeks=4, agents=agents)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def ask(
    world: World, store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Ask]:
    """Type a command in the generated repository and read what it prints."""
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})

    def run(*arguments: str) -> str:
        with app.elsewhere(app.Place(here, world.repo)):
            root.main(args=list(arguments), standalone_mode=False)
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_it_prints_what_the_golden_file_says(
    kind: str | None, ask: Ask, golden: Callable[[str, str], None]
) -> None:
    arguments = ["facts", kind, "-n", "8"] if kind else ["facts"]
    golden(f"facts-{kind or 'overview'}.txt", _anywhere(ask(*arguments), kind))


def _anywhere(text: str, kind: str | None) -> str:
    """Lists of skills tell whole paths, so sizes depend on where the world lies."""
    if kind != "exposure":
        return text
    return _SIZES.sub(lambda it: re.sub(r"\d", "0", it[0]), text)


@pytest.mark.parametrize("kind", KINDS)
def test_json_holds_every_line_with_its_evidence(kind: str, ask: Ask) -> None:
    told = json.loads(ask("facts", kind, "--json"))
    assert told["schema"] == f"hansei.facts.{kind}/1"
    found = told["found"]
    assert found["lines"] if isinstance(found, dict) else found


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_single_facts_that_can_be_opened(kind: str, ask: Ask) -> None:
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in ask("facts", kind, "--rows").splitlines()
    ]
    assert rows
    places = [(row["session"], row.get("seq") or row.get("fired_seq")) for row in rows]
    session, seq = next(it for it in places if it[1])
    assert ask("show", f"{session}#{seq}")


def test_every_place_that_is_named_can_be_opened(ask: Ask) -> None:
    found = json.loads(ask("facts", "failures", "--json"))["found"]
    for line in found[:5]:
        for place in line["evidence"]:
            assert ask("show", place)


def test_files_stand_beside_what_a_commit_holds_of_them(ask: Ask, world: World) -> None:
    found = json.loads(ask("facts", "files", "--at", "HEAD", "--json"))["found"]
    known = [line for line in found if line["at_commit"]]
    assert known
    path = known[0]["path"]
    lines = (world.repo / path).read_text(encoding="utf-8").count("\n")
    assert known[0]["at_commit"]["lines"] == lines
    assert "commits 30 d" in ask("facts", "files", "--at", "HEAD")


def test_a_commit_that_is_not_there_is_said_so(ask: Ask) -> None:
    with pytest.raises(NotFound, match="has no commit nowhere"):
        ask("facts", "files", "--at", "nowhere")


def test_a_scope_without_sessions_says_what_would_widen_it(ask: Ask) -> None:
    assert "--all" in ask("facts", "--since", "1h", "--agent", "cursor")


def test_a_second_look_works_nothing_out_again(
    ask: Ask, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask("facts")

    def never(*_: object) -> None:
        raise AssertionError("worked out again")

    monkeypatch.setattr("hansei.ops.projecting.work_out", never)
    monkeypatch.setattr("hansei.projection.outcomes.repository._judged", never)
    assert "files" in ask("facts")
