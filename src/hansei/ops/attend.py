"""Stand behind a program that has the terminal: it gets every key, we get its exit code.

The program stays in our process group, so that terminal and shell take both for one job and nothing
needs to be passed on byte by byte. Keys such as Ctrl-C reach it from the terminal itself; we hear
them too and do nothing. What is sent to us alone is passed on. When it stops, we stop.

In a sandbox this file also runs as the first process inside, where it can import nothing of ours.
There it tells the hansei outside, through a pipe, that it is ready and whenever the program stops.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # typing takes longer to import than all of this takes to run
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Final

KEYS: Final = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGTTIN", "SIGTTOU")
"""Sent by a terminal to the whole group."""
PASSED_ON: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
"""Sent by a person or a program to one process."""
OF_PYTHON: Final = ("SIGPIPE", "SIGXFSZ")
"""Ignored by Python itself; a program expects them as they are by default."""
RELAYED: Final = (1, 2, 3, 10, 12, 15)
"""HUP, INT, QUIT, USR1, USR2 and TERM, as Linux numbers them: only there are sandboxes."""
READY: Final = b"r"
STOPPED: Final = b"s"
NOT_FOUND, NOT_STARTED, BY_SIGNAL = 127, 126, 128
"""Exit codes as shells give them; a signal's number is added to the last."""


class Receiver:
    """The process that signals are passed on to; before it is there they are kept for it."""

    def __init__(self, shift: int = 0) -> None:
        self.shift = shift
        """Added to a signal's number, where the receiver is to pass it on itself."""
        self.process: int | None = None
        self.kept: list[int] = []
        self.hung_up = False
        """Whether the terminal is gone, and with it whoever could have us go on."""

    def joined(self, process: int) -> None:
        """From now on it is there."""
        self.process = process
        for number in self.kept:
            self.send(number)
        self.kept = []

    def send(self, number: int) -> None:
        if self.process is None:
            self.kept.append(number)
            return
        with suppress(ProcessLookupError):  # it ended; its exit code is on the way
            os.kill(self.process, number + self.shift)

    def hear(self, number: int, frame: FrameType | None) -> None:
        """A terminal sent it to the whole group; where no key can have done so, it is for us."""
        del frame
        if number in (signal.SIGINT, signal.SIGQUIT) and not in_foreground():
            self.send(number)

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.hung_up = self.hung_up or number == signal.SIGHUP
        self.send(number)

    def stop(self) -> None:
        """Stop as the program did. Shells have the whole group go on, and so the program too."""
        if not self.hung_up:
            os.kill(os.getpid(), signal.SIGSTOP)


def heeded(names: tuple[str, ...]) -> list[int]:
    """Signals that are not ignored: whoever started us ignoring one wants the program to, too."""
    known = [int(getattr(signal, name)) for name in names]
    return [number for number in known if signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def handled(handlers: dict[int, Callable[[int, FrameType | None], None]]) -> Iterator[None]:
    """Survive what is meant for the program."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def handlers(receiver: Receiver) -> dict[int, Callable[[int, FrameType | None], None]]:
    """What to do with each signal that is not ignored."""
    keys, passed_on = heeded(KEYS), heeded(PASSED_ON)
    return {**dict.fromkeys(keys, receiver.hear), **dict.fromkeys(passed_on, receiver.pass_on)}


def in_foreground() -> bool:
    """Whether there is a terminal and its keys come to us."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def start(command: list[str]) -> int:
    """Start a program with our terminal, environment, open files and folder."""
    defaults = [int(getattr(signal, name)) for name in OF_PYTHON]
    return os.posix_spawnp(command[0], command, os.environ, setsigdef=defaults)


def attend(command: list[str]) -> int:
    """Run a program to its end; its exit status as `waitpid` gives it."""
    receiver = Receiver()
    with handled(handlers(receiver)):
        child = start(command)
        receiver.joined(child)
        return follow(child, child, receiver.stop)


def follow(child: int, collected: int, stopped: Callable[[], None]) -> int:
    """Wait for a program's end, and do as it does whenever it stops.

    `collected` is what to wait for: inside a sandbox, whoever lost its parent is ours to collect.
    """
    while True:
        process, status = os.waitpid(collected, os.WUNTRACED)
        if process != child:
            continue
        if not os.WIFSTOPPED(status):
            return status
        stopped()


def exit_code(status: int) -> int:
    """A status as shells tell it."""
    if os.WIFSIGNALED(status):
        return BY_SIGNAL + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def inside(arguments: list[str]) -> int:
    """`attend.py PIPE SIGNALS COMMAND…`: be the first process in a sandbox.

    The signals are those that were not ignored outside; they are ignored up to here, since the
    process that keeps the sandbox would die of them. What is to be passed on comes from outside as
    another signal: a key's own is for the program, which the terminal has told already.
    """
    pipe, command = int(arguments[0]), arguments[2:]
    wanted = [int(number) for number in arguments[1].split(",") if number]
    os.set_inheritable(pipe, False)
    receiver = Receiver(-signal.SIGRTMIN)
    told = dict.fromkeys((signal.SIGRTMIN + number for number in RELAYED), receiver.pass_on)
    with handled({**told, **dict.fromkeys(wanted, _nothing)}):
        try:
            child = start(command)
        except OSError as problem:
            os.write(pipe, READY)
            sys.stderr.write(f"hansei: {command[0]} cannot be started: {problem.strerror}\n")
            return NOT_FOUND if isinstance(problem, FileNotFoundError) else NOT_STARTED
        receiver.joined(child)
        os.write(pipe, READY)
        return exit_code(follow(child, -1, lambda: _tell(pipe)))


def _nothing(number: int, frame: FrameType | None) -> None:
    """Not ignored, so that the program does not begin with ignoring it."""


def _tell(pipe: int) -> None:
    os.write(pipe, STOPPED)


if __name__ == "__main__":
    sys.exit(inside(sys.argv[1:]))
