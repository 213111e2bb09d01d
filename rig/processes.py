"""Programs we start, and that all of them end: by their time limit, by Ctrl-C, or by a sweep.

Every program gets a session of its own and a mark in its environment. Agents leave helpers behind
now and then; where /proc tells environments, whatever carries our mark is stopped by its id.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARK = "HANSEI_RIG_RUN"
_RUN = uuid.uuid4().hex
_GRACE_SECONDS = 5.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Finished:
    """How a program ended; `code` is None where it had to be stopped."""

    code: int | None
    out: str
    err: str


def run(
    command: list[str], *, cwd: Path, variables: dict[str, str], log: Path, limit: float = 90
) -> Finished:
    """Run a program to its end, without a keyboard."""
    return interrupted(command, cwd=cwd, variables=variables, log=log, limit=limit, when=None)


def interrupted(
    command: list[str],
    *,
    cwd: Path,
    variables: dict[str, str],
    log: Path,
    limit: float,
    when: Callable[[], bool] | None,
) -> Finished:
    """Run a program, and press Ctrl-C once `when` says so."""
    out, err = log.with_suffix(".out"), log.with_suffix(".err")
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**variables, MARK: _RUN},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            code = _wait(process, time.monotonic() + limit, when)
        finally:
            stop(process.pid)
            process.wait()
    return Finished(code, out.read_text(errors="replace"), err.read_text(errors="replace"))


def _wait(
    process: subprocess.Popen[bytes], deadline: float, when: Callable[[], bool] | None
) -> int | None:
    while time.monotonic() < deadline:
        if (code := process.poll()) is not None:
            return code
        if when is not None and when():
            os.killpg(process.pid, signal.SIGINT)
            when = None
        time.sleep(_POLL_SECONDS)
    return None


def stop(group: int) -> None:
    """End what is left of a program and its children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def sweep() -> list[int]:
    """Stop whatever carries our mark, first politely, then for good. Which there were."""
    found = list(_marked())
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in filter(runs, found):
            _send(process, number)
        _until(lambda: not any(map(runs, found)))
    return found


def wait() -> None:
    """Give what still runs in the background a moment to end by itself."""
    _until(lambda: not any(True for _ in _marked()))


def runs(process: int) -> bool:
    """Whether it still runs; one that ended and waits to be collected does not.

    Asked of its state and not of its mark: a process that ends loses its environment first.
    """
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] not in "ZX"


def _until(ended: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    while not ended() and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)


def _send(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _marked() -> Iterator[int]:
    wanted = f"{MARK}={_RUN}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                yield int(folder.name)
