"""`hansei apply`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, bet_words, output
from hansei.cli.diagnostics import note
from hansei.errors import UnusableInstructions, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.ops.apply import Proposal
    from hansei.ops.experiments.powers import Foretold
    from hansei.ops.retro import Offer
    from hansei.store.database import Store
    from hansei.store.journal import Entry

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
STDOUT = "-"
DECLINED = 1
"""The exit code where a person says no."""


@click.command(short_help="Make the change that a bet proposes.")
@click.argument("bet", metavar="BET")
@click.option("--to", "target", metavar="FILE", help="Into this file, from the repository's top.")
@click.option("--commit", is_flag=True, help="Commit exactly the file that is written.")
@click.option("--again", is_flag=True, help="Also where you took the line out by hand.")
@click.option("--brief", metavar="FILE", help="Any bet as a task in Markdown, here; - is stdout.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, change nothing.")
@click.option("--workspace", metavar="NAME", help="Of another workspace, by name or folder.")
@app.ingest_option
@app.json_option
def command(
    bet: str,
    target: str | None,
    commit: bool,
    again: bool,
    brief: str | None,
    yes: bool,
    dry_run: bool,
    workspace: str | None,
    ingest: bool,
    as_json: bool,
) -> None:
    """Show the change that a bet proposes, ask, and make it.

    \b
      hansei apply 1                     the first of the list you saw last
      hansei apply 3f2a --to CLAUDE.md   by its id, into another file than the one chosen
      hansei apply 1 --commit            and commit that file, if nothing else in it is yours
      hansei apply 2 --brief task.md     as a task to hand to a person or an agent

    A line goes into one marked block of an instruction file; every other byte of it stays, and
    `hansei undo` takes it back. Later sessions will show whether it helped. Bets that need your
    hands, such as splitting a file or switching off a skill, are printed as a task; settings of
    agents are never changed.
    """
    from hansei.ops.apply import propose
    from hansei.ops.decisions import offered

    if brief and (target or commit or again):
        raise UsageError("--brief writes a task, so --to, --commit and --again mean nothing")
    if as_json and not (yes or dry_run):
        raise UsageError("--json cannot ask", hint="Add --yes to do it, or --dry-run to look.")
    settings = app.config()
    with app.up_to_date(settings, ingest=ingest) as store:
        wanted = dict.fromkeys(("everywhere", "since", "until", "agent", "driver"))
        scope = app.scope(store, {**wanted, "workspace": workspace})
        app.with_facts(store, settings, scope)
        _, offer = offered(store, scope, bet, app.now(), anywhere=workspace is None)
        if brief:
            _hand_over(store, offer, brief, dry_run=dry_run, as_json=as_json)
            return
        proposal = propose(store, offer, app.folder(), target=target, again=again)
        if proposal.plan is None:
            if commit or again:
                raise UsageError("this bet is a task, so --commit and --again mean nothing")
            _hand_over(store, offer, STDOUT, dry_run=dry_run, as_json=as_json)
        else:
            _change(store, proposal, commit=commit, yes=yes, dry_run=dry_run, as_json=as_json)


def _change(
    store: Store, proposal: Proposal, *, commit: bool, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Show it, ask, do it, say what was done."""
    from hansei.ops.apply import apply, remember_again

    assert proposal.plan is not None
    if proposal.plan.problems:
        problem = proposal.plan.problems[0]
        raise UnusableInstructions(problem.message, hint=problem.hint)
    if not as_json:
        for line in shown(proposal):
            output.write(line)
    entry: Entry | None = None
    if not proposal.plan.files:
        entry = (
            None if dry_run or not store.writable else remember_again(store, proposal, app.now())
        )
    elif not dry_run:
        agree("Write this?", f"hansei apply {proposal.offer.short} --yes", yes=yes)
        entry = apply(store, proposal, now=app.now(), commit=commit)
    if as_json:
        output.write_json("apply", _told(proposal, entry, dry_run=dry_run))
    elif entry is not None:
        from hansei.ops.experiments.powers import foretell

        for line in ending(proposal, entry, foretell(store, proposal.offer, app.now())):
            output.write(line)


