"""What became of each heuristic's earlier bets, as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.cli import bet_words, output
from hansei.cli.output import Column, bold, dim
from hansei.config import DAY_MS
from hansei.retro.calibration import FIRST, LEAST_SPANS, RULES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.ops.calibration import Calibration
    from hansei.retro.calibration import Score

COLUMNS = (
    Column("heuristic", "left"),
    Column("weeks", drop=3),
    Column("bets"),
    Column("came up"),
    Column("said"),
    Column("seen"),
    Column("interval", drop=2),
    Column("tokens said", drop=1),
    Column("counted", drop=1),
    Column("experiments", drop=4),
    Column("verdict", "left"),
)


def report(found: Sequence[Calibration], workspace: str | None) -> Iterator[str]:
    """Every workspace that has a past to replay."""
    told = [it for it in found if it.scores]
    if not told:
        yield from output.wrapped(nothing(found, workspace))
        return
    for place, one in enumerate(told):
        if place:
            yield ""
        yield bold(heading(one))
        yield from output.table(COLUMNS, (list(cells(it).values()) for it in one.scores))
        for score in one.scores:
            if score.reason:
                yield from output.wrapped(f"demoted: {score.reason}", 2)
    yield ""
    for name, rule in RULES.items():
        yield from map(dim, output.wrapped(f"{name}: {rule}", 2))


def heading(one: Calibration) -> str:
    first, last = (
        None if day is None else day * DAY_MS + DAY_MS // 2 for day in (one.first_day, one.last_day)
    )
    weeks = output.plural(one.weeks, "week")
    return f"{output.one_line(one.workspace)} · {weeks} replayed, {output.span(first, last)}"


def cells(score: Score) -> dict[str, str]:
    """One heuristic, by the titles of the columns."""
    told = [
        score.heuristic,
        f"{score.spans:,}",
        f"{score.bets:,}",
        f"{score.recurred:,}",
        f"{score.said:.0%}",
        f"{score.seen:.0%}",
        f"{score.low:.0%}–{score.high:.0%}",
        "–" if score.said_tokens is None else bet_words.roughly(score.said_tokens),
        "–" if score.counted_tokens is None else bet_words.roughly(score.counted_tokens),
        f"{score.held:,} of {score.judged:,}" if score.judged else "–",
        score.standing,
    ]
    return {column.title: cell for column, cell in zip(COLUMNS, told, strict=True)}


def nothing(found: Sequence[Calibration], workspace: str | None) -> str:
    """What to say where no bet could be tested."""
    where = output.one_line(workspace) if workspace else "any workspace"
    if not found:
        return (
            f"There is no past to replay in {where} yet: it takes {FIRST} active days, and then as"
            f" many as a week has, to test the first bets; {LEAST_SPANS} such weeks for a verdict."
        )
    weeks = output.plural(max(it.weeks for it in found), "week")
    return f"In {weeks} that were replayed in {where} no bet would have been made."
