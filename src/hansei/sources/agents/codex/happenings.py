"""What the program says happened: turns, ends of calls, compactions, reviews, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Compaction, Interruption, Notice
from hansei.sources.agents.codex import changes
from hansei.sources.agents.codex.calls import note_end
from hansei.sources.agents.codex.records import IGNORED
from hansei.sources.agents.codex.thread import Compacted, key_of
from hansei.sources.families.records import value_of
from hansei.sources.families.streams import short, text_digest

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Payload
    from hansei.sources.agents.codex.thread import Reader

_STOPPED_BY_A_PERSON = frozenset(("interrupted", "replaced"))
_USUAL_TIERS = frozenset(("default", "standard", "auto"))


# --- turns ----------------------------------------------------------------------------------------


def task_started(reader: Reader, payload: Payload) -> None:
    reader.begin_turn(payload.turn_id)


def task_complete(reader: Reader, payload: Payload) -> None:
    told = {
        "duration_ms": payload.duration_ms,
        "time_to_first_token_ms": payload.time_to_first_token_ms,
    }
    data = {name: value for name, value in told.items() if value is not None}
    text = _words(payload.error)
    if data or text:
        key = key_of("complete", reader.turn(payload.turn_id))
        reader.emit(Notice(key=key, name="task_complete", text=text, data=data, **reader.where))


def turn_aborted(reader: Reader, payload: Payload) -> None:
    """A turn that did not end by itself.

    A thread that is forked in the middle of a turn begins with a copy of that turn which is said to
    be aborted, though nobody stopped it. If a copied turn was stopped, its own thread says so.
    """
    if reader.is_inherited(payload.turn_id):
        return
    key = key_of("aborted", reader.turn(payload.turn_id))
    reason = payload.reason or ""
    if reason in _STOPPED_BY_A_PERSON:
        reader.emit(Interruption(key=key, text=reason, **reader.where))
    else:
        reader.emit(Notice(key=key, name="turn_aborted", text=reason, **reader.where))


def thread_rolled_back(reader: Reader, payload: Payload) -> None:
    """Turns taken out of the context; what they took stays counted."""
    turns = payload.num_turns
    key = reader.text_key("rollback", str(turns))
    data = {} if turns is None else {"num_turns": turns}
    reader.emit(Notice(key=key, name="thread_rolled_back", data=data, **reader.where))


# --- ends of calls --------------------------------------------------------------------------------


def exec_command_end(reader: Reader, payload: Payload) -> None:
    note_end(reader, payload.call_id, exit_code=payload.exit_code, status=payload.status)


def patch_apply_end(reader: Reader, payload: Payload) -> None:
    if not payload.call_id:
        return
    status = payload.status
    if status is None and payload.success is not None:
        status = "completed" if payload.success else "failed"
    note_end(reader, payload.call_id, status=status)
    changes.told(reader, payload.call_id, payload.changes, payload.success)


def mcp_tool_call_end(reader: Reader, payload: Payload) -> None:
    result = value_of(payload.result)
    if isinstance(result, dict):
        fine = result.get("Ok")
        failed = "Err" in result or (isinstance(fine, dict) and bool(fine.get("isError")))
        note_end(reader, payload.call_id, status="failed" if failed else "completed")


def collab_agent_spawn_end(reader: Reader, payload: Payload) -> None:
    note_end(reader, payload.call_id, child=payload.new_thread_id)


def sub_agent_activity(reader: Reader, payload: Payload) -> None:
    if payload.kind == "started":
        note_end(reader, payload.event_id, status="completed", child=payload.agent_thread_id)


def item_completed(reader: Reader, payload: Payload) -> None:
    """A turn item: the newer telling of how a call ended."""
    item = payload.item
    kind = item.type if item else None
    if item is None or not kind:
        reader.unrecognised("item_completed without an item")
    elif kind == "CommandExecution":
        note_end(reader, item.id, exit_code=item.exit_code, status=item.status)
    elif kind == "FileChange":
        if item.id:
            note_end(reader, item.id, status=item.status)
            changes.told(reader, item.id, item.changes, _is_done(item.status))
    elif kind in ("McpToolCall", "DynamicToolCall"):
        note_end(reader, item.id, status=item.status)
    elif kind == "CollabAgentToolCall":
        started = (item.receiver_thread_ids or [""])[0]
        note_end(reader, item.id, status=item.status, child=started)
    elif kind == "SubAgentActivity":
        if item.kind == "started":
            note_end(reader, item.id, status="completed", child=item.agent_thread_id)
    elif kind == "ContextCompaction":
        tell_compaction(reader, "item", "")
    elif kind == "EnteredReviewMode":
        _review(reader, "entered_review_mode", item.user_facing_hint or "")
    elif kind == "ExitedReviewMode":
        _review(reader, "exited_review_mode", _explanation(value_of(item.review_output)))
    elif f"item_completed/{kind}" not in IGNORED:
        reader.unrecognised(f"item_completed/{kind}")


def _is_done(status: str | None) -> bool | None:
    return None if status in (None, "in_progress", "inProgress") else status == "completed"


# --- compactions ----------------------------------------------------------------------------------


def compacted(reader: Reader, payload: Payload) -> None:
    """The context was replaced. What it was replaced by are copies of items told before."""
    tell_compaction(reader, "line", payload.message or "")


def context_compacted(reader: Reader, _payload: Payload) -> None:
    tell_compaction(reader, "event", "")


def compaction_item(reader: Reader, _payload: Payload) -> None:
    tell_compaction(reader, "sealed", "")


def tell_compaction(reader: Reader, form: str, text: str) -> None:
    """A compaction, told once however many kinds of lines speak of it.

    The same kind of line a second time in a turn is a second compaction.
    """
    state = reader.state
    known = state.compacted
    if known is None or form in known.forms:
        key = key_of("compaction", reader.turn(), str(state.compactions))
        state.compacted, state.compactions = Compacted(key, [form]), state.compactions + 1
        reader.emit(Compaction(key=key, text=text, **reader.where))
    else:
        known.forms.append(form)
        if text:
            reader.emit(Compaction(key=known.key, text=text, **reader.where))


# --- the rest -------------------------------------------------------------------------------------


def entered_review_mode(reader: Reader, payload: Payload) -> None:
    _review(reader, "entered_review_mode", payload.user_facing_hint or "")


def exited_review_mode(reader: Reader, payload: Payload) -> None:
    _review(reader, "exited_review_mode", _explanation(value_of(payload.review_output)))


def _review(reader: Reader, name: str, text: str) -> None:
    key = reader.text_key(name, text)
    reader.emit(Notice(key=key, name=name, text=text, **reader.where))


def _explanation(output: Any) -> str:
    return _words(output.get("overall_explanation")) if isinstance(output, dict) else ""


def guardian_assessment(reader: Reader, payload: Payload) -> None:
    """The program's own judgement of a call that needed leave."""
    status = payload.status if isinstance(payload.status, str) else ""
    if status in ("", "in_progress"):
        return
    if status == "denied" and payload.target_item_id:
        note_end(reader, payload.target_item_id, status="declined")
    data = {"status": status, "call": payload.target_item_id, "risk_level": payload.risk_level}
    known = {name: value for name, value in data.items() if value is not None}
    key = key_of("guardian", payload.id or "", reader.turn(payload.turn_id), status)
    text = payload.rationale or ""
    reader.emit(Notice(key=key, name="guardian_assessment", text=text, data=known, **reader.where))


