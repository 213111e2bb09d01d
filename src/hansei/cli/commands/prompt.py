"""`hansei prompt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.commands.apply import agree, difference
from hansei.cli.diagnostics import note
from hansei.errors import UnusableInstructions, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hansei.config import Config
    from hansei.learn.compile import Chosen
    from hansei.ops.prompt import Compiled
    from hansei.ops.prompt_files import Proposal
    from hansei.store.journal import Entry

TEXT, JSON = "text", "json"


@click.command(short_help="Approved skills as text for agents, within a budget.")
@click.argument("paths", nargs=-1, metavar="[FILE]...")
@click.option(
    "--target",
    "names",
    multiple=True,
    metavar="PLACE",
    help="CLAUDE.md, AGENTS.md, .cursor/rules, .github/copilot-instructions.md, GEMINI.md,"
    " .goosehints, .claude/skills or .agents/skills; again for several.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    metavar="TOKENS",
    help="What the skills may take in every session of one place; 2,000 unless told.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice([TEXT, JSON]),
    help="Print the text for an agent of your own.",
)
@click.option("--apply", "write", is_flag=True, help="Write it, after asking.")
@click.option("--again", is_flag=True, help="Also where you took it out by hand.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@app.json_option
def command(
    paths: tuple[str, ...],
    names: tuple[str, ...],
    budget: int | None,
    form: str | None,
    write: bool,
    again: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show what approved skills would add to the files agents read, and with --apply write it.

    \b
      hansei prompt                             the difference, for the file read most here
      hansei prompt --target AGENTS.md --apply  shown, asked, written; `hansei undo` takes it back
      hansei prompt --target .cursor/rules --target CLAUDE.md --budget 800
      hansei prompt --format text               plain text, for the system prompt of your agent
      hansei prompt --format text src/api.py    without what is about other files

    Only skills you approved (`hansei skills approve`) are taken, the best first, as long as there
    is room; each that is left out says why. Where an agent can be told that a skill is only about
    some files, it is. In Python, `hansei.prompt()` gives the same text.
    """
    from hansei.learn.compile import BUDGET

    settings = app.config()
    here = app.folder()
    room = BUDGET if budget is None else budget
    as_text = form is not None and not (write or names)
    if form is not None and not as_text:
        raise UsageError(
            "--format prints a text for agents of your own, so --target and --apply mean nothing",
            hint="Leave out --format; --json prints the change as JSON.",
        )
    if as_text:
        _print(settings, here, room, paths, as_json=as_json or form == JSON)
        return
    if as_json and write and not yes:
        raise UsageError("--json cannot ask", hint="Add --yes, or leave out --apply to look.")
    _change(
        settings,
        here,
        {"budget": room, "paths": paths, "again": again, "now": app.now()},
        names,
        write=write,
        yes=yes,
        as_json=as_json,
    )


def _print(
    settings: Config, here: Path, budget: int, paths: Sequence[str], *, as_json: bool
) -> None:
    from hansei.ops.prompt import compiled

    told = compiled(settings, here, now=app.now(), budget=budget, paths=paths)
    if as_json:
        output.write_json("prompt", {"text": told.text, **_figures(told)})
        return
    output.write(told.text, end="")
    left = [it for it in told.chosen if not it.taken]
    for it in left:
        note(f"Left out {output.one_line(it.skill.name)}: {output.one_line(it.why)}.")
    if told.uncounted:
        note(f"Not ranked by what sessions tell: {output.one_line(told.uncounted)}.")
    if not told.chosen:
        note(_nothing(told))


