"""`hansei undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.commands.apply import agree, difference
from hansei.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.instructions.carrying import Undone
    from hansei.ops.undo import Line, Reversal
    from hansei.store.database import Store


@click.command(short_help="Take back what `hansei apply` wrote.")
@click.argument("entry", required=False, type=int, metavar="[ENTRY]")
@click.option("--list", "listed", is_flag=True, help="What was written here, newest first.")
@click.option("--all", "everywhere", is_flag=True, help="In every workspace, not only this.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, change nothing.")
@app.json_option
def command(
    entry: int | None, listed: bool, everywhere: bool, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Show what undoing the last change would do, ask, and do it.

    \b
      hansei undo            the last change in this repository
      hansei undo 3          the change of that number
      hansei undo --list     what was written, and what of it still stands

    A file that nobody touched since is restored byte for byte. Where you edited elsewhere in it,
    exactly our line goes. Where you edited our line, it is yours now: it stays, and this says so.
    """
    from hansei.ops.scope import current_workspace
    from hansei.ops.undo import changes, undoing

    if listed and entry is not None:
        raise UsageError("--list shows all changes; leave the number out")
    if as_json and not (yes or dry_run or listed):
        raise UsageError("--json cannot ask", hint="Add --yes to do it, or --dry-run to look.")
    with app.opened(app.config()) as store:
        number, _ = current_workspace(store, app.folder())
        workspace = None if everywhere else -1 if number is None else number
        if listed:
            _list(changes(store, workspace), as_json=as_json)
            return
        shown = undoing(store, entry, app.folder(), workspace)
        _undo(store, shown, yes=yes, dry_run=dry_run, as_json=as_json)


def _undo(store: Store, shown: Reversal, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    from hansei.ops.undo import undo

    done: Undone | None = None
    if not as_json:
        for line in _shown(shown):
            output.write(line)
    if not (dry_run or shown.undone.already):
        agree("Undo this?", f"hansei undo {shown.line.entry} --yes", yes=yes)
        done = undo(store, shown, now=app.now())
    if as_json:
        output.write_json("undo", _told(shown, done, dry_run=dry_run))
    elif done is not None:
        for line in _ending(shown, done):
            output.write(line)


def _shown(shown: Reversal) -> Iterator[str]:
    line = shown.line
    claim = f": {output.one_line(line.claim)}" if line.claim else ""
    yield from output.wrapped(f"Change {line.entry} of {output.day(line.at)}{claim}")
    if shown.undone.already:
        when = f" on {output.day(line.undone_at)}" if line.undone_at is not None else ""
        yield f"It was undone{when}. Nothing to do."
        return
    yield ""
    for file in shown.undone.files:
        yield from difference(file.diff)
        yield f"{output.one_line(file.path)}: {file.message}"


def _ending(shown: Reversal, done: Undone) -> Iterator[str]:
    left = [file.path for file in done.files if file.change is None]
    kept = f" Left as it is: {', '.join(map(output.one_line, left))}." if left else ""
    yield f"Undid change {shown.line.entry}.{kept}"
    if shown.line.bet is not None:
        yield output.dim("The bet is one to act on again; its measurement is over.")
    if shown.line.commit and len(left) < len(done.files):
        yield output.dim(f"It was committed as {shown.line.commit[:10]}: commit the undoing too.")


def _told(shown: Reversal, done: Undone | None, *, dry_run: bool) -> dict[str, Any]:
    import msgspec

    undone = shown.undone if done is None else done
    files = [
        {
            "path": file.path,
            "message": file.message,
            "changed": file.change is not None,
            "exact": file.exact,
            "diff": file.diff,
        }
        for file in undone.files
    ]
    head = msgspec.to_builtins(shown.line)
    state = str(undone.entry.state)
    undone_at = undone.entry.undone_at
    told = {"dry_run": dry_run, "done": done is not None, "already": undone.already}
    return {**head, "state": state, "undone_at": undone_at, **told, "files": files}


def _list(lines: Sequence[Line], *, as_json: bool) -> None:
    if as_json:
        output.write_json("changes", {"changes": list(lines)})
        return
    if not lines:
        output.write("Nothing was written here. `hansei retro` says what could be.")
        return
    columns = [
        output.Column("entry"),
        output.Column("written", "left"),
        output.Column("state", "left"),
        output.Column("file", "left", flexible=True, keep="ends"),
        output.Column("commit", "left", drop=1),
        output.Column("for", "left", flexible=True),
    ]
    rows = [
        [
            str(it.entry),
            output.minute(it.at),
            it.state,
            ", ".join(map(output.one_line, it.paths)),
            (it.commit or "")[:10],
            output.one_line(it.claim or it.bet or ""),
        ]
        for it in lines
    ]
    for line in output.table(columns, rows):
        output.write(line)
