"""What people read of hooks: commits, timelines, exposure, the spool's health."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_home import small_history
from hook_calls import line, write_spool

NOW = 1_790_000_000_000
SESSION = "bbbb2222-new"


@pytest.fixture
def hansei(tmp_path: Path) -> Callable[..., str]:
    """Run the program on a small history that hooks watched."""
    home = tmp_path / "home"
    home.mkdir()
    small_history(home, NOW)
    began = NOW - 3_600_000
    place = {"kind": "instructions", "path": "CLAUDE.md", "hash": "0123456789abcdef", "bytes": 1899}
    below = {"kind": "instructions", "path": "web/CLAUDE.md", "hash": "f" * 16, "bytes": 70}
    skill = {
        "kind": "skill",
        "path": "~/.claude/skills/ship/SKILL.md",
        "hash": "e" * 16,
        "bytes": 9,
    }
    context = {"bytes": 40, "hash": "d" * 16}
    write_spool(
        home,
        line(
            SESSION,
            "SessionStart",
            began,
            source="startup",
            commit="c" * 40,
            cwd="/work/app",
            arms={"use-make": "treatment"},
            delivered=["use-make"],
            context=context,
        ),
        line(SESSION, "look", began + 30, dirty=True, instructions=[place, below, skill]),
        line(SESSION, "PreToolUse", began + 2_500, call="c", tool="Bash", input=context),
        "\ngarbage\n",
    )

    def run(*arguments: str) -> str:
        script = (
            "import sys, hansei.cli.app as app, hansei.cli.main as main\n"
            f"app.now = lambda: {NOW}\n"
            "main.main(sys.argv[1:])"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={"HOME": str(home), "PATH": os.environ["PATH"], "TZ": "UTC", "COLUMNS": "120"},
            cwd=home,
            capture_output=True,
            text=True,
            check=True,
        )
        text = done.stdout.replace(str(tmp_path), "/tmp/x")
        return re.sub(r"\d+\.\d kB", "1.0 kB", text)

    return run


SCREENS = {
    "show-hooks": ("show", "bbbb", "--hooks"),
    "show-exposure": ("show", "bbbb", "--exposure"),
    "show-exposure-unknown": ("show", "cccc", "--exposure"),
    "doctor-hooks": ("doctor",),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screens_print_what_the_golden_file_says(
    name: str, hansei: Callable[..., str], golden: Callable[[str, str], None]
) -> None:
    golden(f"{name}.txt", hansei(*SCREENS[name]))


def test_programs_are_told_the_same(hansei: Callable[..., str]) -> None:
    (found,) = [
        it for it in json.loads(hansei("sessions", "--all", "--json"))["sessions"]
        if it["id"] == SESSION
    ]  # fmt: skip
    assert (found["commit"], found["commit_basis"], found["dirty"]) == ("c" * 40, "hook", True)
    exposure = json.loads(hansei("show", "bbbb", "--exposure", "--json"))
    assert exposure["basis"] == "hook"
    assert {it["path"] for it in exposure["texts"]} == {
        "CLAUDE.md",
        "web/CLAUDE.md",
        "~/.claude/skills/ship/SKILL.md",
        "use-make",
    }
    spool = json.loads(hansei("doctor", "--json"))["spool"]
    assert spool["disagreements"][0]["item"] == "use-make"
