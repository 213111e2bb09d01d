"""Builders that every folder of tests uses."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from experiment_desk import Office
from hansei.cli import app
from hansei.config import Config, Environment, Settings
from hansei.store.database import Store, open_store

# How long an example takes says more about the machine than about the code.
settings.register_profile("hansei", deadline=None, derandomize=True)
settings.load_profile("hansei")

# Whoever starts the tests in the background may have told them to ignore these; tests of signals
# need what a person's terminal gives.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGHUP", "SIGQUIT", "SIGTERM"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)

NOW = 1_790_000_000_000
"""The clock of tests: 21 September 2026."""

DAY = 86_400_000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="write golden files again")


@pytest.fixture
def now() -> int:
    return NOW


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    opened = open_store(tmp_path / "store", now=NOW)
    yield opened
    opened.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder in which no agent has ever run."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def config(home: Path, tmp_path: Path) -> Config:
    """Settings for a store of its own and an empty home."""
    return Config(tmp_path / "store", Settings(), Environment(home, {}))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real transcripts, where it is."""
    named = os.environ.get("HANSEI_CORPUS")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no real transcripts in {folder}; set HANSEI_CORPUS to have this run")
    return folder


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name beside the test."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if request.config.getoption("--write-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; see tests/README.md"

    return compare


@pytest.fixture
def office(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Office]:
    made = Office(tmp_path, capsys)
    monkeypatch.setattr(app, "now", lambda: made.clock)
    monkeypatch.setattr("secrets.token_hex", lambda _: "fixed salt")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield made
    monkeypatch.undo()
    time.tzset()
