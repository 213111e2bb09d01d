"""`hansei skills backtest`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.errors import UsageError

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.backtest import Report
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

SHARE = 60


@click.command("backtest", short_help="Whether what was learned before a day held after it.")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--all", "everywhere", is_flag=True, help="Every workspace, not only this.")
@click.option("--before", metavar="WHEN", help="Learn from what ended before: 2026-11-01, 4w …")
@click.option(
    "--share",
    type=click.IntRange(1, 99),
    metavar="PERCENT",
    help=f"Learn from the first so many sessions by time instead.  [default: {SHARE}]",
)
@click.option("--classic", is_flag=True, help="The simple rules in the same table.")
@app.ingest_option
@app.json_option
def backtest(
    name: str | None,
    everywhere: bool,
    before: str | None,
    share: int | None,
    classic: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """Learn from the sessions before a day, and test that on those after it.

    \b
      hansei skills backtest                  the first 60% of sessions here, tested on the rest
      hansei skills backtest --before 4w      up to four weeks ago, tested on the time since
      hansei skills backtest NAME             a skill of the book, since it was learned
      hansei skills backtest --all --classic  every workspace, and what simpler rules would offer

    An offer is right if a later session ran into the same and what the skill says to do is what
    worked there, wrong if the opposite worked, else untested. It is also tried on your other
    workspaces, and with what to do exchanged among the offers, which tells what is chance.

    Nobody had these skills then, so nothing here says that a session would have gone otherwise.
    """
    from hansei.cli import backtest_page

    if name is not None and (everywhere or classic or share is not None):
        raise UsageError("NAME is a skill of the book, so only --before goes with it")
    if before is not None and share is not None:
        raise UsageError("--before and --share both say where to split; give one")
    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = _scope(store, everywhere=everywhere)
        if scope.workspace == -1:
            output.write(app.nothing_here(store, scope))
            return
        at = None if before is None else _moment(before)
        _with_facts(store, settings)
        if name is not None:
            reports = [_of_skill(store, settings, scope, name, at)]
        else:
            rules = (False, True) if classic else (False,)
            reports = [_mined(store, scope, at, share or SHARE, simple=it) for it in rules]
        if as_json:
            document = {"reports": [backtest_page.told(it) for it in reports]}
            output.write_json("skill-backtest", document)
        elif not any(it.tasks_before or it.after.tasks for it in reports):
            output.write(app.nothing_here(store, scope))
        else:
            for line in backtest_page.page(reports, skill=name):
                output.write(line)


def _scope(store: Store, *, everywhere: bool) -> Scope:
    wanted = dict.fromkeys(("workspace", "since", "until", "agent", "driver"))
    return app.scope(store, {**wanted, "everywhere": everywhere})


def _moment(before: str) -> int:
    from hansei.ops.scope import moment

    return moment(before, app.now())


def _with_facts(store: Store, settings: Config) -> None:
    """Other workspaces test too, so facts of all of them are needed."""
    from hansei.ops.scope import Scope

    app.with_facts(store, settings, Scope())


def _mined(store: Store, scope: Scope, at: int | None, share: int, *, simple: bool) -> Report:
    from hansei.ops.backtest import mined

    return mined(store, app.now(), scope.workspace, at=at, share=share, simple=simple)


def _of_skill(store: Store, settings: Config, scope: Scope, name: str, at: int | None) -> Report:
    from hansei.ops.backtest import of_skill
    from hansei.ops.skills import find

    _, skill = find(settings, app.folder(), name)
    assert scope.workspace is not None
    return of_skill(store, app.now(), scope.workspace, skill, at=at)
