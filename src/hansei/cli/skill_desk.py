"""What every command of the skillbook needs: the open book, shared options, how it ends."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import warn
from hansei.errors import StoreLocked, StoreUnwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hansei.learn.counters import Counters
    from hansei.learn.model import Skill
    from hansei.ops.skills import Desk, Done, Shelf

R = TypeVar("R")


@contextmanager
def desk_here() -> Iterator[Desk]:
    """The skillbook as it is open where the person stands."""
    from hansei.ops.skills import Desk

    settings = app.config()
    with app.opened(settings) as store:
        yield Desk(store, settings, app.folder(), app.now())


def counted(desk: Desk, rows: Sequence[tuple[Shelf, Skill]]) -> dict[str, Counters]:
    """What sessions tell of some skills; nothing where facts cannot be worked out now."""
    from hansei.ops import skill_counters
    from hansei.ops.scope import Scope, current_workspace

    number, name = current_workspace(desk.store, desk.here)
    try:
        if number is not None:
            app.with_facts(desk.store, desk.config, Scope(workspace=number, workspace_name=name))
        return skill_counters.counted(desk, rows)
    except (StoreLocked, StoreUnwritable) as problem:
        warn(f"nothing is counted from sessions: {problem.message}")
        return {}


def say(done: Done, *, as_json: bool) -> None:
    """Tell what a verb did."""
    from hansei.cli import skill_pages

    if as_json:
        output.write_json("skill-change", skill_pages.told_done(done))
        return
    for line in skill_pages.ending(done):
        output.write(line)


def because(function: Callable[..., R]) -> Callable[..., R]:
    return click.option("--reason", default="", metavar="TEXT", help="Why, for the others.")(
        function
    )


def no_place(function: Callable[..., R]) -> Callable[..., R]:
    return click.option(
        "--no-place",
        "place",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Keep it in the book only; write no SKILL.md.",
    )(function)
