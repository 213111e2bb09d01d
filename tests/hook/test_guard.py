"""A promoted rule stops exactly the calls it warns of, and nothing that goes wrong stops any."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hansei.hook import guard, record
from hansei.learn.judge import is_stopped
from hook_calls import call, refused, spooled

REASON = "Tests run with uv. Use `uv run pytest` instead."
RULE: dict[str, Any] = {
    "root": "ROOT",
    "name": "use-uv",
    "needles": ["pytest"],
    "reason": REASON,
    "predicates": {"do": ["uv run pytest"], "avoid": ["pytest"]},
}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = (tmp_path / "repo").resolve()
    (made / "api").mkdir(parents=True)
    return made


def guarded(home: Path, *rules: dict[str, Any], version: int = 1) -> None:
    told = {"v": version, "guards": list(rules)}
    (home / record.GUARDS).write_text(json.dumps(told), encoding="utf-8")


def attempt(cwd: Path, **given: str) -> dict[str, Any]:
    tool = "Bash" if "command" in given else "Write"
    return {"session_id": "s", "cwd": str(cwd), "tool_name": tool, "tool_input": given}


def test_an_agent_is_refused_the_call_and_told_why(tmp_path: Path, repo: Path) -> None:
    guarded(tmp_path, {**RULE, "root": str(repo)})
    for agent in ("claude_code", "codex"):
        wanted = attempt(repo / "api", command="cd . && pytest -q")
        said = refused(partial(call, tmp_path, wanted, agent=agent))
        assert json.loads(said) == {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": REASON,
            }
        }
    assert {it["agent"] for it in spooled(tmp_path)} == {"claude_code", "codex"}


def test_gemini_is_told_in_its_own_words(tmp_path: Path, repo: Path) -> None:
    guarded(tmp_path, {**RULE, "root": str(repo)})
    wanted = {**attempt(repo, command="pytest -q"), "tool_name": "run_shell_command"}
    said = refused(partial(call, tmp_path, wanted, agent="gemini", event="BeforeTool"))
    assert json.loads(said) == {"decision": "deny", "reason": REASON}


@pytest.mark.parametrize(
    ("folder", "command", "more"),
    [
        ("repo", "uv run pytest -q", {}),  # what it asks for
        ("repo", "grep -rn pytest docs", {}),  # only says the word
        (".", "pytest -q", {}),  # another folder
        ("repo", "pytest -q", {"agent": "cursor"}),  # an agent that is not known to heed it
        ("repo", "pytest -q", {"event": "PostToolUse"}),  # too late
    ],
)
def test_everything_else_goes_on(
    tmp_path: Path, repo: Path, folder: str, command: str, more: dict[str, str]
) -> None:
    guarded(tmp_path, {**RULE, "root": str(repo)})
    assert call(tmp_path, attempt(tmp_path / folder, command=command), **more) == ""
    assert len(spooled(tmp_path)) == 1


BROKEN = (
    "",
    "{",
    "[]",
    {"v": 1, "guards": [1, None, {"root": 3}, {"reason": "x"}]},
    {"v": 1, "guards": [{**RULE, "predicates": None}]},
    {"v": 1, "guards": [{**RULE, "predicates": {"avoid": 7}}]},
    {"v": 2, "guards": [RULE]},
)


@pytest.mark.parametrize("content", BROKEN)
def test_a_file_that_cannot_be_used_stops_nothing(
    tmp_path: Path, repo: Path, content: object
) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / record.GUARDS).write_text(text.replace("ROOT", str(repo)), encoding="utf-8")
    assert call(tmp_path, attempt(repo, command="pytest")) == ""
    assert len(spooled(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "value"), [("SECONDS", 0.0001), ("_PROGRAM", "raise SystemExit(1)")]
)
def test_a_comparison_that_takes_too_long_or_fails_stops_nothing(
    tmp_path: Path, repo: Path, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded(tmp_path, {**RULE, "root": str(repo)})
    data = json.dumps(attempt(repo, command="pytest")).encode()
    line = {"agent": "claude_code", "hook": "PreToolUse"}
    assert refused(lambda: record._stop(str(tmp_path), line, data) or "")
    monkeypatch.setattr(guard, name, value)
    assert record._stop(str(tmp_path), line, data) is None


def test_a_file_is_known_by_its_path_from_the_top_whatever_folder_the_agent_is_in(
    repo: Path,
) -> None:
    told = {"root": str(repo), "predicates": {"avoid": ["lib/old"]}, "text": None}
    for cwd, path, stopped in (
        (repo, "lib/old/a.py", True),
        (repo / "api", "../lib/old/a.py", True),
        (repo, str(repo / "lib/old/a.py"), True),
        (repo / "api", "lib/old/a.py", False),
        (repo, "/lib/old/a.py", False),
    ):
        asked = {**told, "cwd": str(cwd), "path": path}
        assert is_stopped({**asked, "tool": "Write"}) is stopped
        assert not is_stopped({**asked, "tool": "Glob"})
