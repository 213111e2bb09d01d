"""`hansei brief`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim, one_line, plural
from hansei.cli.remembered import failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.brief import Brief


@click.command(short_help="What an agent should know before it begins.")
@click.argument("task", required=False)
@click.option(
    "-f", "--file", "files", multiple=True, metavar="FILE", help="A file the task is about."
)
@click.option("--budget", type=click.IntRange(min=1), help="Tokens that the answer may take.")
@app.ingest_option
@app.json_option
def command(
    task: str | None, files: tuple[str, ...], budget: int | None, ingest: bool, as_json: bool
) -> None:
    """What matters here before work begins: skills, known failures, repeated words, hot files.

    \b
      hansei brief                                  about this repository
      hansei brief "make the invoice tests pass"    about a task
      hansei brief -f src/money.py                  about files

    Agents ask the same of `hansei mcp`. Everything told is within a budget of tokens, and what
    there was no room for is counted.
    """
    from hansei.ops.brief import BUDGET, brief

    settings = app.config()
    wanted = dict.fromkeys(("everywhere", "workspace", "since", "until", "agent", "driver"))
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        app.with_facts(store, settings, scope)
        found = brief(
            store,
            settings,
            app.folder(),
            scope,
            now=app.now(),
            task=task,
            files=files,
            budget=budget or BUDGET,
        )
    if as_json:
        output.write_json("brief", found)
        return
    for line in _page(found):
        output.write(line)


def _page(found: Brief) -> Iterator[str]:
    if not (found.skills or found.failures or found.steers or found.hot):
        yield "Nothing is known about this yet: no skills, no failure that came back."
        return
    for skill in found.skills:
        yield bold(one_line(skill.name))
        for line in skill.text.splitlines():
            yield f"  {output.safe(line)}"
        yield ""
    for it in found.failures:
        yield from failure(it)
        yield ""
    yield from _listed("People said more than once", _steers(found))
    yield from _listed("Files that sessions change", _hot(found))
    more = f" {found.left_out} more did not fit: --budget." if found.left_out else ""
    yield dim(f"About {found.tokens:,} of {found.budget:,} tokens.{more}")


def _listed(title: str, lines: Iterator[str]) -> Iterator[str]:
    told = list(lines)
    if told:
        yield from (bold(title), *told, "")


def _steers(found: Brief) -> Iterator[str]:
    for it in found.steers:
        place = f"  {it.reference} ({plural(it.sessions, 'session')})"
        room = max(output.terminal_width() - len(place) - 4, output.NARROWEST)
        yield f"  “{output.cut(one_line(it.words), room)}”{dim(place)}"


def _hot(found: Brief) -> Iterator[str]:
    for it in found.hot:
        told = f"changed in {plural(it.sessions, 'session')}, read {plural(it.reads, 'time')}"
        yield f"  {one_line(it.path)}  {dim(told)}"
