"""What a watcher costs while nothing happens: measured on the real program, for five minutes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claude_home import session
from hansei.config import Config

FILES = 5000
FOLDERS = 100
MINUTES = 5
MOST_CPU = 0.005
MOST_MEGABYTES = 60
"""Half of what a watcher with its heavy libraries in memory takes."""


@pytest.mark.prove
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_idle_watcher_takes_less_than_half_a_percent(
    config: Config, now: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 5,000 transcripts, some of them old enough to be sealed while it watches."""
    home = config.environment.home
    for number in range(FILES):
        one = session(home, f"{number:08}", now - number * 3_600_000, cwd=f"/w/{number % FOLDERS}")
        one.prompt("go")
        one.say("done")
    process = subprocess.Popen(
        [sys.executable, "-m", "hansei", "ingest", "--watch"],
        env={"HOME": str(home), "HANSEI_HOME": str(config.store), "PATH": os.environ["PATH"]},
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert "5,000 transcripts" in process.stdout.readline()
        grown = _memory(process.pid)
        assert _has_heavy_libraries(process.pid)
        assert "nothing new in 5,000 transcripts" in process.stdout.readline()  # begun anew
        time.sleep(5)
        started, before = time.monotonic(), _cpu_seconds(process.pid)
        time.sleep(MINUTES * 60)
        share = (_cpu_seconds(process.pid) - before) / (time.monotonic() - started)
        memory = _memory(process.pid)
        assert not _has_heavy_libraries(process.pid)
    finally:
        process.terminate()
        process.communicate()
    with capsys.disabled():
        print(
            f"\nidle watcher, {FILES:,} transcripts, {MINUTES} minutes: {share:.3%} of one core,"
            f" {memory:.0f} MB resident ({grown:.0f} MB after catching up)"
        )
    assert process.returncode == 0
    assert share < MOST_CPU
    assert memory < MOST_MEGABYTES


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) * 1024 / 1e6


def _has_heavy_libraries(process: int) -> bool:
    return "libarrow" in Path(f"/proc/{process}/maps").read_text(encoding="utf-8")
