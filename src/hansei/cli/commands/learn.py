"""`hansei learn`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.config import Config
    from hansei.store.database import Store

RESET = "reset-skips"
"""Also a word in the place of a session, which no session is called."""


@click.command(short_help="What sessions showed that is worth keeping as a skill.")
@click.argument("session", metavar="[SESSION]", required=False)
@app.scope_options
@click.option("--user", is_flag=True, help="Save for you everywhere, not for this workspace.")
@click.option("--yes", is_flag=True, help="Save everything that is offered, without asking.")
@click.option("--classic", is_flag=True, help="What five simple rules would offer; saves nothing.")
@click.option("--reset-skips", is_flag=True, help="Offer again what you did not want.")
@app.ingest_option
@app.json_option
def command(
    session: str | None,
    wanted: dict[str, Any],
    user: bool,
    yes: bool,
    classic: bool,
    reset_skips: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """Offer what sessions showed to work here, and save what you want as skills.

    \b
      hansei learn                 what the last weeks of this workspace are worth keeping for
      hansei learn 3f2a91          what one session showed, alone or as one more example
      hansei learn --yes --user    save all of it, for every workspace of yours
      hansei learn --reset-skips   offer again what you did not want
      hansei learn --classic       what simpler rules would have offered

    Each offer comes with the commands, the evidence and the text, and is asked about: Enter saves
    it as a draft in .agents/skills and .claude/skills, where agents load it when they need it; n
    puts it off; s never offers it again. `hansei skills` lists what is kept,
    `hansei skills undo` takes it back.
    Nothing is asked where there is no terminal. What came from the web, from MCP servers or from
    other places that are not yours is never saved as a draft.
    """
    if session == RESET:
        session, reset_skips = None, True
    _refuse_contradictions(session, wanted, user=user, yes=yes, classic=classic, reset=reset_skips)
    settings = app.config()
    with app.up_to_date(settings, ingest=ingest and not reset_skips) as store:
        from hansei.cli import offering

        scope = app.scope(store, wanted)
        if reset_skips:
            offering.reset(store, scope, as_json=as_json)
            return
        desk = offering.desk(store, settings)
        look = offering.look(desk, scope, [session] if session else [])
        if not look.sessions and not as_json:
            output.write(app.nothing_here(store, scope))
        elif classic:
            offering.compare(store, look, as_json=as_json)
        else:
            offering.offer(desk, look, user=user, yes=yes, as_json=as_json)


def _refuse_contradictions(
    session: str | None,
    wanted: dict[str, Any],
    *,
    user: bool,
    yes: bool,
    classic: bool,
    reset: bool,
) -> None:
    if classic and (yes or user):
        raise UsageError("--classic compares and saves nothing, so --yes and --user mean nothing")
    if reset and (session or yes or user or classic):
        raise UsageError("--reset-skips is about what you skipped, and goes alone")
    narrowing = [name for name, value in wanted.items() if value]
    if session and narrowing:
        raise UsageError(
            "a session is named, so options that choose sessions mean nothing",
            hint="`hansei learn SESSION`, or `hansei learn --since 7d` and the like.",
        )


def offer_from(store: Store, settings: Config, among: Sequence[str]) -> int:
    """Offer what these sessions showed, and say nothing where that is nothing; how much it was."""
    from hansei.cli import offering
    from hansei.ops.scope import Scope

    desk = offering.desk(store, settings)
    look = offering.look(desk, Scope(), among)
    return offering.offer(desk, look) if look.suggestions or look.kept_back else 0
