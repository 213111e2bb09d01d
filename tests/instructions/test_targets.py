"""Which file a new item goes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from hansei.hook.places import IN_REPOSITORY, SERVER
from hansei.instructions.targets import (
    SHARED,
    SKILL_FOLDERS,
    default_target,
    kind_of,
    readers,
    skill_path,
)


def test_without_any_file_a_new_one_is_made_for_most_agents(tmp_path: Path) -> None:
    assert default_target(tmp_path) == "AGENTS.md"
    assert default_target(tmp_path, {"claude_code": 9, "codex": 5, "opencode": 4}) == "AGENTS.md"


def test_a_file_that_no_session_would_read_is_not_taken(tmp_path: Path) -> None:
    assert default_target(tmp_path, {"claude_code": 9}) == "CLAUDE.md"
    (tmp_path / "AGENTS.md").write_text("rules\n")
    assert default_target(tmp_path, {"claude_code": 9, "codex": 0}) == "CLAUDE.md"
    assert default_target(tmp_path, {"claude_code": 9, "codex": 1}) == "AGENTS.md"


def test_the_file_that_most_sessions_read_is_taken(tmp_path: Path) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md"):
        (tmp_path / name).write_text("rules\n")
    assert default_target(tmp_path) == "AGENTS.md"
    assert default_target(tmp_path, {"claude_code": 5, "codex": 4}) == "CLAUDE.md"
    assert default_target(tmp_path, {"claude_code": 5, "codex": 4, "opencode": 2}) == "AGENTS.md"


def test_a_file_that_is_not_there_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("rules\n")
    assert default_target(tmp_path) == "CLAUDE.md"
    assert default_target(tmp_path, {"codex": 5, "claude_code": 1}) == "CLAUDE.md"


@pytest.mark.parametrize("text", ["@AGENTS.md\n", "# Rules\nSee @./AGENTS.md.\n"])
def test_an_import_counts_for_what_it_imports(tmp_path: Path, text: str) -> None:
    (tmp_path / "AGENTS.md").write_text("rules\n")
    (tmp_path / "CLAUDE.md").write_text(text)
    assert default_target(tmp_path, {"claude_code": 9}) == "AGENTS.md"


@pytest.mark.parametrize(("link", "real"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_of_a_link_and_its_file_the_file_is_taken(tmp_path: Path, link: str, real: str) -> None:
    (tmp_path / real).write_text("rules\n")
    (tmp_path / link).symlink_to(real)
    assert default_target(tmp_path, {"claude_code": 9, "codex": 3}) == real


def test_every_target_is_read_by_some_agent() -> None:
    assert all(readers(path) and kind_of(path) for path in SHARED)
    assert [kind_of(skill_path(folder, "x")) for folder in SKILL_FOLDERS] == ["skill", "skill"]
    assert kind_of(".cursor/rules/x.mdc") == "rule"
    assert kind_of("packages/api/AGENTS.md") == "instructions"


def test_settings_and_other_files_are_no_targets() -> None:
    servers = [path for listed in IN_REPOSITORY.values() for kind, path in listed if kind == SERVER]
    assert [kind_of(path) for path in (*servers, "README.md")] == [None] * (len(servers) + 1)
