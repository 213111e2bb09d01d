"""How long a process takes, how much memory it and its children hold, how large a folder is."""

import contextlib
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

SAMPLE_SECONDS = 0.05
LONG_SECONDS = 10.0


class Run(NamedTuple):
    """One process from its start to its end."""

    seconds: float
    megabytes: float | None
    """The most that it and its children held at one time; None where the system does not tell."""
    output: str


def run(
    command: Sequence[str], environment: Mapping[str, str], *, watch_memory: bool = False
) -> Run:
    """Run a command to its end; raises CalledProcessError if it fails."""
    with tempfile.TemporaryFile("w+") as output:
        started = time.perf_counter()
        with subprocess.Popen(
            command, env=dict(environment), stdout=output, stderr=subprocess.DEVNULL
        ) as process:
            most = _watch(process) if watch_memory else None
            process.wait()
            seconds = time.perf_counter() - started
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        output.seek(0)
        return Run(seconds, most, output.read())


def typical(command: Sequence[str], environment: Mapping[str, str], runs: int) -> float:
    """The median time of several runs; of fewer where they take long."""
    times: list[float] = []
    while len(times) < runs and sum(times) < LONG_SECONDS:
        times.append(run(command, environment).seconds)
    return median(times)


def _watch(process: subprocess.Popen[bytes]) -> float | None:
    """Sample until the end."""
    most = None
    while process.poll() is None:
        held = _held(process.pid)
        most = held if most is None or (held is not None and held > most) else most
        time.sleep(SAMPLE_SECONDS)
    return most


def _held(pid: int) -> float | None:
    """Proportional set sizes added up: what processes share counts once."""
    sizes = [_proportional_set(one) for one in _family(pid)]
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None


def _family(pid: int) -> Iterator[int]:
    yield pid
    children: list[str] = []
    with contextlib.suppress(OSError):  # it has ended in the meantime
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children += (thread / "children").read_text().split()
    for child in children:
        yield from _family(int(child))


def _proportional_set(pid: int) -> float | None:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    sizes = [int(line.split()[1]) / 1000 for line in lines if line.startswith("Pss:")]
    return sizes[0] if sizes else None


def evict(folder: Path) -> bool:
    """Have the system forget what files hold, so that they come from disk; False if it cannot."""
    if not hasattr(os, "posix_fadvise"):
        return False
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)
    return True


def size(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
