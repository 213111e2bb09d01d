"""Experiments on a terminal, in Markdown and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import msgspec

from hansei.cli import experiment_charts as charts
from hansei.cli import output
from hansei.cli.bet_pages import fenced, plain
from hansei.experiments.experiment import DELIVERED, Bind, Stage
from hansei.experiments.model import Word
from hansei.ops.experiments.words import headline, sentences, steps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.experiments.experiment import Experiment
    from hansei.ops.experiments.powers import Outlook
    from hansei.ops.experiments.reports import Report

_COLOURS = {
    Word.HELPED: "green",
    Word.LOWER: "green",
    Word.HARMED: "red",
    Word.HIGHER: "red",
}
_BINDS = {
    Bind.EXPOSURE: "a coin for each session, delivered by the hook",
    Bind.NUDGE: "a coin for each session that meets a known failure",
    Bind.DAYS: "a coin for each day",
    Bind.GIT: "before and after a change",
    Bind.BRANCH: "by branch",
    Bind.PROMPT: "by what sessions were told",
    Bind.TAG: "by hand",
}


def told(it: Experiment) -> dict[str, Any]:
    """An experiment for programs, without its report."""
    body: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(it, report=None))
    every = {name: None for name in it.__struct_fields__ if name != "report"}
    return {**every, **body, "stage": it.stage, "randomised": it.randomised}


def summed(it: Report) -> dict[str, Any]:
    """A report for programs, without its paths."""
    body: dict[str, Any] = reported(it)
    for name in ("spans", "medians"):
        body.pop(name)
    for name in ("lower", "higher", "steps"):
        body["verdict"].pop(name)
    return body


def reported(it: Report) -> dict[str, Any]:
    """A report for programs, with its sentences."""
    body: dict[str, Any] = msgspec.to_builtins(it)
    next_steps = [step._asdict() for step in steps(it)]
    return {
        **body,
        "headline": headline(it),
        "sentences": list(sentences(it)),
        "next": next_steps,
    }


# --- beginning ------------------------------------------------------------------------------------


def begun(it: Experiment, *, hooked: bool) -> Iterator[str]:
    """What a person is told of a new experiment."""
    name = it.id[:4]
    yield from output.wrapped(f"Experiment {name}: {output.one_line(it.hypothesis)}")
    yield from output.wrapped(f"counts      {_counts(it)}", 12)
    yield from output.wrapped(f"compares    {compared(it)}", 12)
    if it.stage is Stage.DRAFT:
        yield f"It is a draft. `hansei exp start {name}` begins it."
        return
    if it.bind in DELIVERED and not hooked:
        yield from output.wrapped(
            "No hook has seen a session here yet, and only a hook can deliver. `hansei init`"
            " installs them; agents without hooks go with --bind days."
        )
    again = {
        Bind.GIT: "Make your change, commit it, and go on working.",
        Bind.TAG: f"`hansei exp tag treatment SESSION --exp {name}` puts sessions in an arm.",
        Bind.DAYS: "`hansei ingest` switches it each day; so does `hansei exp switch`.",
    }.get(it.bind, "Go on working.")
    if it.terms.change is not None:
        again = "The sessions are there already."
    yield f"It is running. {again}"
    yield "`hansei exp report` says what was found, as often as you like to look."


def _counts(it: Experiment) -> str:
    from hansei.ops.experiments.reports import counted

    return counted(it)


def compared(it: Experiment) -> str:
    """The two arms in words."""
    terms = it.terms
    share = f"{terms.share:.0%}"
    if it.bind is Bind.EXPOSURE:
        return f"{share} of new sessions get the text from the hook, by a coin; the others do not"
    if it.bind is Bind.NUDGE:
        return (
            f"of sessions that meet a failure with a known fix {share} are told it, by a coin;"
            " the others are not"
        )
    if it.bind is Bind.DAYS:
        return f"{terms.path} holds the line on {share} of days, by a coin; on the others not"
    if it.bind in (Bind.BRANCH, Bind.PROMPT):
        return f"{terms.treatment} against {terms.control or 'all others'}"
    if it.bind is Bind.TAG:
        return "sessions that you put in an arm"
    if it.entry is not None:
        return f"sessions whose {terms.path} holds the line, against those before"
    if terms.change is not None:
        return f"sessions on trees that hold {terms.change[:10]}, against those that do not"
    return f"sessions up to {(terms.pin or '')[:10]}, against those on later commits"


def powers(found: Outlook) -> Iterator[str]:
    """How many sessions it takes."""
    yield from output.wrapped(
        f"From {found.before:.0%} of sessions to {found.after:.0%}"
        f" ({found.basis}), {found.sessions:,} sessions at most."
    )
    yield ""
    columns = [
        output.Column("", "left"),
        output.Column("decided"),
        output.Column("half of them after"),
        output.Column("nine of ten after"),
    ]
    rows = [
        [it.words, f"{it.reached:.0%}", _when(it.half, it.half_days), _when(it.most, it.most_days)]
        for it in found.designs
    ]
    yield from output.table(columns, rows)
    yield ""
    yield from map(
        output.dim,
        output.wrapped(
            f"Played through {found.runs} times each, with fixed dice. Without a coin only sessions"
            " since the change are counted here, and bursts of bad days make it take longer."
        ),
    )


def _when(sessions: int | None, days: int | None) -> str:
    if sessions is None:
        return "not within these"
    pace = "" if days is None else f" ({output.plural(days, 'day')})"
    return f"{output.plural(sessions, 'session')}{pace}"


# --- lists ----------------------------------------------------------------------------------------


def listing(found: Sequence[Experiment], archived: int) -> Iterator[str]:
    """Every experiment on a line."""
    if not found:
        yield 'No experiments here. `hansei exp new --bind git --hypothesis "…"` begins one.'
    else:
        columns = [
            output.Column("id", "left"),
            output.Column("stage", "left"),
            output.Column("began", "left", drop=2),
            output.Column("by", "left", drop=1),
            output.Column("verdict", "left"),
            output.Column("hypothesis", "left", flexible=True),
        ]
        rows = [
            [
                it.id[:4],
                it.stage,
                "" if it.started_at is None else output.day(it.started_at),
                it.bind,
                it.verdict or "",
                output.one_line(it.hypothesis),
            ]
            for it in found
        ]
        yield from output.table(columns, rows)
    if archived:
        yield output.dim(f"{archived} archived; --all shows them too")


def standing(found: Sequence[Report]) -> Iterator[str]:
    """Those that run, a line each."""
    if not found:
        yield "No experiment is running here. `hansei exp list` shows those that ended."
        return
    columns = [
        output.Column("id", "left"),
        output.Column("without"),
        output.Column("with"),
        output.Column("verdict", "left"),
        output.Column("still needed", "left", drop=1),
        output.Column("hypothesis", "left", flexible=True),
    ]
    rows = [
        [
            it.short,
            str(it.verdict.control.known),
            str(it.verdict.treatment.known),
            headline(it),
            _needed(it),
            output.one_line(it.hypothesis),
        ]
        for it in found
    ]
    yield from output.table(columns, rows)


def _needed(it: Report) -> str:
    if it.verdict.word is not Word.INCONCLUSIVE:
        return ""
    if it.verdict.needed is None:
        return "cannot be told yet"
    days = "" if it.verdict.days is None else f", {output.plural(it.verdict.days, 'day')}"
    return f"{output.plural(it.verdict.needed, 'session')}{days}"


# --- the report -----------------------------------------------------------------------------------


def page(it: Report) -> Iterator[str]:
    """A report for a terminal."""
    yield from map(output.dim, output.wrapped(title(it)))
    yield from output.wrapped(output.one_line(it.hypothesis))
    yield from map(output.dim, output.wrapped(f"counts {output.one_line(it.counted)}"))
    yield ""
    word = it.verdict.word
    yield click.style(headline(it), bold=True, fg=_COLOURS.get(word))
    for sentence in sentences(it):
        yield from output.wrapped(output.one_line(sentence))
    for line in it.notes:
        yield from output.wrapped(output.one_line(line))
    for picture in (charts.over_time(it), charts.interval(it), charts.evidence(it)):
        lines = list(picture)
        if lines:
            yield ""
            yield from lines
    yield from _details(it)
    for step in steps(it):
        yield step.command
        yield from map(output.dim, output.wrapped(f"    {step.why}", 4))


def title(it: Report) -> str:
    began = "not started" if it.started_at is None else f"begun {output.day(it.started_at)}"
    return (
        f"experiment {it.short} · {it.stage}, {began} · {output.one_line(it.workspace)} ·"
        f" {_BINDS[Bind(it.bind)]}"
    )


def _details(it: Report) -> Iterator[str]:
    if it.medians:
        yield ""
        yield from output.table(median_columns(it), median_rows(it))
    if it.left_out:
        yield ""
        yield output.dim(f"{unplaced(it)}:")
        for why, count in it.left_out.items():
            yield f"{count:>{charts.LABEL - 2},}  {why}"
    if len(it.strata) > 1:
        yield ""
        yield from output.wrapped(output.dim(f"compared within {_mixed(it)}"))
    yield ""


def unplaced(it: Report) -> str:
    """How many sessions are left out."""
    count = sum(it.left_out.values())
    return f"{output.plural(count, 'session')} {'is' if count == 1 else 'are'} in no arm"


def _mixed(it: Report) -> str:
    return ", ".join(f"{output.one_line(name)} ({count})" for name, count in it.strata.items())


def median_columns(it: Report) -> list[output.Column]:
    return [
        output.Column("median", "left", flexible=True),
        output.Column("without"),
        output.Column("with"),
        output.Column(f"difference ({100 * it.confidence:g}%)"),
        output.Column("sessions", drop=1),
    ]


def median_rows(it: Report) -> list[list[str]]:
    return [
        [
            middle.words,
            charts.amount(middle.name, middle.control),
            charts.amount(middle.name, middle.treatment),
            "too few" if middle.difference is None else _range(middle.name, *middle.difference),
            f"{middle.sessions[0]} / {middle.sessions[1]}",
        ]
        for middle in it.medians
    ]


def _range(name: str, low: float, high: float) -> str:
    ends = (
        ("−" if value < 0 else "+" if value > 0 else "") + charts.amount(name, abs(value))
        for value in (low, high)
    )
    return " to ".join(ends)


def markdown(it: Report) -> Iterator[str]:
    """A report to paste into a pull request."""
    yield f"# {plain(it.hypothesis)}"
    yield ""
    yield f"**{headline(it)}** — {plain(title(it))}. Counts {plain(it.counted)}."
    yield ""
    yield " ".join(plain(sentence) for sentence in sentences(it))
    for line in it.notes:
        yield ""
        yield plain(line)
    pictures = [
        line
        for picture in (charts.over_time(it), charts.interval(it), charts.evidence(it))
        for line in picture
    ]
    if pictures:
        yield ""
        yield from fenced(click.unstyle("\n".join(pictures)))
    yield from _markdown_table(it)
    if it.left_out:
        yield ""
        yield f"{unplaced(it)}:"
        yield ""
        yield from (f"- {count:,}: {why}" for why, count in it.left_out.items())


def _markdown_table(it: Report) -> Iterator[str]:
    if not it.medians:
        return
    yield ""
    titles = [column.title for column in median_columns(it)]
    yield f"| {' | '.join(titles)} |"
    yield f"|{'---|' * len(titles)}"
    for row in median_rows(it):
        yield f"| {' | '.join(row)} |"
