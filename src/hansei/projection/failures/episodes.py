"""From a failure to what got past it.

An episode begins with a call that failed and ends with the next one that tries the same again and
succeeds. Every failure belongs to one episode: another failure of the same thing goes on with the
one that is open. It is given up when other work has followed for long enough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from hansei.events.model import Status
from hansei.events.usage import context_tokens
from hansei.projection.commands.normal import normal_call
from hansei.projection.exchanges import conversation
from hansei.projection.failures.model import Ending, Episode, Kind
from hansei.projection.failures.relation import subject, subjects, tries_again
from hansei.projection.failures.signature import failures

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.exchanges import Conversation
    from hansei.projection.failures.model import Failure, Verdict
    from hansei.projection.failures.relation import Subject
    from hansei.store.reading import Numbered

PATIENCE: Final = 40
"""Calls without another try after which an agent has moved on. In real transcripts 19 of 20
recoveries come within 15 calls of the last failure."""
_MISUSED = re.compile(
    r"unknown (?:command|flag|option|subcommand|argument)|unrecogni[sz]ed|invalid option|usage"
    r"|no such (?:option|command)|unexpected argument|accepts \d+ arg|invalid choice"
    r"|missing required",
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

    row: Failure
    failed: list[int]
    """Indexes of the calls that failed."""
    subjects: list[Subject]
    """What each of those was about."""


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
    bill = _Bill(events, talk)
    opened: list[_Open] = []
    found: list[Episode] = []
    for index, (call, verdict) in enumerate(zip(calls, verdicts, strict=True)):
        for it in [it for it in opened if index - it.failed[-1] > PATIENCE]:
            opened.remove(it)
            found.append(_told(it, None, Ending.MOVED_ON, calls, bill))
        if verdict.kind in _KINDS and verdict.status is Status.FAILED:
            _fail(opened, index, subject(call, verdict.command), known[call.seq])
        elif opened and verdict.status is Status.OK:
            about = subjects(call)
            for it in [it for it in opened if _is_past(it, about)]:
                opened.remove(it)
                found.append(_told(it, index, Ending.RECOVERED, calls, bill))
    found += [_told(it, None, Ending.SESSION_ENDED, calls, bill) for it in opened]
    return sorted(found, key=lambda episode: episode.seq)


def _fail(opened: list[_Open], index: int, about: Subject, row: Failure) -> None:
    about = about._replace(misused=_MISUSED.search(row.line) is not None)
    for it in reversed(opened):
        if it.row.kind is row.kind and any(tries_again(one, about) for one in it.subjects):
            it.failed.append(index)
            it.subjects.append(about)
            return
    opened.append(_Open(row, [index], [about]))


def _is_past(it: _Open, about: Iterable[Subject]) -> bool:
    return any(tries_again(one, other) for other in about for one in it.subjects)


def _told(
    it: _Open,
    success: int | None,
    ending: Ending,
    calls: Sequence[Call],
    bill: _Bill,
) -> Episode:
    first, last_failed = it.failed[0], it.failed[-1]
    last = last_failed if success is None else success
    between = calls[first + 1 : last + 1]
    after = None if success is None else calls[success]
    removed, added = _difference(calls[last_failed], after)
    taken, written = bill.between(calls[first], calls[last])
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
        input=taken,
        output=written,
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
