"""`hansei ingest --watch`: signals, and one line for each round."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.cli import app, output
from hansei.cli.diagnostics import INTERRUPTED, ProgressLine, note, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from hansei.config import Config
    from hansei.ops.watch import Ended, Round


@dataclass
class Stop:
    """Whether a signal asked us to end, and which."""

    number: int | None = None

    def is_set(self) -> bool:
        return self.number is not None

    def __call__(self, number: int, _: FrameType | None) -> None:
        """Note the wish: a round ends between two transactions. Asked twice, end at once."""
        if self.number is not None:
            raise KeyboardInterrupt
        self.number = number


def watch(settings: Config, *, as_json: bool) -> None:
    """Watch until a signal ends it."""
    with stoppable() as stop:
        follow(settings, stop, as_json=as_json)
        end(stop)


def follow(settings: Config, stop: Stop, *, as_json: bool) -> None:
    """Watch until `stop` is set; raises StoreLocked where another one watches."""
    from hansei.ops.live import the_only_watcher

    with the_only_watcher(settings.store):
        ended = _watch(settings, stop, _teller(as_json=as_json))
    if ended == "grown":
        _start_anew()


def end(stop: Stop) -> None:
    """End as the signal asks: Ctrl-C counts as an interruption, SIGTERM as a good end."""
    if stop.number == signal.SIGINT:
        sys.exit(INTERRUPTED)


def _watch(settings: Config, stop: Stop, tell: Callable[[Round], None]) -> Ended:
    from hansei.ops.file_events import FileEvents
    from hansei.ops.live import Live
    from hansei.ops.watch import watch as run

    events = FileEvents(stop)
    line = ProgressLine()
    world = Live(settings, events, app.now, stop.is_set, line, warn)
    try:
        return run(world, tell=tell, note=note, stopped=stop.is_set)
    finally:
        events.close()
        if sys.stdout.isatty():
            output.write()


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Signals are noted instead of breaking in, until the end of the block."""
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _start_anew() -> None:
    """Become a fresh watcher under the same process id, without what the last rounds needed."""
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - ourselves


def _teller(*, as_json: bool) -> Callable[[Round], None]:
    """How a round is told: as JSON, as one line that stays in place, or line by line."""
    show = _show_json if as_json else _show_status if sys.stdout.isatty() else _show_line

    def tell(told: Round) -> None:
        for text in told.warnings:
            warn(text)
        for path, reason in told.unreadable:
            warn(f"{path} was not read: {reason}")
        try:
            show(told)
        except BrokenPipeError:
            raise
        except OSError:  # a full disk takes no log either; the watch goes on
            return

    return tell


def _show_json(told: Round) -> None:
    output.write_json_line("watch", told)


def _show_line(told: Round) -> None:
    output.write(f"{output.local(told.at):%Y-%m-%d %H:%M:%S}  {describe(told)}")


def _show_status(told: Round) -> None:
    if told.problem:
        output.write("\r\x1b[K", end="")
        warn(describe(told))
        return
    what = f"{output.clock(told.at)} {describe(told)}"
    text = f"Watching {output.plural(told.transcripts, 'transcript')} · {what} · Ctrl-C ends it"
    output.write(f"\r{output.cut(text, output.terminal_width() - 1)}\x1b[K", end="")


def describe(told: Round) -> str:
    """A round in words."""
    if told.problem:
        again = f"; trying again in {told.again_in_seconds:.0f} s" if told.again_in_seconds else ""
        hint = f" {told.hint}" if told.hint else ""
        return f"{output.one_line(told.problem)}{again}.{hint}"
    parts = []
    if told.read:
        parts.append(
            f"{output.plural(told.events, 'new event')} from"
            f" {output.plural(told.read, 'transcript')} ({output.size(told.bytes)})"
        )
    if told.missing:
        parts.append(f"{output.plural(told.missing, 'transcript')} gone from disk, kept here")
    if told.skipped:
        parts.append(f"{output.plural(told.skipped, 'record')} not readable (`hansei doctor`)")
    if told.sealed:
        parts.append(f"{output.plural(told.sealed, 'old event')} packed away")
    if told.unreadable:
        parts.append(f"{output.plural(len(told.unreadable), 'transcript')} not readable")
    return ", ".join(parts) or f"nothing new in {output.plural(told.transcripts, 'transcript')}"
