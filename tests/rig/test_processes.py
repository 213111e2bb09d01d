"""Whatever the rig starts comes to an end."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from rig import processes

HERE = {"PATH": os.environ.get("PATH", os.defpath)}
linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


def program(text: str) -> list[str]:
    return [sys.executable, "-S", "-c", text]


def test_output_and_code_are_told(tmp_path: Path) -> None:
    text = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    ended = processes.run(program(text), cwd=tmp_path, variables=HERE, log=tmp_path / "run")
    assert (ended.code, ended.out, ended.err) == (3, "out\n", "err\n")


def test_nothing_of_our_own_environment_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMETHING_PRIVATE", "1")
    text = "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))"
    ended = processes.run(program(text), cwd=tmp_path, variables=HERE, log=tmp_path / "run")
    assert ended.out.strip() == str(sorted(["PATH", processes.MARK]))


def test_a_program_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    began = time.monotonic()
    ended = processes.run(
        program("import time; time.sleep(60)"),
        cwd=tmp_path,
        variables=HERE,
        log=tmp_path / "run",
        limit=0.3,
    )
    assert ended.code is None
    assert time.monotonic() - began < 10


def test_ctrl_c_reaches_it_once_the_moment_has_come(tmp_path: Path) -> None:
    text = (
        "import pathlib, time\n"
        "try:\n"
        "    pathlib.Path('started').touch(); time.sleep(60)\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    ended = processes.interrupted(
        program(text),
        cwd=tmp_path,
        variables=HERE,
        log=tmp_path / "run",
        limit=20,
        when=(tmp_path / "started").exists,
    )
    assert (ended.code, ended.out) == (0, "interrupted\n")


@linux
def test_a_helper_left_behind_is_swept_away(tmp_path: Path) -> None:
    text = (
        "import subprocess, sys\n"
        "left = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'],\n"
        "    start_new_session=True)\n"
        "print(left.pid)"
    )
    ended = processes.run(program(text), cwd=tmp_path, variables=HERE, log=tmp_path / "run")
    left = int(ended.out)
    assert processes.runs(left)
    assert left in processes.sweep()
    assert not processes.runs(left)


@linux
def test_what_others_started_is_left_alone() -> None:
    assert os.getpid() not in processes.sweep()
