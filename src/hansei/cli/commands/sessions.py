"""`hansei sessions`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from hansei.ops.sessions import SessionLine


@click.command(short_help="List sessions.")
@app.scope_options
@click.option("--failed", is_flag=True, help="Only sessions in which a call failed.")
@click.option("-n", "--limit", default=30, show_default=True, help="How many; 0 for all.")
@app.ingest_option
@app.json_option
def command(wanted: dict[str, Any], failed: bool, limit: int, ingest: bool, as_json: bool) -> None:
    """List sessions, newest first. `hansei show ID` opens one."""
    from hansei.ops.sessions import sessions

    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        found = sessions(store, scope, limit=limit + 1 if limit > 0 else None, failed=failed)
        empty = None if found else app.nothing_here(store, scope)
    more = limit > 0 and len(found) > limit
    found = found[:limit] if more else found
    if as_json:
        output.write_json("sessions", {"sessions": found, "more": more})
    elif empty:
        output.write(empty)
    else:
        for line in listing(found, everywhere=wanted["everywhere"]):
            output.write(line)
        if more:
            output.write(output.dim(f"The newest {limit} are shown; -n 0 lists all."))


def listing(found: list[SessionLine], *, everywhere: bool) -> list[str]:
    """Sessions as a table."""
    columns = [
        Column("id", "left"),
        Column("started", "left"),
        Column("took"),
        Column("agent", "left"),
        Column("driver", "left"),
        *([Column("workspace", "left", flexible=True)] if everywhere else []),
        *map(Column, ("prompts", "calls", "failed", "tokens", "cost")),
        Column("title", "left", flexible=True),
    ]
    return output.table(columns, [_cells(line, everywhere) for line in found])


def _cells(line: SessionLine, everywhere: bool) -> list[str]:
    return [
        line.short,
        output.minute(line.started_at),
        output.duration(line.started_at, line.ended_at),
        line.agent,
        line.driver or output.UNKNOWN,
        *([output.one_line(line.workspace)] if everywhere else []),
        f"{line.prompts:,}",
        f"{line.calls:,}",
        click.style(f"{line.failed:,}", fg="red") if line.failed else "0",
        output.tokens(line.tokens) if line.requests else "–",
        cost(line),
        output.one_line(line.title or line.role or ""),
    ]


def cost(line: SessionLine) -> str:
    if not line.requests:
        return "–"
    known = output.dollars(line.cost_nanodollars)
    return f"{known}+?" if line.unpriced_requests and line.cost_nanodollars is not None else known
