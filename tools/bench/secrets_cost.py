"""What taking secrets out costs: the same first run with and without it, in one process."""

import tempfile
import time
from pathlib import Path
from unittest import mock

from hansei.config import Config, Environment, Settings
from hansei.ops import intake
from hansei.ops.ingest import ingest
from hansei.redaction import engine
from hansei.store.database import open_store

RUNS = 3


def share(home: Path) -> float:
    """The part of a first run that redaction takes, 0 to 1; the fastest of three of each."""
    with_it = min(_seconds(home) for _ in range(RUNS))
    with mock.patch.object(intake, "redact", _passed_through):
        without = min(_seconds(home) for _ in range(RUNS))
    return 1 - without / with_it


def _seconds(home: Path) -> float:
    with tempfile.TemporaryDirectory() as folder:
        now = int(time.time() * 1000)
        config = Config(Path(folder), Settings(workers=1), Environment(home, {}))
        store = open_store(Path(folder), now=now)
        try:
            return ingest(store, config, now=now).seconds
        finally:
            store.close()


def _passed_through(events, redactor, *, env_calls=None):  # type: ignore[no-untyped-def]
    del redactor, env_calls
    return [engine.Clean(event, engine._SEAL) for event in events]
