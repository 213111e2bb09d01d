"""Sessions as trees of entries, which Pi and the agents built on its engine write.

An entry names the one it follows. A fork begins with entries of the session it was made from, just
as they are, and its first line says from which file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hansei.synth.dice import dice, fingerprint
from hansei.synth.notation import hunk, iso
from hansei.synth.output import ROOT
from hansei.synth.story import (
    Change,
    Compaction,
    Consult,
    Create,
    Fetch,
    Interruption,
    ListFiles,
    Plan,
    Prompt,
    Read,
    Request,
    Run,
    Search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.synth.story import Action, Call, Outcome, Session, Step, Told, Usage

Line = dict[str, Any]

FORMAT_VERSION = 3
STOPPED = "Command aborted"
BLOCKED = "Tool execution was blocked"


@dataclass(frozen=True)
class Manner:
    """What one agent of the family does in its own way."""

    provider: str
    terminal: str
    """The tool that runs commands."""
    asked: Callable[[Session, Prompt], str]
    """A prompt as it stands in the file."""
    call: Callable[[Call], tuple[str, Line] | None]
    """A call that only this agent makes: the tool's name and its arguments."""
    answer: Callable[[Call], str | None] = field(default=lambda _: None)
    """The text of a result that only this agent gives."""
    after: Callable[[Call], str] = field(default=lambda _: "")
    """What is said in the user's place once a call has ended."""
    notes: Callable[[Call], Line | None] = field(default=lambda _: None)
    """What stands beside a result."""


class Tree:
    """The lines of one session."""

    def __init__(
        self, manner: Manner, told: Told, session_id: str, model: str, parent: str | None = None
    ) -> None:
        self.manner, self.told, self.model = manner, told, model
        self.calls: Callable[[str], str] = str
        self.last: str | None = None
        header: Line = {
            "type": "session",
            "version": FORMAT_VERSION,
            "id": session_id,
            "timestamp": iso(told.session.started),
            "cwd": ROOT,
        }
        self.lines: list[Line] = [header | ({"parentSession": parent} if parent else {})]

    def entry(self, at: int, kind: str, **fields: Any) -> None:
        own = fingerprint(self.told.session.key, len(self.lines), size=4)
        line = {"type": kind, "id": own, "parentId": self.last, "timestamp": iso(at), **fields}
        self.lines.append(line)
        self.last = own

    def message(
        self, at: int, role: str, content: list[Line], *, ended: int | None = None, **fields: Any
    ) -> None:
        """A message has the time it began, its entry the time it was whole."""
        message = {"role": role, "content": content, **fields, "timestamp": at}
        self.entry(ended or at, "message", message=message)

    def tell(self, steps: tuple[Step, ...]) -> None:
        """Write steps of the session, each request with what it took."""
        usages = iter(self.told.usages)
        session, began = self.told.session, self.told.session.started
        self.entry(began, "model_change", provider=self.manner.provider, modelId=self.model)
        for step in steps:
            if isinstance(step, Prompt):
                self.message(step.at, "user", [_text(self.manner.asked(session, step))])
            elif isinstance(step, Compaction):
                kept = self.last
                self.entry(
                    step.at,
                    "compaction",
                    summary=step.summary,
                    firstKeptEntryId=kept,
                    tokensBefore=150_000,
                )
            elif isinstance(step, Interruption):
                self._answer(step.at, [], None, "aborted", errorMessage="Request was aborted")
            elif isinstance(step, Request):
                self._request(step, next(usages))

    def _request(self, request: Request, usage: Usage) -> None:
        content: list[Line] = []
        if request.thought:
            sealed = fingerprint(self.told.session.key, request.at, size=16)
            thought = {"thinking": request.thought, "thinkingSignature": sealed}
            content.append({"type": "thinking", **thought})
        if request.reply:
            content.append(_text(request.reply))
        for call in request.calls:
            name, arguments = tool_call(self.manner, call)
            asked = {"id": self.calls(call.key), "name": name, "arguments": arguments}
            content.append({"type": "toolCall", **asked})
        last = max([request.at, *(call.at for call in request.calls)])
        stop = "toolUse" if request.calls else "stop"
        self._answer(request.at, content, usage, stop, ended=last)
        ended = [(call.outcome.at, call) for call in request.calls if call.outcome is not None]
        for at, call in sorted(ended, key=lambda item: item[0]):
            self._result(at, call)

    def _answer(
        self, at: int, content: list[Line], usage: Usage | None, stop: str, **fields: Any
    ) -> None:
        counts = counted(usage)
        self.message(
            at,
            "assistant",
            content,
            api="anthropic-messages",
            provider=self.manner.provider,
            model=self.model,
            usage={**counts, "totalTokens": sum(counts.values()), "cost": {"total": 0}},
            stopReason=stop,
            **fields,
        )

    def _result(self, at: int, call: Call) -> None:
        outcome = call.outcome
        assert outcome is not None
        notes, name = self.manner.notes(call), tool_call(self.manner, call)[0]
        diff = _diff(call.action) if outcome.state == "ok" else None
        details = notes or ({"diff": diff} if diff else None)
        self.message(
            at,
            "toolResult",
            [_text(result_text(self.manner, call))],
            toolCallId=self.calls(call.key),
            toolName=name,
            isError=outcome.state != "ok" and notes is None,
            details=details,
        )
        said = self.manner.after(call)
        if said:
            self.message(at, "user", [_text(said)])


