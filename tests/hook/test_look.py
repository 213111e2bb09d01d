"""The slow look sees what an agent has before it when a session begins."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hansei.events.keys import digest
from hansei.hook import places
from hansei.hook.look import dirty, instructions
from hook_calls import call, looked


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    for name in ("CLAUDE.md", "web/CLAUDE.md", "AGENTS.md", ".claude/skills/ship/SKILL.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"text of {name}")
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"db": {"command": "x"}}}))
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True)
    (folder / "CLAUDE.local.md").write_text("mine")
    return folder


def test_the_files_an_agent_reads_are_listed_with_their_hashes(
    repository: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    (home / ".claude" / "CLAUDE.md").write_text("for all")
    found = {
        it["path"]: it for it in instructions("claude_code", str(repository), str(repository), home)
    }
    assert sorted(found) == [
        ".claude/skills/ship/SKILL.md",
        ".mcp.json#db",
        "CLAUDE.local.md",
        "CLAUDE.md",
        "web/CLAUDE.md",
        "~/.claude/CLAUDE.md",
    ]
    assert found["CLAUDE.md"]["hash"] == digest(b"text of CLAUDE.md")
    assert found[".claude/skills/ship/SKILL.md"]["kind"] == places.SKILL


def test_another_agent_reads_other_files(repository: Path, tmp_path: Path) -> None:
    found = instructions("codex", str(repository / "web"), str(repository), tmp_path)
    assert [it["path"] for it in found] == ["AGENTS.md"]


def test_a_change_to_a_tracked_file_makes_the_tree_dirty(repository: Path) -> None:
    assert dirty(str(repository)) is False  # a file git does not know changes nothing
    (repository / "CLAUDE.md").write_text("changed")
    assert dirty(str(repository)) is True
    assert dirty("/nowhere") is None


def test_a_session_that_begins_is_looked_at(repository: Path, tmp_path: Path) -> None:
    call(tmp_path, {"session_id": "5f1c", "cwd": str(repository)}, event="SessionStart")
    (seen,) = looked(tmp_path)
    assert seen["dirty"] is False
    assert len(seen["commit"]) == 40
    assert "CLAUDE.md" in [it["path"] for it in seen["instructions"]]


def test_every_pattern_is_recognised_by_its_path() -> None:
    for agent, listed in places.IN_REPOSITORY.items():
        for kind, pattern in listed:
            path = pattern.replace("**/", "deep/er/").replace("*", "name")
            assert places.matched(agent, path) == (kind, "")
            below = None if agent in places.AT_TOP else (kind, "sub")
            assert places.matched(agent, f"sub/{path}") == below
            assert places.read_by_any(f"sub/{path}")
            folder, _, name = f"sub/dir/{path}".rpartition("/")
            tail = places.tail(folder)
            assert places.read_by_any(f"{tail}/{name}" if tail else name)
            assert places.matched(agent, f"{path}.orig") is None
