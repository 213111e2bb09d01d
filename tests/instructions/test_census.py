"""Which texts are in force, as they are on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from bet_world import repository
from hansei.instructions.census import Text, census


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return repository(tmp_path / "app").resolve()


def write(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def found(place: Path, **more: object) -> dict[str, Text]:
    return {it.path: it for it in census(place, **more)}  # type: ignore[arg-type] # as in census


def test_a_link_is_the_file_it_leads_to(place: Path) -> None:
    write(place, "AGENTS.md", "- one\n- two\n")
    (place / "CLAUDE.md").symlink_to("AGENTS.md")
    (text,) = census(place)
    assert text.path == "AGENTS.md"
    assert text.names == ("AGENTS.md", "CLAUDE.md")
    assert {"claude_code", "codex"} <= set(text.agents)
    assert text.carried is not None
    assert [it.line for it in text.carried] == [1, 2]


def test_an_import_counts_for_those_who_import(place: Path) -> None:
    write(place, "CLAUDE.md", "See @docs/rules.md and `@docs/quoted.md`.\n")
    write(place, "docs/rules.md", "- be kind\n@../CLAUDE.md\n")
    write(place, "docs/quoted.md", "- never read\n")
    texts = found(place)
    assert sorted(texts) == ["CLAUDE.md", "docs/rules.md"]
    assert texts["docs/rules.md"].agents == ("claude_code",)


def test_an_import_out_of_reach_is_left_alone(place: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside.md", "secret\n")
    write(place, "CLAUDE.md", "@../outside.md @~/x.md @missing.md @/etc/hostname\n")
    assert list(found(place)) == ["CLAUDE.md"]


def test_of_a_skill_and_a_rule_that_waits_the_description_is_carried(place: Path) -> None:
    write(
        place,
        ".claude/skills/ship/SKILL.md",
        "---\nname: ship\ndescription: >\n  Ship it\n---\nlong text\n",
    )
    write(place, ".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\n- always\n")
    write(
        place,
        ".cursor/rules/b.mdc",
        "---\ndescription: For SQL\nglobs: '*.sql'\n---\n- sometimes\n",
    )
    write(place, ".claude/rules/c.md", "---\npaths: src/**\n---\n- in src\n")
    write(place, ".claude/rules/d.md", "- everywhere\n")
    carried = {
        path: [(it.line, it.text) for it in text.carried or ()]
        for path, text in found(place).items()
    }
    assert carried == {
        ".claude/skills/ship/SKILL.md": [(3, "ship: Ship it")],
        ".cursor/rules/a.mdc": [(4, "- always")],
        ".cursor/rules/b.mdc": [(2, ".cursor/rules/b.mdc: For SQL")],
        ".claude/rules/c.md": [],
        ".claude/rules/d.md": [(1, "- everywhere")],
    }


def test_a_hidden_folder_is_for_the_agent_whose_it_is(place: Path) -> None:
    write(place, ".claude/skills/ship/SKILL.md", "---\nname: ship\n---\n")
    (text,) = census(place)
    assert "openclaw" not in text.agents


def test_what_a_server_takes_is_unknown(place: Path) -> None:
    write(place, ".mcp.json", '{"mcpServers": {"db": {"command": "x"}}}')
    (text,) = census(place)
    assert (text.path, text.carried) == (".mcp.json#db", None)


def test_files_below_wait_until_an_agent_works_there(place: Path) -> None:
    write(place, "AGENTS.md", "top\n")
    write(place, "web/AGENTS.md", "web\n")
    assert found(place)["web/AGENTS.md"].below == "web"
    assert found(place, folder=place / "web")["web/AGENTS.md"].below is None


def test_a_file_that_is_overridden_is_not_read_by_those_who_read_the_other(place: Path) -> None:
    write(place, "AGENTS.md", "x\n")
    write(place, "AGENTS.override.md", "y\n")
    texts = found(place)
    assert "codex" not in texts["AGENTS.md"].agents
    assert texts["AGENTS.override.md"].agents == ("codex",)


def test_the_home_folder_counts_only_for_agents_that_are_used(place: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(home, ".claude/CLAUDE.md", "mine\n")
    assert found(place, home=home) == {}
    assert list(found(place, home=home, agents=["claude_code"])) == ["~/.claude/CLAUDE.md"]


def test_files_that_cannot_be_read_are_no_error(place: Path) -> None:
    (place / "AGENTS.md").mkdir()
    (place / "CLAUDE.md").symlink_to("CLAUDE.md")
    (place / "GEMINI.md").write_bytes(b"\xff\xfe\x00 odd")
    write(place, ".mcp.json", "{broken")
    assert list(found(place)) == ["GEMINI.md"]


def test_without_git_the_files_at_the_top_count(tmp_path: Path) -> None:
    write(tmp_path, "AGENTS.md", "x\n")
    assert [it.path for it in census(tmp_path)] == ["AGENTS.md"]
