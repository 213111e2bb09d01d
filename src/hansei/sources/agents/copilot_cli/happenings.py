"""Each kind of event, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import (
    MARKER,
    Compaction,
    Interruption,
    Notice,
    Origin,
    Prompt,
    Reply,
    SlashCommand,
    Thought,
)
from hansei.sources.agents.copilot_cli import calls, usage
from hansei.sources.agents.copilot_cli.reading import CALLS_KEPT, use_context, use_model
from hansei.sources.agents.copilot_cli.records import Data, Spent
from hansei.sources.families.streams import remember, short, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from hansei.sources.agents.copilot_cli.reading import Reader
    from hansei.sources.agents.copilot_cli.records import Record

    Where: TypeAlias = dict[str, Any]
    Handler: TypeAlias = Callable[[Reader, Record, Data, Where], None]

SKILL = "<skill-context"
"""How a skill's text begins that the program puts into the user's place."""
_WAITED = ("queued", "steering")
"""Words for a prompt that was typed while the agent was at work."""
_BY_PERSON = ("user_initiated", "user_abort", "remote_command", "")
_IGNORED_GROUPS = (
    "hook.", "permission.", "external_tool.", "mcp.", "commands.", "command.", "capabilities.",
    "user_input.", "elicitation.", "sampling.", "session.canvas.", "session.schedule_",
    "session.extensions", "exit_plan_mode.", "auto_mode_switch.", "factory.", "pending_messages.",
    "session_limits_exhausted.", "session.managed_", "ui.", "mcp_app.", "tool_search.",
    "model.", "session.fusion_", "assistant.fusion_", "session.auto_tier_", "session.mcp_server_",
    "workflow.", "sandbox.",
)  # fmt: skip
_IGNORED = frozenset(
    (
        "assistant.turn_start", "assistant.turn_end", "assistant.intent", "assistant.usage",
        "assistant.reasoning_delta", "assistant.message_delta", "assistant.message_start",
        "assistant.streaming_delta", "assistant.tool_call_delta", "assistant.idle",
        "assistant.server_tool_progress", "tool.execution_progress",
        "tool.execution_partial_result", "session.idle", "session.usage_info",
        "session.usage_checkpoint", "session.mode_changed", "session.permissions_changed",
        "session.plan_changed", "session.workspace_file_changed", "session.compaction_start",
        "session.remote_steerable_changed", "session.autopilot_objective_changed",
        "session.session_limits_changed", "session.auto_mode_resolved", "session.binary_asset",
        "session.todos_changed", "session.tools_updated", "session.background_tasks_changed",
        "session.skills_loaded", "session.custom_agents_updated", "session.mcp_servers_loaded",
        "session.custom_notification",
        "session.snapshot_rewind", "subagent.selected", "subagent.deselected",
        "subagent.completed", "subagent.configured", "skill.context_delivered",
        "skill.invoked_ref", "session.completion_receipt",
        "session.mode_notice_delivered", "session.model_deselected", "session.permission_recovery",
        "session.request_body_compression_disabled", "session.title_changed",
        "session.autopilot_stopped", "session.indexed_search", "session.memory_changed",
        "session.quota_observation", "prompt_cache_break", "assistant.turn_retry",
        "tool.shell_output", "agent.interrupted",
    )
)  # fmt: skip
"""Events that tell of the program itself, or tell again what another one tells."""


def take(reader: Reader, record: Record) -> None:
    """Turn one event into ours."""
    kind, data = record.type or "", record.data or Data()
    if kind in ("session.start", "session.resume"):
        _begin(reader, data)
    elif kind == "session.context_changed":
        reader.state.context = reader.offset
        use_context(reader, data)
    elif kind == "session.model_change":
        reader.state.model = reader.offset
        use_model(reader, data)
    elif kind in _HANDLERS:
        _HANDLERS[kind](reader, record, data, reader.where(record))
    elif kind not in _IGNORED and not kind.startswith(_IGNORED_GROUPS):
        reader.unrecognised(kind or "a record without a type", reader.where(record))


def _begin(reader: Reader, data: Data) -> None:
    """What the first event of a session, or of a later run, says of it."""
    if data.session_id:
        reader.state.session = short(data.session_id)
    if data.context is not None:
        reader.state.context = reader.offset
        use_context(reader, data)
    if data.selected_model:
        reader.state.model = reader.offset
        use_model(reader, data)
    facts = reader.main()
    facts.cwd, facts.branch = facts.cwd or reader.cwd, reader.branch
    facts.entrypoint = facts.entrypoint or data.producer
    if data.copilot_version and data.copilot_version != "unknown":
        facts.version = reader.state.version = short(data.copilot_version)
    if data.context is not None and facts.commit is None:
        facts.commit = data.context.head_commit


# --- the user's place -----------------------------------------------------------------------------


def _user(reader: Reader, record: Record, data: Data, where: Where) -> None:
    text = data.content if isinstance(data.content, str) else ""
    images = _images(data.attachments)
    if not text and not images:
        reader.unrecognised("a prompt without text", where)
        return
    key = reader.key("prompt", reader.identity(record))
    origin = _origin(reader, data, text, where)
    reader.emit(Prompt(key=key, text=text, origin=origin, images=images, **where))


def _origin(reader: Reader, data: Data, text: str, where: Where) -> Origin:
    """Who wrote a prompt: a person only where nothing says otherwise."""
    source = data.source or ""
    if MARKER in text:
        return Origin.HANSEI
    if source.startswith("agent-") or where["session"] != reader.session:
        return Origin.PARENT_AGENT
    if source not in ("", "user") or data.is_autopilot_continuation or text.startswith(SKILL):
        return Origin.HARNESS
    return Origin.QUEUED_HUMAN if data.delivery in _WAITED else Origin.HUMAN


def _images(attachments: Any) -> int:
    listed = attachments if isinstance(attachments, list) else []
    kinds = (str(it.get("mimeType") or "") for it in listed if isinstance(it, dict))
    return sum(kind.startswith("image/") for kind in kinds)


def _system(reader: Reader, _record: Record, data: Data, where: Where) -> None:
    """What the program tells the model. It does so every turn, so each text is told once."""
    text = data.content if isinstance(data.content, str) else ""
    if text:
        key = reader.key("system", reader.within(where), text_digest(text))
        origin = Origin.HANSEI if MARKER in text else Origin.HARNESS
        reader.emit(Prompt(key=key, text=text, origin=origin, **where))


def _skill(reader: Reader, record: Record, data: Data, where: Where) -> None:
    """A skill is loaded; that the model was given its text is told by another event."""
    reader.state.skill = reader.offset
    _notice(reader, record, data, where)


def _skill_given(reader: Reader, record: Record, _data: Data, where: Where) -> None:
    """The model is given the text of the skill that was loaded last, by a reference."""
    text = reader.data_at(reader.state.skill).content
    if isinstance(text, str) and text:
        key = reader.key("skill", reader.identity(record))
        origin = Origin.HANSEI if MARKER in text else Origin.HARNESS
        reader.emit(Prompt(key=key, text=text, origin=origin, **where))


def _by_hand(reader: Reader, record: Record, data: Data, where: Where) -> None:
    """A command that a person ran through the program."""
    key = reader.key("command", reader.identity(record))
    text = calls.about(data.arguments)
    if MARKER not in text:
        reader.emit(SlashCommand(key=key, name="!", text=text, **where))


# --- the model's place ----------------------------------------------------------------------------


def _assistant(reader: Reader, record: Record, data: Data, where: Where) -> None:
    message = data.message_id or reader.identity(record)
    by = {"model": data.model or reader.model, "message": message, **where}
    if data.reasoning_text:
        _think(reader, data.reasoning_text, by)
    if isinstance(data.content, str) and data.content.strip():
        key = reader.key("reply", message, text_digest(data.content))
        reader.emit(Reply(key=key, text=data.content, **by))
    for request in data.tool_requests or []:
        calls.ask(reader, request, by)
    usage.answer(reader, data, message, by)


def _spent(reader: Reader, record: Record, data: Data, where: Where) -> None:
    usage.recorded(reader, data.usage or Spent(), reader.identity(record), where)


def _reasoning(reader: Reader, _record: Record, data: Data, where: Where) -> None:
    if isinstance(data.content, str):
        _think(reader, data.content, {"model": data.model or reader.model, **where})


def _think(reader: Reader, text: str, by: Where) -> None:
    """A thought stands in an event of its own and again beside the answer."""
    key = reader.key("thought", reader.within(by), text_digest(text))
    reader.emit(Thought(key=key, text=text, **{"message": None, **by}))


# --- the program ----------------------------------------------------------------------------------


def _compacted(reader: Reader, record: Record, data: Data, where: Where) -> None:
    if data.success is False:
        _notice(reader, record, data, where)
        return
    event = Compaction(
        key=reader.key("compaction", reader.identity(record)),
        text=data.summary_content or "",
        trigger=data.trigger,
        tokens_before=data.pre_compaction_tokens,
        **where,
    )
    reader.emit(event)
    if data.compaction_tokens_used is not None and reader.state.recorded:
        identity = f"{reader.identity(record)}/summary"
        usage.recorded(reader, data.compaction_tokens_used, identity, where)


def _truncated(reader: Reader, record: Record, data: Data, where: Where) -> None:
    before = data.pre_truncation_tokens_in_messages
    key = reader.key("compaction", reader.identity(record))
    reader.emit(Compaction(key=key, tokens_before=before, partial=True, **where))


def _abort(reader: Reader, record: Record, data: Data, where: Where) -> None:
    if (data.reason or "") in _BY_PERSON:
        key = reader.key("interruption", reader.identity(record))
        reader.emit(Interruption(key=key, text=data.reason or "", **where))
    else:
        _notice(reader, record, data, where)


def _notice(reader: Reader, record: Record, data: Data, where: Where) -> None:
    """Something the program says of itself, by the last word of its kind."""
    failed = data.error.get("message") if isinstance(data.error, dict) else data.error
    told = (data.message, failed, data.name, data.agent_name, data.reason)
    event = Notice(
        key=reader.key("notice", reader.identity(record)),
        name=(record.type or "").rpartition(".")[2],
        text=next((text for text in told if isinstance(text, str)), ""),
        data={"type": data.error_type} if data.error_type else {},
        **where,
    )
    reader.emit(event)


def _subagent(reader: Reader, _record: Record, data: Data, where: Where) -> None:
    """A subagent starts: whose work it is, and which call started it."""
    if where["session"] != reader.session:
        facts = reader.facts(where["session"])
        facts.role, facts.spawned_by = data.agent_name, data.tool_call_id
        if data.tool_call_id:
            call, child = short(data.tool_call_id), where["session"].partition("/")[2]
            remember(reader.state.children, call, child, CALLS_KEPT)


def _complete(reader: Reader, _record: Record, data: Data, where: Where) -> None:
    calls.answer(reader, data, where)


def _start(reader: Reader, _record: Record, data: Data, where: Where) -> None:
    calls.start(reader, data, where)


def _shutdown(reader: Reader, record: Record, data: Data, where: Where) -> None:
    usage.run_ended(reader, record, data, where)


_HANDLERS: dict[str, Handler] = {
    "user.message": _user,
    "system.message": _system,
    "system.notification": _system,
    "tool.user_requested": _by_hand,
    "assistant.message": _assistant,
    "assistant.reasoning": _reasoning,
    "tool.execution_start": _start,
    "tool.execution_complete": _complete,
    "session.compaction_complete": _compacted,
    "session.truncation": _truncated,
    "session.usage_record": _spent,
    "session.shutdown": _shutdown,
    "session.error": _notice,
    "session.warning": _notice,
    "session.info": _notice,
    "session.handoff": _notice,
    "session.task_complete": _notice,
    "session.context_cleared": _notice,
    "skill.invoked": _skill,
    "skill.context_delivered_ref": _skill_given,
    "subagent.failed": _notice,
    "subagent.started": _subagent,
    "abort": _abort,
}
