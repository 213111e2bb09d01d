"""`hansei demo`."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim


@click.command(short_help="A tour on generated data.")
def command() -> None:
    """Show what hansei tells, on a generated history in a temporary folder.

    Nothing of yours is read, and nothing is left behind.
    """
    show_demo()


def show_demo() -> None:
    """Generate a small history, take it in, and print what the everyday commands say of it."""
    from hansei.cli.commands.sessions import listing
    from hansei.cli.commands.summary import report
    from hansei.config import Config, Environment, Settings
    from hansei.ops.ingest import ingest
    from hansei.ops.scope import Scope
    from hansei.ops.sessions import sessions
    from hansei.ops.summary import summary
    from hansei.store.database import open_store
    from hansei.synth import small_demo

    with tempfile.TemporaryDirectory(prefix="hansei-demo-") as folder:
        now = app.now()
        world = small_demo(Path(folder), now_ms=now)
        environment = Environment(home=world.home, variables={})
        settings = Config(Path(folder) / "store", Settings(), environment)
        store = open_store(settings.store, now=now)
        try:
            ingest(store, settings, now=now)
            output.write(bold("A generated history, so that you see what there is to see:"))
            output.write()
            for line in report(summary(store, Scope())):
                output.write(line)
            output.write()
            for line in listing(sessions(store, Scope(), limit=8), everywhere=False):
                output.write(line)
        finally:
            store.close()
    output.write()
    output.write(dim("On your own data: hansei"))
