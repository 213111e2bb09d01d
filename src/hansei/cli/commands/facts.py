"""`hansei facts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, fact_tables, output
from hansei.cli.diagnostics import working
from hansei.errors import UsageError

if TYPE_CHECKING:
    from hansei.ops.facts.answers import Answer
    from hansei.projection.snapshots import Snapshot
    from hansei.store.database import Store

KINDS = ("files", "failures", "corrections", "commands", "outcomes", "exposure")


@click.command(short_help="What really happened: failures, files, outcomes and more.")
@click.argument("kind", required=False, type=click.Choice(KINDS))
@app.scope_options
@click.option("-n", "--limit", default=20, show_default=True, help="How many lines; 0 for all.")
@click.option("--at", "commit", metavar="COMMIT", help="Files as they are at this commit, too.")
@click.option("--rows", is_flag=True, help="Every single fact instead of sums, as JSON lines.")
@app.ingest_option
@app.json_option
def command(
    kind: str | None,
    wanted: dict[str, Any],
    limit: int,
    commit: str | None,
    rows: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """What really happened in this workspace's sessions.

    \b
      hansei facts                     how much of everything there is
      hansei facts failures            what fails again and again, and what ends it
      hansei facts files --since 7d    what is read and changed most, and read twice
      hansei facts files --at HEAD     the same beside size and churn at a commit
      hansei facts corrections --all   what people had to say more than once
      hansei facts commands            what is run, how often, how it ends
      hansei facts outcomes            what became of the code: landed, reverted, reworked
      hansei facts exposure            which instructions, skills and servers got how far

    Every line names places that show it: `hansei show 7f3a21bc#112` opens one.
    """
    from hansei.ops.facts.answers import answer, single

    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        app.with_facts(store, settings, scope)
        if rows:
            for row in single(store, scope, kind):
                output.write_json_line("fact", row)
            return
        found = answer(store, scope, kind, taken=_snapshot(store, kind, commit))
        empty = None if found.sessions else app.nothing_here(store, scope)
    if as_json:
        output.write_json(f"facts.{kind or 'overview'}", found)
    elif empty:
        output.write(empty)
    else:
        _print(found, limit)


def _snapshot(store: Store, kind: str | None, commit: str | None) -> Snapshot | None:
    if commit is None:
        return None
    if kind != "files":
        raise UsageError("--at goes with files", hint="`hansei facts files --at HEAD`")
    from hansei.ops.snapshot import snapshot

    with working("reading the repository …"):
        return snapshot(store, str(app.folder()), commit)


def _print(found: Answer, limit: int) -> None:
    for line in fact_tables.report(found, limit):
        output.write(line)
