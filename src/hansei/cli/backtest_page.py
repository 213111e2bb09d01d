"""A back-test in words: one table, what stands behind it, and what may be concluded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hansei.cli import output
from hansei.cli.output import Column
from hansei.learn.backtest import ROUNDS, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.learn.backtest import Again, Chance, Share, Tally, Trial
    from hansei.ops.backtest import Part, Report, Side

_RULES: Final = {"ours": "ours", "classic": "simple rules", "book": "this skill"}
_WHOSE: Final = {"ours": "ours", "classic": "the simple rules", "book": "this skill"}
_PARTS: Final = {"troubles": "what goes wrong", "doings": "how it is done"}
_MOST: Final = 12
"""Offers that are listed; JSON has them all."""
FEW: Final = 5
"""Offers that later tasks call right or wrong, below which nothing is concluded from them."""
_COLUMNS: Final = (
    Column("", "left"),
    Column("offers"),
    Column("right"),
    Column("wrong"),
    Column("untested", drop=1),
    Column("right/100"),
    Column("wrong/100", drop=4),
    Column("untested/100", drop=3),
    Column("by chance"),
    Column("tokens", drop=2),
)


def page(reports: Sequence[Report], skill: str | None = None) -> Iterator[str]:
    """Everything a person is told."""
    yield from _heading(reports[0], skill)
    yield ""
    yield from output.table(_COLUMNS, _rows(reports))
    yield ""
    yield from _listed(reports[0])
    for sentence in (*_conclusions(reports), _MEANS, _NOT):
        yield from output.wrapped(sentence)


_MEANS: Final = (
    "Right: what to do is what worked; wrong: the opposite worked; untested: neither, or it never"
    " came up. “/100” counts later tasks with such an offer, in brackets the 95% interval by"
    " Wilson's rule, tasks taken as independent. By chance: right offers with what to do exchanged"
    f" among them, mean and middle 95% of {ROUNDS} times. Tokens: from the failures that offers are"
    " about to what ended them."
)
_NOT: Final = (
    "Nobody had these skills then: this does not say that a session would have gone otherwise."
)


def _heading(report: Report, skill: str | None) -> Iterator[str]:
    parts = [it for it in report.parts if it.split.at is not None]
    across = sum(it.split.across for it in parts)
    where = _where(parts)
    tasks = output.plural(report.after.tasks, "task")
    if skill is not None:
        yield from output.wrapped(f"{skill}, tested on {tasks} that began after {where}.")
    else:
        made = output.plural(report.tasks_before, "task")
        yield from output.wrapped(
            f"Learned from {made} that ended before {where}, tested on {tasks} that began after."
        )
    told = "A task is a session with its subagents."
    if report.elsewhere.tasks:
        others = output.plural(report.elsewhere.tasks, "task")
        told += f" Elsewhere: {others} of other workspaces, at any time."
    if across:
        told += f" {output.plural(across, 'task')} at work on that day left out."
    yield from output.wrapped(told)


def _where(parts: Sequence[Part]) -> str:
    days = sorted({it.split.at for it in parts if it.split.at is not None})
    if len(days) == 1:
        return output.day(days[0])
    return f"a day in each of {output.plural(len(parts), 'workspace')}"


def _rows(reports: Sequence[Report]) -> Iterator[list[str]]:
    sides = [(it.rules, it.after, "") for it in reports]
    away = [(it.rules, it.elsewhere, ", elsewhere") for it in reports if it.elsewhere.tasks]
    for group in (sides, away):
        for part, words in _PARTS.items():
            tallies = [(rules, getattr(side, part), more) for rules, side, more in group]
            if not any(tally.claims for _, tally, _ in tallies):
                continue
            yield [f"{words}{tallies[0][2]}", *[""] * (len(_COLUMNS) - 1)]
            for rules, tally, _ in tallies:
                yield _row(f"  {_RULES[rules]}", tally)


def _row(title: str, tally: Tally) -> list[str]:
    return [
        title,
        str(tally.claims),
        *(str(tally.by_claim[it].hits) for it in Verdict),
        *(_share(tally.by_task[it]) for it in Verdict),
        _chance(tally.chance_by_claim),
        "–" if tally.tokens is None else output.tokens(tally.tokens),
    ]


def _share(share: Share) -> str:
    if share.low is None or share.high is None or share.per_hundred is None:
        return "–"
    return f"{_short(share.per_hundred)} [{_short(share.low)}–{_short(share.high)}]"


def _short(number: float) -> str:
    return f"{number:.1f}" if number < 10 else f"{number:.0f}"  # two digits


def _chance(chance: Chance | None) -> str:
    return "–" if chance is None else f"{chance.mean:.1f} [{chance.low:.0f}–{chance.high:.0f}]"


def _listed(report: Report) -> Iterator[str]:
    """The offers that a later task came to the point of."""
    met = [it for it in report.after.rows if it.by_task]
    order = list(Verdict)
    met.sort(key=lambda it: (order.index(it.verdict), -len(it.by_task), it.claim.name))
    for row in met[:_MOST]:
        name = output.one_line(row.claim.name)
        agreeing = sum(it is row.verdict for it in row.by_task.values())
        tasks = f"{agreeing} of {output.plural(len(row.by_task), 'task')}"
        yield f"  {row.verdict:<9} {name}, {tasks}: {_places(row)}"
    if len(met) > _MOST:
        yield f"  and {len(met) - _MOST} more; --json has all of them"
    if met:
        yield ""


def _places(row: Trial) -> str:
    """Where to look: the first meeting of the first few tasks, as `hansei show` takes it."""
    window = row.later.window
    first = {window.task(it.session): it for it in reversed(row.met)}
    shown = [first[it] for it in sorted(first)][:3]
    more = ["…"] if len(first) > len(shown) else []
    return ", ".join([*(f"{window.sessions[it.session].name}#{it.seq}" for it in shown), *more])


# --- what may be concluded ------------------------------------------------------------------------


def _conclusions(reports: Sequence[Report]) -> Iterator[str]:
    for part, words in _PARTS.items():
        tallies = [getattr(it.after, part) for it in reports]
        if any(it.claims for it in tallies):
            yield f"{words.capitalize()}: {_concluded(tallies)}{_looks(reports, tallies)}"
    yield _came_again(reports[0].again)


def _looks(reports: Sequence[Report], tallies: Sequence[Tally]) -> str:
    """How many of those that are right need no skill."""
    return "".join(
        f" {tally.looks} of the {tally.by_claim[Verdict.RIGHT].hits} right ones of"
        f" {_WHOSE[report.rules]} only look at something."
        for report, tally in zip(reports, tallies, strict=True)
        if tally.looks
    )


def _came_again(again: Again) -> str:
    kinds = output.plural(again.kinds, "kind")
    return (
        f"Of what failed before that day, {kinds} came again in the same workspace after it;"
        f" {again.alike} of them were got past as before. Only there can an offer about a failure"
        " be right."
    )


def _concluded(tallies: Sequence[Tally]) -> str:
    ours = tallies[0]
    right, wrong = (ours.by_claim[it].hits for it in (Verdict.RIGHT, Verdict.WRONG))
    if not right + wrong:
        return "no later task tells right from wrong, so these sessions cannot tell."
    chance = ours.chance_by_claim
    if chance is None:
        told = f"{right} right, {wrong} wrong, and nothing to exchange it with"
    elif right + wrong < FEW:
        told = f"{right} right, {wrong} wrong: too few to tell, though by chance {_chance(chance)}"
    elif right > chance.high:
        told = f"{right} right, more than by chance ({_chance(chance)})"
    else:
        told = f"{right} right, which may be chance ({_chance(chance)})"
    return f"{told}.{_against(ours, tallies[1])}" if len(tallies) > 1 else f"{told}."


def _against(ours: Tally, simple: Tally) -> str:
    one, other = (it.by_claim[Verdict.RIGHT] for it in (ours, simple))
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return ""
    told = f" Right of a hundred offers: ours {_share(one)}, the simple rules' {_share(other)};"
    if one.hits + ours.by_claim[Verdict.WRONG].hits < FEW:
        return f"{told} too few of ours were tested to tell which is better."
    if one.low > other.high:
        return f"{told} ours are more often right."
    if other.low > one.high:
        return f"{told} theirs are more often right."
    return f"{told} the intervals overlap, so these sessions cannot tell which is better."


# --- JSON -----------------------------------------------------------------------------------------


def told(report: Report) -> dict[str, Any]:
    """A report as plain values."""
    return {
        "rules": report.rules,
        "interval": "Wilson, 95%",
        "exchanges": ROUNDS,
        "workspaces": [
            {
                "name": it.name,
                "split_at": it.split.at,
                "tasks_before": it.split.tasks_before,
                "tasks_after": it.split.tasks_after,
                "tasks_across": it.split.across,
                "tasks_undated": it.split.undated,
                "offers": it.claims,
            }
            for it in report.parts
        ],
        "failed_again": report.again._asdict(),
        "after": _told_side(report.after),
        "elsewhere": _told_side(report.elsewhere),
    }


def _told_side(side: Side) -> dict[str, Any]:
    return {
        "tasks": side.tasks,
        "all": _told_tally(side.whole),
        "troubles": _told_tally(side.troubles),
        "doings": _told_tally(side.doings),
        "by_detector": {name: _told_tally(it) for name, it in side.by_detector.items()},
        "offers": [_told_row(it) for it in side.rows],
    }


def _told_tally(tally: Tally) -> dict[str, Any]:
    return {
        "offers": tally.claims,
        "only_look": tally.looks,
        "met": tally.met,
        "by_offer": {str(it): _told_share(tally.by_claim[it]) for it in Verdict},
        "by_task": {str(it): _told_share(tally.by_task[it]) for it in Verdict},
        "tokens": tally.tokens,
        "exchanged": tally.exchanged,
        "right_by_chance": _told_chance(tally.chance_by_claim),
        "tasks_right_by_chance": _told_chance(tally.chance_by_task),
    }


def _told_share(share: Share) -> dict[str, Any]:
    return {
        "count": share.hits,
        "of": share.of,
        "per_hundred": share.per_hundred,
        "low": share.low,
        "high": share.high,
    }


def _told_chance(chance: Chance | None) -> dict[str, float] | None:
    return None if chance is None else chance._asdict()


def _told_row(row: Trial) -> dict[str, Any]:
    window = row.later.window
    return {
        "name": row.claim.name,
        "detector": row.claim.detector,
        "verdict": str(row.verdict),
        "testable": row.claim.is_testable,
        "tasks": {window.sessions[task].name: str(it) for task, it in row.by_task.items()},
        "places": [f"{window.sessions[it.session].name}#{it.seq}" for it in row.met],
    }
