"""Messages of the model: what it said and thought, and what went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import Compaction, Interruption, Notice, Reply, Thought
from hansei.sources.agents.opencode import calls, usage
from hansei.sources.agents.opencode.reader import moment_of
from hansei.sources.agents.opencode.records import IGNORED

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.agents.opencode.reader import Reader, Said, Where
    from hansei.sources.agents.opencode.records import Fault, Part
    from hansei.sources.agents.opencode.stored import Stored

ABORTED = "MessageAbortedError"


def take(reader: Reader, said: Said, stored: list[Stored]) -> None:
    """Everything one answer tells. Words are told once they are all there."""
    if said.message.summary is True:
        _summary(reader, said)
    for part, kept in zip(said.parts, stored, strict=True):
        handler = _PARTS.get(part.type or "")
        if part.type == "tool" and not (part.callID and part.tool and part.state):
            reader.unrecognised(said, "part/tool without a call", kept)
        elif handler is not None:
            handler(reader, said, part)
        elif part.type not in _ELSEWHERE and f"part/{part.type}" not in IGNORED:
            reader.unrecognised(said, f"part/{part.type}", kept)
    usage.requests(reader, said)
    if said.message.error is not None:
        _fault(reader, said, said.message.error)


def _summary(reader: Reader, said: Said) -> None:
    """The answer that takes the place of what was said before."""
    texts = [part.text for part in said.parts if part.type == "text" and part.text]
    if texts and said.is_over and said.message.error is None:
        asked = said.asked.compaction
        event = Compaction(
            key=said.key("compaction"),
            text="\n".join(texts),
            trigger=None if asked is None else "auto" if asked.auto else "manual",
            partial=asked is not None and asked.tail_start_id is not None,
            **said.where | {"at": said.at("completed")},
        )
        reader.emit(event)


def _text(reader: Reader, said: Said, part: Part) -> None:
    if part.text and said.message.summary is not True and _is_whole(said, part):
        event = Reply(
            key=said.text_key("reply", part.text),
            text=part.text,
            model=said.message.modelID,
            **_timed(said, part),
        )
        reader.emit(event)


def _reasoning(reader: Reader, said: Said, part: Part) -> None:
    if _is_whole(said, part):
        text = part.text or ""
        event = Thought(
            key=said.text_key("thought", text),
            text=text,
            model=said.message.modelID,
            **_timed(said, part),
        )
        reader.emit(event)


def _is_whole(said: Said, part: Part) -> bool:
    return said.is_over or moment_of(part.time, "end") is not None


def _timed(said: Said, part: Part) -> Where:
    at = moment_of(part.time, "end") or moment_of(part.time, "start")
    return said.where | ({"at": at} if at else {})


def _patch(reader: Reader, said: Said, part: Part) -> None:
    """Files that differ after a step, by whichever means they were changed."""
    text = "\n".join(part.files or ())
    key = said.text_key("patch", f"{part.hash}\x1f{text}")
    data = {"snapshot": part.hash} if part.hash else {}
    reader.emit(Notice(key=key, name="patch", text=text, data=data, **said.where))


def _retry(reader: Reader, said: Said, part: Part) -> None:
    at = moment_of(part.time, "created")
    where = said.where | ({"at": at} if at else {})
    text = _words(part.error)
    data = {"attempt": part.attempt} if part.attempt is not None else {}
    key = said.text_key("retry", f"{part.attempt}\x1f{text}")
    reader.emit(Notice(key=key, name="retry", text=text, data=data, **where))


def _fault(reader: Reader, said: Said, fault: Fault) -> None:
    """Why an answer ended: a person stopped it, or something went wrong."""
    where = said.where | {"at": said.at("completed") or said.at("created")}
    if fault.name == ABORTED:
        reader.emit(Interruption(key=said.key("interruption"), **where))
        return
    data: dict[str, object] = {"name": fault.name} if fault.name else {}
    status = (fault.data or {}).get("statusCode")
    if isinstance(status, int):
        data["status"] = status
    key = said.key("error")
    reader.emit(Notice(key=key, name="error", text=_words(fault), data=data, **where))


def _words(fault: Fault | None) -> str:
    """What an error says; not the answer of the server, which may hold anything."""
    message = ((fault.data if fault else None) or {}).get("message")
    return message if isinstance(message, str) else ""


_PARTS: dict[str, Callable[[Reader, Said, Part], None]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tool": calls.take,
    "patch": _patch,
    "retry": _retry,
}
_ELSEWHERE = frozenset(("step-finish",))
"""Parts that are looked at together."""
