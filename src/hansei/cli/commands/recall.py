"""`hansei recall`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim, one_line, plural
from hansei.cli.remembered import failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.recall import About, Recalled

LONGEST = 1_000_000
"""Characters of standard input that are looked at: more is a log, not a question."""


@click.command(short_help="What helped the last time this error was met.")
@click.argument("words", metavar="TEXT", nargs=-1, required=True)
@app.scope_options
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 50),
    default=3,
    show_default=True,
    help="Known failures to show.",
)
@app.ingest_option
@app.json_option
def command(
    words: tuple[str, ...], wanted: dict[str, Any], limit: int, ingest: bool, as_json: bool
) -> None:
    """What helped the last time an error was met, or who worked on a topic, with the evidence.

    \b
      hansei recall "No module named 'berthline'"     an error, or the line of it you remember
      pytest 2>&1 | hansei recall -                   a whole output; the telling line is found
      hansei recall "flaky login test"                a topic

    What succeeded afterwards is told as it was typed then. It is evidence, not advice: open it
    with `hansei show` before you trust it.
    """
    from hansei.ops.recall import recall

    settings = app.config()
    question = sys.stdin.read(LONGEST) if words == ("-",) else " ".join(words)
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        app.with_facts(store, settings, scope)
        found = recall(store, scope, question, limit=limit)
        empty = app.nothing_here(store, scope) if not found.compared else None
    if as_json:
        output.write_json("recall", found)
    elif empty and not found.sessions:
        output.write(empty)
    else:
        for line in _page(found):
            output.write(line)


def _page(found: Recalled) -> Iterator[str]:
    if not found.failures and not found.sessions:
        place = f" of {one_line(found.workspace)}" if found.workspace else ""
        yield f"Nothing like it among {plural(found.compared, 'known failure')}{place}."
        yield dim("`hansei search` looks for words in everything that was said and done.")
        return
    for remembered in found.failures:
        yield from failure(remembered)
        yield ""
    if found.sessions:
        yield bold("Sessions about it")
        for about in found.sessions:
            yield _session(about)
        yield ""
    yield _closing(found)


def _session(about: About) -> str:
    head = f"  {about.reference}  {output.day(about.started_at)}  "
    room = max(output.terminal_width() - output.width(head), output.NARROWEST)
    return f"{dim(head)}{output.cut(one_line(about.name), room)}"


def _closing(found: Recalled) -> str:
    first = found.failures[0].reference if found.failures else found.sessions[0].reference
    more = f"{found.more} more are like it: -n shows them. " if found.more else ""
    return dim(f"{more}`hansei show {first}` opens the first.")
