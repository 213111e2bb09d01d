"""`hansei skills curate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import app, output
from hansei.cli.output import bold, dim, one_line
from hansei.cli.skill_desk import counted, desk_here

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.instructions.findings import Finding
    from hansei.learn.curation import Step
    from hansei.ops.curation import Curation
    from hansei.ops.skills import Done

INDENT = 13
MOST_PLACES = 4
"""Of one finding that are shown; --json has all."""


@click.command("curate", short_help="What is said twice, contradicted or out of date.")
@click.argument("steps", nargs=-1, metavar="[STEP]...")
@click.option("--apply", "do", is_flag=True, help="Take the steps that need no judgement.")
@app.json_option
def curate(steps: tuple[str, ...], do: bool, as_json: bool) -> None:
    """Look through what agents are told here, and say what to do about it.

    \b
      hansei skills curate                  the plan; nothing is changed
      hansei skills curate --apply          merge skills that say the very same
      hansei skills curate --apply 3fa2c1   and take this step, which you have read
      hansei skills undo                    take all of it back, byte for byte

    Skills with the same text or the same when, do and avoid are merged: the one that did best is
    kept with the evidence of all, the others are retired. Skills that are only alike, that
    conflict, or that name a path, command or package that left the repository, are for you to
    decide.

    Instruction files (CLAUDE.md, AGENTS.md, rules, skills of the repository) are looked through the
    same way. They are yours: what is found is told with file and line, and never edited.
    """
    from hansei.ops import curation, skills

    with desk_here() as desk:
        rows, _ = skills.listed(desk.config, desk.here)
        found = curation.curated(desk, counted(desk, rows) if rows else {})
        taken = curation.chosen(found.steps, steps)
        done = curation.applied(desk, taken) if do else []
    if as_json:
        output.write_json("skill-curation", told(found, done))
        return
    lines = applied(taken, done) if do else page(found, chosen=steps)
    for line in lines:
        output.write(line)


def page(found: Curation, *, chosen: Sequence[str] = ()) -> Iterator[str]:
    """The plan, as people read it."""
    yield bold("Skillbook") + dim(f"  {output.plural(found.skills, 'skill')}")
    steps = [it for it in found.steps if not chosen or it.id in chosen]
    yield from _group("`hansei skills curate --apply` does", [it for it in steps if it.by_itself])
    yield from _group("For you to decide", [it for it in steps if not it.by_itself])
    if found.skills and not steps:
        yield "  Each thing is said once, and nothing that was looked up is gone."
    yield ""
    looked = (
        f"{output.plural(found.texts, 'text')}, {output.plural(found.sentences, 'sentence')},"
        f" {output.plural(found.names, 'name')} looked up"
    )
    yield bold("Instruction files") + dim(f"  {looked}")
    for it in found.findings:
        yield from _finding(it)
    if not found.findings:
        yield "  Nothing is said twice or contradicted, and nothing that was looked up is gone."
    if found.untold:
        kinds = ", ".join(f"{it}s" for it in found.untold)
        yield dim(f"  The history is too long to be looked through for {kinds}: unknown.")
    if any(it.wanted and not it.by_itself for it in steps):
        yield ""
        yield dim("`hansei skills curate --apply STEP` takes a step that you have read.")


def _group(title: str, steps: Sequence[Step]) -> Iterator[str]:
    if steps:
        yield f"  {title}:"
    for step in steps:
        yield from _step(step)


def _step(step: Step) -> Iterator[str]:
    yield from _lines(f"  {step.kind}", f"{', '.join(step.skills)}: {step.reason}")
    for detail in step.details:
        yield from map(dim, _lines("", detail))
    yield from _lines("", f"→ {step.action}" + (f"  [{step.id}]" if step.wanted else ""))


def _lines(title: str, text: str) -> Iterator[str]:
    """A text in its column, behind a title."""
    return iter(output.wrapped(f"{title:<{INDENT}}{one_line(text)}", INDENT))


def _finding(it: Finding) -> Iterator[str]:
    yield from _lines(f"  {it.kind}", it.reason)
    for at in it.places[:MOST_PLACES]:
        place = f"{at.path}:{at.line}"
        room = max(output.terminal_width() - INDENT - len(place) - 2, 20)
        yield " " * INDENT + f"{place}  " + dim(output.cut(one_line(at.text), room))
    left = len(it.places) - MOST_PLACES
    if left > 0:
        yield " " * INDENT + dim(f"and {output.plural(left, 'more place')}")


def applied(taken: Sequence[Step], done: Iterable[Done]) -> Iterator[str]:
    """What was done, and how it is taken back."""
    if not taken:
        yield "Nothing to do without your judgement; `hansei skills curate` shows the plan."
        return
    for step in taken:
        yield from output.wrapped(one_line(f"{step.kind}: {step.action}"))
    numbers = [str(it.change) for it in done if it.change is not None]
    yield dim(f"Change {', '.join(numbers)}; `hansei skills undo` takes all of it back.")


def told(found: Curation, done: Iterable[Done]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "skills": found.skills,
        "texts": found.texts,
        "sentences": found.sentences,
        "names": found.names,
        "untold": list(map(str, found.untold)),
        "steps": [
            {
                "id": it.id,
                "kind": str(it.kind),
                "skills": list(it.skills),
                "reason": it.reason,
                "action": it.action,
                "details": list(it.details),
                "by_itself": it.by_itself,
                "can_be_applied": bool(it.wanted),
            }
            for it in found.steps
        ],
        "findings": [
            {
                "kind": str(it.kind),
                "reason": it.reason,
                "places": [at._asdict() for at in it.places],
            }
            for it in found.findings
        ],
        "changes": [it.change for it in done if it.change is not None],
    }
