"""Running a program in a sandbox, or saying why that cannot be."""

from __future__ import annotations

import os
import platform
import re
import shutil
import signal
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import hansei
from hansei.errors import NoSandbox
from hansei.ops import attend
from hansei.ops.sandbox.terminal import forged_keys_refused
from hansei.ops.sandbox.walls import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.ops.sandbox.walls import Walls

PROGRAM = "bwrap"
INSTALL = (
    "Install bubblewrap: `apt install bubblewrap`, `dnf install bubblewrap` or"
    " `pacman -S bubblewrap`. Nothing was run."
)
FORBIDDEN = re.compile(r"namespace|uid map|not permitted", re.IGNORECASE)
UNREACHED = "execvp"
ALLOW = (
    "This system forbids user namespaces. On Ubuntu since 23.10 an AppArmor profile for bwrap"
    " allows them; elsewhere see `sysctl kernel.unprivileged_userns_clone`. In a container its"
    " host decides. Nothing was run."
)
TRIED_SECONDS = 20.0
"""A trial takes milliseconds; this is for a machine that has much else to do."""
_INTERPRETER = ("-I", "-S")
"""Nothing of the person's Python settings, and no packages."""


def own_places() -> list[Path]:
    """What of hansei must be there inside: its files, and the Python they run on."""
    package = Path(hansei.__file__).parent
    return [package, Path(sys.base_prefix), Path(sys.prefix)]


def bubblewrap() -> str:
    """The program that makes sandboxes."""
    if sys.platform != "linux":
        raise NoSandbox("sandboxes need Linux, because bubblewrap does", hint="Nothing was run.")
    found = shutil.which(PROGRAM)
    if found is None:
        raise NoSandbox(f"{PROGRAM} is not on the PATH", hint=INSTALL)
    return found


def complain(program: str, walls: Walls) -> NoReturn:
    """Say why no sandbox came about, as bubblewrap tells when it makes one around nothing."""
    command = [program, *arguments(walls), sys.executable, *_INTERPRETER, "-c", ""]
    try:
        tried = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=TRIED_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoSandbox(f"{program} does not run: {problem}", hint=INSTALL) from problem
    said = tried.stderr.decode("utf-8", "replace").strip() or f"exit code {tried.returncode}"
    hint = ALLOW if FORBIDDEN.search(said) else "Nothing was run."
    if UNREACHED in said:
        hint = f"Nobody inside may run {sys.executable}: install hansei elsewhere. {hint}"
    raise NoSandbox(f"the sandbox cannot be made: {said}", hint=hint)


def attend_inside(program: str, walls: Walls, command: list[str]) -> int:
    """Run a program to its end in a sandbox; its exit status as `waitpid` gives it."""
    if sys.platform != "linux":  # bubblewrap() has said so
        raise NoSandbox("sandboxes need Linux, because bubblewrap does")
    receiver = attend.Receiver(signal.SIGRTMIN)
    handlers = attend.handlers(receiver)
    with ExitStack() as held, attend.handled(handlers):
        heard, told = _pipe(held)
        known, tell = _pipe(held)
        options = [*arguments(walls), "--info-fd", str(tell), *_no_forged_keys(held)]
        first = [sys.executable, *_INTERPRETER, attend.__file__, str(told)]
        numbers = ",".join(map(str, handlers))
        with _deaf(handlers):
            child = attend.start([program, *options, *first, numbers, *command])
        os.close(told)
        os.close(tell)
        ready = _follow(receiver, heard, known)
        _, status = os.waitpid(child, 0)
    if not ready:
        complain(program, walls)
    return status


def _follow(receiver: attend.Receiver, heard: int, known: int) -> bool:
    """Do as the program does until it ends; whether it ever began."""
    first = _first_process(known)
    ready = False
    while told := os.read(heard, 1):
        if told == attend.READY and first is not None:
            ready = True
            receiver.joined(first)
        elif told == attend.STOPPED:
            receiver.stop()
    return ready


def _first_process(known: int) -> int | None:
    """Who is first inside, as bubblewrap tells it."""
    said = b""
    while piece := os.read(known, 1024):
        said += piece
        if found := re.search(rb'"child-pid"\s*:\s*(\d+)\b', said):
            return int(found[1])
    return None


def _pipe(held: ExitStack) -> tuple[int, int]:
    """A pipe whose end to write to is handed to what we start."""
    reading, writing = os.pipe()
    held.callback(os.close, reading)
    os.set_inheritable(writing, True)
    return reading, writing


def _no_forged_keys(held: ExitStack) -> list[str]:
    """Options that keep the program from typing into our terminal."""
    rules = forged_keys_refused(platform.machine())
    if rules is None:
        return ["--new-session"]  # at the price of window sizes
    reading, writing = os.pipe()
    held.callback(os.close, reading)
    os.write(writing, rules)
    os.close(writing)
    os.set_inheritable(reading, True)
    return ["--seccomp", str(reading)]


@contextmanager
def _deaf(numbers: Iterable[int]) -> Iterator[None]:
    """Have what is started now begin by ignoring these signals: bubblewrap would die of them."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
