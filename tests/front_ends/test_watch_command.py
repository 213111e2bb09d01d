"""`hansei ingest --watch` as people and services use it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from claude_home import small_history
from hansei.cli import watching
from hansei.config import Config
from hansei.ops.watch import Round

HANSEI = [sys.executable, "-m", "hansei"]


@contextmanager
def watcher(config: Config, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A watcher that has told of its first round."""
    process = subprocess.Popen(
        [*HANSEI, "ingest", "--watch", *options],
        env=environment(config),
        cwd=config.environment.home,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def environment(config: Config) -> dict[str, str]:
    home = config.environment.home
    return {"HOME": str(home), "HANSEI_HOME": str(config.store), "PATH": os.environ["PATH"]}


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_it_in_good_order(
    config: Config, now: int, number: signal.Signals, code: int
) -> None:
    small_history(config.environment.home, now)
    with watcher(config) as process:
        assert "new events from 3 transcripts" in first_line(process)
        process.send_signal(number)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == code
    assert errors == ""


def test_each_round_is_a_line_of_json(config: Config, now: int) -> None:
    _, recent, _ = small_history(config.environment.home, now)
    with watcher(config, "--json") as process:
        caught_up = json.loads(first_line(process))
        recent.prompt("one more thing")
        one_more = json.loads(first_line(process))
    assert caught_up["schema"] == "hansei.watch/1"
    assert (caught_up["transcripts"], caught_up["read"]) == (3, 3)
    assert (one_more["read"], one_more["events"], one_more["problem"]) == (1, 1, None)


def test_a_second_one_says_so_and_what_to_do(config: Config, now: int) -> None:
    with watcher(config) as process:
        first_line(process)
        second = subprocess.run(
            [*HANSEI, "ingest", "--watch"],
            env=environment(config),
            cwd=config.environment.home,
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert second.returncode == 4
    assert f"another hansei is watching already (process {process.pid})" in second.stderr
    assert f"kill {process.pid}" in second.stderr


def test_other_commands_work_while_it_watches(config: Config, now: int) -> None:
    _, recent, _ = small_history(config.environment.home, now)
    with watcher(config) as process:
        first_line(process)
        recent.prompt("now")
        for arguments in (["summary", "--all"], ["ingest"], ["forget", recent.id, "--yes"]):
            done = subprocess.run(
                [*HANSEI, *arguments],
                env=environment(config),
                cwd=config.environment.home,
                capture_output=True,
                text=True,
                timeout=30,
            )
            assert done.returncode == 0, done.stderr
        assert process.poll() is None


def test_nobody_reading_ends_it(config: Config, now: int) -> None:
    _, recent, _ = small_history(config.environment.home, now)
    with watcher(config) as process:
        first_line(process)
        assert process.stdout is not None
        process.stdout.close()
        recent.prompt("does anybody hear?")
        assert process.wait(timeout=20) == 141
        process.stdout = None


def test_a_store_that_cannot_be_written_is_said_at_once(config: Config, home: Path) -> None:
    in_the_way = home / "file"
    in_the_way.write_text("", encoding="utf-8")
    done = subprocess.run(
        [*HANSEI, "ingest", "--watch"],
        env={**environment(config), "HANSEI_HOME": str(in_the_way / "store")},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 4
    assert "HANSEI_HOME" in done.stderr


def test_a_grown_watcher_becomes_a_fresh_one(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(watching, "_watch", lambda *_: "grown")
    monkeypatch.setattr(os, "execv", lambda _, arguments: started.append(arguments))
    watching.watch(config, as_json=False)
    assert started == [[sys.executable, *sys.orig_argv[1:]]]
    with watching.stoppable():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_asked_twice_it_ends_at_once() -> None:
    with watching.stoppable() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Round(0, 7), "nothing new in 7 transcripts"),
        (
            Round(0, 7, read=1, events=2, bytes=900),
            "2 new events from 1 transcript (900 B)",
        ),
        (Round(0, 7, missing=1), "1 transcript gone from disk, kept here"),
        (
            Round(0, 7, problem="no room left", hint="Free some.", again_in_seconds=4),
            "no room left; trying again in 4 s. Free some.",
        ),
        (Round(0, 7, skipped=3), "3 records not readable (`hansei doctor`)"),
        (
            Round(0, 7, unreadable=(("a", "b"),), sealed=10),
            "10 old events packed away, 1 transcript not readable",
        ),
    ],
)
def test_a_round_in_words(told: Round, words: str) -> None:
    assert watching.describe(told) == words


def test_a_terminal_shows_one_line_that_stays_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    tell = watching._teller(as_json=False)
    tell(Round(0, 5, read=1, events=2, bytes=900))
    tell(Round(0, 5, read=1, events=3, bytes=900))
    tell(Round(0, 5, problem="no room left", again_in_seconds=4))
    written = capsys.readouterr()
    assert "\n" not in click.unstyle(written.out)
    assert written.out.count("Watching 5 transcripts") == 2
    assert "warning: no room left" in click.unstyle(written.err)
