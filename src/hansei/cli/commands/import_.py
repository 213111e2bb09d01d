"""`hansei import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hansei.cli import app, diagnostics, output
from hansei.errors import UsageError

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.ops.imports import Checked, Unread
    from hansei.ops.imports import Imported as ImportedLogs
    from hansei.ops.reviews import Imported

SHOWN = 10
PIPED = "-"
CHECK_FAILED = 1


@click.command("import", short_help="Take in logs of other agents, or reviews of your changes.")
@click.argument("logs", metavar="[FILE|DIR|-]...", nargs=-1)
@click.option("--format", "wanted", metavar="NAME", help="The format, where it is not recognised.")
@click.option(
    "--check", is_flag=True, help="Only say what the logs tell and what is wrong in them."
)
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where the sessions ran, for logs that do not say it.",
)
@click.option(
    "--reviews",
    metavar="FILE",
    help="Review comments as JSON, of GitHub or GitLab; - reads standard input.",
)
@click.option("--workspace", metavar="NAME", help="With --reviews: another workspace.")
@app.json_option
def command(
    logs: tuple[str, ...],
    wanted: str | None,
    check: bool,
    folder: Path | None,
    reviews: str | None,
    workspace: str | None,
    as_json: bool,
) -> None:
    """Take in what does not lie where hansei looks: logs of any agent or framework, and reviews.

    \b
      hansei import run.traj.json          one log
      hansei import traces/ --folder .     every log in a folder; they ran here
      exporter | hansei import -           what a program prints
      hansei import --check log.jsonl      is it as its format has it?

    Formats: chat messages of OpenAI's API, traces of the OpenAI Agents SDK, Assistants threads,
    LangSmith runs, OTLP spans (GenAI and OpenInference names), trajectories of SWE-agent,
    mini-swe-agent and OpenHands, and hansei's own, which is easy to write: docs/formats says how
    each is read. A log is recognised by its content. Importing it again adds only what is new;
    secrets are replaced before anything is stored. --check stores nothing and exits with 1 if
    something is wrong.

    \b
      gh api --paginate repos/OWNER/REPO/pulls/comments > reviews.json
      hansei import --reviews reviews.json

    Each review comment is kept once, however often you import it, and is looked for by content in
    what agents wrote in this workspace. `hansei forget` removes it with the workspace.
    """
    if reviews is not None and not logs:
        _import_reviews(reviews, workspace, as_json=as_json)
    elif logs and reviews is None:
        settings = app.config()
        if check:
            _check(logs, wanted, as_json=as_json)
        else:
            _import(settings, logs, wanted, folder, as_json=as_json)
    else:
        raise UsageError(
            "name logs or --reviews, not both" if logs else "nothing to import was named",
            hint="`hansei import FILE` takes in a log, `hansei import --reviews FILE` reviews.",
        )


# --- logs -----------------------------------------------------------------------------------------


def _place(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.exists():
        raise UsageError(
            f"{name} is not there", hint="Name files or folders, or - for standard input."
        )
    return path


def _import(
    settings: Config,
    logs: tuple[str, ...],
    wanted: str | None,
    folder: Path | None,
    *,
    as_json: bool,
) -> None:
    from hansei.ops.imports import import_logs

    named = [_kept(settings, wanted) if name == PIPED else _place(name) for name in logs]
    with app.opened(settings) as store:
        done = import_logs(
            store,
            settings,
            named,
            wanted=wanted,
            folder=folder.resolve() if folder else None,
            now=app.now(),
        )
    if as_json:
        output.write_json("import_logs", done)
        return
    _print_formats([log.format for log in done.logs])
    output.write(
        f"{output.plural(done.events, 'new event')}, {done.changed:,} changed;"
        f" {_listed(done.sessions)} in all."
    )
    _print_unread(done.unread)
    if done.skipped:
        output.write(
            f"{output.plural(done.skipped, 'record')} could not be read: `hansei import --check"
            f"{f' --format {wanted}' if wanted else ''}` says which and why."
        )
    _next(done, folder)


def _kept(settings: Config, wanted: str | None) -> Path:
    """Standard input as a file in the store; what is in no format is not kept."""
    from hansei.ops.imports import keep_piped, piped, recognised

    data = sys.stdin.buffer.read()
    if wanted is None:
        recognised(piped(data))
    return keep_piped(settings, data)


def _next(done: ImportedLogs, folder: Path | None) -> None:
    if done.nowhere and folder is None:
        output.write(
            f"{output.plural(done.nowhere, 'session')} did not say where it ran, and belongs to no"
            " repository: `--folder DIR` says it, and `hansei sessions --all` shows it anyway."
            if done.nowhere == 1
            else f"{done.nowhere:,} sessions did not say where they ran, and belong to no"
            " repository: `--folder DIR` says it, and `hansei sessions --all` shows them anyway."
        )
    elif done.sessions:
        output.write("`hansei sessions` lists them.")


def _listed(sessions: dict[str, int]) -> str:
    parts = [f"{output.plural(count, 'session')} of {name}" for name, count in sessions.items()]
    return ", ".join(parts) or "no session"


def _print_formats(formats: list[str]) -> None:
    counts = {name: formats.count(name) for name in sorted(set(formats))}
    parts = [f"{count:,} × {name}" for name, count in counts.items()]
    output.write(f"{output.plural(len(formats), 'log')}: {', '.join(parts)}.")


def _print_unread(unread: list[Unread]) -> None:
    if not unread:
        return
    output.write(f"{output.plural(len(unread), 'file')} not taken in:")
    for it in unread[:SHOWN]:
        output.write(f"  {output.one_line(it.path)}: {output.one_line(it.reason)}")
    if len(unread) > SHOWN:
        output.write(f"  and {len(unread) - SHOWN:,} more: --json lists them all.")


def _check(logs: tuple[str, ...], wanted: str | None, *, as_json: bool) -> None:
    from hansei.ops.imports import check_logs, piped

    named = [piped(sys.stdin.buffer.read()) if it == PIPED else _place(it) for it in logs]
    checked = check_logs(named, wanted=wanted)
    if as_json:
        output.write_json("import_check", checked)
    else:
        _print_check(checked)
    if not checked.fine:
        sys.exit(CHECK_FAILED)


def _print_check(checked: Checked) -> None:
    for fault in checked.faults:
        output.write(f"{output.one_line(fault.path)}:{fault.line}: {output.one_line(fault.reason)}")
    for it in checked.unread:
        output.write(f"{output.one_line(it.path)}: {output.one_line(it.reason)}")
    _print_formats([log.format for log in checked.logs])
    kinds = ", ".join(f"{count:,} {name}" for name, count in sorted(checked.events.items()))
    tokens = "tokens unknown" if checked.tokens is None else f"{checked.tokens:,} tokens"
    output.write(f"{output.plural(checked.sessions, 'session')}, {tokens}: {kinds or 'no event'}.")
    for name, count in sorted(checked.unrecognised.items()):
        output.write(f"  {count:,} × unrecognised: {output.one_line(name)}")
    faults = len(checked.faults) + len(checked.unread)
    output.write("Nothing is wrong." if not faults else f"{output.plural(faults, 'fault')}.")


# --- reviews --------------------------------------------------------------------------------------


def _import_reviews(reviews: str, workspace: str | None, *, as_json: bool) -> None:
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
    if name == PIPED:
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
