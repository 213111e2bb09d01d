"""Records of a transcript as far as we use them; fields we do not name cost next to nothing."""

from typing import Any

import msgspec

from hansei.sources.agents.claude_code.results import ResultNotes
from hansei.sources.families import anthropic
from hansei.sources.families.anthropic import Count, Message

IGNORED = {
    "file-history-snapshot": "bookkeeping of the undo function",
    "file-history-delta": "bookkeeping of the undo function",
    "last-prompt": "a shortened copy of a prompt that has its own line",
    "mode": "a setting, written again and again whether it changed or not",
    "permission-mode": "a setting, written again and again whether it changed or not",
    "agent-name": "the same name as in custom-title",
    "agent-color": "looks only",
    "agent-setting": "a setting",
    "tag": "a label for the session list",
    "relocated": "where the session list finds the file",
    "worktree-state": "each record has its own folder",
    "isolation-latch": "internal",
    "atis-latch": "internal",
    "history-suppression": "internal",
    "observer-ref": "internal",
    "bridge-session": "ids of a remote session and of the account",
    "attribution-snapshot": "counts of characters, which the edits themselves tell",
    "content-replacement": "says which results later requests leave out, without sizes",
    "fork-context-ref": "refers to another transcript",
    "continued-in": "refers to another transcript",
    "ended-by-model": "internal",
    "frame-link": "address of a published page",
    "artifact-autoreact-ledger": "internal",
    "artifact-comment-monitor": "internal",
    "marble-origami-commit": "internal",
    "marble-origami-snapshot": "internal",
    "marble-origami-reset": "internal",
    "api-request": "what a request was made of; its parts have records of their own",
    "api-request-blob": "a part of a request that has a record of its own",
    "api-request-shape": "the system prompt and the tools of a request, repeated",
    "tools-used": "names of tools, which the calls themselves tell",
    "launched": "journal of a workflow; its agents have transcripts of their own",
    "started": "journal of a workflow; its agents have transcripts of their own",
    "result": "journal of a workflow; its agents have transcripts of their own",
    "progress/hook_progress": "says that a hook runs; what it adds has its own record",
    "progress/bash_progress": "part of an output that follows whole",
    "progress/powershell_progress": "part of an output that follows whole",
    "progress/mcp_progress": "says that a call runs",
    "progress/query_update": "part of a web search that follows whole",
    "progress/search_results_received": "part of a web search that follows whole",
    "progress/waiting_for_task": "says that a call waits",
    "progress/skill_progress": "says that a skill runs",
    "progress/tool_heartbeat": "says that a call runs",
    "progress/repl_tool_call": "says that a call runs",
    "progress/agent_api_retry": "says that a request is tried again",
    "progress/workflow_log": "a line of a workflow's log",
    "system/bridge_status": "address of a remote session",
}
"""Kinds of records we leave out on purpose, and why. Any other unknown kind is `Unrecognised`."""


class Answer(msgspec.Struct, gc=False):
    """A model's message inside a progress record; its content stands in the subagent's own file."""

    model: str | None = None
    id: str | None = None
    usage: anthropic.Usage | None = None


class Embedded(msgspec.Struct, rename="camel", gc=False):
    message: Answer | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    request_id: str | None = None


class Progress(msgspec.Struct, rename="camel", gc=False):
    type: str | None = None
    agent_id: str | None = None
    message: Embedded | None = None


class Compacted(msgspec.Struct, rename="camel", gc=False):
    trigger: str | None = None
    pre_tokens: Count | None = None


class From(msgspec.Struct, rename="camel", gc=False):
    kind: str | None = None
    session_id: str | None = None


class Record(msgspec.Struct, rename="camel", gc=False):
    parent_uuid: str | None = None
    is_sidechain: bool | None = None
    cwd: str | None = None
    session_id: str | None = None
    version: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    type: str | None = None
    message: Message | None = None
    uuid: str | None = None
    timestamp: str | int | float | None = None
    tool_use_result: ResultNotes | str | list[Any] | None = None
    request_id: str | None = None
    entrypoint: str | None = None
    data: Progress | None = None
    parent_tool_use_id: str | None = msgspec.field(default=None, name="parentToolUseID")
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    tool_denial_kind: str | None = None
    origin: From | None = None
    prompt_source: str | None = None
    forked_from: From | None = None
    attribution_agent: str | None = None
    attachment: dict[str, Any] | None = None
    rendered: list[Any] | None = None
    subtype: str | None = None
    content: str | None = None
    operation: str | None = None
    compact_metadata: Compacted | None = None
    microcompact_metadata: Compacted | None = None
    summary: str | None = None
    leaf_uuid: str | None = None
    ai_title: str | None = None
    custom_title: str | None = None


decode = msgspec.json.Decoder(Record).decode
