"""Telling a story of steps: a question, the command that answers it, and what it really prints.

A step holds no output of its own. Its command runs as if it had been typed, on a machine that holds
nothing but the generated history, so the tour cannot promise what the commands do not keep.
"""

from __future__ import annotations

import io
import json
import re
import sys
import textwrap
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hansei.ops.demo import Demo
    from hansei.store.database import Store

PROSE = 88
"""Sentences are broken at this column at the latest; tables use the whole terminal."""


class Proof(NamedTuple):
    """Something the tour worked out for itself, as data and as lines to read."""

    data: Any
    lines: Sequence[str]


@dataclass(frozen=True)
class Step:
    """One question and its answer."""

    question: str
    words: str
    """One or two plain sentences."""
    command: tuple[str, ...]
    """What a person types after `hansei`."""
    part: Callable[[list[str]], list[str]] | None = None
    """Which lines of the output are shown, where all would be too many."""
    proof: Proof | None = None


class Tour:
    """A generated history to walk through."""

    def __init__(self, demo: Demo, *, color: bool) -> None:
        self.demo = demo
        self.color = color

    @contextmanager
    def store(self) -> Iterator[Store]:
        with app.opened(self.demo.config) as store:
            yield store

    def run(self, *arguments: str) -> str:
        """What a command prints there."""
        from hansei.cli.root import root

        told = io.StringIO()
        place = app.Place(self.demo.config.environment, self.demo.world.repo)
        with app.elsewhere(place), redirect_stdout(told):
            root.main(list(arguments), "hansei", standalone_mode=False, color=self.color)
        return told.getvalue()


class Stop(Protocol):
    """Makes a step from what the data holds; None where it holds nothing for it."""

    __name__: str

    def __call__(self, tour: Tour, /) -> Step | None: ...


def walk(tour: Tour, stops: Sequence[Stop], *, pause: bool) -> bool:
    """Show the steps one after another; False if the person left before the end."""
    for number, stop in enumerate(stops, 1):
        step = stop(tour)
        if step is None:
            continue
        for line in page(tour, step, f"{number} of {len(stops)}"):
            output.write(line)
        if pause and number < len(stops) and not go_on():
            return False
    return True


def page(tour: Tour, step: Step, place: str = "") -> Iterator[str]:
    """A step as people read it."""
    columns = output.terminal_width()
    yield bold(f"── {place + ' ── ' if place else ''}{step.question}")
    yield from textwrap.wrap(step.words, min(columns, PROSE))
    yield ""
    yield f"{dim('$')} {bold(typed(step.command))}"
    lines = tour.run(*step.command).rstrip("\n").split("\n")
    yield from step.part(lines) if step.part else lines
    if step.proof:
        yield ""
        yield from step.proof.lines
    yield ""


def told(tour: Tour, stops: Sequence[Stop]) -> list[dict[str, Any]]:
    """All steps for programs: what each command answers with `--json`, and what was worked out."""
    return [
        {
            "name": stop.__name__,
            "question": step.question,
            "words": step.words,
            "command": typed(step.command),
            "answer": json.loads(tour.run(*step.command, "--json")),
            "worked_out": step.proof and step.proof.data,
        }
        for stop in stops
        if (step := stop(tour)) is not None
    ]


def typed(arguments: Sequence[str]) -> str:
    """A command as one would type it."""
    return " ".join(("hansei", *map(_quoted, arguments)))


def _quoted(argument: str) -> str:
    if re.fullmatch(r"[\w#.,/=-]+", argument):
        return argument
    return '"' + re.sub(r'([\\"$`])', r"\\\1", argument) + '"'


def go_on() -> bool:
    """Wait for Enter (or space); False for q, Escape and the end of input."""
    click.echo(dim("Enter: go on   q: leave "), err=True, nl=False)
    try:
        while True:
            typed_at_once = click.getchar()
            escape = typed_at_once.startswith("\x1b")  # an arrow key is Escape and more
            key = typed_at_once if escape else typed_at_once[-1:]
            if key in ("\r", "\n", " "):
                return True
            if key in ("q", "Q", "\x1b"):
                return False
    except EOFError:
        return False
    finally:
        click.echo("\r\x1b[K", err=True, nl=False)


def can_pause() -> bool:
    """Whether somebody sits there who could press a key."""
    return sys.stdin.isatty() and sys.stdout.isatty()
