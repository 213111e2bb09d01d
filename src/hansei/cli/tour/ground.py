"""The folder a tour happens in, and its disappearance."""

from __future__ import annotations

import shutil
import signal
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]  # Windows has no SIGHUP
"""Signals that would end the process without a word: being asked to, and a closed terminal."""


@contextmanager
def temporary() -> Iterator[Path]:
    """A folder that is gone afterwards, however this ends."""
    folder = Path(tempfile.mkdtemp(prefix="hansei-demo-"))
    try:
        with _endings_raise():
            yield folder
    finally:
        _remove(folder)


@contextmanager
def kept(folder: Path) -> Iterator[Path]:
    """A new or empty folder of the person's choice; left as it was if this does not end well."""
    try:
        existed = folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as problem:
        raise UsageError(
            f"{folder} cannot be used: {problem.strerror}",
            hint="Give a folder that you can write to.",
        ) from problem
    if taken:
        raise UsageError(f"{folder} is not empty", hint="Give a folder that is new or empty.")
    try:
        with _endings_raise():
            yield folder.resolve()
    except BrokenPipeError:  # whoever read the tour has seen enough; the folder is still wanted
        raise
    except BaseException:
        _remove(*(folder.iterdir() if existed else [folder]))
        raise


@contextmanager
def _endings_raise() -> Iterator[None]:
    def end(number: int, _frame: Any) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _remove(*folders: Path) -> None:
    """Remove folders, and do not be stopped by a second Ctrl-C."""
    numbers = [signal.SIGINT, *ENDINGS]
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
