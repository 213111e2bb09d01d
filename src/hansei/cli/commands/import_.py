"""`hansei import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hansei.cli import app, diagnostics, output
from hansei.errors import UsageError

if TYPE_CHECKING:
    from hansei.ops.reviews import Imported

SHOWN = 10


@click.command("import", short_help="Take in reviews of your changes.")
@click.option(
    "--reviews",
    metavar="FILE",
    help="Review comments as JSON, of GitHub or GitLab; - reads standard input.",
)
@click.option("--workspace", metavar="NAME", help="Another workspace than this folder's.")
@app.json_option
def command(reviews: str | None, workspace: str | None, as_json: bool) -> None:
    """Take in what no transcript holds: what people said about changes in review.

    \b
      gh api --paginate repos/OWNER/REPO/pulls/comments > reviews.json
      hansei import --reviews reviews.json

    Each comment is kept once, however often you import it, and is looked for by content in what
    agents wrote in this workspace. Secrets are replaced before anything is stored. `hansei forget`
    removes it with the workspace.
    """
    if reviews is None:
        raise UsageError(
            "nothing to import was named", hint="`hansei import --reviews FILE` takes in reviews."
        )
    from hansei.ops.reviews import import_reviews

    settings = app.config()
    data, name = _read(reviews)
    with app.up_to_date(settings, ingest=True) as store:
        imported = import_reviews(
            store, data, name, folder=app.folder(), workspace=workspace, now=app.now()
        )
    if imported.cut_off:
        diagnostics.warn(f"the end of {name} could not be read: what stood before it was taken in.")
    if as_json:
        output.write_json("import", imported)
    else:
        _print(imported)


def _read(name: str) -> tuple[bytes, str]:
    if name == "-":
        return sys.stdin.buffer.read(), "standard input"
    try:
        return Path(name).expanduser().read_bytes(), name
    except OSError as problem:
        raise UsageError(
            f"{name} cannot be read: {problem.strerror}",
            hint="Name a file, or - for standard input.",
        ) from None


def _print(imported: Imported) -> None:
    total = imported.new + imported.changed + imported.known
    output.write(
        f"{output.plural(total, 'review')} of {output.one_line(imported.workspace)}:"
        f" {imported.new:,} new, {imported.changed:,} changed, {imported.known:,} known already;"
        f" {imported.bots:,} by programs."
    )
    if not imported.matched:
        output.write(
            f"None of the {imported.on_lines:,} that show their lines is about an edit we know."
            if imported.on_lines
            else "None of them shows the lines it is about."
        )
        return
    verb = "is" if len(imported.matched) == 1 else "are"
    output.write(f"{len(imported.matched):,} {verb} about lines that an agent wrote here:")
    for about in imported.matched[:SHOWN]:
        place = f"{about.path}:{about.line}" if about.line else f"{about.path}"
        parts = (f"{about.session}#{about.seq}", place, about.words)
        line = "  ".join(["", *map(output.one_line, parts)])
        output.write(output.cut(line, output.terminal_width()))
    if len(imported.matched) > SHOWN:
        output.write(f"  and {len(imported.matched) - SHOWN:,} more: --json lists them all.")
    first = imported.matched[0]
    output.write(f"`hansei show {first.session}#{first.seq}` opens the first.")
