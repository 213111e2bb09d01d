"""Everything that goes to stderr, and the exit codes."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from hansei.cli.output import safe
from hansei.errors import HanseiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.ingest import Progress
    from hansei.ops.judging import Counted

INTERRUPTED = 130
BROKEN_PIPE = 141


class ReaderGone(Exception):
    """Nobody reads our output any more."""


@contextmanager
def reported(*, debug: bool, color: bool | None = None) -> Iterator[None]:
    """Turn every way a command can end into a message and an exit code."""
    try:
        yield
    except HanseiError as problem:
        if debug:
            raise
        error(problem.message, problem.hint, color=color)
        sys.exit(problem.exit_code)
    except click.exceptions.NoArgsIsHelpError as alone:
        click.echo(alone.format_message(), err=True, color=color)
        sys.exit(alone.exit_code)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.ClickException as problem:
        _usage(problem, color=color)
        sys.exit(problem.exit_code)
    except (KeyboardInterrupt, click.Abort):
        hint = "Nothing is half-written. The same command goes on from here."
        error("interrupted", hint, color=color)
        sys.exit(INTERRUPTED)
    except ReaderGone:
        _close_stdout()
        sys.exit(BROKEN_PIPE)


def _usage(problem: click.ClickException, *, color: bool | None) -> None:
    context = getattr(problem, "ctx", None)
    hint = f"`{context.command_path} --help` tells more." if context else None
    error(" ".join(problem.format_message().split()), hint, color=color)


def _close_stdout() -> None:
    """The reader of our output went away; keep Python from complaining about it at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def error(message: str, hint: str | None = None, *, color: bool | None = None) -> None:
    told = f"{click.style('error', fg='red', bold=True)}: {safe(message)}"
    click.echo(told, err=True, color=color)
    if hint:
        click.echo(f"\n{click.style('hint', bold=True)}: {safe(hint)}", err=True, color=color)


def note(message: str) -> None:
    """Something worth knowing that is not the answer."""
    click.echo(click.style(safe(message), dim=True), err=True)


def warn(message: str) -> None:
    click.echo(f"{click.style('warning', fg='yellow')}: {safe(message)}", err=True)


@contextmanager
def working(words: str) -> Iterator[None]:
    """Say on a terminal what takes its time; the line is gone when it is done."""
    if not sys.stderr.isatty():
        yield
        return
    click.echo(click.style(words, dim=True), err=True, nl=False)
    try:
        yield
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)


class ProgressLine:
    """One line on a terminal that tells how far we are; silent for the first second."""

    QUIET_SECONDS = 1.0
    EVERY_SECONDS = 0.2

    def __init__(self) -> None:
        self._shown = 0.0
        self._terminal = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        if not self._is_time(progress.seconds):
            return
        rate = progress.done_bytes / progress.seconds / 1e6
        share = progress.done_bytes / progress.all_bytes if progress.all_bytes else 1.0
        self._tell(
            f"reading {progress.done_transcripts} of {progress.all_transcripts} transcripts"
            f"  {progress.done_bytes / 1e6:,.0f} of {progress.all_bytes / 1e6:,.0f} MB"
            f"  {min(share, 1):.0%}  {rate:,.0f} MB/s"
        )

    def count(self, progress: Counted) -> None:
        """The same for what is worked out session by session."""
        if self._is_time(progress.seconds):
            self._tell(f"{progress.what} {progress.done:,} of {progress.all:,}")

    def _is_time(self, seconds: float) -> bool:
        if not self._terminal or seconds < self.QUIET_SECONDS:
            return False
        now = time.monotonic()
        if now - self._shown < self.EVERY_SECONDS:
            return False
        self._shown = now
        return True

    def _tell(self, text: str) -> None:
        click.echo(f"\r{text}\x1b[K", err=True, nl=False)

    def close(self) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)
