"""From a failure to what got past it.

An episode begins with a call that failed and ends with the next one that tries the same again and
succeeds. Every failure belongs to one episode: the same failure of the same thing goes on with the
one that is open, another failure has its own. It is given up when other work has followed for long
enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hansei.events.model import Status, Tool
from hansei.events.usage import context_tokens
from hansei.projection.commands.model import Class, Writing
from hansei.projection.commands.normal import normal
from hansei.projection.commands.showing import only_shows
from hansei.projection.exchanges import conversation
from hansei.projection.failures.changes import difference
from hansei.projection.failures.model import Ending, Episode, Kind
from hansei.projection.failures.polls import followed
from hansei.projection.failures.relation import can_try_again, may_try_again, same_aim, tries_again
from hansei.projection.failures.signature import failures, normalised
from hansei.projection.failures.subject import of_failure, of_success

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.commands.model import Script, Write
    from hansei.projection.exchanges import Conversation
    from hansei.projection.failures.model import Failure, Verdict
    from hansei.projection.failures.subject import Subject
    from hansei.store.reading import Numbered

PATIENCE: Final = 40
"""Calls without another try after which an agent has moved on. In real transcripts 19 of 20
recoveries come within 15 calls of the last failure."""
_KINDS = frozenset((Kind.FAILURE, Kind.HARNESS))
_SHORT: Final = 200
"""Characters of a command that are kept."""
_MINUTE_MS: Final = 60_000
_WRITERS = frozenset(("cat", "echo", "printf", "tee"))
"""Programs that write what they are given, and hardly ever fail."""
_WRITES = frozenset((Writing.REPLACE, Writing.APPEND, Writing.EDIT, Writing.MOVE))


@dataclass
class _Open:
    """An episode that has not ended."""

    row: Failure
    failed: list[int]
    """Indexes of the calls that failed."""
    subjects: list[Subject]
    """What each of those was about."""
    other: list[int] = field(default_factory=list)
    """Indexes of later tries that failed for another reason."""
    maybe: tuple[int, Subject] | None = None
    """A call that went well and may have been another try, where no better one follows."""


def episodes(
    calls: Sequence[Call],
    verdicts: Sequence[Verdict],
    events: Sequence[Numbered],
    rows: Iterable[Failure] | None = None,
    talk: Conversation | None = None,
) -> list[Episode]:
    """Every episode of a session, in the order of their first failures.

    `rows` are the session's failures and `talk` its conversation, for whoever has them already.
    """
    known = {row.seq: row for row in (failures(calls, verdicts) if rows is None else rows)}
    calls = followed(calls)
    told = _Telling(calls, verdicts, _Bill(events, talk))
    opened: list[_Open] = []
    found: list[Episode] = []
    for index, (call, verdict) in enumerate(zip(calls, verdicts, strict=True)):
        if opened:
            for it in [it for it in opened if index - it.failed[-1] > PATIENCE]:
                opened.remove(it)
                found.append(told.without_end(it, Ending.MOVED_ON))
        if verdict.kind in _KINDS and verdict.status is Status.FAILED:
            found += told.past(opened, index)
            _fail(opened, index, of_failure(call, verdict, known[call.seq]), known[call.seq])
        elif opened:
            found += told.past(opened, index)
    found += [told.without_end(it, Ending.SESSION_ENDED) for it in opened]
    return sorted(found, key=lambda episode: episode.seq)


def _fail(opened: list[_Open], index: int, about: Subject, row: Failure) -> None:
    joined = False
    for it in reversed(opened):
        if it.row.kind is not row.kind:
            continue
        if not joined and _goes_on(it, about, row):
            it.failed.append(index)
            it.subjects.append(about)
            it.maybe = None
            joined = True
        elif any(tries_again(one, about) for one in it.subjects):
            it.other.append(index)
    if not joined:
        opened.append(_Open(row, [index], [about]))


def _goes_on(it: _Open, about: Subject, row: Failure) -> bool:
    """Whether a failure belongs to an open episode: the same again, or exactly the same try."""
    if it.row.program == row.program and normalised(it.row.line) == normalised(row.line):
        if any(_same_files(one, about) and tries_again(one, about) for one in it.subjects):
            return True
        if row.kind is Kind.HARNESS and _is_tool_itself(about):
            return True
    return any(same_aim(one, about) for one in it.subjects)


def _is_tool_itself(about: Subject) -> bool:
    """Whether a refusal of the agent program is about the tool, whatever it was asked for."""
    if about.command is not None:
        return about.command.kind is Class.TEST
    return about.tool in (Tool.SUBAGENT, Tool.PLAN, Tool.OTHER, Tool.MCP)


def _same_files(one: Subject, about: Subject) -> bool:
    """Whether two failures are about the same file, where both name one."""
    return not (one.files and about.files) or bool(one.files & about.files)


def _what_got_past(it: _Open, about: Iterable[Subject]) -> Subject | None:
    """What of a call that went well is the thing that failed; None where it is something else."""
    first = it.subjects[0]
    tests = first.command is not None and first.command.kind is Class.TEST
    wanted = it.subjects[:1] if tests else it.subjects
    return next((other for other in about for one in wanted if tries_again(one, other)), None)


class _Telling:
    """Rows of episodes, told from the session's calls."""

    def __init__(self, calls: Sequence[Call], verdicts: Sequence[Verdict], bill: _Bill) -> None:
        self._calls = calls
        self._verdicts = verdicts
        self._bill = bill

    def past(self, opened: list[_Open], index: int) -> list[Episode]:
        """Episodes that a call ends; they are no longer open."""
        tool = self._calls[index].event.tool
        asked = [it for it in opened if can_try_again(it.subjects[-1], tool)]
        if not asked:
            return []
        about = list(of_success(self._calls[index], self._verdicts[index]))
        found = []
        for it in asked if about else ():
            past = _what_got_past(it, about)
            if past is not None:
                opened.remove(it)
                found.append(self.recovered(it, index, past))
            elif it.maybe is None:
                near = (one for one in about if may_try_again(it.subjects[-1], one))
                it.maybe = next(((index, one) for one in near), None)
        return found

    def recovered(self, it: _Open, index: int, past: Subject) -> Episode:
        removed, added = self._difference(it, past)
        row = self._row(it, index, Ending.RECOVERED)
        return row._replace(after=_prepared(past), removed=removed, added=added)

    def without_end(self, it: _Open, ending: Ending) -> Episode:
        if it.maybe is not None:
            return self.recovered(it, *it.maybe)
        return self._row(it, it.failed[-1], ending)

    def _row(self, it: _Open, last: int, ending: Ending) -> Episode:
        first = it.failed[0]
        one, other = self._calls[first], self._calls[last]
        taken, written = self._bill.between(one, other)
        return Episode(
            seq=one.seq,
            kind=it.row.kind,
            signature=it.row.signature,
            program=it.row.program,
            ending=ending,
            end=other.seq,
            failures=tuple(self._calls[index].seq for index in it.failed),
            calls=last - first,
            minutes=_minutes(one, other),
            before=_form(it.subjects[-1]),
            after="",
            removed=(),
            added=(),
            edited=tuple(dict.fromkeys(self._edited(first + 1, last + 1))),
            input=taken,
            output=written,
        )

    def _difference(self, it: _Open, past: Subject) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What changed until it no longer failed so, where the success kept that; else in all."""
        failed = self._calls[it.failed[-1]]
        kept = past.call.event.text.split()
        for index in it.other:
            later = self._calls[index]
            if index < it.failed[-1] or later.script is None:
                continue
            removed, added = difference(failed, later)
            if (removed or added) and set(added) <= set(kept) and not set(removed) & set(kept):
                return removed, added
        return difference(failed, past.call)

    def _edited(self, begin: int, end: int) -> Iterator[str]:
        """Files that were written by calls that did not fail."""
        for call, verdict in zip(self._calls[begin:end], self._verdicts[begin:end], strict=True):
            if verdict.status is Status.FAILED or verdict.kind is not None:
                continue
            yield from (it.event.path for it in call.edits if it.event.applied is not False)
            if call.script is None or verdict.status is not Status.OK or call.edits:
                continue
            for command in call.script.commands:
                if not command.masked or command.program in _WRITERS:
                    yield from (it.path for it in command.writes if _is_file(it))


def _is_file(write: Write) -> bool:
    """Whether it is one file that is written, as far as its name tells."""
    named = not write.path.startswith("/dev/") and not re.search(r"[*?$`]", write.path)
    return named and write.how in _WRITES


def _form(about: Subject) -> str:
    """A call in the form by which it is known in other sessions: the command that counts.

    With what it was piped from.
    """
    script = about.call.script
    if script is None:
        return about.call.event.name
    if about.at is None or not script.parsed:
        return " ".join(about.text.split())[:_SHORT]
    begin = _pipe_begins(script, about.at)
    piped = (it for it in script.commands[begin : about.at + 1] if not it.inside)
    return " | ".join(normal(command) for command in piped)[:_SHORT]


def _pipe_begins(script: Script, place: int) -> int:
    while place and script.commands[place].stage:
        place -= 1
    return place


def _prepared(about: Subject) -> str:
    """The same with what the call did first: that may be what made it work."""
    script = about.call.script
    if script is None or about.at is None or not script.parsed:
        return _form(about)
    elsewhere = about.command is not None and bool(about.command.directory)
    first = [
        normal(it)
        for it in script.commands[: _pipe_begins(script, about.at)]
        if not it.inside
        and not it.stage
        and (elsewhere if it.program == "cd" else not only_shows(it))
    ]
    return " && ".join([*first, _form(about)])[:_SHORT]


def _minutes(first: Call, last: Call) -> float | None:
    end = last.result.at if last.result is not None else None
    end = end if end is not None else last.event.at
    if first.event.at is None or end is None:
        return None
    return round(max(0, end - first.event.at) / _MINUTE_MS, 2)


class _Bill:
    """What requests took, found by the calls they asked for."""

    def __init__(self, events: Sequence[Numbered], talk: Conversation | None) -> None:
        self._events = events
        self._talk = talk
        self._places: dict[int, int] = {}

    def between(self, first: Call, last: Call) -> tuple[int | None, int | None]:
        """Input and output of the requests after the one that asked for a call, up to another's."""
        if self._talk is None:
            self._talk = conversation(self._events)
        asked = self._talk.exchanges
        if not self._places:
            self._places = {
                seq: place for place, exchange in enumerate(asked) for seq, _ in exchange.answers
            }
        begin, end = self._places.get(first.seq), self._places.get(last.seq)
        if begin is None or end is None:
            return None, None
        usages = [it.usage for it in asked[begin + 1 : end + 1]]
        known = [usage for usage in usages if usage is not None]
        if usages and not known:
            return None, None
        inputs = [context_tokens(usage) or 0 for usage in known]
        return sum(inputs), sum(usage.output or 0 for usage in known)
