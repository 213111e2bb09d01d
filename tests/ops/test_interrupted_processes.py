"""Ctrl-C in the very moment in which reading processes start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, signal, time
from hansei.ops.processes import processes

if __name__ == "__main__":
    try:
        with processes(2) as pool:
            answers = [pool.submit(time.sleep, 0.01) for _ in range(4)]
            time.sleep({wait})
            os.killpg(0, signal.SIGINT)  # a terminal sends it to all of them
            answers[0].result()
            time.sleep(5)
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize("wait", [0.0, 0.05, 0.2])
def test_processes_that_only_start_are_ended_in_good_order(tmp_path: Path, wait: float) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(SCRIPT.format(wait=wait), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=20,
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
