"""Processes that Ctrl-C does not reach, from their first moment on.

Ctrl-C is for the parent, which stops its processes in good order. One that is interrupted while it
still imports prints a traceback and is gone, and its parent would wait for its answer for ever.
"""

from __future__ import annotations

import signal
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any


class Shielded(SpawnProcess):
    """What it starts with is inherited: while it is made, the interrupt is held back."""

    def start(self) -> None:
        if not hasattr(signal, "pthread_sigmask"):  # Windows
            super().start()
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ShieldedContext(SpawnContext):
    """Makes such processes and remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Shielded] = []

    def Process(self, *arguments: Any, **named: Any) -> Shielded:  # type: ignore[override] # noqa: N802 - its name there
        process = Shielded(*arguments, **named)
        self.made.append(process)
        return process

    def end(self) -> None:
        """Those that still wait for work: an interrupted pool may not know of all of them."""
        for process in self.made:
            if process.pid is not None and process.is_alive():
                process.terminate()
