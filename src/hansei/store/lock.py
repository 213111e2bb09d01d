"""One writer at a time, over all processes of this user."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hansei.errors import StoreLocked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_SECONDS = 0.05

if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def exclusive(path: Path, *, wait_seconds: float) -> Iterator[int]:
    """Hold the lock file; the system lets go of it when the process ends, however it ends.

    Yields the open file, for whoever wants to leave a word in it.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + wait_seconds
        while True:
            try:
                _take(handle)
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise StoreLocked(
                        "another hansei is taking in transcripts",
                        hint="Wait until it is done, or read what is stored with --no-ingest.",
                    ) from None
                time.sleep(POLL_SECONDS)
        yield handle
    finally:
        os.close(handle)
