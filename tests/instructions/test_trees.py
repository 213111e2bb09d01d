"""Instruction texts of a commit, read without checking it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_world import Repo, repository
from hansei.instructions.census import census
from hansei.instructions.changes import Kind, changes
from hansei.instructions.trees import texts_of, texts_on_disk

FILES = {
    "AGENTS.md": "# Rules\n\n- Be kind.\n- Read @docs/more.md first.\n",
    "CLAUDE.md": "@AGENTS.md\n@docs/more.md and @../outside.md\n",
    "docs/more.md": "- Keep it short.\n",
    "web/AGENTS.md": "- Use pnpm.\n",
    ".cursor/rules/api.mdc": "---\ndescription: api\nglobs: api/**\n---\n- Validate input.\n",
    ".agents/skills/ship/SKILL.md": "---\nname: ship\ndescription: Ships.\n---\n# Ship\n",
    ".mcp.json": '{"mcpServers": {"tides": {"command": "tides"}}}',
    "src/main.py": "print('nothing to agents')\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = repository(tmp_path / "repo")
    (made.folder / ".claude").mkdir()
    (made.folder / ".claude/skills").symlink_to("../.agents/skills")
    (made.folder / "GEMINI.md").symlink_to("AGENTS.md")
    made.commit("Start", dict(FILES))
    return made


def test_a_commit_has_the_texts_that_its_files_would_have_on_disk(repo: Repo) -> None:
    assert texts_of(repo.folder, "HEAD") == census(repo.folder)


def test_files_that_were_changed_or_deleted_since_are_as_they_were(repo: Repo) -> None:
    before = texts_of(repo.folder, "HEAD")
    (repo.folder / "AGENTS.md").write_text("- Be rude.\n")
    (repo.folder / "docs/more.md").unlink()
    assert texts_of(repo.folder, "HEAD") == before
    assert repo.git("status", "--porcelain").split() == ["M", "AGENTS.md", "D", "docs/more.md"]


def test_what_git_ignores_is_no_part_of_a_change(repo: Repo) -> None:
    (repo.folder / "CLAUDE.local.md").write_text("- My own.\n")
    assert "CLAUDE.local.md" in {it.path for it in texts_on_disk(repo.folder)}
    (repo.folder / ".gitignore").write_text("CLAUDE.local.md\n")
    assert texts_on_disk(repo.folder) == texts_of(repo.folder, "HEAD")


def test_no_link_leads_out_of_the_commit(repo: Repo, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("- A secret of this machine.\n")
    (repo.folder / "docs/here").symlink_to(".")
    for name, target in (
        ("sub/AGENTS.md", str(secret)),
        ("sub/CLAUDE.md", "../../secret.md"),
        ("sub/deep/CLAUDE.md", "../../docs/here/../../../secret.md"),
    ):
        (repo.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.folder / name).symlink_to(target)
    repo.commit("Links", {})
    assert "secret" not in str(texts_of(repo.folder, "HEAD"))


def test_what_git_does_not_have_here_has_no_texts(repo: Repo) -> None:
    assert texts_of(repo.folder, "0" * 40) == []


def told(repo: Repo, files: dict[str, str | None]) -> list[tuple[Kind, str, str, bool]]:
    before = texts_of(repo.folder, "HEAD")
    repo.commit("Change", files)
    found = changes(before, texts_of(repo.folder, "HEAD"))
    return [(it.kind, it.text.path, it.part.text, it.always) for it in found]


def test_bullets_are_added_removed_and_reworded(repo: Repo) -> None:
    text = "# Rules\n\n- Be very kind.\n- Say what you did.\n"
    assert told(repo, {"AGENTS.md": text}) == [
        (Kind.CHANGED, "AGENTS.md", "- Be very kind.", True),
        (Kind.REMOVED, "AGENTS.md", "- Read @docs/more.md first.", True),
        (Kind.ADDED, "AGENTS.md", "- Say what you did.", True),
    ]


def test_a_line_that_went_to_another_file_was_moved(repo: Repo) -> None:
    files: dict[str, str | None] = {
        "AGENTS.md": "# Rules\n\n- Read @docs/more.md first.\n",
        "web/AGENTS.md": "- Use pnpm.\n- Be kind.\n",
    }
    assert told(repo, files) == [(Kind.MOVED, "web/AGENTS.md", "- Be kind.", True)]


def test_of_skills_and_rules_that_wait_only_the_description_is_there_always(repo: Repo) -> None:
    skill = "---\nname: ship\ndescription: Ships it.\n---\n# Ship\n\nRun it.\n"
    rule = "---\ndescription: api\nglobs: api/**\n---\n- Validate all input.\n"
    files: dict[str, str | None] = {
        ".agents/skills/ship/SKILL.md": skill,
        ".cursor/rules/api.mdc": rule,
    }
    assert told(repo, files) == [
        (Kind.CHANGED, ".agents/skills/ship/SKILL.md", "ship: Ships it.", True),
        (Kind.ADDED, ".agents/skills/ship/SKILL.md", "Run it.", False),
        (Kind.CHANGED, ".cursor/rules/api.mdc", "- Validate all input.", False),
    ]


def test_nothing_differs_from_itself(repo: Repo) -> None:
    texts = texts_of(repo.folder, "HEAD")
    assert changes(texts, texts) == []
    assert {it.kind for it in changes([], texts)} == {Kind.ADDED}
    assert {it.kind for it in changes(texts, [])} == {Kind.REMOVED}
