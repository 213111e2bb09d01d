"""From a failure to what got past it.

An episode begins with a call that failed and ends with the next one that tries the same again and
succeeds. Every failure belongs to one episode: another failure of the same thing goes on with the
one that is open. It is given up when other work has followed for long enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from hansei.events.model import RequestUsage, Status
from hansei.projection.commands.normal import normal_call
from hansei.projection.failures.model import Ending, Episode, Kind
from hansei.projection.failures.relation import subject, subjects, tries_again
from hansei.projection.failures.signature import failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.failures.model import Failure, Verdict
    from hansei.projection.failures.relation import Subject
    from hansei.store.reading import Numbered

PATIENCE: Final = 40
"""Calls without another try after which an agent has moved on. In real transcripts nine of ten
recoveries come within twenty calls."""
_MISUSED = re.compile(
    r"unknown (?:command|flag|option|subcommand|argument)|unrecogni[sz]ed|invalid option|usage"
    r"|no such (?:option|command)|unexpected argument|accepts \d+ arg|invalid choice|missing required",
    re.IGNORECASE,
)
_KINDS = frozenset((Kind.FAILURE, Kind.HARNESS))
_WORDS: Final = 60
"""Words of a command that are compared."""
_SHORT: Final = 200
"""Characters of a command that are kept."""
_MINUTE_MS: Final = 60_000


@dataclass
class _Open:
    """An episode that has not ended."""

    about: Subject
    row: Failure
    failed: list[int]
    """Indexes of the calls that failed."""
    subjects: list[Subject] = field(default_factory=list)


def episodes(
    calls: Sequence[Call], verdicts: Sequence[Verdict], events: Sequence[Numbered]
) -> list[Episode]:
    """Every episode of a session, in the order of their first failures."""
    usages = [
        (seq, event) for seq, event in events if isinstance(event, RequestUsage)
    ]
    opened: list[_Open] = []
    found: list[Episode] = []
    for index, (call, verdict) in enumerate(zip(calls, verdicts, strict=True)):
        for it in [it for it in opened if index - it.failed[-1] > PATIENCE]:
            opened.remove(it)
            found.append(_told(it, None, Ending.MOVED_ON, calls, usages))
        if verdict.kind in _KINDS:
            _fail(opened, index, call, verdict)
        elif opened and verdict.status is Status.OK:
            about = subjects(call)
            for it in [it for it in opened if _is_past(it, about)]:
                opened.remove(it)
                found.append(_told(it, index, Ending.RECOVERED, calls, usages))
    for it in opened:
        found.append(_told(it, None, Ending.SESSION_ENDED, calls, usages))
    return sorted(found, key=lambda episode: episode.seq)


def _fail(opened: list[_Open], index: int, call: Call, verdict: Verdict) -> None:
    row = failure(call, verdict)
    about = subject(call, verdict.command)._replace(misused=_MISUSED.search(row.line) is not None)
    for it in reversed(opened):
        if it.row.kind is row.kind and any(tries_again(one, about) for one in it.subjects):
            it.failed.append(index)
            it.subjects.append(about)
            return
    opened.append(_Open(about, row, [index], [about]))


def _is_past(it: _Open, about: Iterable[Subject]) -> bool:
    return any(tries_again(one, other) for other in about for one in it.subjects)


def _told(
    it: _Open,
    success: int | None,
    ending: Ending,
    calls: Sequence[Call],
    usages: Sequence[tuple[int, RequestUsage]],
) -> Episode:
    first, last_failed = it.failed[0], it.failed[-1]
    last = last_failed if success is None else success
    between = calls[first + 1 : last + 1]
    after = None if success is None else calls[success]
    removed, added = _difference(calls[last_failed], after)
    tokens = _tokens(calls[first], calls[last], usages)
    return Episode(
        seq=calls[first].seq,
        kind=it.row.kind,
        signature=it.row.signature,
        program=it.row.program,
        ending=ending,
        end=calls[last].seq,
        failures=tuple(calls[index].seq for index in it.failed),
        calls=len(between),
        minutes=_minutes(calls[first], calls[last]),
        before=_form(calls[last_failed]),
        after="" if after is None else _form(after),
        removed=removed,
        added=added,
        edited=tuple(dict.fromkeys(one.event.path for call in between for one in call.edits)),
        input=tokens[0] if tokens else None,
        output=tokens[1] if tokens else None,
    )


def _form(call: Call) -> str:
    """A call in the form by which it is known in other sessions."""
    if call.script is not None:
        return normal_call(call.script)[:_SHORT]
    return call.event.name


def _minutes(first: Call, last: Call) -> float | None:
    end = last.result.at if last.result is not None else None
    end = end if end is not None else last.event.at
    if first.event.at is None or end is None:
        return None
    return round(max(0, end - first.event.at) / _MINUTE_MS, 2)


def _difference(failed: Call, after: Call | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words that went and words that came, from the last failing command to the succeeding one."""
    if after is None:
        return (), ()
    old, new = (call.event.text[:2000].split()[:_WORDS] for call in (failed, after))
    removed: list[str] = []
    added: list[str] = []
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            removed += old[a:b]
            added += new[c:d]
    return tuple(removed), tuple(added)


def _tokens(
    first: Call, last: Call, usages: Sequence[tuple[int, RequestUsage]]
) -> tuple[int, int] | None:
    """What the requests were billed that followed a call, up to the one that asked for another."""
    begin = first.result_seq if first.result_seq is not None else first.seq
    counted = [
        usage
        for seq, usage in usages
        if (seq > begin and (usage.message is None or usage.message != first.event.message))
        and (
            seq <= last.seq or (usage.message is not None and usage.message == last.event.message)
        )
    ]
    if last is first or not usages:
        return (0, 0) if usages else None
    return (
        sum(
            part or 0
            for usage in counted
            for part in (
                usage.input, usage.cache_read, usage.cache_write_5m, usage.cache_write_1h
            )
        ),
        sum(usage.output or 0 for usage in counted),
    )  # fmt: skip
