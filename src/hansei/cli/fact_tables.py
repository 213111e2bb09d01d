"""Facts as people read them: a heading, a table, and what the numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hansei.cli import output
from hansei.cli.output import Column

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hansei.ops.facts.answers import Answer
    from hansei.ops.facts.commands import Commands
    from hansei.ops.facts.corrections import CorrectionLine, Corrections
    from hansei.ops.facts.exposure import ExposureLine
    from hansei.ops.facts.failures import FailureLine
    from hansei.ops.facts.files import AtCommit, FileLine
    from hansei.ops.facts.outcomes import Outcomes

SEE = Column("see", "left", drop=1)


def report(answer: Answer, limit: int) -> list[str]:
    """One kind of fact, or the overview."""
    title = f"Facts · {output.one_line(answer.workspace or 'all workspaces')}"
    days = output.span(answer.first_at, answer.last_at)
    heading = f"{output.bold(title)} · {days} · {output.plural(answer.sessions, 'session')}"
    if answer.kind is None:
        return [heading, "", *_overview(answer.found)]
    return [heading, "", *_RENDERERS[answer.kind](answer.found, limit)]


def _cut(lines: Sequence[Any], limit: int) -> tuple[Sequence[Any], list[str]]:
    if limit <= 0 or len(lines) <= limit:
        return lines, []
    return lines[:limit], [output.dim(f"{limit} of {len(lines):,} are shown; -n 0 lists all.")]


def _notes(*texts: str) -> list[str]:
    lines = [output.dim(line) for text in texts for line in output.wrapped(text, 2)]
    return ["", *lines] if lines else []


def _see(places: list[str]) -> str:
    return output.dim(output.one_line(places[0])) if places else ""


def _red(count: int) -> str:
    return click.style(f"{count:,}", fg="red") if count else "0"


# --- one kind each --------------------------------------------------------------------------------


def _files(lines: list[FileLine], limit: int) -> list[str]:
    shown, more = _cut(lines, limit)
    columns = [
        Column("file", "left", flexible=True, keep="ends"),
        Column("workspace", "left", flexible=True, keep="ends", drop=5),
        Column("sessions", drop=3),
        Column("reads"),
        Column("again"),
        Column("tokens again"),
        Column("edits", drop=4),
        Column("most in a turn", drop=2),
        SEE,
    ]
    rows = [
        [
            output.one_line(it.path),
            output.one_line(it.workspace),
            f"{it.sessions:,}",
            f"{it.reads:,}",
            f"{it.redundant:,}",
            output.tokens(it.redundant_tokens) if it.redundant else "–",
            f"{it.edits:,}",
            f"{it.fan_out:,}",
            _see(it.evidence),
        ]
        for it in shown
    ]
    if len({it.workspace for it in lines}) < 2:
        columns, rows = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in rows]
    if any(it.at_commit for it in lines):
        columns[1:1] = [Column("lines"), Column("commits 30 d", drop=6), Column("authors", drop=7)]
        for row, it in zip(rows, shown, strict=True):
            row[1:1] = _held(it.at_commit)
    return [
        *output.table(columns, rows),
        *more,
        *_notes(
            "again: the same lines were in the context already and had not changed;"
            " tokens again: what those reads put there once more (derived)",
        ),
    ]


def _held(file: AtCommit | None) -> list[str]:
    if file is None:
        return ["–", "–", "–"]
    lines = output.UNKNOWN if file.lines is None else f"{file.lines:,}"
    return [lines, f"{file.commits_30:,}", f"{file.authors_90:,}"]


def _failures(lines: list[FailureLine], limit: int) -> list[str]:
    shown, more = _cut(lines, limit)
    columns = [
        Column("what failed", "left", flexible=True),
        Column("kind", "left", drop=5),
        Column("times"),
        Column("sessions"),
        Column("ended"),
        Column("tokens", drop=3),
        Column("minutes", drop=2),
        Column("what ended it", "left", flexible=True, drop=4),
        SEE,
    ]
    rows = [
        [
            output.one_line(it.signature),
            output.one_line(it.kind),
            f"{it.times:,}",
            f"{it.sessions:,}",
            f"{it.recovered:,} of {it.episodes:,}" if it.episodes else "–",
            output.tokens(it.tokens) if it.episodes else "–",
            f"{it.minutes:,.0f}" if it.minutes is not None else "–",
            output.one_line(it.recovery) or "–",
            _see(it.evidence),
        ]
        for it in shown
    ]
    return [
        *output.table(columns, rows),
        *more,
        *_notes(
            "tokens and minutes are measured from the first failure to what ended it, or to the"
            " last try; – where it is no failure of the work itself (declined, nothing found …)",
        ),
    ]


def _corrections(found: Corrections, limit: int) -> list[str]:
    said = _said(found.lines, limit)
    if not found.reviews_seen:
        return said
    return [*said, "", *_reviewed(found, limit)]


def _reviewed(found: Corrections, limit: int) -> list[str]:
    seen = output.plural(found.reviews_seen, "review remark")
    if not found.reviews:
        return [f"{seen}, none about lines that an agent wrote here."]
    shown, more = _cut(found.reviews, limit)
    columns = [
        Column("what reviewers said", "left", flexible=True),
        Column("by", "left", drop=2),
        Column("where", "left", flexible=True, keep="ends", drop=3),
        Column("edit", "left"),
    ]
    rows = [
        [
            output.one_line(it.words),
            "a program" if it.bot else "a person",
            output.one_line(f"{it.path or output.UNKNOWN}:{it.line or '?'}"),
            output.dim(output.one_line(it.edit)),
        ]
        for it in shown
    ]
    return [*output.table(columns, rows), *more, *_notes(f"{seen} in all")]


def _said(lines: list[CorrectionLine], limit: int) -> list[str]:
    if not lines:
        return ["No prompt here corrects, forbids, repeats or stops what an agent did."]
    shown, more = _cut(lines, limit)
    columns = [
        Column("what was said", "left", flexible=True),
        Column("kind", "left", drop=3),
        Column("times"),
        Column("sessions"),
        Column("last", "left", drop=2),
        SEE,
    ]
    rows = [
        [
            output.one_line(it.words),
            output.one_line(it.kind),
            f"{it.times:,}",
            f"{it.sessions:,}",
            output.day(it.last_at),
            _see(it.evidence),
        ]
        for it in shown
    ]
    return [*output.table(columns, rows), *more]


def _commands(found: Commands, limit: int) -> list[str]:
    shown, more = _cut(found.lines, limit)
    columns = [
        Column("command", "left", flexible=True),
        Column("for", "left", drop=3),
        Column("runs"),
        Column("sessions", drop=4),
        Column("failed"),
        Column("unknown"),
        Column("usual time", drop=2),
        SEE,
    ]
    rows = [
        [
            output.one_line(it.shown),
            output.one_line(it.kind),
            f"{it.runs:,}",
            f"{it.sessions:,}",
            _red(it.failed),
            f"{it.unknown:,}",
            "–" if it.seconds is None else f"{it.seconds:,.1f} s",
            _see(it.evidence),
        ]
        for it in shown
    ]
    share = found.parsed / found.calls if found.calls else 1.0
    return [
        *output.table(columns, rows),
        *more,
        *_notes(
            f"{output.plural(found.calls, 'shell call')}, {share:.1%} parsed; unknown: a pipe or"
            " the like hides how it ended, and its own summary does not tell",
        ),
    ]


def _exposure(lines: list[ExposureLine], limit: int) -> list[str]:
    if not lines:
        return ["No instruction file, rule, skill or MCP server is known to have been in force."]
    shown, more = _cut(lines, limit)
    columns = [
        Column("text", "left", flexible=True, keep="ends"),
        Column("kind", "left", drop=3),
        Column("in force"),
        Column("matched"),
        Column("fired"),
        Column("followed"),
        Column("tokens", drop=2),
        Column("rent", drop=4),
        SEE,
    ]
    rows = [
        [
            output.one_line(it.text.name),
            output.one_line(it.text.kind),
            f"{it.text.sessions:,}",
            _step(it.text.matched, it.text.matched_known),
            _step(it.text.fired, it.text.fired_known),
            _step(it.text.followed, it.text.followed_known),
            output.tokens(it.text.tokens),
            output.tokens(it.text.rent),
            _see(it.evidence),
        ]
        for it in shown
    ]
    return [
        *output.table(columns, rows),
        *more,
        *_notes(
            "sessions in which a prompt matched it, it was loaded, cited or called, and what it"
            " tells was done; – where that cannot be known. tokens: in one session; rent: times"
            " the requests that carried them (derived)",
        ),
    ]


def _step(count: int, known: int) -> str:
    return f"{count:,}" if known else "–"


def _outcomes(found: Outcomes, limit: int) -> list[str]:
    if not found.lines:
        return ["No edit is recorded in these sessions."]
    shown, more = _cut(found.lines, limit)
    columns = [
        Column("session", "left"),
        Column("started", "left", drop=4),
        Column("hunks"),
        Column("landed"),
        Column("not committed", drop=3),
        Column("taken back", drop=2),
        Column("reverted"),
        Column("reworked"),
        Column("unknown"),
        Column("result", "left", flexible=True),
    ]
    rows = [
        [
            output.one_line(it.session),
            output.moment(it.started_at),
            f"{it.hunks:,}",
            f"{it.landed:,}",
            f"{it.not_committed:,}",
            f"{it.taken_back:,}",
            _red(it.reverted),
            f"{it.reworked:,}",
            f"{it.unknown:,}",
            output.one_line(", ".join(it.labels).replace("_", " ")),
        ]
        for it in shown
    ]
    return [
        *output.table(columns, rows),
        *more,
        *_notes(*(f"{count:,} unknown: {why}" for why, count in found.reasons.items())),
    ]


_RENDERERS: dict[str, Callable[[Any, int], list[str]]] = {
    "files": _files,
    "failures": _failures,
    "corrections": _corrections,
    "commands": _commands,
    "outcomes": _outcomes,
    "exposure": _exposure,
}


# --- the overview ---------------------------------------------------------------------------------


def _overview(found: dict[str, Any]) -> list[str]:
    counted = {
        "files": _files_in_short(found["files"]),
        "failures": _failures_in_short(found["failures"]),
        "corrections": _corrections_in_short(found["corrections"]),
        "commands": _commands_in_short(found["commands"]),
        "outcomes": _outcomes_in_short(found["outcomes"]),
        "exposure": _exposure_in_short(found["exposure"]),
    }
    lines = []
    for kind, text in counted.items():
        first, *rest = output.wrapped(f"{kind:<13}{text}", 13)
        lines += [first.replace(kind, output.bold(kind), 1), *rest]
    return [*lines, "", output.dim("`hansei facts KIND` opens one.")]


def _files_in_short(lines: list[FileLine]) -> str:
    reads, again = sum(it.reads for it in lines), sum(it.redundant for it in lines)
    edits = sum(it.edits for it in lines)
    return (
        f"{output.plural(len(lines), 'file')}, {output.plural(reads, 'read')}"
        f" ({again:,} of lines already in the context), {output.plural(edits, 'change')}"
    )


def _failures_in_short(lines: list[FailureLine]) -> str:
    real = [it for it in lines if it.kind == "failure"]
    often = sum(it.sessions > 1 for it in real)
    times, others = sum(it.times for it in real), sum(it.times for it in lines if it not in real)
    return (
        f"{output.plural(times, 'failed call')} of {output.plural(len(real), 'kind')}, {often:,} of"
        f" them in more than one session; {others:,} calls declined, stopped, refused by the agent"
        " program or answered with no"
    )


def _corrections_in_short(found: Corrections) -> str:
    times, often = sum(it.times for it in found.lines), sum(it.times > 1 for it in found.lines)
    said = f"{output.plural(times, 'prompt')} that correct, {often:,} said more than once"
    if not found.reviews_seen:
        return said
    about = f"{len(found.reviews):,} of {output.plural(found.reviews_seen, 'review remark')}"
    return f"{said}; {about} about lines that agents wrote"


def _commands_in_short(found: Commands) -> str:
    failed = sum(it.failed for it in found.lines)
    unknown = sum(it.unknown for it in found.lines)
    share = found.parsed / found.calls if found.calls else 1.0
    return (
        f"{output.plural(found.calls, 'shell call')} ({share:.1%} parsed), {failed:,} failed,"
        f" {unknown:,} ended unknown"
    )


def _outcomes_in_short(found: Outcomes) -> str:
    total = {
        name: sum(getattr(it, name) for it in found.lines)
        for name in ("hunks", "landed", "not_committed", "reverted", "reworked", "unknown")
    }
    return (
        f"{output.plural(total['hunks'], 'hunk')}: {total['landed']:,} landed,"
        f" {total['not_committed']:,} not committed, {total['reverted']:,} reverted,"
        f" {total['reworked']:,} reworked by a person, {total['unknown']:,} unknown"
    )


def _exposure_in_short(lines: list[ExposureLine]) -> str:
    fired = sum(it.text.fired > 0 for it in lines)
    return f"{output.plural(len(lines), 'text')} in force, {fired:,} of them ever fired"
