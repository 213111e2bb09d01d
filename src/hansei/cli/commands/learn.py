"""`hansei learn`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import note
from hansei.errors import StoreUnwritable, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.config import Config
    from hansei.ops.learn import Learned, Means, Saved, Suggestion
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

RESET = "reset-skips"
QUESTION = "Save as skill? [Y/n/s]"
_ANSWERS = {"": "y", "y": "y", "yes": "y", "n": "n", "no": "n", "s": "s", "skip": "s", "never": "s"}


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
    puts it off; s never offers it again. `hansei skills` lists what is kept and takes it back.
    Nothing is asked where there is no terminal. What came from the web, from MCP servers or from
    other places that are not yours is never saved as a draft.
    """
    if session == RESET:
        session, reset_skips = None, True
    _refuse_contradictions(session, wanted, user=user, yes=yes, classic=classic, reset=reset_skips)
    settings = app.config()
    with app.up_to_date(settings, ingest=ingest and not reset_skips) as store:
        scope = app.scope(store, wanted)
        if reset_skips:
            _reset(store, scope, as_json=as_json)
            return
        among = [session] if session else []
        look, means = _look(store, settings, None if among else scope, among)
        if not look.sessions:
            _nothing(store, scope, as_json=as_json)
        elif classic:
            _compare(store, look, session, as_json=as_json)
        else:
            offer(store, look, means, user=user, yes=yes, as_json=as_json)


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


def _look(
    store: Store, settings: Config, scope: Scope | None, among: Sequence[str] = ()
) -> tuple[Learned, Means]:
    from hansei.ops import sessions
    from hansei.ops.learn import around, learn
    from hansei.ops.means import Joined

    if scope is None:
        scope = around(store, [sessions.find(store, it) for it in among])
    app.with_facts(store, settings, scope)
    means = Joined(store, settings)
    home = settings.environment.home
    return learn(store, scope, means, home, app.now(), among), means


def offer_from(store: Store, settings: Config, among: Sequence[str]) -> int:
    """Offer what these sessions showed, and say nothing where that is nothing; how much it was."""
    look, means = _look(store, settings, None, among)
    count = len(look.suggestions) + len(look.kept_back)
    if count:
        offer(store, look, means)
    return count


def _nothing(store: Store, scope: Scope, *, as_json: bool) -> None:
    if as_json:
        output.write_json("learn", {"sessions": 0, "suggestions": []})
    else:
        output.write(app.nothing_here(store, scope))


def offer(
    store: Store,
    look: Learned,
    means: Means,
    *,
    user: bool = False,
    yes: bool = False,
    as_json: bool = False,
) -> None:
    """Show what was found, ask about each where there is somebody to ask, and save what is wanted.

    Every answer takes effect at once, so stopping in between loses nothing.
    """
    from hansei.cli import offer_cards
    from hansei.learn.model import State

    asks = not (yes or as_json) and sys.stdin.isatty() and sys.stdout.isatty()
    if (yes or asks) and not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: nothing can be saved",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )
    if as_json:
        quarantined = [it for it in look.kept_back if it.state is State.QUARANTINED]
        wanted = (*look.suggestions, *quarantined) if yes else ()
        done = [means.save(it, app.now(), user=user) for it in wanted]
        output.write_json("learn", _told(look, done))
        return
    for line in offer_cards.heading(look):
        output.write(line)
    if asks and look.suggestions:
        for line in output.wrapped(offer_cards.ANSWERS):
            note(line)
    for number, found in enumerate(look.suggestions, 1):
        output.write()
        for line in offer_cards.card(number, found, look):
            output.write(line)
        answer = "y" if yes else _ask() if asks else None
        _obey(store, answer, found, means, user=user)
    for found in look.kept_back:
        output.write()
        for line in offer_cards.kept_back(found):
            output.write(line)
        if (yes or asks) and found.state is State.QUARANTINED:
            _obey(store, "y", found, means, user=user)
    if look.suggestions and not (yes or asks):
        note("\nNothing was saved: there is nobody to ask. `hansei learn --yes` saves all of it.")


def _ask() -> str:
    """What a person wants done; asks again where the answer is none."""
    while True:
        given = click.prompt(QUESTION, default="", show_default=False, err=True, prompt_suffix=" ")
        answer = _ANSWERS.get(str(given).strip().lower())
        if answer is not None:
            return answer
        note("y saves it, n leaves it for later, s never offers it again; Ctrl-C stops.")


def _obey(store: Store, answer: str | None, found: Suggestion, means: Means, *, user: bool) -> None:
    from hansei.cli import offer_cards
    from hansei.ops.learn import RETURN_DAYS, skip

    if answer == "y":
        for line in offer_cards.saved(means.save(found, app.now(), user=user)):
            output.write(line)
    elif answer is not None:
        skip(store, found, app.now(), for_ever=answer == "s")
        later = f"Not now: offered again in {RETURN_DAYS} days, or when it doubled."
        note(
            "Never again; `hansei learn --reset-skips` if you change your mind."
            if answer == "s"
            else later
        )


def _told(look: Learned, done: list[Saved]) -> dict[str, Any]:
    import msgspec

    told: dict[str, Any] = msgspec.to_builtins(look)
    del told["scope"]
    return {"workspace": look.scope.workspace_name, **told, "saved": [it._asdict() for it in done]}


def _compare(store: Store, look: Learned, session: str | None, *, as_json: bool) -> None:
    from hansei.cli import offer_cards
    from hansei.ops.classic import simple

    found = simple(store, look.scope, app.now(), session)
    if as_json:
        output.write_json("learn.classic", {"sessions": found.sessions, "offers": found.offers})
        return
    if session is None:
        for line in offer_cards.compared(found, look):
            output.write(line)
        return
    output.write(output.bold(f"The simple rules on session {output.one_line(session)}"))
    for number, it in enumerate(found.offers, 1):
        output.write()
        for line in offer_cards.simple_offer(number, it):
            output.write(line)
    if not found.offers:
        output.write("They offer nothing.")


def _reset(store: Store, scope: Scope, *, as_json: bool) -> None:
    from hansei.ops.learn import reset_skips

    if not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: nothing can be forgotten",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )
    count = reset_skips(store, scope.workspace)
    if as_json:
        output.write_json("learn.reset", {"offered_again": count})
        return
    where = f" in {output.one_line(scope.workspace_name)}" if scope.workspace_name else ""
    if count:
        again = output.plural(count, "offer")
        output.write(f"{again}{where} may be made again. `hansei learn` looks for what is there.")
    else:
        output.write(
            f"Nothing was skipped{where}.{'' if not where else ' --all looks everywhere.'}"
        )
