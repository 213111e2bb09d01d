"""Calling the hook as agents do: a process of its own, by path, with input on stdin."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hansei.hook

PROGRAM = Path(hansei.hook.__file__).with_name("run.py")


def command(home: Path, agent: str = "claude_code", event: str = "PreToolUse") -> list[str]:
    """What the launcher runs."""
    return [sys.executable, "-I", "-S", str(PROGRAM), str(home), agent, event]


def call(
    home: Path,
    said: object = None,
    *,
    agent: str = "claude_code",
    event: str = "PreToolUse",
    **options: Any,
) -> str:
    """Run the hook; it must end with 0 and say nothing on stderr. Returns what it printed."""
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    done = subprocess.run(
        command(home, agent, event), input=data, capture_output=True, timeout=30, **options
    )
    assert done.returncode == 0
    assert done.stderr == b""
    return str(done.stdout, "utf-8")


def refused(ask: Callable[[], str]) -> str:
    """What the hook says to a call that it stops: on a busy machine it may let some go on."""
    return next((said for said in (ask() for _ in range(5)) if said), "")


def spooled(home: Path) -> list[dict[str, Any]]:
    """The lines on the spool that are whole."""
    path = home / "spool" / "hooks.jsonl"
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def looked(home: Path, count: int = 1) -> list[dict[str, Any]]:
    """What the slow look wrote, once it has."""

    def found() -> list[dict[str, Any]]:
        return [line for line in spooled(home) if line["hook"] == "look"]

    wait_until(lambda: len(found()) >= count)
    return found()


def wait_until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert true()


def line(session: str, hook: str, at: int, agent: str = "claude_code", **fields: Any) -> str:
    """A line of the spool, written by hand."""
    said = {"v": 1, "agent": agent, "hook": hook, "at": at, "session": session, **fields}
    return f"\n{json.dumps(said)}\n"


def write_spool(home: Path, *lines: str) -> Path:
    """Append lines to the spool in a home folder."""
    folder = home / ".hansei" / "spool"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "hooks.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines))
    return path
