"""Having new transcripts taken in without anybody waiting for it: by another process.

It is begun once, beside the first question. What the session that asks has just done itself is not
among what is known; what was done before it is.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hansei.mcp.desk import Desk


def keep_fresh(desk: Desk) -> None:
    """Start taking in what is new and looking back at it; that it cannot start is no matter."""
    try:
        subprocess.Popen(
            (sys.executable, "-m", "hansei", "retro", "--json"),
            cwd=desk.here,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return
