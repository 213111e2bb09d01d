"""The events of a session, with the fields that are read."""

from __future__ import annotations

from typing import Any

import msgspec


class Context(msgspec.Struct, rename="camel"):
    cwd: str | None = None
    branch: str | None = None
    head_commit: str | None = None


class Request(msgspec.Struct, rename="camel"):
    """A call the model asks for."""

    tool_call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    mcp_server_name: str | None = None


class Counts(msgspec.Struct, rename="camel", gc=False):
    """What the requests of a run took; input includes both kinds of cached tokens."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Spent(Counts, rename="camel", gc=False):
    """What one request took."""

    model: str | None = None
    api_call_id: str | None = None


class Metric(msgspec.Struct):
    usage: Counts | None = None


class Share(msgspec.Struct, rename="camel"):
    """What one agent of the session had of a run."""

    model_metrics: dict[str, Metric] | None = None


class Data(msgspec.Struct, rename="camel"):
    """What an event says; each kind uses some of these."""

    session_id: str | None = None
    copilot_version: str | None = None
    producer: str | None = None
    context: Context | None = None
    selected_model: str | None = None
    new_model: str | None = None
    cwd: str | None = None
    branch: str | None = None
    content: Any = None
    source: str | None = None
    delivery: str | None = None
    is_autopilot_continuation: bool | None = None
    attachments: Any = None
    message_id: str | None = None
    api_call_id: str | None = None
    model: str | None = None
    reasoning_text: str | None = None
    output_tokens: int | None = None
    tool_requests: list[Request] | None = None
    parent_tool_call_id: str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    arguments: Any = None
    mcp_server_name: str | None = None
    success: bool | None = None
    result: Any = None
    error: Any = None
    usage: Spent | None = None
    model_metrics: dict[str, Metric] | None = None
    agent_metrics: dict[str, Share] | None = None
    summary_content: str | None = None
    trigger: str | None = None
    compaction_tokens_used: Spent | None = None
    pre_compaction_tokens: int | None = None
    pre_truncation_tokens_in_messages: int | None = None
    reason: str | None = None
    message: str | None = None
    error_type: str | None = None
    status_code: int | None = None
    name: str | None = None
    agent_name: str | None = None


class Record(msgspec.Struct, rename="camel"):
    id: str | None = None
    timestamp: Any = None
    type: str | None = None
    data: Data | None = None
    agent_id: str | None = None


decode = msgspec.json.Decoder(Record).decode
