"""Work for several processes: how they are started, and how they and we use memory."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hansei.errors import HanseiError, ProcessEnded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ProcessPoolExecutor

    from hansei.config import Config

SELDOM = (200_000, 100, 100)
"""Thresholds of the garbage collector while much is read; the usual ones cost a sixth of it."""

MOST_WORKERS = 8

_MOST_HEAPS = -8
"""`M_ARENA_MAX` in malloc.h."""


def worth(config: Config, tasks: int) -> int:
    """How many processes to use for so many tasks."""
    wanted = config.settings.workers or min(os.cpu_count() or 1, MOST_WORKERS)
    return max(1, min(wanted, tasks))


@contextmanager
def processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that stop when we do; one that is killed is told as an error."""
    # Spawned, not forked: the parent may hold threads and an open database.
    from concurrent.futures import ProcessPoolExecutor

    from hansei.ops.shielded import ShieldedContext

    share_one_heap()
    context = ShieldedContext()
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare)
    try:
        yield pool
    except HanseiError:
        raise
    except RuntimeError as problem:  # a process was killed, most likely for want of memory
        raise ProcessEnded(
            f"a process that read for us ended unexpectedly: {problem}",
            hint="Set `workers = 1` in config.toml to read in one process.",
        ) from problem
    finally:
        try:
            pool.shutdown(wait=True, cancel_futures=True)
        finally:  # Ctrl-C a second time
            context.end()


def _prepare() -> None:
    """Make ready a reading process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*SELDOM)
    share_one_heap()


@contextmanager
def seldom_collecting() -> Iterator[None]:
    """Look for cyclic garbage seldom: events are plain values and make none."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def share_one_heap() -> None:
    """Have all threads allocate from one heap, which gives memory back.

    The C library of Linux makes a heap for every thread and Arrow another: a first import of a
    gigabyte then takes 200 MB more, and is no faster.
    """
    import ctypes

    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_MOST_HEAPS, 1)


def give_back() -> None:
    """Return freed memory to the system: the C library of Linux keeps most of it for later."""
    import ctypes

    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
