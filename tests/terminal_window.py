"""A terminal with a program in it, as a person has it: keys go in, the screen comes out."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_SECONDS = 20.0


class Window:
    """One program that leads the session of a terminal of its own."""

    def __init__(self, process: int, terminal: int) -> None:
        self.process = process
        self.terminal = terminal
        self.screen = b""
        self.code: int | None = None

    def type(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def wait_for(self, text: str, times: int = 1) -> None:
        """Until a text has been on the screen so often."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.screen.count(text.encode()) < times:
            assert time.monotonic() < deadline, f"no {text!r} on {self.screen!r}"
            assert self._read(0.2) or times == 0, f"it ended without {text!r}: {self.screen!r}"

    def ended(self) -> int:
        """The exit code, as a shell tells it, once everything is on the screen."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._read(0.2):
            assert time.monotonic() < deadline, f"it does not end: {self.screen!r}"
        return self._collect()

    def close(self) -> None:
        """Close the window, as by its button, and wait for what was in it to end."""
        os.close(self.terminal)
        self.terminal = -1
        self._collect()

    def _collect(self) -> int:
        _, status = os.waitpid(self.process, 0)
        self.code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return self.code

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return True
        try:
            piece = os.read(self.terminal, 65536)
        except OSError:  # nobody has the other end open
            return False
        self.screen += piece
        return bool(piece)


@contextlib.contextmanager
def window(command: list[str], variables: dict[str, str], folder: Path) -> Iterator[Window]:
    """Run a program in a terminal; it is gone afterwards."""
    process, terminal = pty.fork()
    if process == 0:  # pragma: no cover - another program's life
        try:
            os.chdir(folder)
            os.execvpe(command[0], command, variables)
        finally:
            os._exit(99)
    shown = Window(process, terminal)
    try:
        yield shown
    finally:
        if shown.terminal >= 0:
            os.close(terminal)
        if shown.code is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
