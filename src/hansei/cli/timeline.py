"""A session as people read it: one block per event, long texts folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hansei.cli import output
from hansei.cli.output import bold, clock, dim, one_line, plural, safe
from hansei.events.model import (
    Basis,
    Compaction,
    FileEdit,
    Interruption,
    Notice,
    Observation,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    SlashCommand,
    Status,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.events.usage import context_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent
    from hansei.ops.sessions import SessionLine
    from hansei.ops.show import Shown
    from hansei.store.reading import Numbered

FOLDED_LINES = 6
"""Lines of a text shown before it is folded."""

INDENT = " " * 16
SPEAKERS = {
    Origin.HUMAN: "you",
    Origin.QUEUED_HUMAN: "you (queued)",
    Origin.PARENT_AGENT: "parent agent",
    Origin.HARNESS: "harness",
    Origin.HOOK: "hook",
    Origin.HANSEI: "hansei",
}
_QUIET_ORIGINS = {Origin.HARNESS, Origin.HOOK, Origin.HANSEI}
_REFUSED = {
    Basis.DECLINED: "declined",
    Basis.INTERRUPTED: "interrupted",
    Basis.MASKED: "unknown: the command hides its exit code",
}


def timeline(shown: Shown, *, full: bool, thoughts: bool, hooks: bool) -> Iterator[str]:
    """Heading and every event, in order; thoughts and what hooks saw only where asked for."""
    yield from heading(shown)
    day = ""
    for numbered in shown.events:
        if isinstance(numbered.event, Thought) and not thoughts:
            continue
        if isinstance(numbered.event, Observation) and not hooks:
            continue
        if numbered.event.at is not None and output.day(numbered.event.at) != day:
            day = output.day(numbered.event.at)
            yield ""
            yield dim(f"── {day} ")
        yield from _block(numbered, full=full)


def heading(shown: Shown) -> Iterator[str]:
    session = shown.session
    title = output.cut(one_line(session.name or session.id), output.terminal_width())
    yield f"{bold(title)}"
    facts = [
        f"{session.agent} {session.version or ''}",
        f"{session.driver or output.UNKNOWN}{'' if session.driver_recorded else ' (assumed)'}",
        output.minute(session.started_at),
        output.duration(session.started_at, session.ended_at),
        session.id,
    ]
    yield from map(dim, output.wrapped(" · ".join(map(one_line, facts)), 2))
    place = one_line(session.cwd or "folder not recorded")
    yield dim(f"{place}{f' · {one_line(session.branch)}' if session.branch else ''}")
    if session.commit:
        yield dim(_commit(session, session.commit))
    elif shown.start.commit:
        yield dim(_likely_commit(shown.start.commit, shown.start.basis))
    yield _sums(session)
    if session.parent:
        yield dim(one_line(f"{session.relation or 'child'} of {session.parent}"))
    if session.inherited:
        yield dim(f"begins with {plural(session.inherited, 'event')} copied from another session")
    for child in shown.children:
        started = one_line(f"started {child.short}: {child.name or child.id}")
        yield dim(output.cut(started, output.terminal_width()))


def _commit(session: SessionLine, commit: str) -> str:
    teller = "a hook" if session.commit_basis == "hook" else "the agent"
    state = {
        None: "unknown whether files had changed",
        True: "files had changed",
        False: "no file had changed",
    }[session.dirty]
    return f"began on commit {one_line(commit[:10])} ({state}), told by {teller}"


def _likely_commit(commit: str, basis: str) -> str:
    witness = {
        "reflog": "where git's log of this working copy stood then",
        "graph": "the last commit made by then",
    }[basis]
    return f"began on commit {one_line(commit[:10])}, as far as git tells: {witness}"


def _sums(session: SessionLine) -> str:
    parts = [
        plural(session.prompts, "prompt"),
        plural(session.calls, "call"),
        f"{session.failed:,} failed",
        f"{output.tokens(session.tokens)} tokens in {plural(session.requests, 'request')}",
        output.dollars(session.cost_nanodollars) if session.requests else "no requests",
    ]
    return dim(" · ".join(parts))


def _block(numbered: Numbered, *, full: bool) -> Iterator[str]:
    seq, event = numbered
    label, text, quiet = _told(event)
    mark = f"{f'#{seq}':>6} {dim(clock(event.at))} {label}{'  ' if label else ''}"
    lines = fold(text, 0 if full else 1 if quiet else FOLDED_LINES, output.width(mark))
    shown = [dim(line) if quiet else line for line in lines] or [""]
    yield f"{mark}{shown[0]}".rstrip()
    yield from (f"{INDENT}{line}" for line in shown[1:])


def _told(event: AnyEvent) -> tuple[str, str, bool]:
    """An event's label, its text, and whether it is only background."""
    match event:
        case Prompt():
            quiet = event.origin in _QUIET_ORIGINS
            who = SPEAKERS[event.origin]
            return (
                (dim(who) if quiet else click.style(who, fg="green", bold=True)),
                event.text,
                quiet,
            )
        case SlashCommand():
            return (
                click.style(f"/{one_line(event.name).lstrip('/')}", fg="green"),
                event.text,
                False,
            )
        case Interruption():
            return click.style("interrupted", fg="yellow"), event.text, True
        case Reply():
            return click.style("agent", fg="cyan", bold=True), event.text, False
        case Thought():
            return dim("thought"), event.text or "(not recorded)", True
        case ToolCall():
            return click.style(one_line(event.name), fg="blue"), event.text, False
        case ToolResult():
            return outcome(event), event.text, event.status is not Status.FAILED
        case FileEdit():
            return dim("edit"), _edit(event), False
        case RequestUsage():
            return dim("request"), _usage(event), True
        case Compaction():
            return click.style("compaction", fg="yellow"), event.text, True
        case Notice():
            return dim(one_line(event.name)), event.text, True
        case Observation():
            return dim("hook"), _seen(event), True
        case Unrecognised():
            return (
                click.style("not recognised", fg="yellow"),
                f"{event.name}, {event.size} bytes",
                True,
            )


