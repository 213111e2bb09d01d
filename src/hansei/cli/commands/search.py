"""`hansei search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.diagnostics import warn
from hansei.cli.output import bold, dim, one_line, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.scope import Scope
    from hansei.ops.search import Found, Hit, Line, SessionHits, Wanted
    from hansei.store.database import Store

INDENT = " " * 6
_STATUS = {"failed": "red", "ok": "green", "unknown": "yellow"}


@click.command(short_help="Find text in prompts, replies, commands, outputs and edits.")
@click.argument("text")
@click.option("-e", "--regex", is_flag=True, help="TEXT is a regular expression (RE2).")
@click.option("-s", "--case-sensitive", is_flag=True, help="Tell capitals from small letters.")
@click.option(
    "-k",
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    help="prompt, reply, thought, command, output, edit, slash, notice, compaction or "
    "interruption. May be given several times.",
)
@click.option("--tool", metavar="TOOL", help="Of calls of one tool: shell, read, edit, write …")
@click.option("--status", metavar="STATUS", help="Of calls that ended so: ok, failed, unknown.")
@app.scope_options
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="How many; 0 for all.",
)
@click.option(
    "-C",
    "--context",
    type=click.IntRange(0, 50),
    default=1,
    show_default=True,
    help="Lines shown around a matching one.",
)
@app.ingest_option
@app.json_option
def command(
    text: str,
    regex: bool,
    case_sensitive: bool,
    kinds: tuple[str, ...],
    tool: str | None,
    status: str | None,
    wanted: dict[str, Any],
    limit: int,
    context: int,
    ingest: bool,
    as_json: bool,
) -> None:
    """Find text in prompts, replies, commands, outputs and edits; the newest sessions come first.

    \b
      hansei search "permission denied"               any mixture of capitals and small letters
      hansei search npm -k command --status failed    commands with npm in them that failed
      hansei search -e "E[0-9]{4}" -k output --all    a regular expression, in every workspace
      hansei search -- --force                        text that begins with a dash
    """
    from hansei.ops.search import Wanted, search
    from hansei.store.query import Pattern

    settings = app.config()
    looked_for = Wanted(Pattern(text, regex, case_sensitive), kinds, tool, status)
    with app.up_to_date(settings, ingest=ingest) as store:
        scope = app.scope(store, wanted)
        found = search(store, scope, looked_for, limit=limit or None, context=context)
        empty = None if found.hits else _nothing(store, scope, looked_for, found)
    for problem in found.unreadable:
        warn(f"a sealed file was not searched: {problem}")
    if as_json:
        output.write_json("search", found)
    elif empty:
        output.write(empty)
    else:
        for line in listing(found, everywhere=scope.workspace is None):
            output.write(line)


def _nothing(store: Store, scope: Scope, wanted: Wanted, found: Found) -> str:
    if not found.searched_sessions:
        return app.nothing_here(store, scope)
    place = f" of {one_line(scope.workspace_name)}" if scope.workspace_name else ""
    tries = []
    if wanted.kinds or wanted.tool or wanted.status:
        tries.append("without --kind, --tool and --status")
    if wanted.pattern.case_sensitive:
        tries.append("without --case-sensitive")
    if scope.workspace is not None:
        tries.append("with --all")
    hint = f" Try {', or '.join(tries)}." if tries else ""
    return (
        f"No hits for {one_line(wanted.pattern.text)!r}"
        f" in {plural(found.searched_sessions, 'session')}{place}.{hint}"
    )


def listing(found: Found, *, everywhere: bool) -> Iterator[str]:
    """Hits under the heading of their session, and how many there are in all."""
    for result in found.results:
        yield heading(result, everywhere=everywhere)
        for hit in result.hits:
            yield from _block(hit)
        yield ""
    yield from map(dim, output.wrapped(_total(found)))


def heading(result: SessionHits, *, everywhere: bool) -> str:
    facts = [output.day(result.started_at), result.agent, result.short]
    if everywhere:
        facts.insert(0, result.workspace)
    if result.driver and result.driver != "human":
        facts.append(result.driver)
    told = " · ".join(map(one_line, facts))
    room = output.terminal_width() - output.width(told) - 2
    name = output.cut(one_line(result.name or result.id), max(room, output.NARROWEST))
    return f"{bold(name)}  {dim(told)}"


def _block(hit: Hit) -> Iterator[str]:
    """A hit's reference, time and kind, and its lines."""
    yield f"  {hit.reference}  {dim(output.minute(hit.at))}  {_label(hit)}"
    for passage in hit.passages:
        last = None
        if passage.field != "text":
            yield f"{INDENT}{dim(one_line(passage.field))}"
        for line in passage.lines:
            if last is not None and line.number > last + 1:
                yield f"{INDENT}{dim('⋮')}"
            yield f"{INDENT}{_styled(line, output.terminal_width() - len(INDENT))}"
            last = line.number
    if hit.more_lines:
        more = plural(hit.more_lines, "more matching line")
        yield f"{INDENT}{dim(f'… {more}')}"


def _label(hit: Hit) -> str:
    name = f" {one_line(hit.name)}" if hit.name else ""
    if hit.status is None:
        return f"{hit.kind}{name}"
    code = f" (exit {hit.exit_code})" if hit.status == "failed" and hit.exit_code else ""
    return f"{hit.kind}{name} {click.style(f'{hit.status}{code}', fg=_STATUS[hit.status])}"


def _styled(line: Line, columns: int) -> str:
    """A line in at most so many columns, the matches in it set off from the rest."""
    from hansei.ops.search import around

    line = around(line, columns)
    told, last = "", 0
    for start, stop in [*line.matches, (len(line.text), len(line.text))]:
        for text, matched in ((line.text[last:start], False), (line.text[start:stop], True)):
            plain = output.cut(_plain(text), max(columns - output.width(told), 0))
            told += click.style(plain, fg="red", bold=True) if matched and plain else plain
        last = stop
    return told if line.matches else dim(told)


def _plain(text: str) -> str:
    return output.safe(text).replace("\t", "    ")


def _total(found: Found) -> str:
    hits = f"{plural(found.hits, 'hit')} in {plural(found.sessions, 'session')}"
    example = f"`hansei show {found.results[0].hits[0].reference}` opens one"
    if found.shown < found.hits:
        return f"Showing {found.shown:,} of {hits}, the newest; -n 0 shows all. {example}."
    return f"{hits}. {example}."
