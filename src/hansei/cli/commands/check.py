"""`hansei check`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.errors import UsageError

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.check import Check, History
    from hansei.store.database import Store

OVER = 1
TELLING = 20
"""Lines that are shown without being asked for all."""
JOBS = ("github", "gitlab")


@click.command(short_help="What a change of instruction files costs and does.")
@click.argument("range_", metavar="[BASE..HEAD]", required=False)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit 1 if a session takes more than N tokens more. Default: `check_budget`.",
)
@click.option("--strict", is_flag=True, help="Exit 1 if a new line contradicts another one.")
@click.option("--since", metavar="WHEN", help="Past sessions from then on: 30d, 2026-11-01 …")
@click.option("-n", "--limit", type=int, default=TELLING, help="How many lines; 0 for all.")
@click.option("--markdown", is_flag=True, help="For a pull request.")
@click.option(
    "--action", "job", type=click.Choice(JOBS), help="Print a job file for CI, and nothing else."
)
@app.ingest_option
@app.json_option
def command(
    range_: str | None,
    budget: int | None,
    strict: bool,
    since: str | None,
    limit: int,
    markdown: bool,
    job: str | None,
    ingest: bool,
    as_json: bool,
) -> None:
    """What a change of instruction files, rules and skills costs, and what it would have done.

    \b
      hansei check                      since the branch left the main line, committed or not
      hansei check main...HEAD          what a pull request changes
      hansei check v1.2                 from there to the files as they are
      hansei check main...HEAD --budget 200
      hansei check --action github > .github/workflows/hansei.yml

    Every line that is new, reworded or gone is told with its size, who loads it and when, in how
    many past sessions it would have applied and was not done, and which other line says the same
    or the opposite. Without past sessions, as in CI, there are sizes and duplicates only.

    Ends with 1 where a session takes more than the budget, or with --strict where a new line
    contradicts another. Files are read from git; nothing is written.
    """
    if markdown and as_json:
        raise UsageError("--markdown and --json exclude each other")
    if job is not None:
        output.write(job_file(job, budget, strict=strict), end="")
        return
    settings = app.config()
    allowed = settings.settings.check_budget if budget is None else budget
    found = _checked(settings, range_, since, ingest=ingest)
    _show(found, allowed, limit, markdown=markdown, as_json=as_json)
    if found.is_over(allowed) or (strict and found.contradictions):
        sys.exit(OVER)


def _checked(settings: Config, words: str | None, since: str | None, *, ingest: bool) -> Check:
    from hansei.ops.check import check, compared_range, repository_of
    from hansei.store.database import DATABASE

    root = repository_of(app.folder())
    sides = compared_range(root, words)
    if not (settings.store / DATABASE).is_file():  # somebody else's machine, or CI
        return check(root, sides)
    with app.up_to_date(settings, ingest=ingest) as store:
        return check(root, sides, _history(store, settings, since))


def _history(store: Store, settings: Config, since: str | None) -> History | None:
    from hansei.ops.check import history_of

    wanted = dict.fromkeys(("workspace", "until", "agent", "driver"))
    scope = app.scope(store, {**wanted, "everywhere": False, "since": since})
    app.with_facts(store, settings, scope)
    return history_of(store, settings, scope, app.now())


def _show(found: Check, budget: int | None, limit: int, *, markdown: bool, as_json: bool) -> None:
    from hansei.cli import check_pages
    from hansei.ops.check import RULES

    if as_json:
        told = {"budget": budget, "over": found.is_over(budget), "added": found.added}
        output.write_json("check", {**told, "rules": RULES, "check": found})
        return
    page = check_pages.markdown if markdown else check_pages.report
    for line in page(found, budget, limit):
        output.write(line)


def job_file(name: str, budget: int | None, *, strict: bool) -> str:
    """A job that runs this command on every pull or merge request."""
    from importlib.resources import files

    text = files("hansei.cli").joinpath("job_files", f"{name}.yml").read_text(encoding="utf-8")
    given = "" if budget is None else f" --budget {budget}"
    return text.replace("{options}", f"{given}{' --strict' if strict else ''}")
