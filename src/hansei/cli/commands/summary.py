"""`hansei summary`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from hansei.ops.summary import Line, Removed, Summary

NOT_RECORDED = "(not recorded)"
DRIVERS = {"human": "yours", "subagent": "by subagents", "automated": "automated"}


@click.command(short_help="Tokens and cost by agent, model, repository, branch, pull request …")
@click.option(
    "--by",
    multiple=True,
    metavar="WHAT",
    help="agent, model, repo, branch, pr, commit, day or driver; several with commas. Default:"
    " model.",
)
@app.scope_options
@app.ingest_option
@app.json_option
def command(by: tuple[str, ...], wanted: dict[str, Any], ingest: bool, as_json: bool) -> None:
    """Tokens and cost of this workspace's sessions.

    \b
      hansei summary --since 7d
      hansei summary --all --by repo
      hansei summary --by day,model --since 2w
      hansei summary --by pr                what each pull request cost, failed attempts included

    Tokens are measured: read from transcripts, each request counted once. Cost is derived: those
    tokens at list prices. What no transcript tells stays unknown.

    By branch, pr or commit, spend is told apart by what it was for: the branch of each turn, the
    merge that names it, the commits that brought the lines. What belongs to none has rows of its
    own, so every way of telling it apart adds up to the same.
    """
    from hansei.ops.summary import goal_of, summary

    settings = app.config()
    names = [name.strip() for part in by for name in part.split(",") if name.strip()] or ["model"]
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        if goal_of(names):
            app.with_facts(store, settings, scope)
        answer = summary(store, scope, names)
        empty = app.nothing_here(store, scope) if not sum(answer.drivers.values()) else None
    if as_json:
        output.write_json("summary", answer)
    elif empty:
        output.write(empty)
    else:
        for line in report(answer):
            output.write(line)


def report(answer: Summary) -> list[str]:
    """The summary as people read it."""
    if not answer.lines:
        return [*heading(answer), "", *output.wrapped(nothing_measured(answer))]
    return [*heading(answer), "", *_table(answer), "", *_notes(answer)]


def nothing_measured(answer: Summary) -> str:
    """Why there are no tokens to sum up."""
    if answer.total.requests:
        count = output.plural(answer.total.requests, "request")
        return f"Tokens and cost are unknown: {count} did not record their tokens."
    if not answer.unmeasured:
        return "No request to a model is recorded in these sessions."
    agents = " and ".join(output.one_line(it.title) for it in answer.unmeasured)
    verb = "does" if len(answer.unmeasured) == 1 else "do"
    return f"Tokens and cost of these sessions are unknown: {agents} {verb} not record them."


def heading(answer: Summary) -> list[str]:
    """What is summed up: workspace, days and sessions; on two lines where one is too short."""
    count = sum(answer.drivers.values())
    parts = [f"{n:,} {driver(name)}" for name, n in answer.drivers.items()]
    title = output.bold(f"Summary · {output.one_line(answer.workspace or 'all workspaces')}")
    first = max(answer.since, answer.first_at) if answer.since and answer.first_at else None
    days = output.span(first or answer.first_at, answer.last_at)
    counted = f"{output.plural(count, 'session')} ({', '.join(parts)})"
    line = f"{title} · {days} · {counted}"
    fits = output.width(line) <= output.terminal_width()
    return [line] if fits else [f"{title} · {days}", counted]


def driver(name: str) -> str:
    """Who drove a session, as part of a sentence."""
    return DRIVERS.get(name) or output.one_line(name)


def _table(answer: Summary) -> list[str]:
    if _tells_work(answer):
        from hansei.cli import work_table

        return work_table.table(answer, cost)
    columns = [
        *(Column(name, "left", flexible=name != "day", keep="ends") for name in answer.by),
        Column("sessions", drop=1),
        Column("requests", drop=2),
        Column("input"),
        Column("cache read", drop=4),
        Column("cache write", drop=3),
        Column("output"),
        Column("cost"),
    ]
    rows = [[*(_label(line, name) for name in answer.by), *_cells(line)] for line in answer.lines]
    blank = [""] * (len(answer.by) - 1)
    total = [output.bold(cell) for cell in ("total", *blank, *_cells(answer.total))]
    return output.table(columns, [*rows, total] if len(rows) > 1 else rows)


def _tells_work(answer: Summary) -> bool:
    return any(line.work is not None for line in answer.lines)


def _label(line: Line, name: str) -> str:
    value = line.labels[name]
    return output.dim(NOT_RECORDED) if value is None else output.one_line(value)


def _cells(line: Line) -> list[str]:
    counts = line.tokens
    shown = (counts.input, counts.cache_read, counts.cache_write, counts.output)
    return [
        f"{line.sessions:,}",
        f"{line.requests:,}",
        *(output.tokens(count) for count in shown),
        cost(line),
    ]


def cost(line: Line) -> str:
    """Known cost, with a plus where some requests have no known price."""
    if line.cost_nanodollars is None:
        return output.UNKNOWN if line.requests else output.dollars(0)
    return output.dollars(line.cost_nanodollars) + ("+?" if line.unpriced_requests else "")


def _notes(answer: Summary) -> list[str]:
    total = answer.total
    notes = ["tokens are measured, cost is derived from list prices (`hansei prices`)"]
    if total.unpriced_requests:
        notes.append(
            f"+? {output.plural(total.unpriced_requests, 'request')} to models without a known"
            " price are not in the cost"
        )
    if total.unmeasured_requests:
        count = output.plural(total.unmeasured_requests, "request")
        notes.append(f"{count} did not record their tokens")
    for missing in answer.unmeasured:
        count = output.plural(missing.sessions, "session")
        title = output.one_line(missing.title)
        notes.append(
            f"{count} of {title} not counted: it does not record tokens, so they are unknown"
        )
    if _tells_work(answer):
        from hansei.cli import work_table

        notes += work_table.notes(answer)
    elif answer.rule:
        notes.append(answer.rule)
    notes.append(removed(answer.removed))
    return [output.dim(line) for note in notes for line in output.wrapped(note, 2)]


def removed(told: Removed) -> str:
    """The line about what was counted once though it was told more often."""
    if not told.tokens:
        return "no token was told twice"
    return (
        f"{output.tokens(told.tokens)} tokens were told more than once and counted once"
        f" ({output.plural(told.repeated_lines, 'repeated line')},"
        f" {output.plural(told.replayed_requests, 'request')} copied by forks)"
    )
