"""A generated history with a server to ask, and that server spoken to in plain lines."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from hansei.synth import World, build
from synthetic_world import even_place


@dataclass(frozen=True)
class Served:
    """A world, its store, and how a process gets at them."""

    world: World
    store: Path

    @property
    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.world.home),
            "HANSEI_HOME": str(self.store),
            "PATH": os.environ["PATH"],
        }

    def hansei(self, *arguments: str) -> str:
        """Type a command in the world's repository."""
        return subprocess.run(
            (sys.executable, "-m", "hansei", *arguments),
            cwd=self.world.repo,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout


@contextmanager
def served() -> Iterator[Served]:
    """A history of a few weeks up to now, taken in and with its facts."""
    import time

    now = int(time.time() * 1000)
    with even_place() as folder, tempfile.TemporaryDirectory() as store:
        world = build(folder, seed=11, now_ms=now, sessions=30, weeks=4, agents=("claude_code",))
        found = Served(world, Path(store))
        found.hansei("facts", "failures", "-n", "1")
        yield found


class Wire:
    """A server, spoken to line by line: also in lines that no client would send."""

    def __init__(self, place: Served) -> None:
        self._process = subprocess.Popen(
            (sys.executable, "-m", "hansei", "mcp", "--no-ingest"),
            cwd=place.world.repo,
            env=place.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0

    def __enter__(self) -> Self:
        told = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
        self.ask("initialize", told)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()

    def send(self, message: object) -> None:
        self.send_line(json.dumps(message).encode())

    def send_line(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def _send_all(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            self.send_line(line)

    def line(self) -> dict[str, Any]:
        """The next line of standard output, which is always a whole message."""
        assert self._process.stdout is not None
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert told["jsonrpc"] == "2.0"
        return told

    def ask(self, method: str, params: object) -> dict[str, Any]:
        """Ask, and read up to the answer."""
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while (told := self.line()).get("id") != self._number:
            pass
        return told

    def answers(self, lines: Sequence[bytes], ids: Collection[str]) -> list[dict[str, Any]]:
        """Send lines one after another, and read until these ids are answered."""
        sender = threading.Thread(target=self._send_all, args=(lines,))
        sender.start()
        told: list[dict[str, Any]] = []
        left = set(ids)
        while left:
            told.append(self.line())
            if isinstance(told[-1].get("id"), str):
                left.discard(told[-1]["id"])
        sender.join()
        return told

    def said_aside(self) -> bytes:
        """What stands on standard error by now."""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)
        return self._process.stderr.read() or b""

    def call(self, name: str, arguments: object) -> dict[str, Any]:
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def end(self) -> tuple[int, bytes]:
        """Close its input and wait: how it ended, and what it left on standard output."""
        left, _ = self._process.communicate(timeout=30)
        return self._process.returncode, left

    def turn_deaf(self) -> None:
        """Close the end at which answers are heard."""
        assert self._process.stdout is not None
        self._process.stdout.close()

    def die(self) -> tuple[int, bytes]:
        """Close its input too: how it ended, and what it said aside."""
        assert self._process.stdin is not None
        assert self._process.stderr is not None
        self._process.stdin.close()
        return self._process.wait(timeout=30), self._process.stderr.read()


CLIENT = {"name": "test", "version": "1"}
