"""How one rollout is read: line by line, each given to the function for its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from hansei.events.keys import digest
from hansei.events.model import Driver, Origin, Prompt, Relation, SessionFacts
from hansei.sources.agents.codex import (
    HISTORY,
    INDEX,
    calls,
    happenings,
    items,
    prompts,
    records,
    thread_of,
    usage,
)
from hansei.sources.agents.codex.records import IGNORED, Named, Payload, Record, Typed
from hansei.sources.agents.codex.thread import LONGEST_NAME, Reader, State, is_uuid, key_of
from hansei.sources.contract import START, Reading
from hansei.sources.families import jsonl, zstd
from hansei.sources.families.clock import instant
from hansei.sources.families.records import FAILURES, rescue, salvage, take_lines
from hansei.sources.families.streams import short, text_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hansei.sources.contract import Cursor, Transcript

_PEOPLE = frozenset(("codex_cli_rs", "codex-tui", "codex_vscode", "Codex Desktop"))
"""Programs that have a person at the other end, as `originator` names them."""
_AUTOMATED = frozenset(("exec", "mcp"))

_ITEMS: dict[str, Callable[[Reader, Payload], None]] = {
    "message": items.message,
    "reasoning": items.reasoning,
    "agent_message": items.agent_message,
    "function_call": calls.tool_call,
    "function_call_output": calls.call_output,
    "custom_tool_call": calls.tool_call,
    "custom_tool_call_output": calls.call_output,
    "local_shell_call": calls.tool_call,
    "local_shell_call_output": calls.call_output,
    "tool_search_call": calls.tool_call,
    "tool_search_output": calls.tool_search_output,
    "web_search_call": items.web_search_call,
    "image_generation_call": items.image_generation_call,
    "compaction": happenings.compaction_item,
    "compaction_summary": happenings.compaction_item,
    "context_compaction": happenings.compaction_item,
}
_EVENTS: dict[str, Callable[[Reader, Payload], None]] = {
    "token_count": usage.token_count,
    "task_started": happenings.task_started,
    "turn_started": happenings.task_started,
    "task_complete": happenings.task_complete,
    "turn_complete": happenings.task_complete,
    "turn_aborted": happenings.turn_aborted,
    "thread_rolled_back": happenings.thread_rolled_back,
    "exec_command_end": happenings.exec_command_end,
    "patch_apply_end": happenings.patch_apply_end,
    "mcp_tool_call_end": happenings.mcp_tool_call_end,
    "collab_agent_spawn_end": happenings.collab_agent_spawn_end,
    "sub_agent_activity": happenings.sub_agent_activity,
    "item_completed": happenings.item_completed,
    "context_compacted": happenings.context_compacted,
    "entered_review_mode": happenings.entered_review_mode,
    "exited_review_mode": happenings.exited_review_mode,
    "guardian_assessment": happenings.guardian_assessment,
    "thread_goal_updated": happenings.thread_goal_updated,
    "thread_name_updated": happenings.thread_name_updated,
    "thread_settings_applied": happenings.thread_settings_applied,
    "error": happenings.complaint,
    "stream_error": happenings.complaint,
    "warning": happenings.complaint,
    "guardian_warning": happenings.complaint,
    "deprecation_notice": happenings.complaint,
    "model_reroute": happenings.complaint,
}
_FAMILIES = {"response_item": _ITEMS, "event_msg": _EVENTS}


def _turn_context(reader: Reader, payload: Payload) -> None:
    reader.begin_turn(payload.turn_id)
    reader.state.context = reader.offset
    reader.cwd = reader.model = None
    reader.use_context(payload)


# --- sessions -------------------------------------------------------------------------------------


def _session_meta(reader: Reader, payload: Payload) -> None:
    """What a thread says of itself; a copied line speaks of the thread it was copied from."""
    state, told = reader.state, payload.id
    if reader.session != told and told and state.session is None and not is_uuid(reader.session):
        state.session = reader.session = short(told)  # the file's name does not say it
    if told and told != reader.session and is_uuid(told):
        facts = reader.facts()
        facts.parent = facts.parent or told
        facts.relation = facts.relation or Relation.FORK
        state.root = told
        return
    if state.context is None:
        state.context = reader.offset
        reader.use_context(payload)
    facts = reader.facts()
    facts.cwd = facts.cwd or payload.cwd
    facts.version = payload.cli_version or facts.version
    if payload.git is not None:
        facts.commit = facts.commit or payload.git.commit_hash
        facts.branch = payload.git.branch or facts.branch
    _learn_driver(reader, facts, payload)


def _learn_driver(reader: Reader, facts: SessionFacts, payload: Payload) -> None:
    source, originator = payload.source, payload.originator
    started_by = source if isinstance(source, dict) else {}
    named = source if isinstance(source, str) else None
    # Clients that give no name of their own are all called after the editor.
    facts.entrypoint = facts.entrypoint or (originator if named in (None, "vscode") else named)
    helper = started_by.get("subagent", started_by.get("internal"))
    if helper is not None or payload.thread_source == "subagent":
        _learn_helper(reader, facts, payload, helper)
        return
    if payload.forked_from_id:
        facts.parent, facts.relation = payload.forked_from_id, Relation.FORK
    automated = named in _AUTOMATED or originator == "codex_exec"
    facts.driver = Driver.AUTOMATED if automated else Driver.HUMAN
    person = named == "cli" or (named is not None and originator in _PEOPLE)
    facts.driver_recorded = automated or person


def _learn_helper(reader: Reader, facts: SessionFacts, payload: Payload, helper: Any) -> None:
    """A thread that another one, or the program itself, has started."""
    told = helper if isinstance(helper, dict) else {"other": helper}
    spawn = told.get("thread_spawn")
    spawn = spawn if isinstance(spawn, dict) else {}
    parent = spawn.get("parent_thread_id") or payload.parent_thread_id
    role = payload.agent_role or spawn.get("agent_role") or told.get("other")
    by_the_program = not spawn and told.get("other") is not None
    reader.state.helper = "program" if by_the_program else "agent"
    facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    facts.parent = parent if isinstance(parent, str) else None
    facts.relation = Relation.SUBAGENT
    facts.role = role[:LONGEST_NAME] if isinstance(role, str) else None


_LINES: dict[str, Callable[[Reader, Payload], None]] = {
    "session_meta": _session_meta,
    "turn_context": _turn_context,
    "compacted": happenings.compacted,
    "token_usage_record": usage.token_usage_record,
    "inter_agent_communication": items.agent_message,
}


# --- reading --------------------------------------------------------------------------------------


def read(transcript: Transcript, since: Cursor, limit: int) -> Reading:
    """What is new in a rollout, or in a list beside the rollouts, since the cursor."""
    packed = transcript.path.suffix == zstd.SUFFIX
    part: jsonl.Slice = (zstd if packed else jsonl).read(transcript.path, since, limit)
    fresh = part.restarted or since.offset == 0
    try:
        state = State() if fresh else msgspec.convert(since.state, State)
    except msgspec.ValidationError:  # notes of another version of this file: begin again
        reading = read(transcript, START, limit)
        reading.restarted = True
        return reading
    reader = _open(transcript, state)
    reader.problems += part.problems
    if transcript.variant == HISTORY:
        take_lines(reader, part.numbered(), Typed, records.decode_typed, _take_typed)
    elif transcript.variant == INDEX:
        take_lines(reader, part.numbered(), Named, records.decode_named, _take_named)
    else:
        take_lines(reader, part.numbered(), Record, records.decode, _take)
        usage.settle(reader)
    return part.reading(reader, msgspec.to_builtins(state))


def _open(transcript: Transcript, state: State) -> Reader:
    stem = transcript.path.name.removesuffix(zstd.SUFFIX).removesuffix(".jsonl")
    session = thread_of(transcript.path.name) or state.session or stem
    reader = Reader(transcript, state, session)
    if state.context is not None:
        reader.use_context(reader.payload_at(state.context))
    return reader


# --- lines of a rollout ---------------------------------------------------------------------------


def _take(reader: Reader, record: Record) -> None:
    """Turn one line into events."""
    payload, kind = record.payload, record.type or ""
    if payload is None:
        _take_bare(reader, kind)
        return
    if record.metadata is not None and record.metadata.compaction_output:
        return  # the summary, which the line of the compaction tells
    family = _FAMILIES.get(kind)
    if family is None:
        handler = _LINES.get(kind)
    else:
        # A message whose kind was left out is still one.
        member = payload.type or ("message" if payload.role else "without a type")
        handler = family.get(member)
        kind = kind if handler else f"{kind}/{member}"
    if handler is None and kind in IGNORED:
        return
    stamp = record.timestamp
    if stamp != reader.stamp:  # lines are often written several at once
        reader.stamp, reader.at = stamp, instant(stamp)
    reader.where = {"session": reader.session, "at": reader.at, "cwd": reader.cwd}
    if handler is not None:
        handler(reader, payload)
    else:
        reader.unrecognised(kind or "a line without a type")


def _take_bare(reader: Reader, kind: str) -> None:
    """A line of an early rollout: an item without an envelope, and so without a time."""
    try:
        payload = records.decode_bare(reader.line)
    except FAILURES:
        payload = salvage(rescue(reader.line).value or {}, Payload)
    reader.where = {"session": reader.session, "at": None, "cwd": reader.cwd}
    handler = _ITEMS.get(kind)
    if handler is not None:
        handler(reader, payload)
    elif not kind and payload.id and payload.timestamp is not None:
        _session_meta(reader, payload)
    elif payload.record_type != "state" and kind not in IGNORED:
        reader.unrecognised(kind or "a line without a type")


# --- lists beside the rollouts --------------------------------------------------------------------


def _take_typed(reader: Reader, typed: Typed) -> None:
    """A prompt of a session whose rollout may be gone: kept apart, in a session of its own."""
    owner, text = typed.session_id or "unknown", typed.text
    reader.session = f"{HISTORY}:{owner}"
    reader.where = {"session": reader.session, "at": instant(typed.ts)}
    if text is None:
        reader.unrecognised("history without a prompt")
        return
    facts = reader.facts()
    facts.driver, facts.entrypoint = Driver.HUMAN, HISTORY
    key = key_of("history", owner, str(typed.ts), text_digest(text))
    origin = prompts.ours(text, Origin.HUMAN)
    reader.emit(Prompt(key=key, text=text, origin=origin, **reader.where))


def _take_named(reader: Reader, named: Named) -> None:
    """A name for a thread; the last one stays."""
    if named.id and named.thread_name:
        reader.session = named.id
        reader.facts().title = named.thread_name
    else:
        reader.where = {"session": f"{INDEX}:{digest(reader.line)}"}
        reader.unrecognised("index without a name")
