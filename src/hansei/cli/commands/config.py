"""`hansei config`."""

from __future__ import annotations

import click
import msgspec

from hansei.cli import app, output
from hansei.config import Settings


@click.command(short_help="Settings, their values and where they are.")
@app.json_option
def command(as_json: bool) -> None:
    """Show every setting, its value and where it comes from.

    Settings stand in config.toml inside the store. The store is $HANSEI_HOME, else a repository's
    own .hansei folder (`hansei init --local`), else ~/.hansei.
    """
    config = app.config()
    values = msgspec.to_builtins(config.settings)
    if as_json:
        output.write_json(
            "config",
            {"store": str(config.store), "file": str(config.file), "settings": values},
        )
        return
    defaults = msgspec.to_builtins(Settings())
    state = "" if config.file.exists() else " (not there: all defaults)"
    output.write(f"store   {config.store}")
    output.write(f"file    {config.file}{state}")
    output.write()
    for name, value in values.items():
        shown = "unset" if value is None else "none" if value in ({}, []) else value
        mark = "" if value == defaults[name] else output.dim("  set in config.toml")
        output.write(f"{name:16} {shown}{mark}")
