"""`hansei mcp`."""

from __future__ import annotations

import click

from hansei.cli import app


@click.command(short_help="Answer agents: a server of the Model Context Protocol.")
@click.option(
    "--no-ingest",
    "ingest",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Answer from what is stored; do not have new transcripts taken in.",
)
def command(ingest: bool) -> None:
    """Let an agent ask while it works: what went wrong here before, and what helped.

    \b
      claude mcp add hansei -- hansei mcp
      codex mcp add hansei -- hansei mcp

    It speaks the Model Context Protocol on standard input and output, about the folder it is
    started in, and ends when the agent does. Agents can read; what they propose is quarantined
    until you promote it. docs/guides/mcp.md says how each agent is connected and what it costs.
    """
    import anyio

    from hansei.mcp.desk import Desk
    from hansei.mcp.fresh import keep_fresh
    from hansei.mcp.server import serve

    desk = Desk(app.config(), app.folder(), app.now)
    if ingest:
        keep_fresh(desk)
    anyio.run(serve, desk)
