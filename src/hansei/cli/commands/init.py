"""`hansei init`."""

from __future__ import annotations

import click

from hansei.cli import app, output


@click.command(short_help="Make a store for this repository alone.")
@click.option("--local", is_flag=True, help="Keep this repository's sessions in its own .hansei.")
@app.json_option
def command(local: bool, as_json: bool) -> None:
    """Make the store.

    It is made by itself when first needed, in ~/.hansei, and holds every workspace of yours. With
    --local this repository gets one of its own, in .hansei, which git ignores; commands run inside
    the repository then use that one.
    """
    from hansei.ops.init import init, init_local

    settings, now = app.config(), app.now()
    made = init_local(settings, app.folder(), now=now) if local else init(settings, now=now)
    if as_json:
        output.write_json("init", made)
        return
    output.write(f"{'The store is' if made.existed else 'Made a store'} in {made.store}.")
    if not made.existed:
        output.write("Next: hansei")
