"""Which agents are here, in which version."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hansei.config import Environment
from hansei.installation import catalogue
from hansei.installation.contract import numbers
from hansei.installation.detection import Found, find

CLAUDE = catalogue.load("claude_code")


def program(path: Path, text: str = "#!/bin/sh\nexit 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def on_path(home: Path) -> Environment:
    (home / "bin").mkdir()
    return Environment(home, {"PATH": str(home / "bin")})


def test_nothing_is_found_in_an_empty_home(home: Path) -> None:
    assert find(CLAUDE, Environment(home, {}), {}) is None
    assert find(CLAUDE, Environment(home, {"PATH": ""}), {}) is None


def test_a_package_tells_the_version_through_a_link(on_path: Environment) -> None:
    package = on_path.home / "lib" / "node_modules" / "@anthropic-ai" / "claude-code"
    real = program(package / "bin" / "claude.exe")
    (package / "package.json").write_text(json.dumps({"version": "2.1.325"}))
    (on_path.home / "bin" / "claude").symlink_to(real)
    found = find(CLAUDE, on_path, {"claude_code": "2.0.1"})
    assert found is not None
    assert (found.version, found.basis) == ("2.1.325", str(package / "package.json"))


def test_a_folder_named_after_the_version_tells_it(on_path: Environment) -> None:
    real = program(on_path.home / ".local" / "share" / "claude" / "versions" / "2.1.197")
    (on_path.home / "bin" / "claude").symlink_to(real)
    found = find(CLAUDE, on_path, {})
    assert found is not None
    assert found.version == "2.1.197"


def test_the_newest_session_tells_it_where_there_is_no_program(home: Path) -> None:
    (home / ".claude").mkdir()
    found = find(CLAUDE, Environment(home, {}), {"claude_code": "2.1.40"})
    assert found == Found("2.1.40", "its newest session", str(home / ".claude"))


def test_the_program_is_asked_last(on_path: Environment) -> None:
    path = program(on_path.home / "bin" / "claude", "#!/bin/sh\necho '2.1.9 (Claude Code)'\n")
    found = find(CLAUDE, on_path, {})
    assert found == Found("2.1.9", f"{path} --version", str(path))


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\nexec sleep 30\n", "not a program"]
)
def test_a_program_that_does_not_answer_leaves_the_version_unknown(
    text: str, on_path: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hansei.installation.detection.PATIENCE_SECONDS", 0.2)
    program(on_path.home / "bin" / "claude", text)
    found = find(CLAUDE, on_path, {})
    assert found is not None
    assert found.version is None


def test_a_damaged_package_is_passed_over(on_path: Environment) -> None:
    real = program(on_path.home / "pkg" / "claude", "#!/bin/sh\necho 2.1.9\n")
    real.with_name("package.json").write_text('{"version": [')
    (on_path.home / "bin" / "claude").symlink_to(real)
    found = find(CLAUDE, on_path, {})
    assert found is not None
    assert found.version == "2.1.9"


def test_versions_are_compared_as_numbers() -> None:
    assert numbers("2.1.9") < numbers("2.1.10")
    assert numbers("2.5.0-pre.31") == (2, 5, 0)
    assert numbers("none") == ()


@pytest.mark.parametrize(
    ("version", "without"),
    [
        ("2.1.325", set()),
        ("2.0.56", set()),
        ("2.0.55", {"PostToolUseFailure"}),
        ("2.0.42", {"PostToolUseFailure", "SubagentStart"}),
        ("1.0.84", {"PostToolUseFailure", "SubagentStart", "SessionEnd"}),
    ],
)
def test_only_events_that_the_version_accepts_are_wanted(version: str, without: set[str]) -> None:
    every = {event.name for event in CLAUDE.events}
    assert set(CLAUDE.known_to(version)) == every - without


def test_a_version_before_hooks_accepts_none() -> None:
    assert CLAUDE.known_to("1.0.37") == ()
    assert CLAUDE.first == "1.0.38"


@pytest.mark.parametrize("name", catalogue.names())
def test_every_event_has_a_version_and_evidence(name: str) -> None:
    agent = catalogue.load(name)
    assert agent.name == name
    assert agent.events
    for event in agent.events:
        assert numbers(event.since)
        assert event.evidence
