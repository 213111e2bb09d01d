"""The guided tour, as a person walks through it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NOW = 1_790_000_000_000
PROMPT = "q: leave"
SCRIPT = f"""
import sys, hansei.cli.app as app, hansei.cli.main as main
app.now = lambda: {NOW}
main.main(sys.argv[1:])
"""


class Visitor:
    """A person with an empty home folder who takes the tour."""

    def __init__(self, folder: Path) -> None:
        self.home, self.temporary = folder / "home", folder / "temporary"
        self.home.mkdir()
        self.temporary.mkdir()
        self.variables = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",  # git, and no agents that this machine may have
            "TMPDIR": str(self.temporary),
            "TZ": "UTC",
            "TERM": "xterm",
            "COLUMNS": "100",
        }

    def type(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run without a terminal."""
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, *arguments],
            env=self.variables,
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    @contextmanager
    def sit_down(self, *arguments: str) -> Iterator[Terminal]:
        """Run on a terminal."""
        ours, theirs = pty.openpty()
        running = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *arguments],
            env=self.variables,
            cwd=self.home,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield Terminal(ours, running)
        finally:
            running.kill()
            running.wait()
            os.close(ours)

    def leftovers(self) -> list[Path]:
        return [*self.temporary.iterdir(), *self.home.iterdir()]


class Terminal:
    """What is seen on a terminal, and what is typed there."""

    def __init__(self, ours: int, running: subprocess.Popen[bytes]) -> None:
        self.ours, self.running = ours, running
        self.seen = ""

    def wait_for(self, words: str, times: int = 1) -> None:
        deadline = time.monotonic() + 30
        while self.seen.count(words) < times:
            assert time.monotonic() < deadline, self.seen
            if not self._read():
                break
        assert self.seen.count(words) >= times, self.seen

    def press(self, keys: str) -> None:
        """Type as soon as single keys are read; what is typed before that is thrown away."""
        deadline = time.monotonic() + 30
        while termios.tcgetattr(self.ours)[3] & termios.ICANON:
            assert time.monotonic() < deadline, self.seen
            time.sleep(0.01)
        os.write(self.ours, keys.encode())

    def end(self) -> int:
        """Read all there is; the exit code."""
        while self._read():
            pass
        return self.running.wait(30)

    def _read(self) -> bool:
        if not select.select([self.ours], [], [], 30)[0]:
            return False
        try:
            data = os.read(self.ours, 65536)
        except OSError:  # nobody is at the other end any more
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    return Visitor(tmp_path)


def steady(text: str) -> str:
    """The tour without what differs from run to run."""
    text = re.sub(r"/\S+/hansei-demo-\w+", "/tmp/demo", text)
    # Lists of skills tell whole paths: where the world lies decides what is worth a bet.
    text = re.sub(r"\d+ more bets", "some more bets", text)
    text = re.sub(r"(\[secret:[\w-]+):\w{8}\]", r"\1:00000000]", text)
    return re.sub(r"\d+\.\d kB", "1.0 kB", text)


def test_the_tour_reads_as_the_golden_file_says(
    visitor: Visitor, golden: Callable[[str, str], None]
) -> None:
    done = visitor.type("demo")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    golden("demo.txt", steady(done.stdout))
    assert visitor.leftovers() == []


def test_enter_goes_on_and_q_leaves(visitor: Visitor) -> None:
    with visitor.sit_down("demo") as terminal:
        terminal.wait_for(PROMPT)
        assert "1 of 11" in terminal.seen
        assert "2 of 11" not in terminal.seen
        terminal.press("x\r")
        terminal.wait_for(PROMPT, times=2)
        assert "2 of 11" in terminal.seen
        terminal.press("q")
        assert terminal.end() == 0
        assert "3 of 11" not in terminal.seen
        assert "Nothing was left behind." in terminal.seen
    assert visitor.leftovers() == []


def test_without_pauses_the_tour_runs_through_on_a_terminal(visitor: Visitor) -> None:
    with visitor.sit_down("demo", "--no-pause") as terminal:
        assert terminal.end() == 0
        assert "10 of 11" in terminal.seen
        assert PROMPT not in terminal.seen
    assert visitor.leftovers() == []


@pytest.mark.parametrize("kept", [False, True])
def test_ctrl_c_leaves_nothing_behind(visitor: Visitor, kept: bool) -> None:
    folder = visitor.home / "try"
    with visitor.sit_down("demo", *(("--keep", str(folder)) if kept else ())) as terminal:
        terminal.wait_for(PROMPT)
        terminal.press("\x03")
        assert terminal.end() == 130
    assert visitor.leftovers() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_at_any_moment_leaves_nothing_behind(
    visitor: Visitor, number: signal.Signals
) -> None:
    with visitor.sit_down("demo", "--no-pause") as terminal:
        while not any(visitor.temporary.glob("*/home")):
            assert terminal.running.poll() is None
            time.sleep(0.005)
        while terminal.running.poll() is None:  # again: libraries may lose one while they load
            terminal.running.send_signal(number)
            time.sleep(0.5)
        code = terminal.end()
    assert code == (130 if number is signal.SIGINT else 128 + number)
    assert visitor.leftovers() == []


def test_what_is_kept_can_be_played_with(visitor: Visitor, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    tour = visitor.type("demo", "--keep", str(folder))
    assert tour.returncode == 0, tour.stderr
    assert "cd " in tour.stdout

    def try_out(*arguments: str) -> str:
        done = subprocess.run(
            [str(folder / "hansei"), *arguments],
            cwd=folder / "repo",
            env={**visitor.variables, "HANSEI_HOME": "/nowhere", "CODEX_HOME": "/nowhere"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(try_out("sessions", "-n", "0", "--json"))["sessions"]
    assert len(listed) == 20
    assert {line["workspace"] for line in listed} == {"berthline"}
    assert "berthline" in try_out("summary")
    assert visitor.leftovers() == []


def test_a_kept_folder_has_to_be_empty(visitor: Visitor, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").write_text("mine")
    for name in ("taken", "taken/mine", "taken/mine/below"):
        done = visitor.type("demo", "--keep", str(tmp_path / name))
        assert done.returncode == 2
        assert "taken" in done.stderr
        assert "Traceback" not in done.stderr
    assert [path.name for path in (tmp_path / "taken").iterdir()] == ["mine"]


@pytest.mark.parametrize("seed", ["10", "4711"])
def test_the_tour_works_out_what_it_claims(visitor: Visitor, seed: str) -> None:
    done = visitor.type("demo", "--json", "--seed", seed)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "hansei.demo/1"
    steps: dict[str, dict[str, Any]] = {step["name"]: step for step in answer["steps"]}
    assert list(steps) == [
        "found", "spend", "sessions", "opened", "again", "facts", "retro", "change", "doubles",
        "secrets", "trust",
    ]  # fmt: skip
    assert all(row["exact"] for row in steps["trust"]["worked_out"])
    secrets = steps["secrets"]["worked_out"]
    assert secrets["planted"] == secrets["in_transcripts"] > 0
    assert secrets["in_store"] == 0
    doubles = steps["doubles"]["worked_out"]
    assert doubles["billed"] == steps["spend"]["answer"]["total"]["total_tokens"]
    assert doubles["every_line"] > doubles["billed"]
    agents = {hit["agent"] for hit in steps["again"]["answer"]["results"]}
    assert agents == {"claude_code", "codex"}
    failed = [it["event"] for it in steps["opened"]["answer"]["events"]]
    assert any(event.get("status") == "failed" for event in failed)
    assert "[secret:" in json.dumps(steps["secrets"]["answer"])
