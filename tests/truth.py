"""What readings told, in the words of a fixture's `expected.json`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    Compaction,
    FileEdit,
    Interruption,
    Notice,
    Prompt,
    Reply,
    RequestUsage,
    SessionFacts,
    SlashCommand,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.events.usage import TOKENS
from hansei.sources.contract import START, latest

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent
    from hansei.sources.contract import Cursor, Problem


@dataclass
class Told:
    """Everything that one or more readings brought."""

    events: list[AnyEvent] = field(default_factory=list)
    sessions: dict[str, SessionFacts] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    cursor: Cursor = START
    restarted: bool = False

    @property
    def known(self) -> list[AnyEvent]:
        return latest(self.events)

    def learn(self, facts: SessionFacts) -> None:
        """Join facts as a store does: the first value stays but for a few."""
        before = self.sessions.setdefault(facts.id, SessionFacts(id=facts.id))
        for name in facts.__struct_fields__:
            old, new = getattr(before, name), getattr(facts, name)
            if name in ("title", "version", "branch"):
                setattr(before, name, new or old)
            elif name in ("driver", "driver_recorded"):
                if facts.driver_recorded or before.driver is None:
                    setattr(before, name, new)
            elif old is None:
                setattr(before, name, new)


def summarise(told: Told) -> dict[str, Any]:
    """What was told in the words of `expected.json`; what is empty is left out."""
    sessions: dict[str, Any] = {}
    events = told.known
    for session in sorted({event.session for event in events}):
        own = [event for event in events if event.session == session]
        summary = {**_facts(told.sessions[session]), **_counts(own), **_requests(own)}
        sessions[session] = {name: value for name, value in summary.items() if value}
    found: dict[str, Any] = {"sessions": sessions}
    if told.problems:
        found["problems"] = len(told.problems)
    return found


def _facts(facts: SessionFacts) -> dict[str, Any]:
    return {
        name: str(value) if isinstance(value, str) else value
        for name in facts.__struct_fields__
        if name != "id" and (value := getattr(facts, name)) is not None
    }


def _counts(events: list[AnyEvent]) -> dict[str, Any]:
    results = [event for event in events if isinstance(event, ToolResult)]
    prompts = [event for event in events if isinstance(event, Prompt)]
    return {
        "prompts": Counter(str(event.origin) for event in prompts),
        "images": sum(event.images for event in prompts),
        "commands": [event.name for event in events if isinstance(event, SlashCommand)],
        "interruptions": sum(isinstance(event, Interruption) for event in events),
        "replies": sum(isinstance(event, Reply) for event in events),
        "thoughts": sum(isinstance(event, Thought) for event in events),
        "calls": Counter(str(event.tool) for event in events if isinstance(event, ToolCall)),
        "results": Counter(str(event.status) for event in results),
        "bases": Counter(str(event.basis) for event in results),
        "exit_codes": [event.exit_code for event in results if event.exit_code is not None],
        "sizes": [event.size for event in results if event.size is not None],
        "truncated": sum(event.truncated for event in results),
        "children": sorted(event.child for event in results if event.child),
        "edits": [
            [event.path, event.operation, event.added, event.removed]
            for event in events
            if isinstance(event, FileEdit)
        ],
        "compactions": [
            {
                "trigger": event.trigger,
                "tokens_before": event.tokens_before,
                "summary": bool(event.text),
                "partial": event.partial,
            }
            for event in events
            if isinstance(event, Compaction)
        ],
        "notices": Counter(event.name for event in events if isinstance(event, Notice)),
        "unrecognised": sorted(event.name for event in events if isinstance(event, Unrecognised)),
    }


def _requests(events: list[AnyEvent]) -> dict[str, Any]:
    requests = [event for event in events if isinstance(event, RequestUsage)]
    return {
        "requests": len(requests),
        "tokens": {name: _total(requests, name) for name in TOKENS} if requests else {},
        "reasoning": _total(requests, "reasoning"),
        "web_searches": _total(requests, "web_searches"),
        "lines": sum(event.lines for event in requests),
        "repeated": sum(event.repeated for event in requests),
        "tiers": [event.tier for event in requests if event.tier],
        "models": sorted({event.model for event in requests if event.model}),
    }


def _total(requests: list[RequestUsage], name: str) -> int | None:
    known = [value for event in requests if (value := getattr(event, name)) is not None]
    return sum(known) if known else None


def assert_truth(expected: dict[str, Any], found: dict[str, Any]) -> None:
    """Whether what was told is what was worked out, and no more."""
    assert sorted(found["sessions"]) == sorted(expected["sessions"])
    for session, truth in expected["sessions"].items():
        told = found["sessions"][session]
        assert {name: told.get(name) for name in truth} == _unless_false(truth), session
        unsaid = {name for name in told if name not in truth} - NOT_ALWAYS_WORKED_OUT
        assert not unsaid, f"{session} also has {unsaid}"
    assert found.get("problems", 0) == expected.get("problems", 0)


NOT_ALWAYS_WORKED_OUT = {
    "branch", "cwd", "version", "entrypoint", "models", "bases", "exit_codes", "sizes",
}  # fmt: skip
"""What a case may leave unsaid if it is not about that."""


def _unless_false(truth: dict[str, Any]) -> dict[str, Any]:
    return {name: value or None for name, value in truth.items()}
