"""`hansei rent` over a generated history and over files on disk."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bet_world import repository
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place

Type = Callable[..., str]

RULES = """\
# House rules

- Always run `make lint` before you commit.
- Keep the handlers of web requests free of database calls.
- Use pnpm.
"""
MORE = """\
# Rules

- Never run `make lint` before you commit.
- Keep handlers of web requests free of database calls!
"""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with even_place() as folder:
        yield furnished(folder)


def furnished(folder: Path) -> World:
    """A generated history with instruction files of every kind."""
    made = build(folder, seed=11, now_ms=NOW, sessions=24, weeks=4, agents=("claude_code", "codex"))
    (made.repo / "AGENTS.md").write_text(RULES, encoding="utf-8")
    (made.repo / "CLAUDE.md").write_text(MORE, encoding="utf-8")
    skill = made.repo / ".claude/skills/ship/SKILL.md"
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.write_text("---\nname: ship\ndescription: Ships the berths.\n---\n# Ship\n")
    (made.repo / ".mcp.json").write_text('{"mcpServers": {"tides": {"command": "tides"}}}')
    return made


@pytest.fixture
def typed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Type]:
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def run(*arguments: str, folder: Path = world.repo, home: Path = world.home) -> str:
        store = str(world.home.parent / "store")
        here = Environment(home, {"HANSEI_HOME": store, "PATH": "/usr/bin:/bin"})
        capsys.readouterr()
        with app.elsewhere(app.Place(here, folder)):
            root.main(args=["rent", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


def told(typed: Type, *arguments: str, **more: Any) -> dict[str, Any]:
    (found,) = json.loads(typed("--json", *arguments, **more))["places"]
    assert isinstance(found, dict)
    return found


def test_it_prints_what_the_golden_files_say(
    typed: Type, golden: Callable[[str, str], None]
) -> None:
    golden("rent.txt", typed())
    golden("rent-budget.txt", typed("--budget", "10000", "--check"))


def test_a_text_costs_its_tokens_in_every_request_of_those_who_read_it(typed: Type) -> None:
    found = told(typed)
    texts = {it["path"]: it for it in found["texts"]}
    for path, agent in (("AGENTS.md", "codex"), ("CLAUDE.md", "claude_code")):
        text = texts[path]
        assert text["tokens"] == sum(it["tokens"] for it in text["lines"])
        expected = text["tokens"] * found["requests"][agent]
        assert text["weekly_tokens"] == pytest.approx(expected, abs=1)
        assert text["weekly_nanodollars"] > 0
    server = texts[".mcp.json#tides"]
    assert server["tokens"] is server["weekly_tokens"] is server["weekly_nanodollars"] is None


def test_what_the_facts_tell_of_a_text_is_told(typed: Type) -> None:
    texts = told(typed)["texts"]
    assert any(it["sessions"] for it in texts)
    for it in texts:
        assert it["fired_known"] <= (it["sessions"] or 0)
        assert (it["fired"] is None) == (it["fired_known"] == 0)
        assert bool(it["fired"]) == (it["last_fired"] is not None)


def test_the_same_and_the_opposite_are_named_with_file_and_line(typed: Type) -> None:
    found = told(typed)
    places = [[(it["path"], it["line"]) for it in each["places"]] for each in found["repeated"]]
    assert [("AGENTS.md", 4), ("CLAUDE.md", 4)] in places
    pairs = [[(it["path"], it["line"]) for it in pair] for pair in found["opposite"]]
    assert [("AGENTS.md", 3), ("CLAUDE.md", 3)] in pairs


def test_fewer_than_seven_days_tell_no_week(typed: Type) -> None:
    found = told(typed, "--since", "3d")
    assert found["weeks"] is None
    assert all(it["weekly_tokens"] is None for it in found["texts"])


def test_over_all_workspaces_each_repository_here_is_told(typed: Type, world: World) -> None:
    found = json.loads(typed("--all", "--json"))["places"]
    assert str(world.repo.resolve()) in [str(Path(it["repository"]).resolve()) for it in found]


# --- for CI ---------------------------------------------------------------------------------------


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A repository on a machine without any store or transcript."""
    place = repository(tmp_path / "app")
    (place / "AGENTS.md").write_text(RULES, encoding="utf-8")
    return place


def test_over_budget_it_exits_with_one_and_names_the_dearest_lines(
    typed: Type, bare: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        typed("--budget", "20", "--check", folder=bare, home=tmp_path)
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "over the budget of 20 tokens" in said
    assert said.index("AGENTS.md:4") < said.index("AGENTS.md:1 ")


def test_the_budget_itself_is_within_budget(typed: Type, bare: Path, tmp_path: Path) -> None:
    most = max(
        told(typed, "--budget", "9999", "--check", folder=bare, home=tmp_path)[
            "per_session"
        ].values()
    )
    typed("--budget", str(most), "--check", folder=bare, home=tmp_path)
    with pytest.raises(SystemExit):
        typed("--budget", str(most - 1), "--check", folder=bare, home=tmp_path)


def test_a_check_makes_no_store_and_reads_no_home(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / ".claude/CLAUDE.md"
    mine.parent.mkdir()
    mine.write_text("mine\n" * 1000)
    here = Environment(tmp_path, {"HANSEI_HOME": str(tmp_path / "none"), "PATH": "/usr/bin:/bin"})
    with app.elsewhere(app.Place(here, bare)):
        root.main(args=["rent", "--budget", "500", "--check"], standalone_mode=False)
    assert not (tmp_path / "none").exists()


def test_a_session_pays_for_what_its_own_agent_reads(
    typed: Type, bare: Path, tmp_path: Path
) -> None:
    (bare / "CLAUDE.md").write_text("- short\n", encoding="utf-8")
    found = told(typed, "--budget", "9999", "--check", folder=bare, home=tmp_path)["per_session"]
    assert found["claude_code"] < found["codex"]


def test_without_instructions_it_says_so(typed: Type, tmp_path: Path) -> None:
    empty = repository(tmp_path / "empty")
    said = typed("--budget", "0", "--check", folder=empty, home=tmp_path)
    assert "No instruction file" in said


def test_options_that_say_nothing_together_are_refused(typed: Type) -> None:
    with pytest.raises(UsageError, match="--budget"):
        typed("--check")
    with pytest.raises(UsageError, match="alone"):
        typed("--check", "--budget", "1", "--all")
