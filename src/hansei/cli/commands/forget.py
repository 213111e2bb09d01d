"""`hansei forget`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.removal import Doomed
    from hansei.store.database import Store


@click.command(short_help="Remove a session or a workspace for good.")
@click.argument("name", metavar="SESSION|WORKSPACE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app.json_option
def command(name: str, yes: bool, as_json: bool) -> None:
    """Remove a session with its subagents, or all sessions of a workspace, from the store.

    They are removed from the database, from sealed files and from what hooks wrote, and are not
    taken in again; reviews you imported go with their workspace, and so do your skills for it, with
    their history, and the record that changes of its instruction files are undone with. What lies
    in the repository is left alone: its own book, SKILL.md files. So are the agent's transcripts.
    """
    from hansei.ops.removal import chosen

    # What is still unread of it must be known too, or the next command would bring it back.
    settings = app.config()
    with app.up_to_date(settings, ingest=True) as store:
        carry_out(store, chosen(store, settings, name), settings, yes=yes, as_json=as_json)


def carry_out(store: Store, doomed: Doomed, settings: Config, *, yes: bool, as_json: bool) -> None:
    """Say what would go, ask, do it, say what went."""
    from hansei.ops.removal import remove

    count = output.plural(len(doomed.sessions), "session")
    plan = f"{output.one_line(doomed.what)}: {count}, {output.plural(doomed.events, 'event')}"
    if doomed.reviews:
        plan += f", {output.plural(doomed.reviews, 'imported review')}"
    if doomed.written:
        plan += (
            f", the way back from {output.plural(doomed.written, 'change')} of instruction files"
        )
    skills = 0 if doomed.book is None else len(doomed.book.skills())
    if skills:
        plan += f", {output.plural(skills, 'skill')} of your book for it"
    if not doomed.empty and not yes:
        click.confirm(f"Remove {plan}?", abort=True, err=True)
    removed = remove(store, doomed, settings, now=app.now())
    if as_json:
        counts = {"sessions": removed, "reviews": doomed.reviews, "written": doomed.written}
        output.write_json("removed", {"what": doomed.what, **counts, "skills": skills})
    else:
        output.write(f"Nothing to remove: {plan}." if doomed.empty else f"Removed {plan}.")