def thread_goal_updated(reader: Reader, payload: Payload) -> None:
    goal = value_of(payload.goal)
    if not isinstance(goal, dict):
        return
    text, status = _words(goal.get("objective")), _words(goal.get("status"))
    key = reader.text_key("goal", f"{status}\x1f{text}", payload.turn_id)
    data = {"status": status}
    reader.emit(Notice(key=key, name="thread_goal_updated", text=text, data=data, **reader.where))


def thread_name_updated(reader: Reader, payload: Payload) -> None:
    if payload.thread_name and payload.thread_id in (None, reader.session):
        reader.facts().title = payload.thread_name


def thread_settings_applied(reader: Reader, payload: Payload) -> None:
    tier = payload.thread_settings.service_tier if payload.thread_settings else None
    reader.state.tier = short(tier) if tier and tier not in _USUAL_TIERS else None


def complaint(reader: Reader, payload: Payload) -> None:
    """An error or a warning of the program."""
    text = payload.message or ""
    name = payload.type or ""
    key = key_of("notice", name, reader.turn(), str(reader.where["at"]), text_digest(text))
    reader.emit(Notice(key=key, name=name, text=text, **reader.where))


def _words(value: object) -> str:
    """What a value says: itself if it is text, its message if it has one."""
    if isinstance(value, str):
        return value
    said = value.get("message") if isinstance(value, dict) else None
    return said if isinstance(said, str) else ""
