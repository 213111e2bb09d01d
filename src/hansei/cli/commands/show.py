"""`hansei show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import app, output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.exposure import Exposure
    from hansei.ops.sessions import SessionLine
    from hansei.projection.funnel import Use


@click.command(short_help="Open one session, or one event of it.")
@click.argument("reference", metavar="SESSION[#EVENT]")
@click.option("--full", is_flag=True, help="Do not fold long texts.")
@click.option("--thoughts", is_flag=True, help="Show the model's thoughts too.")
@click.option("--hooks", is_flag=True, help="Show what hooks saw too.")
@click.option(
    "--exposure", is_flag=True, help="Show which instructions were in force and used instead."
)
@click.option("--tree", is_flag=True, help="Show turns, requests, calls and subagents instead.")
@click.option("--context", is_flag=True, help="Show what filled the context instead.")
@app.ingest_option
@app.json_option
def command(
    reference: str,
    full: bool,
    thoughts: bool,
    hooks: bool,
    exposure: bool,
    tree: bool,
    context: bool,
    ingest: bool,
    as_json: bool,
) -> None:
    """Open a session as a timeline: prompts, replies, calls and how they ended, edits, tokens.

    \b
      hansei show 5f1c              a session, by any unambiguous beginning of its id
      hansei show 5f1c#112          one event of it in full, with the other half of its call
      hansei show 5f1c --tree       turns, requests, calls and subagents, with time and tokens
      hansei show 5f1c --context    what filled the context, and how often it was paid for
      hansei show 5f1c --exposure   instruction files, rules, skills, servers: in force, used
    """
    if exposure + tree + context > 1:
        raise click.UsageError("--exposure, --tree and --context show different things: take one.")
    if exposure:
        _exposure(reference, ingest=ingest, as_json=as_json)
        return
    if tree or context:
        (_tree if tree else _context)(reference, ingest=ingest, as_json=as_json)
        return
    from hansei.cli.timeline import event_in_full, timeline
    from hansei.ops.show import show

    with app.up_to_date(app.config(), ingest=ingest) as store:
        shown = show(store, reference)
    if as_json:
        output.write_json(
            "show",
            {
                "session": shown.session,
                "children": shown.children,
                "events": [{"seq": seq, "event": event} for seq, event in shown.events],
            },
        )
    elif "#" in reference:
        output.page(line for found in shown.events for line in event_in_full(found))
    else:
        output.page(timeline(shown, full=full, thoughts=thoughts, hooks=hooks))


def _tree(reference: str, *, ingest: bool, as_json: bool) -> None:
    from hansei.cli.anatomy import tree_lines
    from hansei.ops.anatomy import tree

    with app.up_to_date(app.config(), ingest=ingest) as store:
        found = tree(store, reference)
    if as_json:
        spans = [{**span._asdict(), "text": text} for span, text in zip(*found.found, strict=True)]
        output.write_json("tree", {"session": found.session, "spans": spans})
    else:
        output.page([*_title(found.session), *tree_lines(found.found)])


def _context(reference: str, *, ingest: bool, as_json: bool) -> None:
    from hansei.cli.anatomy import context_lines
    from hansei.ops.anatomy import context

    with app.up_to_date(app.config(), ingest=ingest) as store:
        shown = context(store, reference)
    if as_json:
        found = shown.found
        answer = {
            "session": shown.session,
            "requests": found.requests,
            "untold": found.untold,
            "billed": found.billed,
            "rates": found.rates._asdict(),
            "totals": [it._asdict() for it in shown.totals],
            "pieces": [{**it._asdict(), "billed": it.billed} for it in found.pieces],
            "asides": [it._asdict() for it in found.asides],
        }
        output.write_json("context", answer)
    else:
        output.page([*_title(shown.session), *context_lines(shown.found, shown.events)])


def _title(session: SessionLine) -> Iterator[str]:
    yield output.bold(
        output.cut(output.one_line(session.name or session.id), output.terminal_width())
    )


def _exposure(reference: str, *, ingest: bool, as_json: bool) -> None:
    from hansei.ops.exposure import exposure

    with app.up_to_date(app.config(), ingest=ingest) as store:
        found = exposure(store, reference)
    if as_json:
        output.write_json("exposure", found)
    else:
        output.page(in_force(found))


def in_force(found: Exposure) -> Iterator[str]:
    """The ledger of a session as people read it."""
    yield from _title(found.session)
    yield output.dim(_BASES[found.basis] if found.basis else f"Files unknown: {found.note}.")
    columns = [
        Column("kind", "left"),
        Column("bytes"),
        Column("hash", "left", drop=1),
        Column("known from", "left"),
        Column("in force", "left", drop=2),
        Column("text", "left", flexible=True, keep="ends"),
    ]
    rows = [
        (
            output.one_line(text.kind),
            f"{text.bytes:,}",
            text.hash[:8],
            text.basis,
            "from the start" if text.reach == "start" else "in its folder",
            output.one_line(text.path or "(a text with hansei's marker)"),
        )
        for text in found.texts
    ]
    if rows:
        yield from output.table(columns, rows)
    elif found.basis:
        yield "There were none."
    yield from _how_far(found.uses)


def _how_far(uses: list[Use]) -> Iterator[str]:
    """What came of the texts: those that matched a prompt or fired, and how many did not."""
    if not uses:
        return
    moved = [use for use in uses if use.matched or use.calls]
    yield ""
    steps = [
        _total("matched a prompt", [use.matched for use in uses]),
        _total("fired", [use.fired for use in uses]),
        _total("followed", [use.followed for use in uses]),
    ]
    yield output.dim(f"{output.plural(len(uses), 'text')} listed; {', '.join(steps)}.")
    columns = [
        Column("kind", "left"),
        Column("matched", "left"),
        Column("fired", "left"),
        Column("followed", "left"),
        Column("calls"),
        Column("tokens", drop=1),
        Column("text", "left", flexible=True, keep="ends"),
    ]
    rows = [
        (
            use.kind,
            _step(use.matched, use.matched_seq),
            _step(use.fired, use.fired_seq),
            _step(use.followed, use.followed_seq),
            f"{use.calls:,}",
            "unknown" if use.tokens is None else f"{use.tokens:,}",
            output.one_line(use.name),
        )
        for use in moved
    ]
    if rows:
        yield from output.table(columns, rows)


def _total(step: str, reached: list[bool | None]) -> str:
    unknown = reached.count(None)
    return f"{reached.count(True)} {step}" + (f" ({unknown} unknown)" if unknown else "")


def _step(reached: bool | None, seq: int | None) -> str:
    if reached is None:
        return "unknown"
    return ("yes" if seq is None else f"#{seq}") if reached else "no"


_BASES = {
    "hook": "Files as a hook saw them when the session began.",
    "commit": "Files as the commit holds them; whether the tree was clean is not known.",
}
