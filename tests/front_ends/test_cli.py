"""What people type and read."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import databases
from claude_home import session, small_history

NOW = 1_790_000_000_000
Hansei = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def hansei(tmp_path: Path) -> Hansei:
    """Run the program as a person would, with a home, a store and a clock of its own."""
    home = tmp_path / "home"
    home.mkdir()

    def run(*arguments: str, cwd: Path | None = None, before: str = "", **variables: str) -> Any:
        script = (
            f"{before}\n"
            "import sys, hansei.cli.app as app, hansei.cli.main as main\n"
            f"app.now = lambda: {NOW}\n"
            "main.main(sys.argv[1:])"
        )
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={
                "HOME": str(home),
                "PATH": "/usr/bin:/bin",  # git, and no agents that this machine may have
                "TZ": "UTC",
                "COLUMNS": "120",
                **variables,
            },
            cwd=cwd or home,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture
def full(hansei: Hansei, tmp_path: Path) -> Hansei:
    """The same, with a small history in the home folder."""
    small_history(tmp_path / "home", NOW)
    return hansei


def steady(text: str, tmp_path: Path) -> str:
    """Text without what differs from run to run."""
    text = text.replace(str(tmp_path), "/tmp/x")
    text = re.sub(r"in \d+\.\d s \(\d+ MB/s\)", "in 0.1 s (1 MB/s)", text)
    text = re.sub(r"genai-prices [\d.]+, checked [\d-]+", "genai-prices X, checked D", text)
    return re.sub(r"\d+\.\d kB", "1.0 kB", text)


GOLDEN = {
    "status": (),
    "summary": ("summary", "--all"),
    "summary-by-repo-and-branch": ("summary", "--all", "--by", "repo,branch"),
    "summary-by-day": ("summary", "--all", "--by", "day"),
    "sessions": ("sessions", "--all"),
    "sessions-failed": ("sessions", "--all", "--failed"),
    "show": ("show", "bbbb"),
    "show-event": ("show", "bbbb#2"),
    "show-tree": ("show", "bbbb", "--tree"),
    "show-context": ("show", "bbbb", "--context"),
    "search": ("search", "1 failed", "--all"),
    "doctor": ("doctor",),
    "prices": ("prices",),
    "config": ("config",),
    "ingest": ("ingest",),
    "nothing-here": ("summary",),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_commands_print_what_the_golden_file_says(
    name: str, full: Hansei, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    done = full(*GOLDEN[name])
    assert done.returncode == 0, done.stderr
    golden(f"{name}.txt", steady(done.stdout, tmp_path))


JSON = {
    "status": ("--json",),
    "ingest": ("ingest", "--json"),
    "summary": ("summary", "--all", "--json"),
    "sessions": ("sessions", "--all", "--json"),
    "show": ("show", "bbbb", "--json"),
    "tree": ("show", "bbbb", "--tree", "--json"),
    "context": ("show", "bbbb", "--context", "--json"),
    "search": ("search", "failed", "--all", "--json"),
    "doctor": ("doctor", "--json"),
    "prices": ("prices", "--json"),
    "config": ("config", "--json"),
}


@pytest.mark.parametrize("name", JSON)
def test_json_names_its_schema(name: str, full: Hansei) -> None:
    done = full(*JSON[name])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == f"hansei.{name}/1"


def cursor_chat(home: Path) -> None:
    """A chat of an agent that does not record tokens."""
    case = databases.made(databases.FIXTURES / "cursor" / "chat")
    shutil.copytree(case, home, dirs_exist_ok=True)


def test_a_store_without_any_tokens_says_that_they_are_unknown(
    hansei: Hansei, tmp_path: Path
) -> None:
    cursor_chat(tmp_path / "home")
    said = "unknown: Cursor does not record them"
    shown = hansei("summary", "--all").stdout
    assert said in shown
    assert "measured" not in shown
    assert "requests" not in shown
    assert said in " ".join(hansei().stdout.split())
    answer = json.loads(hansei("summary", "--all", "--json").stdout)
    assert answer["total"]["total_tokens"] is None
    assert answer["evidence"]["tokens"] == answer["evidence"]["cost"] == "unknown"
    assert [(it["agent"], it["sessions"]) for it in answer["unmeasured"]] == [("cursor", 1)]


def test_sessions_without_tokens_are_named_beside_those_that_have_them(
    full: Hansei, tmp_path: Path
) -> None:
    cursor_chat(tmp_path / "home")
    shown = " ".join(full("summary", "--all").stdout.split())
    assert "1 session of Cursor not counted: it does not record tokens" in shown
    assert "tokens are measured" in shown
    assert "Cursor" not in full("summary", "--all", "--agent", "claude_code").stdout


def test_json_holds_exact_numbers(full: Hansei) -> None:
    answer = json.loads(full("summary", "--all", "--json").stdout)
    assert answer["total"]["requests"] == 6
    assert answer["total"]["tokens"]["input"] == 5 * 5 + 7
    assert answer["total"]["tokens"]["output"] == 5 * 20 + 30
    assert answer["evidence"] == {"tokens": "measured", "cost": "derived", "removed": "measured"}


def test_a_machine_without_agents_gets_the_demo(hansei: Hansei) -> None:
    done = hansei()
    assert done.returncode == 0, done.stderr
    assert "No transcripts of coding agents were found" in done.stdout
    assert ".claude" in done.stdout
    assert "on a generated history" in done.stdout
    assert "$ hansei summary" in done.stdout
    assert done.stdout.rstrip().endswith("hansei demo")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("sumary",), 2, "Did you mean `hansei summary`"),
        (("show", "zzzz"), 2, "no session begins with 'zzzz'"),
        (("show", "bbbb#999"), 2, "events go from #1"),
        (("show", "bbbb", "--tree", "--context"), 2, "take one"),
        (("summary", "--since", "whenever"), 2, "7d, 12h"),
        (("summary", "--by", "moon"), 2, "agent, model, repo"),
        (("summary", "--workspace", "nowhere"), 2, "no workspace is named 'nowhere'"),
        (("gc",), 2, "retention_days"),
        (("search", ""), 2, "nothing to look for"),
        (("search", "-e", "(a"), 2, "at character 1"),
        (("init", "--local"), 2, "not inside a git repository"),
        (("forget", "zzzz"), 2, "no session begins with"),
        (("--nonsense",), 2, "nonsense"),
        (("--json", "summary"), 2, "`hansei summary --json`"),
        (("summary", "--since", "0001-01-01", "--until", "99999w"), 2, "7d, 12h"),
        (("nonsense",), 2, "hint: `hansei --help` lists them."),
        (("completion",), 2, "Choose from: bash, zsh, fish"),
        (("undo",), 2, "`hansei undo --list`"),
        (("undo", "7"), 2, "`hansei undo --list --all`"),
        (("skills", "undo"), 2, "`hansei skills undo --list`"),
        (("skills", "import", "nowhere"), 2, "Name a folder"),
        (("demo", "--keep", "/dev/null/x"), 2, "a folder that you can write to"),
    ],
)
def test_mistakes_are_answered_with_what_to_do(
    full: Hansei, arguments: tuple[str, ...], code: int, words: str
) -> None:
    full("ingest")
    done = full(*arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_group_alone_shows_its_commands_and_calls_nothing_an_error(hansei: Hansei) -> None:
    done = hansei("exp")
    assert done.returncode == 2
    assert done.stderr.startswith("Usage: hansei exp ")
    assert "hint:" not in done.stderr


def test_the_skillbook_alone_lists_its_skills(hansei: Hansei) -> None:
    assert hansei("skills").stdout == hansei("skills", "list").stdout != ""


def test_where_git_is_missing_nothing_else_is_blamed(full: Hansei, tmp_path: Path) -> None:
    missing = {"PATH": str(tmp_path)}
    full("ingest")
    for command in (
        ("check",),
        ("exp", "new", "--hypothesis", "x"),
        ("facts", "files", "--at", "x"),
    ):
        done = full(*command, **missing)
        assert done.returncode == 1
        assert "error: the program git is not on the PATH" in done.stderr
    assert "git is not on the PATH, so it is not known" in full("sessions", **missing).stdout
    assert "! The program git is not on the PATH" in full("doctor", **missing).stdout


def test_a_home_that_cannot_be_written_is_said_so(hansei: Hansei, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = hansei("summary", HANSEI_HOME=str(tmp_path / "file" / "store"))
    assert done.returncode == 4
    assert "Set HANSEI_HOME" in done.stderr


def test_a_damaged_database_is_rebuilt_on_request(full: Hansei, tmp_path: Path) -> None:
    before = full("summary", "--all").stdout
    database = tmp_path / "home" / ".hansei" / "hansei.db"
    database.write_bytes(b"nonsense" * 1000)
    for leftover in database.parent.glob("hansei.db-*"):
        leftover.unlink()
    refused = full("summary", "--all")
    assert refused.returncode == 4
    assert "hansei doctor --rebuild" in refused.stderr
    rebuilt = full("doctor", "--rebuild")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert full("summary", "--all").stdout == before


def test_bad_settings_name_the_file(full: Hansei, tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".hansei"
    folder.mkdir()
    (folder / "config.toml").write_text("workers = 'many'\n")
    done = full("summary")
    assert done.returncode == 2
    assert "config.toml" in done.stderr
    assert "workers" in done.stderr


def test_settings_are_listed_even_where_the_file_is_wrong(full: Hansei, tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".hansei"
    folder.mkdir()
    (folder / "config.toml").write_text("workers = 'many'\n")
    done = full("config")
    assert done.returncode == 2
    assert "seal_after_days  7" in done.stdout
    assert "workers" in done.stderr
    assert "hansei config" not in done.stderr


def test_a_deleted_folder_is_no_reason_to_fail(full: Hansei, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    for command in ("summary", "sessions"):
        gone.mkdir(exist_ok=True)
        done = full(command, cwd=gone, before=f"import os; os.rmdir({str(gone)!r})")
        assert done.returncode == 0, done.stderr
        assert "No sessions in home that fit" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (("sessions",), "The store holds 3 sessions: try --all."),
        (
            ("sessions", "--all", "--until", "2020-01-01"),
            "The store holds 3 sessions: try a longer time.",
        ),
        (("sessions", "--all", "--agent", "x"), "The store holds 3 sessions: try without --agent."),
    ],
)
def test_an_empty_answer_says_what_would_widen_the_question(
    full: Hansei, arguments: tuple[str, ...], advice: str
) -> None:
    assert full(*arguments).stdout.rstrip().endswith(advice)


def test_a_lone_session_is_counted_in_the_singular(hansei: Hansei, tmp_path: Path) -> None:
    session(tmp_path / "home", "1111-one", NOW - 5000).prompt("hello")
    assert "The store holds 1 session." in hansei("sessions", "--all", "--failed").stdout


def test_sessions_known_from_the_prompt_history_can_be_opened(
    hansei: Hansei, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / ".claude"
    (folder / "projects").mkdir(parents=True)
    names = ("0a1b2c3d-4e5f", "9f8e7d6c-5b4a")
    with (folder / "history.jsonl").open("w", encoding="utf-8") as file:
        for name in names:
            entry = {"display": f"typed {name}", "pastedContents": {}, "timestamp": NOW - 9000}
            file.write(json.dumps({**entry, "project": "/work/app", "sessionId": name}) + "\n")
    listed = json.loads(hansei("sessions", "--all", "--json").stdout)["sessions"]
    assert {line["short"] for line in listed} == {f"history:{name[:8]}" for name in names}
    for line in listed:
        shown = hansei("show", line["short"])
        assert shown.returncode == 0, shown.stderr
        assert f"typed {line['id'].removeprefix('history:')}" in shown.stdout


def test_a_folder_that_cannot_be_read_is_said_so(hansei: Hansei, tmp_path: Path) -> None:
    """A link to itself cannot be opened by anybody, whatever their rights."""
    folder = tmp_path / "home" / ".claude" / "projects"
    folder.parent.mkdir()
    folder.symlink_to(folder)
    assert "cannot be read  ~/.claude/projects" in hansei("doctor").stdout


MODELS = (
    "claude-opus-4-20250514",
    "claude-opus-4-1-20250805",
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5-20250929",
)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_rows_can_be_told_apart_on_a_narrow_terminal(
    hansei: Hansei, tmp_path: Path, columns: int
) -> None:
    for number, model in enumerate(MODELS):
        one = session(tmp_path / "home", f"{number}111-one", NOW - 5000, model=model)
        one.prompt("make the long description of this session reach over the edge of the table")
        one.say("ok", tokens=(123_456_789, 987_654_321, 123_456_789, 12_345_678))
    for command in (("summary",), ("sessions",), ("prices",)):
        scope = () if command == ("prices",) else ("--all",)
        done = hansei(*command, *scope, COLUMNS=str(columns))
        lines = done.stdout.splitlines()
        table = lines[lines.index("") + 1 :] if command == ("summary",) else lines
        rows = [line for line in table[: len(MODELS) + 1] if line]
        assert max(map(len, rows)) <= columns
        assert len({line.split()[0] for line in rows}) == len(MODELS) + 1


@pytest.mark.parametrize("command", [(), ("doctor",)])
def test_sentences_are_broken_between_words_on_a_narrow_terminal(
    full: Hansei, command: tuple[str, ...]
) -> None:
    done = full(*command, COLUMNS="70")
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 70


def test_forgetting_asks_first(full: Hansei) -> None:
    full("ingest")
    asked = full("forget", "bbbb")
    assert asked.returncode == 130
    assert "Remove session" in asked.stderr
    assert full("forget", "bbbb", "--yes").returncode == 0
    assert full("show", "bbbb").returncode == 2


def test_forgetting_a_workspace_by_name(full: Hansei) -> None:
    full("ingest")
    done = full("forget", "app", "--yes")
    assert "2 sessions" in done.stdout
    assert "app" not in full("summary", "--all", "--by", "repo").stdout


def test_gc_removes_what_is_older_than_the_retention(full: Hansei, tmp_path: Path) -> None:
    full("ingest")
    (tmp_path / "home" / ".hansei" / "config.toml").write_text("retention_days = 30\n")
    assert "1 session" in full("gc", "--yes").stdout
    assert "Nothing to remove" in full("gc", "--yes").stdout


def test_a_repository_can_have_its_own_store(full: Hansei, tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    repository.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=repository, check=True)
    one = session(tmp_path / "home", "9999-local", NOW - 5000, cwd=str(repository))
    one.prompt("hello")
    one.say("hi")
    assert full("init", "--local", cwd=repository).returncode == 0
    listed = json.loads(full("sessions", "--json", cwd=repository).stdout)
    assert [line["id"] for line in listed["sessions"]] == ["9999-local"]
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=repository, capture_output=True, text=True, check=True
    )
    assert status.stdout == ""


def test_terminal_escapes_in_transcripts_are_shown_not_obeyed(full: Hansei, tmp_path: Path) -> None:
    one = session(tmp_path / "home", "6666-escape", NOW - 5000)
    one.prompt("look \x1b[31mred\x1b[0m \x07 bell")
    one.say("ok")
    done = full("show", "6666")
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_terminal_escapes_in_names_and_versions_are_not_obeyed(
    full: Hansei, tmp_path: Path
) -> None:
    bad = "\x07"  # colours would be taken out anyway where stdout is no terminal
    one = session(tmp_path / "home", "6666-escape", NOW - 5000, cwd=f"/work/a{bad}", model=bad)
    one.line("user", version=f"2.{bad}", message={"role": "user", "content": "hello"})
    call = {"type": "tool_use", "id": "toolu_1", "name": f"Tool{bad}", "input": {}}
    one.answer(call, tokens=(1, 1, 1, 1))
    one.line("user", version=f"2.{bad}", message={"role": "user", "content": "and on"})
    seen = ""
    for command in (
        (),
        ("summary", "--all", "--by", "model,repo"),
        ("sessions", "--all"),
        ("show", "6666"),
        ("show", "6666#2"),
        ("doctor",),
        ("prices",),
    ):
        done = full(*command)
        assert done.returncode == 0, done.stderr
        assert bad not in done.stdout + done.stderr
        seen += done.stdout
    for name in ("Tool", "2.", "/work/a"):
        assert f"{name}\\x07" in seen


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(hansei: Hansei, shell: str) -> None:
    done = hansei("completion", shell)
    assert done.returncode == 0
    assert "_HANSEI_COMPLETE" in done.stdout


def test_no_ingest_reads_what_is_stored(full: Hansei, tmp_path: Path) -> None:
    full("ingest")
    session(tmp_path / "home", "7777-later", NOW - 5000).prompt("later")
    before = json.loads(full("sessions", "--all", "--json", "--no-ingest").stdout)
    after = json.loads(full("sessions", "--all", "--json").stdout)
    assert len(after["sessions"]) == len(before["sessions"]) + 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions", "--all", "-n", "0"),
        ("show", "bbbb"),
        ("show", "bbbb", "--json"),
        ("doctor",),
        ("summary", "--help"),
    ],
)
def test_a_reader_that_goes_away_is_no_fault(
    full: Hansei, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    full("ingest")
    home = tmp_path / "home"
    running = subprocess.Popen(
        [sys.executable, "-m", "hansei", *arguments],
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    running.stdout.close()
    _, errors = running.communicate()
    assert running.returncode == 141
    assert errors == ""


def test_doctor_tells_of_a_line_that_waits_for_its_end(full: Hansei, tmp_path: Path) -> None:
    one = session(tmp_path / "home", "5555-waits", NOW - 5000)
    one.prompt("go")
    with one.path.open("a", encoding="utf-8") as file:
        file.write('{"type": "user"')
    assert "1 transcript with a last line that is not finished" in full("doctor").stdout


def test_what_is_forgotten_before_it_was_read_does_not_come_back(full: Hansei) -> None:
    assert full("forget", "app", "--yes").returncode == 0
    listed = json.loads(full("sessions", "--all", "--json").stdout)
    assert [line["workspace"] for line in listed["sessions"]] == ["site"]
