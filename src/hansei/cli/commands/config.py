"""`hansei config`."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from hansei.cli import app, output
from hansei.config import Config, Settings, store_folder
from hansei.errors import ConfigError


@click.command(short_help="Settings, their values and where they are.")
@app.json_option
def command(as_json: bool) -> None:
    """Show every setting, its value and where it comes from.

    Settings stand in config.toml inside the store. The store is $HANSEI_HOME, else a repository's
    own .hansei folder (`hansei init --local`), else ~/.hansei.
    """
    config, problem = _config()
    values = msgspec.to_builtins(config.settings)
    if as_json:
        output.write_json(
            "config",
            {"store": str(config.store), "file": str(config.file), "settings": values},
        )
    else:
        _list(config, values, usable=problem is None)
    if problem is not None:
        hint = "The defaults are shown. Other commands wait until the file is put right."
        raise ConfigError(problem.message, hint=hint)


def _config() -> tuple[Config, ConfigError | None]:
    """The settings in force, else the defaults and what is wrong with the file."""
    try:
        return app.config(), None
    except ConfigError as problem:
        environment = app.environment()
        store = store_folder(environment, app.folder())
        return Config(store, Settings(), environment), problem


def _list(config: Config, values: dict[str, Any], *, usable: bool) -> None:
    defaults = msgspec.to_builtins(Settings())
    missing = "" if config.file.exists() else " (not there: all defaults)"
    state = missing if usable else " (cannot be used: all defaults)"
    output.write(f"store   {config.store}")
    output.write(f"file    {config.file}{state}")
    output.write()
    for name, value in values.items():
        shown = "unset" if value is None else "none" if value in ({}, []) else value
        mark = "" if value == defaults[name] else output.dim("  set in config.toml")
        output.write(f"{name:16} {shown}{mark}")
