"""Lines of a rollout as far as we use them; fields we do not name cost next to nothing.

A line is an envelope around a payload. The payload's type decides which of its fields are there, so
one wide record serves all of them. Early rollouts have no envelope: there the line is the payload.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

_COPY = "tells again what a response item of the same content tells"
_MOMENT = "of the moment; later versions no longer write it"
_STREAM = "the output of `codex exec --json`: the session has a rollout of its own"

IGNORED = {
    "record_type/state": "a mark without content between the items of early rollouts",
    "world_state": "what the program will compare the next context with",
    "security_risk_score": "the program's own rating of a step",
    "inter_agent_communication_metadata": "says that the message after it starts a turn",
    "thread.started": _STREAM,
    "turn.started": _STREAM,
    "turn.completed": _STREAM,
    "turn.failed": _STREAM,
    "item.started": _STREAM,
    "item.updated": _STREAM,
    "item.completed": _STREAM,
    "error": _STREAM,
    "response_item/ghost_snapshot": "a commit the undo function made",
    "response_item/additional_tools": "tools offered to the model",
    "response_item/compaction_trigger": "asks for a compaction, which has its own line",
    "response_item/other": "an item the program itself did not know",
    "event_msg/user_message": _COPY,
    "event_msg/agent_message": _COPY,
    "event_msg/agent_reasoning": _COPY,
    "event_msg/agent_reasoning_raw_content": _COPY,
    "event_msg/agent_reasoning_section_break": "looks only",
    "event_msg/web_search_end": _COPY,
    "event_msg/web_search_begin": _COPY,
    "event_msg/image_generation_end": _COPY,
    "event_msg/image_generation_begin": _COPY,
    "event_msg/view_image_tool_call": _COPY,
    "event_msg/plan_update": _COPY,
    "event_msg/raw_response_item": _COPY,
    "event_msg/raw_response_completed": _COPY,
    "event_msg/dynamic_tool_call_request": _COPY,
    "event_msg/dynamic_tool_call_response": _COPY,
    "event_msg/mcp_tool_call_begin": _COPY,
    "event_msg/exec_command_begin": _COPY,
    "event_msg/exec_command_output_delta": "part of an output that follows whole",
    "event_msg/terminal_interaction": _COPY,
    "event_msg/patch_apply_begin": _COPY,
    "event_msg/patch_apply_updated": _COPY,
    "event_msg/turn_diff": "all edits of a turn as one diff",
    "event_msg/collab_agent_spawn_begin": _COPY,
    "event_msg/collab_agent_interaction_begin": _COPY,
    "event_msg/collab_agent_interaction_end": _COPY,
    "event_msg/collab_waiting_begin": _COPY,
    "event_msg/collab_waiting_end": _COPY,
    "event_msg/collab_close_begin": _COPY,
    "event_msg/collab_close_end": _COPY,
    "event_msg/collab_resume_begin": _COPY,
    "event_msg/collab_resume_end": _COPY,
    "event_msg/session_configured": "settings, which the session's first line has too",
    "event_msg/thread_queue_changed": _MOMENT,
    "event_msg/background_event": _MOMENT,
    "event_msg/exec_approval_request": _MOMENT,
    "event_msg/apply_patch_approval_request": _MOMENT,
    "event_msg/elicitation_request": _MOMENT,
    "event_msg/request_permissions": _MOMENT,
    "event_msg/request_user_input": _MOMENT,
    "event_msg/mcp_startup_update": _MOMENT,
    "event_msg/mcp_startup_complete": _MOMENT,
    "event_msg/item_started": "an item that is told again when it is complete",
    "event_msg/hook_started": _MOMENT,
    "event_msg/hook_completed": _MOMENT,
    "event_msg/undo_started": _MOMENT,
    "event_msg/undo_completed": _MOMENT,
    "event_msg/shutdown_complete": _MOMENT,
    "item_completed/UserMessage": _COPY,
    "item_completed/AgentMessage": _COPY,
    "item_completed/Reasoning": _COPY,
    "item_completed/HookPrompt": _COPY,
    "item_completed/Plan": "the plan inside a message that has its own line",
    "item_completed/WebSearch": _COPY,
    "item_completed/ImageView": _COPY,
    "item_completed/ImageGeneration": _COPY,
    "item_completed/Extension": "what an extension shows of a call that has its own line",
    "item_completed/Sleep": "what an extension shows of a call that has its own line",
}
"""Kinds of lines we leave out on purpose, and why. Any other unknown kind is `Unrecognised`."""


class Usage(msgspec.Struct, gc=False):
    """Tokens as this agent tells them: input with what was cached, output with the reasoning."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None


