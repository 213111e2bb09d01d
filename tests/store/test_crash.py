"""Killed at any moment of reading or sealing, nothing is lost and nothing is doubled."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from claude_home import session, small_history
from crash_driver import take_in
from hook_calls import line
from pieces import derived, told

DRIVER = Path(__file__).parents[1] / "crash_driver.py"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """Sessions old and new, with a fork, so that every path of the writer is taken."""
    home = tmp_path_factory.mktemp("crash") / "home"
    now = 1_790_000_000_000
    old, *_ = small_history(home, now)
    for number in range(6):
        one = session(home, f"dddd{number}", now - (number * 5 + 1) * 86_400_000)
        for turn in range(4):
            one.prompt(f"step {turn}")
            one.run(f"make step-{turn}", "output " * 40, exit_code=turn % 2)
            one.say("Done.")
    fork = old.path.with_name("eeee-fork.jsonl")
    fork.write_text(old.path.read_text(encoding="utf-8"), encoding="utf-8")
    (home / "hooks.jsonl").write_text("".join(hook_lines(now)), encoding="utf-8")
    return home, now


def hook_lines(now: int) -> list[str]:
    """What hooks saw of sessions old and new, and of one that left no transcript."""
    place = {"kind": "instructions", "path": "CLAUDE.md", "hash": "0" * 16, "bytes": 3}
    return [
        line("bbbb2222-new", "SessionStart", now - 3_600_000, commit="a" * 40, cwd="/work/app"),
        line("bbbb2222-new", "look", now - 3_599_000, dirty=True, instructions=[place]),
        line("aaaa1111-old", "Stop", now - 40 * 86_400_000, commit="b" * 40),
        line("gone", "SessionStart", now - 1_000, cwd="/work/app"),
        *(line("dddd1", "PreToolUse", now + n, call=f"c{n}", cwd="/work/app") for n in range(20)),
    ]


def run_until(home: Path, folder: Path, now: int, step: int) -> int:
    """Run the driver; returns the signal that ended it."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(home), str(folder), str(now), str(step)],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(DRIVER.parent)},
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return -done.returncode


def count_steps(home: Path, folder: Path, now: int) -> int:
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(home), str(folder), str(now), "0"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def check(history: tuple[Path, int], tmp_path: Path, seed: int, crashes: int) -> None:
    home, now = history
    whole = take_in(home, tmp_path / "whole", now)
    expected = told(whole), derived(whole)
    whole.close()
    steps = count_steps(home, tmp_path / "counted", now)
    dice = random.Random(seed)
    killed = 0
    for number in range(crashes):
        folder = tmp_path / f"crashed-{number}"
        killed += run_until(home, folder, now, dice.randrange(1, steps + 1)) == signal.SIGKILL
        after = take_in(home, folder, now)
        assert told(after) == expected[0]
        assert derived(after) == expected[1]
        listed = after.db.execute("SELECT count(*) FROM sealed").fetchone()[0]
        assert len(list(after.cold.glob("*/*"))) == listed
        after.close()
        shutil.rmtree(folder)
    assert killed == crashes


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(5))
def test_fifty_crashes_lose_and_double_nothing(
    history: tuple[Path, int], tmp_path: Path, seed: int
) -> None:
    check(history, tmp_path, seed, crashes=10)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(100, 110))
def test_five_hundred_crashes_lose_and_double_nothing(
    history: tuple[Path, int], tmp_path: Path, seed: int
) -> None:
    check(history, tmp_path, seed, crashes=50)
