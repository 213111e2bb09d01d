"""`hansei run` around an agent, as scenarios use it."""

from __future__ import annotations

import shutil
import subprocess
import sys


def run(*options: str) -> tuple[str, ...]:
    """What stands before the agent's own command."""
    return (sys.executable, "-m", "hansei", "run", *options, "--")


def can_sandbox() -> bool:
    """Whether bubblewrap makes sandboxes on this machine."""
    trial = ["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]
    return shutil.which("bwrap") is not None and subprocess.run(trial, check=False).returncode == 0
