"""`hansei summary --by branch|pr|commit`: what work cost, failed attempts included."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claude_home import Session, session
from git_world import DAY, HOUR, START, Repo, repository
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import UsageError

NOW = START + 20 * DAY
AMOUNTS = ("requests", "total_tokens", "cost_nanodollars", "unpriced_requests")


@dataclass
class Port:
    """A repository in which agents worked, and the home folder with what they left behind."""

    repo: Repo
    home: Path

    def work(self, name: str, branch: str, *steps: str | dict[str, str], **fields: Any) -> Session:
        """A session of one turn: prompts are texts, files that were written are dictionaries."""
        self.repo.now += HOUR
        made = session(self.home, name, self.repo.now, str(self.repo.folder), branch=branch)
        for name_of, value in fields.items():
            setattr(made, name_of, value)
        for step in steps:
            if isinstance(step, str):
                made.prompt(step)
                made.say("I see.")
            else:
                for path, content in step.items():
                    write(made, str(self.repo.folder / path), content)
        return made


def write(made: Session, path: str, content: str) -> None:
    """A file that an agent wrote."""
    call = f"toolu_{made.id}{made.count:04}"
    given = {"file_path": path, "content": content}
    made.answer(
        {"type": "tool_use", "id": call, "name": "Write", "input": given},
        tokens=(7, 1100, 130, 210),
    )
    result = {"type": "tool_result", "tool_use_id": call, "content": "File created"}
    made.line(
        "user",
        message={"role": "user", "content": [result]},
        toolUseResult={
            "type": "create",
            "filePath": path,
            "content": content,
            "structuredPatch": [],
            "originalFile": None,
        },
    )


def code(name: str, lines: int) -> str:
    return "".join(f"{name}_{n} = compute_{name}(tide={n}, berth={n * 7})\n" for n in range(lines))


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Port:
    """Merged, squashed, direct, tried in vain, and never merged."""
    folder = tmp_path_factory.mktemp("port")
    made = Port(repository(folder / "harbour"), folder / "home")
    repo = made.repo
    repo.commit("Start", {"README.md": "A harbour.\n"})
    repo.git("checkout", "--quiet", "-b", "feature/login")
    made.work("aaaa-in-vain", "feature/login", "log people in", {"old.py": code("old", 9)})
    made.work("bbbb-login", "feature/login", "again", {"login.py": code("login", 12)})
    repo.commit("Log in", {"login.py": code("login", 12)})
    repo.git("checkout", "--quiet", "main")
    repo.now += HOUR
    message = "Merge pull request #12 from acme/feature/login\n\nLog people in"
    repo.git("merge", "--quiet", "--no-ff", "--message", message, "feature/login")
    repo.git("branch", "--quiet", "-D", "feature/login")
    both = made.work("cccc-both", "main", "plan the search")
    both.branch = "feature/search"
    both.prompt("now do it")
    write(both, str(repo.folder / "search.py"), code("search", 8))
    repo.commit("Add search (#13)", {"search.py": code("search", 8)})
    made.work(
        "dddd-main",
        "main",
        "two things",
        {"tide.py": code("tide", 6), "berth.py": code("berth", 3)},
    )
    repo.commit("Tell the tide", {"tide.py": code("tide", 6)})
    repo.commit("Tell the berth", {"berth.py": code("berth", 3)})
    made.work("eeee-spike", "spike", "try it", {"spike.py": code("spike", 5)})
    made.work("ffff-talk", "main", "what is a harbour?")
    made.work("gggg-unpriced", "main", "and a port?", model="some-model-nobody-prices")
    return made


Typed = Callable[..., str]


@pytest.fixture
def typed(
    port: Port,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Typed]:
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    store = str(port.home.parent / "store")
    here = Environment(port.home, {"HANSEI_HOME": store, "PATH": "/usr/bin:/bin"})

    def run(*arguments: str) -> str:
        capsys.readouterr()
        with app.elsewhere(app.Place(here, port.repo.folder)):
            root.main(args=["summary", *arguments], standalone_mode=False)
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


def told(typed: Typed, *arguments: str) -> dict[str, Any]:
    found = json.loads(typed("--json", *arguments))
    assert isinstance(found, dict)
    return found


def rows(answer: dict[str, Any], goal: str) -> dict[str, dict[str, Any]]:
    return {it["labels"][goal] or f"({it['work']['why']})": it for it in answer["lines"]}


@pytest.mark.parametrize("goal", ["branch", "pr", "commit"])
def test_it_prints_what_the_golden_files_say(
    goal: str, typed: Typed, port: Port, golden: Callable[[str, str], None]
) -> None:
    golden(f"summary-by-{goal}.txt", typed("--by", goal))


@pytest.mark.parametrize("width", ["80", "120"])
def test_no_line_is_wider_than_the_terminal(
    width: str, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    for goal in ("branch", "pr", "commit"):
        assert max(map(len, typed("--by", goal).splitlines())) <= int(width)


@pytest.mark.parametrize(
    "by", ["branch", "pr", "commit", "pr,model", "commit,day", "repo,branch", "agent,commit"]
)
@pytest.mark.parametrize("when", [(), ("--until", "2025-06-15T20:00")])
def test_every_way_of_telling_it_apart_adds_up_to_the_same(
    by: str, when: tuple[str, ...], typed: Typed
) -> None:
    answer = told(typed, "--by", by, *when)
    plain = told(typed, "--by", "model", *when)
    assert answer["total"] == plain["total"]
    for amount in AMOUNTS:
        assert sum(it[amount] or 0 for it in answer["lines"]) == (plain["total"][amount] or 0)
    for count in plain["total"]["tokens"]:
        parts = [it["tokens"][count] or 0 for it in answer["lines"]]
        assert sum(parts) == (plain["total"]["tokens"][count] or 0)


def test_a_request_bears_the_attempts_on_its_branch_that_landed_nothing(typed: Typed) -> None:
    login = rows(told(typed, "--by", "pr"), "pr")["#12"]
    assert login["work"]["tasks"] == 2
    assert login["work"]["landed_nothing"] == 1
    assert 0 < login["work"]["landed_nothing_nanodollars"] < login["cost_nanodollars"]
    assert login["work"]["lines"] == 12
    assert login["work"]["title"] == "Log people in"


def test_a_deleted_branch_is_still_known_and_a_squashed_one_is_found_by_its_lines(
    typed: Typed,
) -> None:
    found = rows(told(typed, "--by", "branch"), "branch")
    assert found["feature/login"]["work"]["request"] == "#12"
    assert found["feature/search"]["work"]["request"] == "#13"
    assert found["spike"]["work"]["merged_by"] is None
    assert found["main"]["work"]["merged_by"] is None


def test_a_session_on_two_branches_is_divided_by_turn(typed: Typed) -> None:
    found = rows(told(typed, "--by", "branch"), "branch")
    assert found["feature/search"]["requests"] == 1
    plan = rows(told(typed, "--by", "pr"), "pr")["#13"]
    assert plan["requests"] == 2, "what was planned on main was for the search too"


def test_work_on_the_main_line_is_told_by_commit_and_divided_by_lines(
    typed: Typed, port: Port
) -> None:
    found = told(typed, "--by", "commit")
    lines = {it["work"]["title"]: it for it in found["lines"] if it["labels"]["commit"]}
    tide, berth = lines["Tell the tide"], lines["Tell the berth"]
    assert lines["Log in"]["work"]["request"] == "#12"
    assert (tide["work"]["lines"], berth["work"]["lines"]) == (6, 3)
    assert abs(tide["cost_nanodollars"] - 2 * berth["cost_nanodollars"]) <= 2


def test_what_belongs_to_nothing_has_rows_of_its_own_with_the_reason(typed: Typed) -> None:
    assert {it for it in rows(told(typed, "--by", "commit"), "commit") if it[0] == "("} == {
        "(nothing landed)",
        "(nothing was edited)",
    }
    assert {it for it in rows(told(typed, "--by", "pr"), "pr") if it[0] == "("} == {
        "(not merged)",
        "(nothing was edited)",
        "(without a pull request)",
    }


def test_an_unknown_price_stays_unknown_in_every_share(typed: Typed) -> None:
    found = rows(told(typed, "--by", "commit"), "commit")["(nothing was edited)"]
    assert found["unpriced_requests"] == 1


def test_a_repository_that_is_gone_leaves_branches_and_unknown_lines(
    typed: Typed, port: Port
) -> None:
    before = told(typed, "--by", "branch", "--workspace", "harbour")
    away = port.repo.folder.with_name("away")
    port.repo.folder.rename(away)
    try:
        gone = told(typed, "--by", "branch", "--workspace", "harbour", "--no-ingest")
    finally:
        away.rename(port.repo.folder)
    assert gone["total"] == before["total"]
    assert rows(gone, "branch")["feature/login"]["work"]["lines"] is None
    assert rows(gone, "branch")["feature/login"]["work"]["request"] is None


def test_only_one_goal_at_a_time(typed: Typed) -> None:
    with pytest.raises(UsageError, match="branch and pr"):
        typed("--by", "branch,pr")
