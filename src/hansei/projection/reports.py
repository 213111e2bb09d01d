"""What subagents reported, and whether anything of it came up again in the session that asked.

A report is used where a later call, edit or reply of the parent holds something that only the
report had told: a path or a name, or four of its words in a row. What the parent had seen before
proves nothing, so it does not count. Whoever says it in other words uses it too: a report is
called unused only where hardly any of its new words come back either. A report that tells nothing
new, or after which the session says no more, proves nothing: unknown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from hansei.events.model import (
    FileEdit,
    Prompt,
    Reply,
    Status,
    Thought,
    Tool,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.events.model import AnyEvent
    from hansei.projection.calls import Call
    from hansei.store.reading import Numbered

LEAST_NEW: Final = 12
"""Words that only the report told; fewer say nothing."""
PARAPHRASED: Final = 0.1
"""Of a report's new words: where so many come back it was told in other words."""
ROW: Final = 4
_WORD: Final = re.compile(r"[\w./\\:@-]*\w", re.UNICODE)
_LONG: Final = 5
"""Letters of a word that can be told from any other text."""
_ROLES: Final = ("subagent_type", "agent_type", "role", "agent")
_STARTED: Final = re.compile(r"launched|agentId|running in (?:the )?background", re.IGNORECASE)
"""A result that only says that the subagent began: the report comes by another way."""
_json = msgspec.json.Encoder().encode


class Report(NamedTuple):
    """One report."""

    seq: int
    """The call that asked for it."""
    role: str
    """The kind of subagent; empty where the call does not name one."""
    child: str | None
    """The session that made it, by the agent's own id."""
    told: int
    """Words that only the report told."""
    back: int
    """How many of them the parent used later."""
    later: bool
    """Whether the parent said or did anything after it."""
    used: bool | None
    """None where that cannot be known."""


def reports(events: Sequence[Numbered], calls: Sequence[Call]) -> list[Report]:
    """The reports of a session's subagents, in order."""
    asked = [it for it in calls if it.event.tool is Tool.SUBAGENT and _is_report(it)]
    return [_row(events, it) for it in asked]


def _is_report(call: Call) -> bool:
    result = call.result
    return (
        result is not None
        and result.status is not Status.FAILED
        and ("prompt" in call.event.arguments or "message" in call.event.arguments)
        and not _STARTED.search(result.text[:400])
    )


def _row(events: Sequence[Numbered], call: Call) -> Report:
    assert call.result is not None
    assert call.result_seq is not None
    before: set[str] = set()
    told = _texts(event for seq, event in events if seq < call.result_seq)
    for text in told:
        before.update(_words(text))
    report = list(_words(call.result.text))
    new = {it for it in report if len(it) >= _LONG} - before
    rows = {
        row
        for row in zip(*(report[n:] for n in range(ROW)), strict=False)
        if not new.isdisjoint(row)
    }
    later = list(_answers(event for seq, event in events if seq > call.result_seq))
    said = [list(_words(it)) for it in later]
    back = new & {word for it in said for word in it}
    quoted = any(
        row in rows for it in said for row in zip(*(it[n:] for n in range(ROW)), strict=False)
    )
    arguments = call.event.arguments
    role = next((str(arguments[it]) for it in _ROLES if arguments.get(it)), "")
    return Report(
        seq=call.seq,
        role=role,
        child=call.result.child,
        told=len(new),
        back=len(back),
        later=bool(later),
        used=_used(new, back, quoted=quoted) if later else None,
    )


def _used(new: set[str], back: set[str], *, quoted: bool) -> bool | None:
    if quoted or any(map(_is_name, back)) or len(back) > PARAPHRASED * len(new):
        return True
    return None if len(new) < LEAST_NEW else False


def _is_name(word: str) -> bool:
    """Whether it is a path or a symbol rather than a word."""
    return bool(re.search(r"[./\\_:]|\d", word)) or not (word.islower() or word.istitle())


def _words(text: str) -> Iterator[str]:
    return (found[0] for found in _WORD.finditer(text))


def _texts(events: Iterable[AnyEvent]) -> Iterator[str]:
    """Everything that stood in the context."""
    for event in events:
        if isinstance(event, (Prompt, Reply, Thought, ToolResult)):
            yield event.text
        elif isinstance(event, ToolCall):
            yield _json(event.arguments).decode()


def _answers(events: Iterable[AnyEvent]) -> Iterator[str]:
    """What the parent itself said and did."""
    for event in events:
        if isinstance(event, (Reply, Thought)):
            yield event.text
        elif isinstance(event, ToolCall):
            yield _json(event.arguments).decode()
        elif isinstance(event, FileEdit):
            yield "\n".join(it.new for it in event.hunks)