def counted(usage: Usage | None) -> dict[str, int]:
    """What a request took, in this family's words; zeros where nobody counted."""
    if usage is None:
        return {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write_5m or 0,
    }


def naive_total(lines: list[Line]) -> int:
    """The tokens that all usages in some lines add up to."""
    usages = [line.get("message", {}).get("usage") for line in lines]
    return sum(usage["totalTokens"] for usage in usages if usage)


def tool_call(manner: Manner, call: Call) -> tuple[str, Line]:
    """The tool that does what a call does, and its arguments."""
    own = manner.call(call)
    if own is not None:
        return own
    match call.action:
        case Run(command):
            return manner.terminal, {"command": command}
        case Read(path, start, lines):
            part = {} if lines is None else {"offset": start, "limit": lines}
            return "read", {"path": path, **part}
        case Change(path, old, new):
            return "edit", {"path": path, "oldText": old, "newText": new}
        case Create(path, content):
            return "write", {"path": path, "content": content}
        case Search(pattern, path):
            return "grep", {"pattern": pattern, "path": path}
        case ListFiles(glob):
            return "find", {"pattern": glob}
        case Plan(items):
            return "todo", {"items": [{"text": task, "status": state} for task, state in items]}
        case Fetch(url):
            return manner.terminal, {"command": f"curl -sL {url}"}
        case Consult(server, tool, arguments):
            return f"mcp__{server}__{tool}", dict(arguments)
        case _:
            raise AssertionError(call.action)


def kind_of(action: Action) -> str:
    """The canonical kind of the tool for an action, where the agent has none of its own."""
    match action:
        case Read():
            return "read"
        case Change():
            return "edit"
        case Create():
            return "write"
        case Search() | ListFiles():
            return "search"
        case Plan():
            return "plan"
        case Consult():
            return "mcp"
        case _:
            return "shell"


def result_text(manner: Manner, call: Call) -> str:
    """The text the model gets back from a call."""
    outcome, action = call.outcome, call.action
    assert outcome is not None
    own = manner.answer(call)
    if own is not None:
        return own
    if outcome.state == "declined":
        return BLOCKED
    if outcome.state == "interrupted":
        return f"{outcome.text}\n\n{STOPPED}" if outcome.text else STOPPED
    match action:
        case Change(path) if outcome.state == "failed":
            return f"Could not find the exact text in {path}. The old text must match exactly."
        case Change(path):
            return f"Successfully replaced text in {path}."
        case Create(path, content):
            return f"Successfully wrote {len(content)} bytes to {path}"
    return _printed(outcome, shell=tool_call(manner, call)[0] == manner.terminal)


def _printed(outcome: Outcome, *, shell: bool) -> str:
    code = outcome.exit_code
    return f"{outcome.text}\n\nCommand exited with code {code}" if shell and code else outcome.text


def _diff(action: Action) -> str | None:
    """A change as these agents show it: a mark and a number before each line."""
    if not isinstance(action, Change):
        return None
    piece = hunk(action)
    old = new = piece.start
    shown = []
    for line in piece.lines:
        mark, text = line[0], line[1:]
        shown.append(f"{mark}{new if mark == '+' else old:>4} {text}")
        old, new = old + (mark != "+"), new + (mark != "-")
    return "\n".join(shown)


def _text(words: str) -> Line:
    return {"type": "text", "text": words}


def native_call_id(call_key: str) -> str:
    """A call's id as the provider gives it."""
    return f"toolu_{fingerprint(dice(call_key).random(), size=12)}"
