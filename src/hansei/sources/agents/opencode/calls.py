"""Calls of tools: one part that is rewritten as the call goes on, until it has its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import (
    MARKER,
    Basis,
    Driver,
    Notice,
    Relation,
    SlashCommand,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.events.tools import canonical_tool
from hansei.sources.agents.opencode import changes
from hansei.sources.agents.opencode.prompts import RAN_BY_USER
from hansei.sources.agents.opencode.reader import moment_of
from hansei.sources.agents.opencode.records import Metadata
from hansei.sources.families.shell import hides_status
from hansei.sources.families.streams import byte_size

if TYPE_CHECKING:
    from hansei.sources.agents.opencode.reader import Reader, Said
    from hansei.sources.agents.opencode.records import Part, State

INVALID = "invalid"
"""The tool that stands for a call that could not be made."""

_TOOLS = {
    "list": Tool.SEARCH,
    "lsp": Tool.SEARCH,
    "codesearch": Tool.WEB,
    "question": Tool.PLAN,
    "plan_enter": Tool.PLAN,
    "plan_exit": Tool.PLAN,
}
"""Tools that only this agent has. Tools of MCP servers have no mark that tells them apart."""
_ABOUT = ("prompt", "command", "filePath", "pattern", "url", "query", "path", "name", "tool")
"""Arguments that say what a call is about, the telling ones first."""
_OVER = frozenset(("completed", "error"))
_DECLINED = (
    "The user rejected permission",
    "The user has specified a rule which prevents",
    "The user dismissed this question",
)
_ABORTED = ("Tool execution aborted", "Task cancelled")
_ABORTED_COMMAND = "User aborted the command"
_METADATA = ("<shell_metadata>", "<bash_metadata>")
"""Before what the program adds to the output of a command that did not end by itself."""


class Verdict(NamedTuple):
    """How a call ended, and how we know it."""

    status: Status
    basis: Basis
    exit_code: int | None = None


def take(reader: Reader, said: Said, part: Part) -> None:
    """A call with its edits, and its result once it is there; not before its input is."""
    state, call, name = part.state, part.callID, part.tool
    if state is None or not call or not name or state.status == "pending":
        return
    given = state.input if isinstance(state.input, dict) else {}
    if said.asked.text == RAN_BY_USER:
        _run_by_user(reader, said, call, given, state)
        return
    tool = _TOOLS.get(name) or canonical_tool(name)
    started = moment_of(state.time, "start")
    where = said.where | ({"at": started} if started else {})
    edits = changes.edits(said, call, name, given, state)
    event = ToolCall(
        key=said.key("call", call),
        call=call,
        tool=tool,
        name=name,
        arguments=given,
        text="\n".join(edit.path for edit in edits) if edits else about(given),
        model=said.message.modelID,
        **where,
    )
    reader.emit(event)
    for edit in edits:
        reader.emit(edit)
    if state.status in _OVER:
        _result(reader, said, call, name, given, state)


def about(given: dict[str, Any]) -> str:
    """What a call is about, on its own."""
    return next((value for name in _ABOUT if isinstance(value := given.get(name), str)), "")


def _result(
    reader: Reader, said: Said, call: str, name: str, given: dict[str, Any], state: State
) -> None:
    notes = state.metadata or Metadata()
    text = (state.error if state.status == "error" else state.output) or ""
    ended = moment_of(state.time, "end")
    verdict = judge(name, given, state, text)
    images = [file for file in state.attachments or () if (file.mime or "").startswith("image/")]
    event = ToolResult(
        key=said.key("result", call),
        call=call,
        text=text,
        status=verdict.status,
        basis=verdict.basis,
        exit_code=verdict.exit_code,
        size=None if notes.truncated else byte_size(text),
        truncated=bool(notes.truncated),
        images=len(images),
        child=notes.sessionId,
        **said.where | ({"at": ended} if ended else {}),
    )
    reader.emit(event)
    if notes.sessionId and notes.sessionId != said.owner.id:
        _child(reader, call, notes.sessionId, notes.parentSessionId or said.owner.id)
    pruned = moment_of(state.time, "compacted")
    if pruned is not None:
        key = said.key("pruned", call)
        notice = Notice(key=key, name="output_pruned", data={"call": call}, **said.where)
        reader.emit(notice)


def _child(reader: Reader, call: str, session: str, parent: str) -> None:
    """What a call says of the session it has started; a copy names the same parent."""
    facts = reader.facts(session)
    facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    facts.parent = facts.parent or parent
    facts.relation = facts.relation or Relation.SUBAGENT
    facts.spawned_by = facts.spawned_by or call


def judge(name: str, given: dict[str, Any], state: State, text: str) -> Verdict:
    """How a call ended. A command that fails is `completed` too: its exit code tells."""
    notes = state.metadata or Metadata()
    if state.status == "error":
        if text.startswith(_DECLINED):
            return Verdict(Status.UNKNOWN, Basis.DECLINED)
        stopped = notes.interrupted or text.startswith(_ABORTED)
        return (
            Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
            if stopped
            else Verdict(Status.FAILED, Basis.FLAG)
        )
    if name == INVALID:
        return Verdict(Status.FAILED, Basis.FLAG)
    if canonical_tool(name) is Tool.SHELL:
        return _by_code(notes.exit, given.get("command"), text)
    return Verdict(Status.OK, Basis.FLAG)


def _by_code(code: int | None, command: object, text: str) -> Verdict:
    if code is None:
        added = max(text.rfind(mark) for mark in _METADATA)
        if added >= 0 and _ABORTED_COMMAND in text[added:]:
            return Verdict(Status.UNKNOWN, Basis.INTERRUPTED)
        # It was ended for taking too long.
        return (
            Verdict(Status.FAILED, Basis.FLAG)
            if added >= 0
            else Verdict(Status.UNKNOWN, Basis.NONE)
        )
    if code:
        return Verdict(Status.FAILED, Basis.EXIT_CODE, code)
    if isinstance(command, str) and hides_status(command):
        return Verdict(Status.UNKNOWN, Basis.MASKED, code)
    return Verdict(Status.OK, Basis.EXIT_CODE, code)


def _run_by_user(
    reader: Reader, said: Said, call: str, given: dict[str, Any], state: State
) -> None:
    """A command that a person ran with `!`, and what it printed."""
    command = about(given)
    if MARKER not in command:
        key = said.key("command", call)
        reader.emit(SlashCommand(key=key, name="!", text=command, **said.where))
    if state.status in _OVER:
        key = said.key("output", call)
        text = state.output or state.error or ""
        reader.emit(Notice(key=key, name="shell_output", text=text, **said.where))
