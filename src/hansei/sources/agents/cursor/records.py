"""What is recorded of a chat, as far as we use it; fields we do not name cost next to nothing."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from hansei.sources.families.anthropic import Message  # noqa: TC001 - msgspec looks it up
from hansei.sources.families.records import FAILURES, plain, rescue, salvage

CHAT, MESSAGE, CONTENT = "composerData", "bubbleId", "composer.content"
"""What keys begin with in the table of the editor's own values: of chats, of their messages, and of
files as they were before and after an edit."""

_SNAPSHOT = "a file as it was, for the editor's undo"
_LOOKS = "how the chat is shown"
_DIFF = "a proposed change while it waits to be accepted; the call that made it tells it"

IGNORED = {
    "checkpointId": _SNAPSHOT,
    "ofsContent": _SNAPSHOT,
    CONTENT: "a file before or after an edit; read with the call that made it",
    "codeBlockDiff": _DIFF,
    "codeBlockPartialInlineDiffFates": _DIFF,
    "inlineDiff": _DIFF,
    "inlineDiffs": _DIFF,
    "inlineDiffsData": _DIFF,
    "messageRequestContext": "what the editor sent along: rules, layouts, terminals",
    "agentKv": "the model's context in a sealed form",
    "composerVirtualRowHeights": _LOOKS,
    "composer.planRegistry": "which plans there are",
    "aiService.prompts": "prompts again, without their chats",
    "aiService.generations": "prompts again, without their chats",
    "interactive.sessions": "chats of another agent's extension in the same editor",
}
"""Kinds of rows that we leave out on purpose, and why."""

HEADS = ("composer.composerData", "composer.composerHeaders")
TABS = "workbench.panel.aichat.view.aichat.chatdata"
ITEMS = (*HEADS, TABS)
"""Rows about chats among the editor's settings; all others there are not about chats."""


class Thinking(msgspec.Struct, gc=False):
    text: str | None = None


class Model(msgspec.Struct, gc=False, rename="camel"):
    model_name: str | None = None


class Timing(msgspec.Struct, gc=False, rename="camel"):
    client_start_time: int | float | None = None
    client_rpc_send_time: int | float | None = None


class ToolData(msgspec.Struct, gc=False, rename="camel"):
    """A call and, once it has ended, what came of it."""

    tool: int | str | None = None
    name: str | None = None
    tool_call_id: str | None = None
    status: str | None = None
    raw_args: str | dict[str, Any] | None = None
    params: str | dict[str, Any] | None = None
    result: str | dict[str, Any] | list[Any] | None = None
    additional_data: dict[str, Any] | None = None
    user_decision: str | dict[str, Any] | None = None
    error: str | dict[str, Any] | None = None


class Bubble(msgspec.Struct, gc=False, rename="camel"):
    """One message, or one step of an answer."""

    type: int | str | None = None
    bubble_id: str | None = None
    id: str | None = None
    text: str | None = None
    raw_text: str | None = None
    rich_text: str | None = None
    created_at: str | int | float | None = None
    timing_info: Timing | None = None
    model_info: Model | None = None
    model_type: str | None = None
    thinking: Thinking | str | None = None
    tool_former_data: ToolData | None = None
    images: list[Any] | None = None
    selected_images: list[Any] | None = None
    workspace_project_dir: str | None = None
    workspace_uris: list[str] | None = None


class Header(msgspec.Struct, gc=False, rename="camel"):
    """Where a message stands in its chat."""

    bubble_id: str | None = None
    type: int | None = None
    created_at: str | int | float | None = None


class Workspace(msgspec.Struct, gc=False):
    uri: str | dict[str, Any] | None = None


class Worktree(msgspec.Struct, gc=False, rename="camel"):
    worktree_path: str | None = None


class Branch(msgspec.Struct, gc=False, rename="camel"):
    branch_name: str | None = None


class Subagent(msgspec.Struct, gc=False, rename="camel"):
    parent_composer_id: str | None = None
    subagent_type_name: str | None = None
    tool_call_id: str | None = None


class Chat(msgspec.Struct, gc=False, rename="camel"):
    """A chat as a whole; early ones hold their messages themselves."""

    composer_id: str | None = None
    name: str | None = None
    created_at: str | int | float | None = None
    last_updated_at: str | int | float | None = None
    unified_mode: str | int | None = None
    status: str | None = None
    is_draft: bool | None = None
    is_best_of_n_subcomposer: bool | None = None
    model_config: Model | None = None
    full_conversation_headers_only: list[Header] | None = None
    conversation: list[Bubble] | None = None
    conversation_map: dict[str, Bubble] | None = None
    workspace_identifier: Workspace | None = None
    git_worktree: Worktree | None = None
    created_on_branch: str | None = None
    active_branch: Branch | None = None
    subagent_info: Subagent | None = None
    subagent_composer_ids: list[str] | None = None
    sub_composer_ids: list[str] | None = None


class Heads(msgspec.Struct, gc=False, rename="camel"):
    all_composers: list[Chat] | None = None


class Tab(msgspec.Struct, gc=False, rename="camel"):
    """A chat of the time when chats were tabs."""

    tab_id: str | None = None
    chat_title: str | None = None
    last_send_time: str | int | float | None = None
    bubbles: list[Bubble] | None = None


class Tabs(msgspec.Struct, gc=False):
    tabs: list[Tab] | None = None


class Line(msgspec.Struct, gc=False):
    """A line of a transcript: a message, or the end of a turn."""

    type: str | None = None
    role: str | None = None
    message: Message | None = None
    status: str | None = None
    error: str | None = None
    timestamp: str | int | float | None = None
    timestamp_ms: int | float | None = None


T = TypeVar("T", bound=msgspec.Struct)

decode_line = msgspec.json.Decoder(Line).decode
_DECODERS: dict[type[msgspec.Struct], msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Bubble, Chat, Heads, Tabs)
}


def decoded(value: bytes, kind: type[T]) -> tuple[T | None, str | None]:
    """A stored value as a record, or the reason why not; perhaps both. A null is neither."""
    if value.strip() in (b"", b"null"):
        return None, None
    try:
        record: T = _DECODERS[kind].decode(value)
    except FAILURES:
        fields, reason = rescue(value)
        return None if fields is None else salvage(fields, kind), reason
    return record, None


def object_of(value: object) -> dict[str, Any]:
    """An object, also where it was written as a text."""
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        return plain(value.encode("utf-8", "surrogatepass"))
    return value if isinstance(value, dict) else {}
