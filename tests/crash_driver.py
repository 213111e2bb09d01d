"""Takes in a history and kills itself, without warning, at the n-th step.

A step is whatever could be the last thing a process does: a statement to SQLite, a flush to disk, a
rename, a write of a Parquet file. Run as a program by test_crash.py.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hansei.config import Config, Environment, Settings
from hansei.ops import ingest as ingesting
from hansei.store import seal
from hansei.store.database import Store, open_store


class Steps:
    """Counts steps; dies at the one asked for."""

    def __init__(self, last: int) -> None:
        self.taken = 0
        self.last = last

    def take(self, *_: object) -> None:
        self.taken += 1
        if self.taken == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **named: Any) -> Any:
            self.take()
            result = function(*arguments, **named)
            self.take()
            return result

        return stepped


def take_in(home: Path, folder: Path, now: int, steps: Steps | None = None) -> Store:
    """Everything hansei does with a history, in small transactions: read, seal, sum."""
    ingesting.COMMIT_BYTES = 4_000  # many transactions, so that there is much to be interrupted
    store = open_store(folder, now=now)
    if steps is not None:
        store.db.set_trace_callback(steps.take)
        for name in ("fsync", "replace", "unlink"):
            setattr(os, name, steps.around(getattr(os, name)))
        Path.replace = steps.around(Path.replace)  # type: ignore[method-assign]
    config = Config(folder, Settings(), Environment(home, {}))
    ingesting.ingest(store, config, now=now, wait_seconds=0)
    # A week later everything has cooled.
    later = now + 8 * 86_400_000
    with store.writing(wait_seconds=0):
        seal.seal(store, now=later, seal_before=later - 7 * 86_400_000)
    return store


def main() -> None:
    home, folder, now, last = sys.argv[1:]
    steps = Steps(int(last))
    take_in(Path(home), Path(folder), int(now), steps)
    print(steps.taken)


if __name__ == "__main__":
    main()
