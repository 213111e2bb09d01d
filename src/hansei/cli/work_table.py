"""Spend by branch, pull request or commit as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.cli import output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.ops.summary import Line, Summary

SHORT = 8
"""Characters of a commit's name."""
TITLES = {"branch": "merged as", "pr": "title", "commit": "subject"}


def goal_of(answer: Summary) -> str:
    """What spend is told apart by."""
    return next(it for it in TITLES if it in answer.by)


def table(answer: Summary, cost: Callable[[Line], str]) -> list[str]:
    """One row for each branch, request or commit; columns that say nothing are left out."""
    goal = goal_of(answer)
    columns = [
        *(Column(it, "left", flexible=True, keep="ends") for it in answer.by),
        Column(TITLES[goal], "left", flexible=True, drop=4),
        Column("when", "left", drop=1),
        Column("tasks"),
        Column("landed nothing", drop=2),
        Column("lines", drop=3),
        Column("tokens"),
        Column("cost"),
    ]
    rows = [
        [*(_label(line, it, goal) for it in answer.by), *_cells(line, goal, _cost(line, cost))]
        for line in answer.lines
    ]
    blank = [""] * (len(answer.by) - 1)
    whole = ["", "", "", "", "", output.tokens(answer.total.total_tokens), cost(answer.total)]
    total = [output.bold(it) for it in ("total", *blank, *whole)]
    body = [*rows, total] if len(rows) > 1 else rows
    kept = [place for place in range(len(columns)) if any(row[place] for row in rows)]
    return output.table([columns[it] for it in kept], [[row[it] for it in kept] for row in body])


def _cost(line: Line, cost: Callable[[Line], str]) -> str:
    """A share too small for a whole request has a cost all the same."""
    return output.UNKNOWN if line.cost_nanodollars is None else cost(line)


def _label(line: Line, name: str, goal: str) -> str:
    value = line.labels[name]
    if name != goal or value is not None:
        short = value[:SHORT] if value and name == "commit" else value
        return output.one_line(short or "")
    return output.dim(f"({line.work.why if line.work else output.UNKNOWN})")


def _cells(line: Line, goal: str, cost: str) -> Iterator[str]:
    work = line.work
    assert work is not None
    merged = work.request or (work.merged_by or "")[:SHORT]
    yield output.one_line(merged if goal == "branch" else work.title or "")
    yield "" if work.merged_at is None else output.day(work.merged_at)
    yield f"{work.tasks:,}"
    yield f"{work.landed_nothing:,}" if work.landed_nothing else ""
    yield output.UNKNOWN if work.lines is None else f"{work.lines:,}"
    yield output.tokens(line.total_tokens)
    yield cost


def notes(answer: Summary) -> Iterator[str]:
    """How spend was told apart, and what to read out of it."""
    yield f"{answer.rule} A task is a session with its subagents."
    empty = [it.work for it in answer.lines if it.work and it.work.landed_nothing]
    known = [it.landed_nothing_nanodollars for it in empty]
    if empty and None not in known:
        spent = output.dollars(sum(it or 0 for it in known))
        yield f"{spent} went to tasks of which no line landed; it is in the rows above"
    if any(it.work and it.work.lines is None for it in answer.lines):
        yield (
            "lines are unknown where the repository is not on this machine or what landed cannot be"
            " told"
        )
