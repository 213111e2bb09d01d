"""`hansei ingest`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import note, warn

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.store.database import Store


@click.command(short_help="Take in what agents have written since the last time.")
@click.option("--watch", is_flag=True, help="Go on until Ctrl-C: take in what is new as it comes.")
@click.option(
    "--otlp",
    "port",
    metavar="PORT",
    type=click.IntRange(0, 65535),
    help="Also receive OTLP over HTTP from programs on this machine; 4318 is the usual port.",
)
@app.json_option
def command(watch: bool, port: int | None, as_json: bool) -> None:
    """Take in what agents have written since the last time.

    Other commands do this by themselves; run it alone to see what was read. Experiments that go by
    days are switched for today.

    With --watch it goes on: every agent is followed, whatever it writes is in the store within a
    second or so, and nothing is lost when an agent deletes its transcripts. Other commands work
    meanwhile. With --json each round is one line of JSON. Ctrl-C ends it; so does SIGTERM, with the
    exit code 0. `hansei init --service` prints how to have it started by itself.

    With --otlp it watches too, and any OpenTelemetry exporter on this machine can send its traces
    and logs of agents to http://127.0.0.1:PORT. They are kept below the hansei home, taken in when
    a trace is whole, and deleted a week after they were read.
    """
    settings = app.config()
    if port is not None:
        from hansei.cli import receiving

        receiving.receive(settings, port, as_json=as_json)
        return
    if watch:
        from hansei.cli import watching

        watching.watch(settings, as_json=as_json)
        return
    with app.opened(settings) as store:
        report = app.run_ingest(store, settings, wait_seconds=30)
        _tend(store, settings)
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


def _tend(store: Store, settings: Config) -> None:
    """Switch experiments for today, and end those that harm where a person allowed it."""
    from hansei.ops.experiments.shelf import running
    from hansei.ops.experiments.verbs import tend
    from hansei.ops.scope import Scope

    watched = {it.workspace for it in running(store) if it.auto}
    for number in sorted(watched):
        app.with_facts(store, settings, Scope(workspace=number))
    done = tend(store, settings, app.folder(), app.now(), judge=bool(watched))
    for problem in done.problems:
        warn(problem)
    for it in done.undone:
        note(f"Experiment {it.id[:4]} harmed and was ended: {output.one_line(it.hypothesis)}")
