"""Pictures of an experiment for a terminal, in block characters."""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Final

from hansei.cli import output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.ops.experiments.reports import Report

BLOCKS: Final = " ▁▂▃▄▅▆▇█"
NOTHING: Final = "·"
HEIGHT: Final = 4
"""Rows of the evidence: thirty-two steps between nothing and the bar."""
LABEL: Final = 10


def row(values: Sequence[float | None], top: float) -> str:
    """Heights in one line; a dot where there is none, the lowest block for nothing."""
    steps = len(BLOCKS) - 2
    return "".join(
        NOTHING if it is None else BLOCKS[1 + round(steps * min(1.0, it / top))] if top else "▁"
        for it in values
    )


def rows(values: Sequence[float], height: int) -> list[str]:
    """Heights from 0 to 1 in several lines, the top one first."""
    full = len(BLOCKS) - 1
    eighths = [round(min(1.0, max(0.0, it)) * height * full) for it in values]
    return [
        "".join(BLOCKS[min(full, max(0, it - level * full))] for it in eighths)
        for level in reversed(range(height))
    ]


def over_time(told: Report) -> Iterator[str]:
    """Both arms, side by side in time."""
    if not told.spans:
        return
    days = told.spans[0].days
    each = "each day" if days == 1 else f"each {days} days"
    what = "share of sessions" if told.verdict.control.hits is not None else told.counted
    first, last = told.spans[0].day, told.spans[-1].day + days - 1
    known = [it for span in told.spans for it in (span.control, span.treatment) if it is not None]
    top = max(known, default=0.0)
    span = output.span(_moment(first), _moment(last))
    yield output.dim(f"{what}, {each}, {span}; {BLOCKS[-1]} is {height(told, top)}")
    for name, heights in (
        ("without", [it.control for it in told.spans]),
        ("with", [it.treatment for it in told.spans]),
    ):
        yield f"{name:{LABEL}}{row(heights, top)}"


def _moment(day: int) -> int:
    return day * 86_400_000 + 43_200_000  # noon, so that it is the same day nearly everywhere


def height(told: Report, value: float) -> str:
    """A number of the metric."""
    if told.verdict.control.hits is not None:
        return f"{value:.0%}"
    return amount(told.fact, value)


def amount(name: str, value: float) -> str:
    """A number of some metric, as people write it."""
    if name == "tokens":
        return output.tokens(round(value))
    if name == "cost":
        return output.dollars(round(value * 1_000_000_000))
    if name == "result":
        return f"{value:.0%}"
    return f"{value:,.1f}".removesuffix(".0")


def difference(told: Report, value: float) -> str:
    """A difference: points of a share, or a factor."""
    if told.verdict.control.hits is not None:
        return f"{100 * value:+.0f} points".replace("-", "−")
    return f"×{exp(value):.2f}"


def margin_of(told: Report) -> float:
    """The difference that would be too small to matter, in the unit of the verdict."""
    return told.margin if told.verdict.control.hits is not None else log(1.25)


def interval(told: Report) -> Iterator[str]:
    """Where the difference lies, beside nothing and the margin."""
    found, middle = told.verdict.interval, told.verdict.difference
    if found is None or middle is None:
        return
    margin = margin_of(told)
    columns = min(61, output.terminal_width() - LABEL - 2)
    reach = 1.1 * max(abs(found.low), abs(found.high), 2 * margin)

    def place(value: float) -> int:
        return round((value + reach) / (2 * reach) * (columns - 1))

    line = [" "] * columns
    for at in range(place(found.low), place(found.high) + 1):
        line[at] = "─"
    for value, mark in ((-margin, "┊"), (margin, "┊"), (0.0, "│")):
        line[place(value)] = mark
    for value, mark in ((found.low, "├"), (found.high, "┤"), (middle, "●")):
        line[place(value)] = mark
    yield f"{'difference':{LABEL}}{''.join(line)}".rstrip()
    ends = f"{difference(told, found.low)} to {difference(told, found.high)}"
    yield output.dim(f"{'':{LABEL}}{difference(told, middle)} ({ends}, at every look)")
    yield output.dim(f"{'':{LABEL}}│ no difference, ┊ too small to matter")


def evidence(told: Report) -> Iterator[str]:
    """How the evidence grew, session by session, against the bar."""
    verdict = told.verdict
    if not verdict.steps:
        return
    less = (verdict.lower or (1.0,))[-1] >= (verdict.higher or (1.0,))[-1]
    path = verdict.lower if less else verdict.higher
    columns = min(61, output.terminal_width() - LABEL - 2)
    shown = sampled(path, columns)
    heights = [log(max(it, 1.0)) / log(verdict.bar) for it in shown]
    reached = "reached" if max(path) >= verdict.bar else f"{max(path):.3g} at most so far"
    each = "session" if told.randomised and told.bind != "days" else "step"
    side = "less" if less else "more"
    yield output.dim(
        f"evidence for {side} with the change, after each {each}; the bar is"
        f" {verdict.bar:.0f} ({reached})"
    )
    labels = [f"{verdict.bar:.0f} ┤", *["│"] * (HEIGHT - 2), "1 ┤"]
    for label, line in zip(labels, rows(heights, HEIGHT), strict=True):
        yield f"{label:>{LABEL}}{line}".rstrip()


def sampled(path: Sequence[float], columns: int) -> list[float]:
    """A path in at most so many columns; each shows where its stretch ended."""
    if len(path) <= columns:
        return list(path)
    return [path[(place + 1) * len(path) // columns - 1] for place in range(columns)]
