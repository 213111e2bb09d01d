"""`hansei ingest`."""

from __future__ import annotations

import click

from hansei.cli import app, output


@click.command(short_help="Take in what agents have written since the last time.")
@app.json_option
def command(as_json: bool) -> None:
    """Take in what agents have written since the last time.

    Other commands do this by themselves; run it alone to see what was read, or from a timer so that
    transcripts are kept before their agent deletes them.
    """
    settings = app.config()
    with app.opened(settings) as store:
        report = app.run_ingest(store, settings, wait_seconds=30)
    if as_json:
        output.write_json("ingest", report)
        return
    if not report.read and not report.unreadable:
        total = sum(report.found.values())
        output.write(f"Nothing new in {output.plural(total, 'transcript')}.")
        return
    rate = report.bytes / report.seconds / 1e6 if report.seconds else 0.0
    output.write(
        f"Read {output.plural(report.read, 'transcript')}, {output.size(report.bytes)}"
        f" in {report.seconds:.1f} s ({rate:.0f} MB/s)."
    )
    output.write(
        f"{output.plural(report.events, 'new event')}, {report.changed:,} changed,"
        f" {report.replayed:,} copies of events that other sessions own."
    )
    if report.skipped:
        output.write(
            f"{output.plural(report.skipped, 'record')} could not be read:"
            " `hansei doctor` says which and why."
        )
