"""Everything that can be counted in a session, by name.

The recurrence of what a change targets decides where there is a target. Amounts say what a session
took or brought: they decide where a person asks for one, and are shown beside the verdict else.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from hansei.errors import UsageError
from hansei.experiments.metrics import spent, work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hansei.projection.window import Window

TOKENS: Final = "tokens"
FAILED_CALLS: Final = "failed"
SHARE: Final = "share"
"""The unit of what is 1 or 0 of a session: its mean is a share of sessions."""


def _sum(values: Sequence[float | None]) -> float | None:
    """Of all parts; unknown where one of them is."""
    known = [it for it in values if it is not None]
    return sum(known) if len(known) == len(values) else None


def _least(values: Sequence[float | None]) -> float | None:
    """The smallest that is known."""
    return min((it for it in values if it is not None), default=None)


def _any(values: Sequence[float | None]) -> float | None:
    """1 where a part is 1; else unknown where one of them is."""
    return 1 if 1 in values else _sum(values)


class Amount(NamedTuple):
    """A number of each session."""

    name: str
    words: str
    """What it is, as a person says it."""
    unit: str
    read: Callable[[Window], dict[int, float | None]]
    """By session: None is unknown, and who cannot have it is not in it."""
    smallest: float = 1.0
    """The least that matters: less is as good as nothing."""
    better: Literal["lower", "higher"] = "lower"
    joined: Callable[[Sequence[float | None]], float | None] = _sum
    """What a session and its subagents have together."""


AMOUNTS: Final = (
    Amount(TOKENS, "tokens per session", "tokens", spent.tokens, smallest=1_000),
    Amount("cost", "dollars per session", "dollars", spent.cost, smallest=0.01),
    Amount("requests", "requests per session", "requests", spent.requests),
    Amount(
        "minutes",
        "minutes to the first green test run",
        "minutes",
        work.minutes_to_green,
        joined=_least,
    ),
    Amount(
        "green",
        "sessions with a green test run, of those that ran tests",
        SHARE,
        work.green,
        better="higher",
        joined=_any,
    ),
    Amount(FAILED_CALLS, "failed calls per session", "failed calls", work.failed_calls),
    Amount("loops", "loops of edits and failed runs per session", "loops", work.edit_loops),
    Amount("compactions", "compactions per session", "compactions", spent.compactions),
    Amount("remarks", "corrections by a person per session", "corrections", work.remarks),
    Amount("landed", "lines in git per session", "lines", work.landed_lines, better="higher"),
    Amount(
        "surviving",
        "lines still there a week later",
        "lines",
        work.surviving_lines,
        better="higher",
    ),
    Amount(
        "result",
        "sessions of which anything is in git, of those that wrote something",
        SHARE,
        work.result,
        better="higher",
        joined=_any,
    ),
)
GUARDRAILS: Final = (TOKENS, "cost", "requests", "minutes", "remarks", "landed")
"""Shown beside every verdict."""


def amount(name: str) -> Amount | None:
    """An amount by its name; None where it is no amount but a fact that recurs."""
    return next((it for it in AMOUNTS if it.name == name), None)


def known(name: str) -> Amount:
    """An amount that a person named."""
    found = amount(name)
    if found is None:
        names = ", ".join(it.name for it in AMOUNTS)
        raise UsageError(
            f"there is no metric {name!r}",
            hint=f"Choose one of {names}; `--bet N` counts how often what a bet is about recurs.",
        )
    return found


def by_family(window: Window, it: Amount) -> dict[int, float | None]:
    """An amount of each session with all that it started, by the session that began it."""
    parts: dict[int, list[float | None]] = defaultdict(list)
    for session, value in sorted(it.read(window).items()):
        parts[window.task(session)].append(value)
    return {session: it.joined(values) for session, values in sorted(parts.items())}