def _change(
    settings: Config,
    here: Path,
    wanted: dict[str, Any],
    names: Sequence[str],
    *,
    write: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show it, ask, do it, say what was done."""
    from hansei.ops.prompt_files import apply, outlet_for, propose, together

    again = _again(names, wanted)
    with app.opened(settings) as store:
        chosen = dict.fromkeys(outlet_for(store, here, name) for name in names or (None,))
        proposals = [propose(store, settings, here, outlet, **wanted) for outlet in chosen]
        plan = together(proposals)
        if plan.problems:
            raise UnusableInstructions(plan.problems[0].message, hint=plan.problems[0].hint)
        if not as_json:
            for line in shown(proposals):
                output.write(line)
        entry: Entry | None = None
        if write and plan.files:
            agree("Write this?", f"hansei prompt {again}--apply --yes", yes=yes)
            entry = apply(store, proposals, now=app.now())
    if as_json:
        output.write_json("prompt", {"places": [_told(it) for it in proposals], **_done(entry)})
        return
    if entry is not None:
        files = ", ".join(output.one_line(file.path) for file in entry.files)
        output.write(f"Wrote {files}. `hansei undo {entry.id}` takes it back.")
    elif plan.files:
        note(f"Nothing was written. `hansei prompt {again}--apply` does it.")


def _again(names: Sequence[str], wanted: dict[str, Any]) -> str:
    """The same options, to be typed once more."""
    from shlex import quote

    from hansei.learn.compile import BUDGET

    told = [f"--target {quote(name)}" for name in names]
    told += [] if wanted["budget"] == BUDGET else [f"--budget {wanted['budget']}"]
    told += ["--again"] if wanted["again"] else []
    return "".join(f"{it} " for it in (*told, *map(quote, wanted["paths"])))


def shown(proposals: Sequence[Proposal]) -> Iterator[str]:
    """The ranking and the difference of every place."""
    for number, it in enumerate(proposals):
        if number:
            yield ""
        told = it.compiled
        yield from ranking(it.outlet.name, told)
        if it.plan.files:
            yield ""
            yield from difference(it.plan.diff)
        for known in it.plan.notes:
            yield from output.wrapped(f"{output.one_line(known.path)}: {known.message}")
        if not it.plan.files:
            yield "Nothing to write."


def ranking(name: str, told: Compiled) -> Iterator[str]:
    """Every skill in the order of its rank, and what the text costs."""
    if not told.chosen:
        yield _nothing(told)
        return
    size = told.size
    yield from output.wrapped(
        f"{name}: {size.tokens:,} of {told.budget:,} tokens ({size.low:,}–{size.high:,}, derived)"
    )
    columns = [
        output.Column("skill", "left", flexible=True),
        output.Column("taken", "left"),
        output.Column("tokens"),
        output.Column("ranked by", "left"),
    ]
    rows = [
        [output.one_line(it.skill.name), it.form, f"{it.tokens:,}", it.standing]
        for it in told.chosen
    ]
    yield from output.table(columns, rows)
    for it in told.chosen:
        if it.why:
            yield from output.wrapped(output.one_line(f"{it.skill.name}, {it.form}: {it.why}."))
    yield from map(output.dim, output.wrapped(f"rule    {size.rule}", 8))
    for problem in told.problems:
        yield from output.wrapped(output.one_line(f"not read: {problem}"))


def _nothing(told: Compiled) -> str:
    if told.waiting:
        drafts = output.plural(told.waiting, "draft")
        return f"No skill is approved here; {drafts} could be: `hansei skills list`."
    return "No skill is kept here yet: `hansei learn` offers what sessions taught."


def _figures(told: Compiled) -> dict[str, Any]:
    return {
        "budget": told.budget,
        "tokens": told.size._asdict(),
        "skills": [_row(it) for it in told.chosen],
        "drafts": told.waiting,
        "problems": [str(it) for it in told.problems],
    }


def _row(it: Chosen) -> dict[str, Any]:
    skill = it.skill
    return {
        "name": skill.name,
        "version": skill.version,
        "scope": skill.scope,
        "taken": it.taken,
        "form": it.form,
        "tokens": it.tokens,
        "why": it.why,
        "ranked_by": it.standing,
        "files": skill.predicates.path,
    }


def _told(proposal: Proposal) -> dict[str, Any]:
    plan = proposal.plan
    return {
        "target": proposal.outlet.name,
        **_figures(proposal.compiled),
        "files": [file.path for file in plan.files],
        "diff": plan.diff,
        "notes": [{"path": it.path, "message": it.message} for it in plan.notes],
    }


def _done(entry: Entry | None) -> dict[str, Any]:
    return {"done": entry is not None, "entry": None if entry is None else entry.id}
