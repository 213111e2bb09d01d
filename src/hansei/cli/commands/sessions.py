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
    """Sessions as a table; columns that would say the same everywhere are left out."""
    columns = [
        Column("id", "left"),
        Column("started", "left"),
        Column("took", drop=2),
        Column("agent", "left", drop=4),
        Column("driver", "left", drop=5),
        Column("workspace", "left", flexible=True, keep="ends", drop=8),
        Column("prompts", drop=1),
        Column("calls", drop=3),
        Column("failed", drop=7),
        Column("tokens", drop=6),
        Column("cost"),
        Column("about", "left", flexible=True),
    ]
    if len({line.agent for line in found}) < 2:
        columns = [column for column in columns if column.title != "agent"]
    if not everywhere:
        columns = [column for column in columns if column.title != "workspace"]
    cells = [_cells(line) for line in found]
    return output.table(columns, [[row[column.title] for column in columns] for row in cells])


def _cells(line: SessionLine) -> dict[str, str]:
    return {
        "id": output.one_line(line.short),
        "started": output.moment(line.started_at),
        "took": output.duration(line.started_at, line.ended_at),
        "agent": output.one_line(line.agent),
        "driver": output.one_line(line.driver or output.UNKNOWN),
        "workspace": output.one_line(line.workspace),
        "prompts": f"{line.prompts:,}",
        "calls": f"{line.calls:,}",
        "failed": click.style(f"{line.failed:,}", fg="red") if line.failed else "0",
        "tokens": output.tokens(line.tokens) if line.requests else "–",
        "cost": cost(line),
        "about": output.one_line(line.name),
    }


def cost(line: SessionLine) -> str:
    if not line.requests:
        return "–"
    known = output.dollars(line.cost_nanodollars)
    return f"{known}+?" if line.unpriced_requests and line.cost_nanodollars is not None else known
