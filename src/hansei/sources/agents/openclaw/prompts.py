"""Text in the user's place: who wrote it?

The gateway puts what it knows of a message before it: who sent it, over which channel, at what
time. Then comes what was written, by a person, by a schedule, or by another session.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.events.model import Driver, Origin
from hansei.sources.families.tree.reader import Said

if TYPE_CHECKING:
    from hansei.events.model import SessionFacts
    from hansei.sources.families.tree.records import Message

_ABOUT = re.compile(
    r"(?:[A-Z][\w ,]{2,60} \(untrusted[^)\n]{0,80}\):\n```json\n.*?\n```\s*)+", re.DOTALL
)
"""What the gateway says of the sender and the conversation."""
_EVENTS = re.compile(r"(?:System(?: \(untrusted\))?: [^\n]*(?:\n|$))+\s*")
"""What happened since the last message, a line each."""
_STAMP = re.compile(r"\[[^\]\n]{0,120}\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,24}\] ")
"""The time a message came, with the channel and the sender before it in earlier versions."""
_MESSAGE_ID = re.compile(r"\s*\[message_id: [^\]\n]{1,120}\]\s*$")
_SCHEDULED = re.compile(r"\[cron:[^\]\n]{1,200}\]")
_SUBAGENT = ("[Subagent Context]", "[Subagent Task]")
_OTHER_SESSION = "[Inter-session message]"
_QUEUED = "[Queued messages while agent was busy]"
_PROGRAM = (
    "A new session was started via /new or /reset",
    "Read HEARTBEAT.md",
    "[OpenClaw heartbeat",
    "Pre-compaction memory flush",
    "[Internal task completion event]",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    "[System Message]",
    "An async command you ran earlier has completed",
    "A scheduled reminder has been triggered",
    "Continue where you left off. The previous model attempt failed",
)
_KINDS = {
    "external_user": Origin.HUMAN,
    "inter_session": Origin.PARENT_AGENT,
    "internal_system": Origin.HARNESS,
}
"""The record's own word for who wrote a message; newer versions have it."""


def pieces(text: str, message: Message) -> list[Said]:
    """A text taken apart: what the gateway put before it, and what was written."""
    found: list[Said] = []
    rest = text
    for pattern in (_ABOUT, _EVENTS, _ABOUT):
        added = pattern.match(rest)
        if added:
            found.append(Said(added[0], Origin.HARNESS))
            rest = rest[added.end() :]
    stamp = _STAMP.match(rest)
    rest = _MESSAGE_ID.sub("", rest[stamp.end() :] if stamp else rest)
    return [*found, Said(rest, _written_by(rest, message))] if rest or not found else found


def _written_by(text: str, message: Message) -> Origin:
    if text.startswith((*_SUBAGENT, _OTHER_SESSION)):
        return Origin.PARENT_AGENT
    if _SCHEDULED.match(text) or text.startswith(_PROGRAM):
        return Origin.HARNESS
    kind = message.provenance.kind if message.provenance else None
    if kind is not None:
        return _KINDS.get(kind, Origin.HARNESS)
    return Origin.QUEUED_HUMAN if text.startswith(_QUEUED) else Origin.HUMAN


def learn(facts: SessionFacts, said: Said) -> None:
    """A schedule or a parent that speaks is who drives the session."""
    if said.text.startswith(_SUBAGENT):
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    elif _SCHEDULED.match(said.text):
        facts.driver, facts.driver_recorded = Driver.AUTOMATED, True
