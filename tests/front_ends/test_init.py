"""`hansei init` as people and scripts use it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hansei

SETTINGS = '{\n  "model": "opus",\n  "hooks": {\n    "Stop": []\n  }\n}\n'
CLAUDE = ("--agent", "claude_code@2.0.50")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the settings of one agent."""
    folder = tmp_path / "home"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(SETTINGS)
    return folder


@pytest.fixture
def init(home: Path) -> Run:
    """Run `hansei init`, with nobody at the keyboard unless an input is given."""

    def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "hansei", "init", *arguments],
            env={"HOME": str(home), "PATH": "/usr/bin:/bin", "TZ": "UTC", "NO_COLOR": "1"},
            cwd=home,
            capture_output=True,
            text=True,
            check=False,
            **{"stdin": subprocess.DEVNULL, **more},
        )

    return run


def test_a_dry_run_shows_every_line_that_would_change(
    init: Run, home: Path, golden: Callable[[str, str], None]
) -> None:
    done = init("--dry-run", *CLAUDE)
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace(str(home.parent), "/tmp/x").replace(
        sys.executable, "/usr/bin/python"
    )
    package = str(Path(hansei.__file__).parents[1])
    golden("init-dry-run.txt", text.replace(package, "/usr/lib/python"))
    assert (home / ".claude/settings.json").read_text() == SETTINGS
    assert not (home / ".hansei").exists()


def test_install_again_uninstall(init: Run, home: Path) -> None:
    settings = home / ".claude/settings.json"
    first = init("--yes", *CLAUDE)
    assert first.returncode == 0, first.stderr
    assert "Installed hooks in 1 file." in first.stdout
    assert (home / ".hansei/hansei.db").exists()
    content = settings.read_bytes()
    again = init(*CLAUDE)
    assert again.returncode == 0, again.stderr
    assert "all there already" in again.stdout
    assert "Nothing to change." in again.stdout
    assert settings.read_bytes() == content
    last = init("--uninstall", "--yes")
    assert last.returncode == 0, last.stderr
    assert "Took the hooks out of 1 file." in last.stdout
    assert settings.read_text() == SETTINGS
    assert not (home / ".hansei/bin").exists()
    assert "Nothing to change." in init("--uninstall").stdout


def test_without_a_terminal_it_says_what_to_do(init: Run, home: Path) -> None:
    done = init(*CLAUDE)
    assert done.returncode == 2
    assert "nobody to ask" in done.stderr
    assert "hansei init --yes" in done.stderr
    assert (home / ".claude/settings.json").read_text() == SETTINGS


@pytest.mark.parametrize(("answer", "code", "hooks"), [("y", 0, True), ("n", 130, False)])
def test_on_a_terminal_it_asks(answer: str, code: int, hooks: bool, init: Run, home: Path) -> None:
    keyboard, terminal = pty.openpty()
    os.write(keyboard, f"{answer}\n".encode())
    done = init(*CLAUDE, stdin=terminal)
    os.close(terminal)
    os.close(keyboard)
    assert done.returncode == code, done.stderr
    assert "Install the hooks (2 files)?" in done.stderr
    assert ("hansei-hook" in (home / ".claude/settings.json").read_text()) is hooks


def test_json_tells_the_same(init: Run, home: Path) -> None:
    shown = json.loads(init("--dry-run", "--json", *CLAUDE).stdout)
    assert shown["schema"] == "hansei.init/1"
    assert shown["done"] is False
    (agent,) = shown["agents"]
    assert agent["left_out"] == ["PostToolUseFailure"]
    assert agent["files"][0]["path"] == str(home / ".claude/settings.json")
    assert "+" in agent["files"][0]["diff"]
    assert json.loads(init("--yes", "--json", *CLAUDE).stdout)["done"] is True
    assert json.loads(init("--uninstall", "--yes", "--json").stdout)["uninstall"] is True


def test_a_file_left_alone_is_an_exit_code_and_a_line(init: Run, home: Path) -> None:
    (home / ".claude/settings.json").write_text('{\n  "model": \n')
    done = init("--yes", *CLAUDE, "--agent", "cursor@3.0")
    assert done.returncode == 3
    assert "settings.json, line 3, column 1" in done.stdout
    assert (home / ".cursor/hooks.json").exists()


def test_agents_that_have_no_hooks_at_all_are_named_where_they_are(init: Run, home: Path) -> None:
    assert "No hooks to install" not in init("--dry-run").stdout
    (home / ".local/share/goose/sessions").mkdir(parents=True)
    done = init("--dry-run")
    assert "No hooks to install, but transcripts to read: Goose." in done.stdout
    assert json.loads(init("--dry-run", "--json").stdout)["without"] == ["Goose"]


def test_agents_without_hooks_are_told_plainly(init: Run, home: Path) -> None:
    (home / ".cursor").mkdir()
    done = init("--dry-run", "--agent", "codex@0.100.0", "--agent", "cursor", "--agent", "gemini")
    assert "it has no hooks that hansei can use; 0.124.0 has them" in done.stdout
    assert "`--agent cursor@VERSION` says which it is" in done.stdout
    assert "Not found on this machine: Gemini CLI." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--agent", "emacs"), "hansei knows no hooks of 'emacs'"),
        (("--local", "--uninstall"), "exclude each other"),
        (("--service", "--dry-run"), "exclude each other"),
    ],
)
def test_what_cannot_be_meant_is_refused(arguments: tuple[str, ...], words: str, init: Run) -> None:
    done = init(*arguments)
    assert done.returncode == 2
    assert words in done.stderr


def test_services_are_printed_and_nothing_is_written(init: Run, home: Path) -> None:
    import plistlib

    units = json.loads(init("--service", "--json").stdout)
    assert "ingest --watch\n" in units["systemd"]["text"]
    plist = plistlib.loads(units["launchd"]["text"].encode())
    assert plist["ProgramArguments"][1:] == ["-m", "hansei", "ingest", "--watch"]
    text = init("--service")
    assert units["systemd"]["text"] in text.stdout
    assert "systemctl --user enable --now hansei" in text.stderr
    assert not (home / ".hansei").exists()


def test_doctor_speaks_of_hooks(init: Run, home: Path) -> None:
    init("--yes", *CLAUDE)
    done = subprocess.run(
        [sys.executable, "-m", "hansei", "doctor"],
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Claude Code: 9 hooks in" in done.stdout
    assert "never ran: no session began since they were installed" in done.stdout
