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
_BLANKED: Final = bytes(
    it if it >= 128 or chr(it).isalnum() or chr(it) in r"_./\:@-" else 32 for it in range(256)
)
"""What words are made of stays, everything else is a blank."""
_NAME: Final = re.compile(rb"[./\\_:]|[0-9]")
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
    if not asked:
        return []
    words = _Words(events, [it.result.text for it in asked if it.result])
    return [
        _row(words, it, it.result, it.result_seq) for it in asked if it.result and it.result_seq
    ]


class _Words:
    """Where the words of reports stand in a session: every text is taken apart once."""

    def __init__(self, events: Sequence[Numbered], reports: Iterable[str]) -> None:
        self.first: dict[bytes, int] = {}
        """The event that a word was first seen in."""
        self.last: dict[bytes, int] = {}
        """The last call, edit or reply of the agent that holds it."""
        self.answers: list[tuple[int, str]] = []
        wanted = {word for text in reports for word in _words(text) if len(word) >= _LONG}
        for seq, event in events:
            answer = _answer(event)
            text = event.text if isinstance(event, (Prompt, ToolResult)) else answer
            if text is not None:
                told = wanted.intersection(_words(text))
                for word in told:
                    self.first.setdefault(word, seq)
                if answer is not None:
                    self.answers.append((seq, answer))
                    self.last.update(dict.fromkeys(told, seq))


def _words(text: str) -> list[bytes]:
    """The words of a text; signs in them make names, and are part of them."""
    data = text.encode("utf-8", "surrogatepass")
    for end in (b". ", b".\n", b": ", b":\n"):
        data = data.replace(end, b" ")
    return data.rstrip(b".:").translate(_BLANKED).split()


def _is_report(call: Call) -> bool:
    result = call.result
    return (
        result is not None
        and result.status is not Status.FAILED
        and ("prompt" in call.event.arguments or "message" in call.event.arguments)
        and not _STARTED.search(result.text[:400])
    )


def _row(words: _Words, call: Call, result: ToolResult, seq: int) -> Report:
    report = _words(result.text)
    new = {it for it in report if words.first.get(it) == seq}
    back = {it for it in new if words.last.get(it, 0) > seq}
    later = [text for at, text in words.answers if at > seq]
    arguments = call.event.arguments
    return Report(
        seq=call.seq,
        role=next((str(arguments[it]) for it in _ROLES if arguments.get(it)), ""),
        child=result.child,
        told=len(new),
        back=len(back),
        later=bool(later),
        used=_used(report, new, back, later) if later else None,
    )


def _used(
    report: Sequence[bytes], new: set[bytes], back: set[bytes], later: Iterable[str]
) -> bool | None:
    if any(map(_is_name, back)) or len(back) > PARAPHRASED * len(new):
        return True
    if back:
        quotable = {row for row in _rows(report) if not back.isdisjoint(row)}
        if any(row in quotable for text in later for row in _rows(_words(text))):
            return True
    return None if len(new) < LEAST_NEW else False


def _rows(words: Sequence[bytes]) -> Iterator[tuple[bytes, ...]]:
    return zip(*(words[start:] for start in range(ROW)), strict=False)


def _is_name(word: bytes) -> bool:
    """Whether it is a path or a symbol rather than a word."""
    return _NAME.search(word) is not None or not (word.islower() or word.istitle())


def _answer(event: AnyEvent) -> str | None:
    """What the agent itself said or did."""
    if isinstance(event, (Reply, Thought)):
        return event.text
    if isinstance(event, ToolCall):
        return _json(event.arguments).decode()
    return "\n".join(it.new for it in event.hunks) if isinstance(event, FileEdit) else None
