"""`hansei gc`."""

from __future__ import annotations

import click

from hansei.cli import app
from hansei.cli.commands.forget import carry_out


@click.command(short_help="Remove what is older than the retention you set.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app.json_option
def command(yes: bool, as_json: bool) -> None:
    """Remove sessions that ended longer ago than `retention_days` in config.toml.

    Without that setting nothing is ever removed by age.
    """
    from hansei.ops.removal import expired

    settings = app.config()
    with app.opened(settings, create=False) as store:
        doomed = expired(store, settings, now=app.now())
        carry_out(store, doomed, settings, yes=yes, as_json=as_json)
