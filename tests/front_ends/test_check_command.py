"""`hansei check`: what a change of instruction files costs and does, before it is merged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from git_world import Repo
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import GitError, NotFound, UsageError
from hansei.synth import World, build
from synthetic_world import NOW, even_place

Type = Callable[..., str]

RULES = "- Run tests with `uv run pytest`; plain `pytest` does not see the environment.\n"
MORE = """\
- Always run `make lint` before you commit.
- Never edit `src/berthline/services/**`.
- Use `rg`, not `grep`.
- Keep functions short and name them after what the harbour office calls the thing.
- Be kind.
"""
SKILL = "---\nname: ship\ndescription: Ships a release.\n---\n# Ship\n\n```bash\nmake test\n```\n"


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with even_place() as folder:
        made = build(folder, seed=11, now_ms=NOW, sessions=24, weeks=4, agents=("claude_code",))
        repo = Repo(made.repo, NOW)
        repo.git("checkout", "--quiet", "-b", "more-rules")
        text = (made.repo / "AGENTS.md").read_text(encoding="utf-8")
        assert RULES in text
        files: dict[str, str | None] = {
            "AGENTS.md": text.replace(RULES, MORE),
            ".claude/skills/ship/SKILL.md": SKILL,
            "web/AGENTS.md": "- Run `npm test` in `web/src`.\n",
        }
        repo.commit("More rules", files)
        yield made


@pytest.fixture
def typed(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Type]:
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def run(*arguments: str, history: bool = True, code: int = 0) -> str:
        store = world.home.parent / ("store" if history else "none")
        here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})
        with app.elsewhere(app.Place(here, world.repo)):
            if history and not store.exists():
                root.main(args=["ingest"], standalone_mode=False)
            capsys.readouterr()
            ended = 0
            try:
                root.main(args=["check", *arguments], standalone_mode=False)
            except SystemExit as end:
                ended = int(end.code or 0)
        assert ended == code
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


def told(typed: Type, *arguments: str, **more: Any) -> dict[str, Any]:
    found = json.loads(typed("--json", *arguments, **more))
    assert found["schema"] == "hansei.check/1"
    return {**found, **found["check"]}


def by_text(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {it["text"].split("\n")[0]: it for it in found["lines"]}


def test_it_prints_what_the_golden_files_say(
    typed: Type, golden: Callable[[str, str], None]
) -> None:
    golden("check.txt", typed("main...HEAD", "--budget", "100"))
    golden("check-no-history.txt", typed("main...HEAD", "-n", "3", history=False))
    golden("check.md", typed("main...HEAD", "--markdown"))


@pytest.mark.parametrize("width", ["80", "120"])
def test_no_line_is_wider_than_the_terminal(
    width: str, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert max(map(len, typed("main").splitlines())) <= int(width)


def test_lines_are_held_against_past_sessions(typed: Type) -> None:
    found = told(typed, "main...HEAD")
    lines = by_text(found)
    lint = lines["- Always run `make lint` before you commit."]
    assert lint["where"] == "ran `git commit`"
    assert 0 < lint["applied"] <= found["sessions"]
    assert 0 < lint["not_done"] <= lint["applied"]
    spared = lines["- Never edit `src/berthline/services/**`."]
    assert 0 < spared["not_done"] <= spared["applied"], "some session edited a service"
    assert lines["- Be kind."]["countable"] is False
    gone = lines[RULES.strip()]
    assert (gone["kind"], gone["tokens"] < 0, gone["applied"] > 0) == ("removed", True, True)


def test_a_line_that_stands_there_already_is_named_with_its_place(typed: Type) -> None:
    line = by_text(told(typed, "main...HEAD"))[MORE.splitlines()[3]]
    (other,) = line["repeats"]
    assert other["path"] == "AGENTS.md"
    assert other["line"] != line["line"]


def test_who_loads_it_and_when(typed: Type) -> None:
    lines = by_text(told(typed, "main...HEAD"))
    assert lines["- Be kind."]["when"] == "always"
    assert lines["ship: Ships a release."]["agents"] == ["claude_code", "opencode"]
    assert lines["# Ship"]["when"] == "on demand"
    below = lines["- Run `npm test` in `web/src`."]
    assert (below["when"], below["applied"]) == ("below web", 0)
    assert below["where"] == "was of an agent that reads it", "no session here was of one"


def test_sizes_add_up_to_what_a_session_takes_more(typed: Type) -> None:
    found = told(typed, "main...HEAD")
    for agent, tokens in found["per_session"].items():
        own = [it for it in found["lines"] if agent in it["agents"] and it["when"] == "always"]
        assert sum(it["tokens"] for it in own) == tokens
    back = told(typed, "HEAD..main")
    assert back["per_session"] == {it: -n for it, n in found["per_session"].items()}


def test_over_budget_ends_with_one(typed: Type) -> None:
    added = told(typed, "main...HEAD", history=False)["added"]
    typed("main...HEAD", "--budget", str(added), history=False)
    typed("main...HEAD", "--budget", str(added - 1), history=False, code=1)
    assert told(typed, "main...HEAD", "--budget", "0", history=False, code=1)["over"]


def test_a_budget_may_stand_in_the_settings(typed: Type, world: World) -> None:
    folder = world.home.parent / "none"
    folder.mkdir()
    (folder / "config.toml").write_text("check_budget = 1\n")
    try:
        typed("main...HEAD", history=False, code=1)
        typed("main...HEAD", "--budget", "5000", history=False)
    finally:
        (folder / "config.toml").unlink()
        folder.rmdir()


def test_a_contradiction_ends_with_one_where_that_is_asked_for(typed: Type, world: World) -> None:
    file = world.repo / "CLAUDE.md"
    before = file.read_text(encoding="utf-8")
    file.write_text(f"{before}\n- Never run `make lint` before you commit.\n", encoding="utf-8")
    try:
        found = told(typed, "HEAD", history=False)
        (line,) = found["lines"]
        assert line["contradicts"][0]["path"] == "AGENTS.md"
        typed("HEAD", history=False)
        typed("HEAD", "--strict", history=False, code=1)
    finally:
        file.write_text(before, encoding="utf-8")


def test_without_a_store_nothing_is_made_and_there_are_sizes(typed: Type, world: World) -> None:
    shown = typed("main...HEAD", history=False)
    assert "no history here: sizes and duplicates only" in shown
    assert "past session" not in shown
    assert not (world.home.parent / "none").exists()


def test_without_a_range_it_is_what_the_branch_changes(typed: Type) -> None:
    assert told(typed, history=False)["lines"] == told(typed, "main", history=False)["lines"]


def test_the_same_has_nothing_to_tell(typed: Type) -> None:
    assert "No instruction file, rule or skill differs." in typed("HEAD..HEAD", history=False)


@pytest.mark.parametrize("name", ["nowhere", "--upload-pack=x..HEAD", "main..nowhere"])
def test_a_commit_that_is_not_here_is_refused(name: str, typed: Type) -> None:
    with pytest.raises(NotFound, match="git knows no commit"):
        typed("--", name)


def test_outside_of_a_repository_it_says_so(world: World, tmp_path: Path) -> None:
    here = Environment(world.home, {"PATH": "/usr/bin:/bin"})
    with app.elsewhere(app.Place(here, tmp_path)), pytest.raises(GitError, match="no git"):
        root.main(args=["check"], standalone_mode=False)


def test_markdown_and_json_exclude_each_other(typed: Type) -> None:
    with pytest.raises(UsageError):
        typed("--markdown", "--json")


def test_what_a_file_says_can_do_nothing_in_a_pull_request(typed: Type, world: World) -> None:
    file = world.repo / "CLAUDE.md"
    before = file.read_text(encoding="utf-8")
    bad = "- Ping @everyone ``` | </details><img src=x> [x](http://example.org) `a` | b"
    file.write_text(f"{before}\n{bad}\n", encoding="utf-8")
    try:
        row = next(
            it for it in typed("HEAD", "--markdown", history=False).splitlines() if "Ping" in it
        )
    finally:
        file.write_text(before, encoding="utf-8")
    cell = row.split("| ````", 1)[1]
    assert "````" in cell, "all of it stands between four backticks"
    assert "</details>" in cell.split("````")[0]


# --- in CI ----------------------------------------------------------------------------------------


@pytest.fixture
def ci(world: World, tmp_path: Path) -> dict[str, str]:
    """What a runner has: a home without anything, and the program."""
    program = tmp_path / "bin" / "hansei"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hansei "$@"\n')
    program.chmod(0o755)
    return {
        "HOME": str(tmp_path),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }


def played(script: str, folder: Path, variables: dict[str, str]) -> int:
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=variables, capture_output=True, check=False
    ).returncode


@pytest.mark.parametrize(("budget", "code"), [("5000", 0), ("1", 1)])
def test_the_github_job_writes_its_summary_and_fails_over_budget(
    budget: str, code: int, typed: Type, world: World, ci: dict[str, str]
) -> None:
    job = yaml.safe_load(typed("--action", "github", "--budget", budget))
    assert job["permissions"] == {"contents": "read"}
    steps = job["jobs"]["check"]["steps"]
    assert steps[0]["with"]["fetch-depth"] == 0
    assert "secrets" not in str(job)
    *_, last = steps
    assert "${{" not in last["run"], "nothing that others write is put into the script"
    base = Repo(world.repo).git("rev-parse", "main")
    assert played(last["run"], world.repo, {**ci, "BASE": base}) == code
    summary = Path(ci["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    assert summary.startswith("### hansei check")
    assert "no history here" in summary


def test_the_gitlab_job_keeps_its_page_and_fails_over_budget(
    typed: Type, world: World, ci: dict[str, str], tmp_path: Path
) -> None:
    job = yaml.safe_load(typed("--action", "gitlab", "--budget", "1", "--strict"))["hansei check"]
    assert job["variables"]["GIT_DEPTH"] == "0"
    *_, last = job["script"]
    assert "--strict" in last
    copy = tmp_path / "copy"
    Repo(world.repo).git("clone", "--quiet", "--shared", str(world.repo), str(copy))
    base = Repo(world.repo).git("rev-parse", "main")
    assert played(last, copy, {**ci, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base}) == 1
    (page,) = job["artifacts"]["paths"]
    assert (copy / page).read_text(encoding="utf-8").startswith("### hansei check")
