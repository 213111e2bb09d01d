"""`hansei retro`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import ProgressLine
from hansei.errors import StoreUnwritable, UsageError

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.retro import Offer, Retrospect
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

LISTED = 20
"""Places that `--explain` lists without being asked for all."""


class Asked(NamedTuple):
    """What a bet's number may be about."""

    scope: Scope
    anywhere: bool
    """Whether no workspace was named."""


@click.command(short_help="What to change, because of what, for how much: ranked bets.")
@app.scope_options
@click.option("-n", "--limit", type=int, help="How many bets (of one: places); 0 for all.")
@click.option("--explain", metavar="BET", help="One bet in full, by its number or id.")
@click.option("--accept", metavar="BET", help="Remember that you will act on it.")
@click.option("--dismiss", metavar="BET", help="Do not show it until the evidence doubles.")
@click.option("--reason", metavar="WHY", help="With --accept or --dismiss: why, for later.")
@click.option("--markdown", is_flag=True, help="For a pull request, a wiki, an agent.")
@click.option(
    "--html",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="As one page with plots and the evidence opened; - is stdout.",
)
@click.option("--open", "open_it", is_flag=True, help="With --html: show it in the browser.")
@click.option(
    "--calibration", is_flag=True, help="Whether each heuristic's earlier bets came true here."
)
@app.ingest_option
@app.json_option
def command(
    wanted: dict[str, Any],
    limit: int | None,
    explain: str | None,
    accept: str | None,
    dismiss: str | None,
    reason: str | None,
    markdown: bool,
    html: str | None,
    open_it: bool,
    calibration: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """What goes wrong or costs too much again and again here, and what to change.

    \b
      hansei retro                        one best bet, two to look into, two quick fixes
      hansei retro --explain 1            the exact change, every number, all the evidence
      hansei retro --accept 1             you will act on it
      hansei retro --dismiss 3f2a --reason "the CI needs it"
      hansei retro -n 0 --since 2026-01-01
      hansei retro --markdown > retro.md
      hansei retro --html retro.html      one page to read or print; --open shows it
      hansei retro --calibration          do such bets come true here?

    A bet says what it costs a week, counted from the sessions in which it happened, the exact
    change, and how you will know whether it helped. Numbers are those of the list you saw last;
    the id stays the same from week to week. Every place can be opened with `hansei show`.
    """
    named = [it for it in (explain, accept, dismiss) if it is not None]
    if len(named) + calibration > 1:
        raise UsageError(
            "--explain, --accept, --dismiss and --calibration each take a look of their own"
        )
    if calibration and markdown:
        raise UsageError("--calibration is told on the screen or as --json")
    if html is not None and (named or calibration or markdown or as_json):
        raise UsageError("--html is a page of its own", hint="Leave out the other option.")
    if open_it and html in (None, "-"):
        raise UsageError("--open needs --html and a file", hint="hansei retro --html --open")
    if reason and not (accept or dismiss):
        raise UsageError("--reason goes with --accept or --dismiss")
    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        app.with_facts(store, settings, scope)
        asked = Asked(scope, anywhere=wanted["workspace"] is None)
        if html is not None:
            _page(store, settings, scope, limit, html, open_it=open_it)
        elif calibration:
            _calibration(store, scope, as_json=as_json)
        elif accept or dismiss:
            _decide(store, asked, named[0], accepted=accept is not None, reason=reason)
        elif explain:
            _explain(store, asked, explain, limit, markdown=markdown, as_json=as_json)
        else:
            _list(store, scope, limit, markdown=markdown, as_json=as_json)


def _list(store: Store, scope: Scope, limit: int | None, *, markdown: bool, as_json: bool) -> None:
    from hansei.cli import bet_cards, bet_pages
    from hansei.ops.decisions import remember
    from hansei.ops.retro import retro

    now = app.now()
    progress = ProgressLine()
    look = retro(store, scope, now, progress=progress.count)
    progress.close()
    shown = look.offers[: _count(look, limit)]
    if as_json:
        output.write_json("retro", _told(look, shown))
        return
    if not look.sessions:
        output.write(app.nothing_here(store, scope))
        return
    lines = bet_pages.report(look, shown, now) if markdown else bet_cards.report(look, shown, now)
    for line in lines:
        output.write(line)
    if limit == 0 and not markdown:
        for line in bet_cards.put_aside(look):
            output.write(line)
    remember(store, look, shown, now)


def _count(look: Retrospect, limit: int | None) -> int:
    if limit is None:
        return look.short
    return limit if limit > 0 else len(look.offers)


def _told(look: Retrospect, shown: tuple[Offer, ...]) -> dict[str, Any]:
    import msgspec

    told: dict[str, Any] = msgspec.to_builtins(look)
    del told["scope"]
    told["faults"] = [
        {"kind": it.kind, "reason": it.reason, "places": [place._asdict() for place in it.places]}
        for it in look.faults
    ]
    bets = msgspec.to_builtins(shown)
    return {**told, "offers": bets, "more": len(look.offers) - len(shown)}


def _explain(
    store: Store,
    asked: Asked,
    name: str,
    limit: int | None,
    *,
    markdown: bool,
    as_json: bool,
) -> None:
    from hansei.bets.counting import RULES
    from hansei.cli import bet_cards, bet_pages
    from hansei.ops.decisions import offered

    now = app.now()
    look, offer = offered(store, asked.scope, name, now, anywhere=asked.anywhere)
    if as_json:
        output.write_json("retro.bet", {"bet": offer, "rules": RULES})
        return
    explained = bet_pages.explained if markdown else bet_cards.explained
    for line in explained(offer, look, now, LISTED if limit is None else limit):
        output.write(line)


def _page(
    store: Store, settings: Config, scope: Scope, limit: int | None, file: str, *, open_it: bool
) -> None:
    from hansei.cli import page_files, retro_html
    from hansei.ops.decisions import remember
    from hansei.ops.retro_page import retro_page

    now = app.now()
    told = retro_page(store, settings, scope, now, limit=limit)
    text = retro_html.page(told)
    if file == "-":
        output.write(text, end="")
        return
    path = page_files.place(file, app.folder(), store.folder, scope.workspace_name)
    page_files.write(path, text)
    remember(store, told.look, [it.offer for it in told.bets], now)
    output.write(str(path))
    if open_it:
        page_files.show(path)


def _calibration(store: Store, scope: Scope, *, as_json: bool) -> None:
    from hansei.cli import calibration_page
    from hansei.ops.calibration import calibrations
    from hansei.retro.calibration import RULES

    progress = ProgressLine()
    found = calibrations(store, scope, app.now(), progress=progress.count)
    progress.close()
    if as_json:
        output.write_json("retro.calibration", {"workspaces": found, "rules": RULES})
        return
    for text in calibration_page.report(found, scope.workspace_name):
        output.write(text)


def _decide(store: Store, asked: Asked, name: str, *, accepted: bool, reason: str | None) -> None:
    from hansei.bets.model import State
    from hansei.ops.decisions import decide, offered

    if not store.writable:
        raise StoreUnwritable(
            f"{store.folder} is read-only: nothing can be remembered",
            hint="Set HANSEI_HOME to a folder you can write to.",
        )
    now = app.now()
    _, offer = offered(store, asked.scope, name, now, anywhere=asked.anywhere)
    state = State.ACCEPTED if accepted else State.DISMISSED
    decide(store, offer, state, now, reason=reason)
    output.write(f"{state} {offer.short}: {output.one_line(offer.claim)}")
    if not accepted:
        count = output.plural(offer.sessions, "more session")
        output.write(output.dim(f"It comes back if {count} show it; --accept {offer.short} now."))