def agree(question: str, again: str, *, yes: bool) -> None:
    """Ask a person; no is the answer where they just press Enter."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            "nothing was changed, because there is nobody to ask",
            hint=f"`{again}` does it without asking.",
        )
    if not click.confirm(question, err=True):
        note("Nothing was changed.")
        sys.exit(DECLINED)


def difference(text: str) -> Iterator[str]:
    """A difference, coloured as git does."""
    for line in text.splitlines():
        heading = line.startswith(("+++", "---"))
        yield click.style(
            output.safe(line), bold=heading, fg=None if heading else COLOURS.get(line[:1])
        )


def shown(proposal: Proposal) -> Iterator[str]:
    """The change and what it costs."""
    plan, size = proposal.plan, proposal.size
    assert plan is not None
    yield from output.wrapped(output.one_line(proposal.offer.claim))
    yield ""
    yield from difference(plan.diff)
    if proposal.offer.told_at:
        yield from output.wrapped(bet_words.told_already(proposal.offer))
    for told in plan.notes:
        yield from output.wrapped(f"{told.path}: {told.message}")
    if not plan.files:
        yield "Nothing to write."
    if size is not None:
        week = proposal.weekly_tokens
        carried = "" if week is None else f", {output.tokens(week)} a week at your present pace"
        yield ""
        yield from output.wrapped(
            f"costs   {size.tokens:,} tokens ({size.low:,}–{size.high:,}, derived) in every"
            f" request, with the marks of the block{carried}",
            8,
        )
        yield from map(output.dim, output.wrapped(f"rule    {size.rule}", 8))


def ending(proposal: Proposal, entry: Entry, foretold: Foretold | None) -> Iterator[str]:
    """What was done, and what comes of it."""
    paths = ", ".join(output.one_line(file.path) for file in entry.files)
    commit = f", committed as {entry.commit[:10]}" if entry.commit else ""
    yield f"Wrote {paths}{commit}. `hansei undo {entry.id}` takes it back."
    if foretold is not None:
        yield from map(output.dim, output.wrapped(_when(proposal.offer, entry, foretold)))


def _when(offer: Offer, entry: Entry, foretold: Foretold) -> str:
    """When one will know, as far as that can be told."""
    if not foretold.enough:
        return (
            "`hansei exp report` counts from now on how often it comes up, but there are too few"
            " weeks to compare with: it takes three before the four that the bet was made from. A"
            f" coin needs none: `hansei undo {entry.id}`, then"
            f" `hansei exp new --bind exposure --bet {offer.short}`."
        )
    if foretold.sessions is None or foretold.days is None:
        return (
            "`hansei exp report` counts from now on how often it comes up. Half as often would"
            " hardly be told from chance within half a year."
        )
    sessions = output.plural(foretold.sessions, "session")
    return (
        "`hansei exp report` counts from now on how often it comes up. If that is half as often,"
        f" the chance to know it is even after {sessions} ({output.plural(foretold.days, 'day')})."
    )


def _told(proposal: Proposal, entry: Entry | None, *, dry_run: bool) -> dict[str, Any]:
    plan, offer = proposal.plan, proposal.offer
    assert plan is not None
    return {
        "bet": offer.id,
        "claim": offer.claim,
        "design": offer.change.design,
        "dry_run": dry_run,
        "done": entry is not None,
        "repository": str(plan.repository),
        "files": [file.path for file in plan.files],
        "diff": plan.diff,
        "notes": [{"path": it.path, "message": it.message} for it in plan.notes],
        "tokens": None if proposal.size is None else proposal.size._asdict(),
        "weekly_tokens": proposal.weekly_tokens,
        "entry": None if entry is None else entry.id,
        "commit": None if entry is None else entry.commit,
    }


# --- tasks ----------------------------------------------------------------------------------------


def _hand_over(store: Store, offer: Offer, file: str, *, dry_run: bool, as_json: bool) -> None:
    from hansei.cli.task_page import task
    from hansei.ops.apply import accept

    text = "\n".join(task(offer)) + "\n"
    if not dry_run:
        accept(store, offer, app.now())
        if file != STDOUT:
            _write_new(file, text)
    if as_json:
        told = {"bet": offer.id, "claim": offer.claim, "design": offer.change.design}
        written = None if dry_run or file == STDOUT else file
        output.write_json(
            "apply", {**told, "dry_run": dry_run, "done": False, "brief": text, "file": written}
        )
    elif file == STDOUT or dry_run:
        output.write(text, end="")
    else:
        output.write(f"Wrote {file}.")
    if not (dry_run or as_json):
        note(f"Accepted {offer.short}: hand this to a person or an agent.")


def _write_new(file: str, text: str) -> None:
    path = app.folder() / file
    try:
        with path.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise UsageError(f"{file} is there already", hint="Choose another name.") from None
    except OSError as problem:
        raise UsageError(f"{file} cannot be written: {problem.strerror}") from None
