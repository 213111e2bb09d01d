"""What a call of a hook costs an agent, launcher included, against `python -S -c pass`."""

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from history import ROOT

import hansei

RUNS = 15


class HookCall(NamedTuple):
    """Median times in milliseconds."""

    what: str
    taken: float
    python: float


def hook_calls(folder: Path) -> list[HookCall]:
    """Each kind of call; the interpreter alone is measured in turn with it."""
    home, launcher = folder / "hooks", folder / "launcher"
    home.mkdir()
    program = Path(hansei.__file__).parent / "hook" / "run.py"
    launcher.write_text(f'#!/bin/sh\n{sys.executable} -I -S {program} {home} "$@"\nexit 0\n')
    launcher.chmod(0o700)
    item = {"id": "i", "text": "<!-- hansei -->", "salt": "s", "share": 1, "workspaces": None}
    (home / "exposure.json").write_text(json.dumps({"v": 1, "items": [item]}))
    said = {"session_id": "s", "cwd": str(ROOT), "tool_use_id": "c", "tool_input": "x" * 2_000}
    large = {**said, "tool_response": "x" * 10_000_000}
    calls = (
        ("before a tool call", "PreToolUse", json.dumps(said).encode()),
        ("a session begins, with a delivery", "SessionStart", json.dumps(said).encode()),
        ("garbage", "Stop", b"\xff garbage"),
        ("ten megabytes", "PostToolUse", json.dumps(large).encode()),
    )
    return [
        HookCall(what, *_in_turn([str(launcher), "claude_code", event], data))
        for what, event, data in calls
    ]


def _in_turn(command: list[str], data: bytes) -> tuple[float, float]:
    base = [sys.executable, "-S", "-c", "pass"]
    times = [(_milliseconds(command, data), _milliseconds(base, b"")) for _ in range(RUNS)]
    return median(ours for ours, _ in times), median(bare for _, bare in times)


def _milliseconds(command: list[str], data: bytes) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=data, capture_output=True, check=True)
    return (time.perf_counter() - started) * 1000