def outcome(result: ToolResult) -> str:
    """How a call ended, in a word or two."""
    if result.status is Status.FAILED:
        code = "" if result.exit_code is None else f" (exit {result.exit_code})"
        return click.style(f"failed{code}", fg="red")
    if result.status is Status.OK:
        return click.style("ok", fg="green")
    return click.style(_REFUSED.get(result.basis, "unknown"), fg="yellow")


def _edit(edit: FileEdit) -> str:
    counts = [
        f"{sign}{count}"
        for sign, count in (("+", edit.added), ("−", edit.removed))
        if count is not None
    ]
    state = "" if edit.applied is not False else "  not applied"
    return f"{edit.operation} {edit.path}  {' '.join(counts)}{state}"


def _usage(usage: RequestUsage) -> str:
    context = context_tokens(usage)
    reads = (
        f"{output.tokens(usage.cache_read)} from cache" if usage.cache_read else "none from cache"
    )
    return (
        f"{usage.model or 'model not recorded'} · {output.tokens(context)} in ({reads})"
        f" · {output.tokens(usage.output)} out"
    )


def _seen(seen: Observation) -> str:
    parts = [
        " ".join(filter(None, (seen.name, seen.native_tool, seen.word))),
        *([] if seen.commit is None else [f"commit {seen.commit[:10]}"]),
        *(
            []
            if seen.dirty is None
            else ["files had changed" if seen.dirty else "no file had changed"]
        ),
        *([f"delivered {', '.join(seen.delivered)}"] if seen.delivered else []),
    ]
    if seen.instructions is not None:
        parts.append(plural(len(seen.instructions), "instruction file"))
    for label, size in (("prompt", seen.prompt), ("input", seen.input), ("output", seen.output)):
        if size is not None:
            parts.append(f"{label} {output.size(size.bytes)}")
    return " · ".join(parts)


def fold(text: str, limit: int, taken: int) -> list[str]:
    """A text's lines, cut to the terminal and folded beyond `limit` lines; 0 leaves it whole.

    `taken` columns of the first line are used already.
    """
    lines = safe(text).expandtabs(4).splitlines()
    if not limit or not lines:
        return lines
    columns = output.terminal_width()
    more = f"… {plural(len(lines) - limit, 'line')} more" if len(lines) > limit else ""
    if limit == 1:
        room = columns - taken - (len(more) + 1 if more else 0)
        first = output.cut(lines[0], max(room, 1))
        return [f"{first.removesuffix('…').rstrip()} {more}" if more else first]
    if more:
        tail = limit // 2
        lines = [*lines[: limit - tail], dim(more), *lines[-tail:]]
    first, *rest = lines
    return [
        output.cut(first, max(columns - taken, 1)),
        *(output.cut(line, columns - len(INDENT)) for line in rest),
    ]


def event_in_full(numbered: Numbered) -> Iterator[str]:
    """One event with nothing left out."""
    seq, event = numbered
    label, text, _ = _told(event)
    yield f"{bold(f'#{seq}')} {output.minute(event.at)}  {label}"
    if isinstance(event, ToolCall):
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(event.arguments), indent=2).decode()
    if isinstance(event, FileEdit):
        text = "\n".join([text, *_hunks(event)])
    for line in safe(text).splitlines():
        yield f"  {line}"
    yield ""


def _hunks(edit: FileEdit) -> Iterator[str]:
    for hunk in edit.hunks:
        yield f"@@ {'' if hunk.start is None else hunk.start}"
        yield from (f"-{line}" for line in hunk.old.splitlines())
        yield from (f"+{line}" for line in hunk.new.splitlines())
