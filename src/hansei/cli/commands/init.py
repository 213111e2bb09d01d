"""`hansei init`."""

from __future__ import annotations

from pathlib import Path

import click

from hansei.cli import app, output
from hansei.errors import UsageError
from hansei.git.repository import git


@click.command(short_help="Make a store for this repository alone.")
@click.option("--local", is_flag=True, help="Keep this repository's sessions in its own .hansei.")
@app.json_option
def command(local: bool, as_json: bool) -> None:
    """Make the store.

    It is made by itself when first needed, in ~/.hansei, and holds every workspace of yours. With
    --local this repository gets one of its own, in .hansei, which git ignores; commands run inside
    the repository then use that one.
    """
    from hansei.config import remember_local_store
    from hansei.store.database import open_store
    from hansei.store.workspaces import keep_only

    settings = app.config()
    folder = _repository() / ".hansei" if local else settings.store
    existed = (folder / "hansei.db").exists()
    store = open_store(folder, now=app.now())
    if local:
        keep_only(store, str(folder.parent))
        remember_local_store(settings.environment, folder)
    store.close()
    if as_json:
        output.write_json("init", {"store": str(folder), "existed": existed})
        return
    output.write(f"{'The store is' if existed else 'Made a store'} in {folder}.")
    if not existed:
        output.write("Next: hansei")


def _repository() -> Path:
    top = git(str(Path.cwd()), "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(
            f"{Path.cwd()} is not inside a git repository",
            hint="Run `git init` first, or `hansei init` without --local.",
        )
    return Path(top)
