"""`hansei recall` over a generated history."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with even_place() as folder:
        yield build(folder, seed=11, now_ms=NOW, sessions=30, weeks=4, agents=("claude_code",))


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


def test_it_prints_what_the_golden_file_says(ask: Ask, golden: Callable[[str, str], None]) -> None:
    golden("recall.txt", ask("recall", "ModuleNotFoundError: No module named 'berthline'"))


def test_every_failure_of_the_history_recalls_itself_first(ask: Ask) -> None:
    known = json.loads(ask("facts", "failures", "-n", "0", "--json"))["found"]
    asked = [it for it in known if it["kind"] == "failure" and it["recovered"]]
    assert asked
    for line in asked:
        found = json.loads(ask("recall", line["signature"], "--json", "--no-ingest"))
        first = found["failures"][0]
        assert first["signature"] == line["signature"]
        assert (first["episodes"], first["recovered"]) == (line["episodes"], line["recovered"])
        assert first["fixes"][0]["times"] <= first["recovered"]


def test_what_it_tells_as_a_fix_can_be_opened_and_succeeded(ask: Ask) -> None:
    found = json.loads(ask("recall", "No module named 'berthline'", "--json"))
    reference = found["failures"][0]["fixes"][0]["reference"]
    shown = json.loads(ask("show", reference, "--json"))
    statuses = [it["event"].get("status") for it in shown["events"]]
    assert "ok" in statuses


def test_an_output_is_read_from_standard_input(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    output = "collected 0 items\n\nE   ModuleNotFoundError: No module named 'berthline'\n1 error\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(output))
    assert "No module named 'berthline'" in ask("recall", "-").splitlines()[0]


def test_what_nobody_met_is_said_to_be_unknown(ask: Ask) -> None:
    assert ask("recall", "segmentation fault in the flux capacitor\n\n").startswith(
        "Nothing like it"
    )


def test_an_empty_question_is_refused_with_a_word_on_what_to_do(ask: Ask) -> None:
    with pytest.raises(UsageError, match="nothing to look for"):
        ask("recall", "  ")
