"""What people read about skills: the table, one skill, what a change did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import output
from hansei.cli.output import bold, dim, one_line
from hansei.learn.counters import Standing
from hansei.learn.files import labelled
from hansei.learn.model import Rung, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.learn.book import Problem, Tampering
    from hansei.learn.history import Entry
    from hansei.learn.model import Skill
    from hansei.learn.operations import Counts
    from hansei.ops.skill_exchange import Import
    from hansei.ops.skill_places import Placed
    from hansei.ops.skills import Done, Shelf, Undone

Row = tuple["Shelf", "Skill"]
COLOURS = {
    State.APPROVED: "green",
    State.DRAFT: None,
    State.QUARANTINED: "yellow",
    State.REJECTED: "red",
    State.RETIRED: "bright_black",
}
RULE = (
    "helpful and harmful count sessions in which following a skill went well or badly: they go"
    " along with it, which is no proof. Unproven: fewer than three sessions tell"
    " (`hansei skills why NAME`)"
)
PAST = {
    "add": "Added",
    "update": "Updated",
    "edit": "Edited",
    "tag": "Filed",
    "approve": "Approved",
    "promote": "Promoted to draft:",
    "reject": "Rejected",
    "retire": "Retired",
    "vote": "Voted on",
    "merge": "Merged",
    "split": "Split",
    "move": "Moved",
    "curate": "Curated",
    "import": "Took in",
}


def listing(rows: Sequence[Row], counts: Mapping[str, Counts], hidden: int) -> Iterator[str]:
    """The table of skills."""
    columns = [
        output.Column("skill", "left", flexible=True),
        output.Column("section", "left", flexible=True),
        output.Column("helpful"),
        output.Column("harmful"),
        output.Column("votes", drop=3),
        output.Column("state", "left"),
        output.Column("book", "left", drop=2),
        output.Column("what it is for", "left", flexible=True, drop=1),
    ]
    body = [
        [
            skill.name,
            one_line(skill.section),
            *_counted(counts[skill.name]),
            _votes(counts[skill.name]),
            _state(skill),
            shelf.kind,
            one_line(skill.description),
        ]
        for shelf, skill in rows
    ]
    yield from output.table(columns, body)
    yield ""
    yield from map(dim, output.wrapped(RULE))
    if hidden:
        left = output.plural(hidden, "skill")
        yield dim(f"{left} rejected or retired; --all shows them")


def _counted(counts: Counts) -> tuple[str, str]:
    if counts.standing == Standing.UNPROVEN:
        return str(Standing.UNPROVEN), ""
    return str(counts.helpful), str(counts.harmful)


def _votes(counts: Counts) -> str:
    told = counts.votes
    return f"+{told.helpful} -{told.harmful}" if told.helpful or told.harmful else ""


def _state(skill: Skill) -> str:
    return click.style(str(skill.state), fg=COLOURS[skill.state])


def broken(problems: Sequence[Problem]) -> Iterator[str]:
    """Files that cannot be read."""
    for problem in problems:
        yield one_line(str(problem))


def tampered(found: Mapping[str, Tampering]) -> Iterator[str]:
    """Skills that are not used because nobody here let them be as they are."""
    for name, it in sorted(found.items()):
        yield (
            f"{name}: {it.message}, so it is not used;"
            f" `hansei skills promote {name}` shows what is different"
        )


def page(shelf: Shelf, skill: Skill, counts: Counts) -> Iterator[str]:
    """One skill."""
    yield bold(skill.name) + f" · {_state(skill)} · version {skill.version}"
    yield from output.wrapped(one_line(skill.description))
    yield ""
    told = {
        "section": skill.section,
        "scope": skill.scope + (f" ({skill.language})" if skill.language else ""),
        "book": shelf.kind,
        "owner": skill.owner,
        "reason": skill.reason,
        "origin": f"{skill.origin}; first seen: {skill.label}",
        "topic": " · ".join(it for it in (skill.topic, skill.action) if it),
        "standing": f"{counts.standing}: {counts.why}",
        "ladder": "" if skill.rung is Rung.NOTE else f"promoted to a {skill.rung}",
        "votes": _votes(counts),
        "told": _told(skill),
        "changed": f"{output.day(skill.changed_at)}, kept since {output.day(skill.created_at)}",
    }
    for name, text in told.items():
        if text:
            yield from output.wrapped(f"{name:10}{one_line(text)}", 10)
    yield f"{'file':10}{one_line(str(shelf.book.file(skill.name)))}"
    yield from _evidence(skill, 5)
    yield ""
    yield from output.safe(skill.body).splitlines()


def _told(skill: Skill) -> str:
    told = skill.told
    if told is None:
        return ""
    return f"{told.by} counted helpful {told.helpful}, harmful {told.harmful}; nobody here saw it"


def _evidence(skill: Skill, most: int | None) -> Iterator[str]:
    if not skill.evidence:
        return
    shown = skill.evidence if most is None else skill.evidence[:most]
    references = ", ".join(one_line(labelled(it)) for it in shown)
    more = len(skill.evidence) - len(shown)
    tail = f", {more:,} more (`hansei skills why {skill.name}`)" if more else ""
    yield from output.wrapped(f"{'evidence':10}{references}{tail}", 10)


def change_table(changes: Sequence[tuple[Shelf, Entry]]) -> Iterator[str]:
    columns = [
        output.Column("change"),
        output.Column("when", "left"),
        output.Column("what", "left"),
        output.Column("state", "left"),
        output.Column("book", "left", drop=1),
        output.Column("by", "left", flexible=True, drop=2),
        output.Column("skills", "left", flexible=True),
    ]
    rows = [
        [
            str(entry.id),
            output.minute(entry.at),
            entry.operation,
            str(entry.progress),
            shelf.kind,
            one_line(entry.by),
            ", ".join(change.name for change in entry.changes),
        ]
        for shelf, entry in changes
    ]
    yield from output.table(columns, rows)


def changes(told: Sequence[tuple[Shelf, Entry]]) -> Iterator[str]:
    """What was done to the books."""
    if not told:
        yield "Nothing was done to the books of this folder yet."
        return
    yield from change_table(told)


def ending(done: Done) -> Iterator[str]:
    """What a verb did."""
    names = ", ".join(skill.name for skill in done.skills)
    if done.change is None:
        yield f"Nothing to change in {names}."
    else:
        version = f" (version {done.skills[0].version})" if len(done.skills) == 1 else ""
        yield f"{PAST[done.operation]} {names}{version}."
    waiting = [skill.name for skill in done.skills if skill.state is State.QUARANTINED]
    if waiting:
        names = " ".join(waiting)
        yield f"Agents do not get it until a person says `hansei skills promote {names}`."
    for placed in done.placed:
        yield from places(placed)
    if done.change is not None:
        yield dim(f"`hansei skills undo {done.change}` takes it back.")


def places(placed: Placed) -> Iterator[str]:
    """Files that agents read."""
    verb = "Wrote" if placed.written else "Took out"
    if placed.paths:
        yield f"{verb} {', '.join(map(one_line, placed.paths))} in {one_line(str(placed.root))}."
    for note in placed.notes:
        yield dim(f"{one_line(note.path)}: {note.message}")


def undone(shown: Undone, *, done: bool) -> Iterator[str]:
    """What undoing does."""
    for shelf, entry in shown.entries:
        names = ", ".join(change.name for change in entry.changes)
        verb = "Undid" if done else "Undoing takes back"
        yield f"{verb} change {entry.id} ({entry.operation}) of {names} in the {shelf.kind} book."
    for file in shown.files:
        yield dim(f"{one_line(file.path)}: {file.message}")


def imported(shown: Import) -> Iterator[str]:
    """What a foreign book holds, and as what it is kept."""
    yield f"{output.plural(len(shown.skills), 'skill')} to take in, read as {shown.format}."
    for skill in shown.skills:
        own = dim("  carries our own seal") if skill.name in shown.sealed else ""
        text = output.cut(one_line(skill.description), 60)
        yield f"  {skill.name}  {_state(skill)}  {dim(text)}{own}"
    for name in shown.there:
        yield f"  {name}  {dim('there already; --replace takes it all the same')}"
    for refused in shown.refused:
        message = f"{refused.place}: {refused.message}"
        yield click.style(f"  refused {one_line(message)}", fg="yellow")
    for note in shown.notes:
        yield dim(f"  {one_line(note)}")


# --- for programs ---------------------------------------------------------------------------------


def told(shelf: Shelf, skill: Skill, counts: Counts) -> dict[str, Any]:
    import msgspec

    head = msgspec.to_builtins(skill)
    evidence = [labelled(it) for it in skill.evidence]
    return {
        **head,
        "evidence": evidence,
        "book": shelf.kind,
        "file": str(shelf.book.file(skill.name)),
        "counts": counts,
    }


def told_done(done: Done) -> dict[str, Any]:
    return {
        "operation": done.operation,
        "change": done.change,
        "skills": [
            {"name": it.name, "state": str(it.state), "version": it.version} for it in done.skills
        ],
        "placed": [
            {
                "root": str(it.root),
                "paths": list(it.paths),
                "notes": [{"path": note.path, "message": note.message} for note in it.notes],
                "written": it.written,
                "entry": it.entry,
            }
            for it in done.placed
        ],
    }


def told_change(shelf: Shelf, entry: Entry) -> dict[str, Any]:
    return {
        "change": entry.id,
        "at": entry.at,
        "operation": entry.operation,
        "state": str(entry.progress),
        "by": entry.by,
        "book": shelf.kind,
        "skills": [change.name for change in entry.changes],
    }


def told_import(shown: Import) -> dict[str, Any]:
    return {
        "format": shown.format,
        "skills": [
            {"name": it.name, "state": str(it.state), "sealed": it.name in shown.sealed}
            for it in shown.skills
        ],
        "there": list(shown.there),
        "refused": [{"place": it.place, "message": it.message} for it in shown.refused],
        "notes": list(shown.notes),
        "done": None if shown.done is None else told_done(shown.done),
    }