class Info(msgspec.Struct, gc=False):
    total_token_usage: Usage | None = None
    last_token_usage: Usage | None = None


class Part(msgspec.Struct, gc=False):
    """A piece of a message, of a summary or of an output."""

    type: str | None = None
    text: str | None = None


class Provenance(msgspec.Struct, gc=False):
    type: str | None = None
    hook: bool | None = None


class PartNotes(msgspec.Struct, gc=False):
    provenance: Provenance | None = None


class Passthrough(msgspec.Struct, gc=False):
    """What later versions note beside an item: its turn, and who wrote each part."""

    turn_id: str | None = None
    content_item_kinds: list[str] | None = None
    content_item_metadata: list[PartNotes] | None = None


class Git(msgspec.Struct, gc=False):
    commit_hash: str | None = None
    branch: str | None = None


class Settings(msgspec.Struct, gc=False):
    service_tier: str | None = None


class Item(msgspec.Struct, gc=False):
    """A turn item: the newer telling of commands, edits and calls, with their ends."""

    type: str | None = None
    id: str | None = None
    status: str | None = None
    exit_code: int | None = None
    changes: msgspec.Raw = msgspec.Raw()
    success: bool | None = None
    receiver_thread_ids: list[str] | None = None
    agent_thread_id: str | None = None
    kind: str | None = None
    user_facing_hint: str | None = None
    review_output: msgspec.Raw = msgspec.Raw()


Output: TypeAlias = str | list[Part] | dict[str, Any] | None


class Payload(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    turn_id: str | None = None
    info: Info | None = None
    name: str | None = None
    namespace: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: str | None = None
    call_id: str | None = None
    output: Output = None
    role: str | None = None
    content: list[Part] | str | None = None
    summary: list[Part] | str | None = None
    encrypted_content: msgspec.Raw = msgspec.Raw()
    passthrough: Passthrough | None = msgspec.field(
        default=None, name="internal_chat_message_metadata_passthrough"
    )
    cwd: str | None = None
    model: str | None = None
    status: Any = None
    action: msgspec.Raw = msgspec.Raw()
    item: Item | None = None
    message: str | None = None
    reason: str | None = None
    num_turns: int | None = None
    duration_ms: int | None = None
    time_to_first_token_ms: int | None = None
    error: Any = None
    exit_code: int | None = None
    success: bool | None = None
    changes: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    new_thread_id: str | None = None
    event_id: str | None = None
    agent_thread_id: str | None = None
    kind: str | None = None
    target_item_id: str | None = None
    risk_level: str | None = None
    rationale: str | None = None
    thread_id: str | None = None
    thread_name: str | None = None
    thread_settings: Settings | None = None
    user_facing_hint: str | None = None
    review_output: msgspec.Raw = msgspec.Raw()
    goal: msgspec.Raw = msgspec.Raw()
    revised_prompt: str | None = None
    tools: msgspec.Raw = msgspec.Raw()
    response_id: str | None = None
    usage: Usage | None = None
    thread_token_usage: Usage | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    timestamp: str | int | float | None = None
    originator: str | None = None
    cli_version: str | None = None
    source: str | dict[str, Any] | None = None
    thread_source: str | None = None
    agent_role: str | None = None
    git: Git | None = None
    record_type: str | None = None


class Harness(msgspec.Struct, gc=False):
    """What the program notes beside an item."""

    compaction_output: bool | None = None


class Record(msgspec.Struct, gc=False):
    timestamp: str | int | float | None = None
    type: str | None = None
    payload: Payload | None = None
    metadata: Harness | None = None


class Typed(msgspec.Struct, gc=False):
    """A prompt as the list of typed prompts has it."""

    session_id: str | None = None
    ts: str | int | float | None = None
    text: str | None = None


class Named(msgspec.Struct, gc=False):
    """A thread's name as the list of names has it."""

    id: str | None = None
    thread_name: str | None = None


decode = msgspec.json.Decoder(Record).decode
decode_bare = msgspec.json.Decoder(Payload).decode
decode_typed = msgspec.json.Decoder(Typed).decode
decode_named = msgspec.json.Decoder(Named).decode
