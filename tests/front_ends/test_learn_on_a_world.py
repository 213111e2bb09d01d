"""`hansei learn` from transcripts to files that agents read, over a generated history."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.learn.validation import spec_problems
from hansei.synth import World, build
from synthetic_world import NOW, even_place

SINCE = ("--since", "2025-08-01")
INTERRUPTED = 130


class Place(NamedTuple):
    """A world and a store of its own."""

    world: World
    store: Path
    capsys: pytest.CaptureFixture[str]

    def type(self, *arguments: str) -> str:
        return self.command(*arguments, "--no-ingest")

    def command(self, *arguments: str) -> str:
        variables = {"HANSEI_HOME": str(self.store), "PATH": "/usr/bin:/bin"}
        here = app.Place(Environment(self.world.home, variables), self.world.repo)
        self.capsys.readouterr()
        with app.elsewhere(here):
            root.main(args=[*arguments], standalone_mode=False)
        return self.capsys.readouterr().out

    def told(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.type("learn", *SINCE, *arguments, "--json"))
        return found

    def skills(self) -> list[Path]:
        return sorted(self.world.repo.glob(".*/skills/*/SKILL.md"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Path]]:
    """A history with its facts."""
    store = tmp_path_factory.mktemp("store")
    with even_place() as folder:
        agents = ("claude_code", "codex")
        world = build(folder, seed=11, now_ms=NOW, sessions=60, weeks=6, agents=agents)
        here = Environment(world.home, {"HANSEI_HOME": str(store), "PATH": "/usr/bin:/bin"})
        with app.elsewhere(app.Place(here, world.repo)):
            root.main(args=["facts", "--json"], standalone_mode=False)
        yield world, store


@pytest.fixture
def place(
    built: tuple[World, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Place]:
    """The history with a store that may be changed; what is written into the repository goes."""
    world, store = built
    shutil.copytree(store, tmp_path / "own")
    monkeypatch.setattr(app, "now", lambda: NOW)
    made = Place(world, tmp_path / "own", capsys)
    before = set(made.skills())
    yield made
    for file in set(made.skills()) - before:
        shutil.rmtree(file.parent)


def test_what_is_offered_can_be_opened_and_saved_and_is_not_offered_again(place: Place) -> None:
    found = place.told()
    names = [it["offer"]["name"] for it in found["suggestions"]]
    assert "error-pytest" in names
    assert len(names) == len(set(names))
    for suggestion in found["suggestions"]:
        assert place.type("show", suggestion["evidence"][0])
    before = set(place.skills())
    saved = place.told("--yes")["saved"]
    assert [it["name"] for it in saved] == names
    assert set(place.skills()) == before, "what says what to run waits for a person's word"
    for name in names:
        place.command("skills", "promote", name, "--yes")
    written = set(place.skills()) - before
    assert len(written) == 2 * len(names)
    for file in written:
        assert spec_problems(file.parent.name, file.read_text(encoding="utf-8")) == []
    again = place.told()
    assert again["suggestions"] == []
    assert len(again["said"]) == len(names)


def test_two_looks_print_the_same_bytes(place: Place) -> None:
    assert place.type("learn", *SINCE) == place.type("learn", *SINCE)


def test_the_simple_rules_offer_many_times_as_much(place: Place) -> None:
    simple = json.loads(place.type("learn", *SINCE, "--classic", "--json"))
    assert simple["sessions"] == place.told()["sessions"]
    assert len(simple["offers"]) > 5 * len(place.told()["suggestions"])
    out = place.type("learn", *SINCE, "--classic")
    assert [line.split()[0] for line in out.splitlines()[2:8]] == [
        "multi-step",
        "error-recovery",
        "user-correction",
        "repeated-action",
        "explicit-instruction",
        "all",
    ]


def test_of_one_session_only_what_it_shows_is_offered(place: Place) -> None:
    first = place.told()["suggestions"][0]["evidence"][0].partition("#")[0]
    found = json.loads(place.type("learn", first, "--json"))
    assert found["among"] == [first]
    for suggestion in found["suggestions"]:
        assert any(it.startswith(first) for it in suggestion["evidence"])


def test_ctrl_c_at_the_question_leaves_what_was_answered_and_nothing_else(place: Place) -> None:
    names = [it["offer"]["name"] for it in place.told()["suggestions"]]
    before = set(place.skills())
    code, screen = _typed(place, [b"y\n", b"s\n"])
    assert code == INTERRUPTED, screen
    assert f"Saved {names[0]}" in screen
    assert "Never again" in screen
    assert {it.parent.name for it in set(place.skills()) - before} == {names[0]}
    assert [it["offer"]["name"] for it in place.told()["suggestions"]] == names[2:]


def _typed(place: Place, answers: Sequence[bytes]) -> tuple[int, str]:
    """Exit code and screen where each question gets the next answer, and the one after a Ctrl-C."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "hansei", "learn", *SINCE, "--no-ingest"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=place.world.repo,
        env={
            "HOME": str(place.world.home),
            "HANSEI_HOME": str(place.store),
            "PATH": "/usr/bin:/bin",
        },
    )
    os.close(theirs)
    seen, waiting = b"", list(answers)
    for part in _parts(ours):
        asked = seen.count(b"[y/N/s]")
        seen += part
        if seen.count(b"[y/N/s]") > asked and waiting:
            os.write(ours, waiting.pop(0))
        elif seen.count(b"[y/N/s]") > asked:
            _interrupt(process)
    os.close(ours)
    return process.wait(), seen.decode("utf-8", "replace")


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ctrl-C, and again if it came in the moment before a read begins, which then never ends."""
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
            return


def _parts(terminal: int) -> Iterator[bytes]:
    with suppress(OSError):  # Linux says so when the other end is closed
        while part := os.read(terminal, 4096):
            yield part
