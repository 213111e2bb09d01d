"""A person at work, for tests of whole experiments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiment_desk import Office
from hansei.cli import app


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
