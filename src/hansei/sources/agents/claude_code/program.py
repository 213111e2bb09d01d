"""What the program says of itself: compactions, titles, notices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.events.model import Compaction, Notice, Origin
from hansei.sources.agents.claude_code import prompts
from hansei.sources.agents.claude_code.reader import LONGEST_NAME, Boundary, key_of, record_id
from hansei.sources.agents.claude_code.records import IGNORED, Compacted
from hansei.sources.families import tagged
from hansei.sources.families.records import plain
from hansei.sources.families.streams import short, text_digest

if TYPE_CHECKING:
    from hansei.sources.agents.claude_code.reader import Reader, Where
    from hansei.sources.agents.claude_code.records import Record

_NOTICES = frozenset(
    (
        "api_error", "turn_duration", "stop_hook_summary", "away_summary", "informational",
        "scheduled_task_fire", "model_refusal_fallback", "memory_saved", "permission_retry",
    )
)  # fmt: skip
_NOTICE_FIELDS = (
    "durationMs", "messageCount", "retryAttempt", "maxRetries", "hookCount",
    "preventedContinuation", "level",
)  # fmt: skip
_FACT_FIELDS = ("prNumber", "prUrl", "prRepository", "totalCostUSD", "modelUsage")


def system(reader: Reader, record: Record, where: Where) -> None:
    subtype = record.subtype or ""
    if subtype in ("compact_boundary", "microcompact_boundary"):
        _compaction_boundary(reader, record, where)
    elif subtype == "local_command" or not subtype:
        text = record.content or ""
        key = key_of("prompt", record_id(record, text))
        if tagged.leading(text.lstrip(prompts.SPACE)):
            reader.emit(prompts.as_event(key, text, Origin.HARNESS, where))
        else:
            reader.emit(Notice(key=key, name=subtype or "system", text=text, **where))
    elif subtype in _NOTICES:
        _system_notice(reader, record, subtype, where)
    elif f"system/{subtype}" not in IGNORED:
        reader.unrecognised(f"system/{subtype}", where)


def _system_notice(reader: Reader, record: Record, subtype: str, where: Where) -> None:
    fields = plain(reader.line)
    said = (record.content, fields.get("hookErrors"), fields.get("error"))
    text = next(filter(None, map(prompts.attached_text, said)), "")
    data = {name: fields.get(name) for name in _NOTICE_FIELDS}
    notice(reader, record, where, subtype, text, data)
    added = prompts.attached_text(fields.get("hookAdditionalContext"))
    if added:
        key = key_of("prompt", record_id(record, added))
        reader.emit(prompts.as_prompt(key, added, Origin.HOOK, where))


def notice(
    reader: Reader, record: Record, where: Where, name: str, text: str, data: dict[str, Any]
) -> None:
    known = {field: value for field, value in data.items() if value is not None}
    key = key_of("notice", record_id(record, text))
    reader.emit(Notice(key=key, name=name, text=text, data=known, **where))


def _compaction_boundary(reader: Reader, record: Record, where: Where) -> None:
    partial = record.subtype == "microcompact_boundary"
    told = (record.microcompact_metadata if partial else record.compact_metadata) or Compacted()
    trigger = told.trigger[:LONGEST_NAME] if told.trigger else None
    key = key_of("compaction", record_id(record, ""))
    if not partial and record.uuid:
        reader.state.boundary = Boundary(short(record.uuid), key, trigger, told.pre_tokens)
    tokens = told.pre_tokens
    reader.emit(
        Compaction(key=key, trigger=trigger, tokens_before=tokens, partial=partial, **where)
    )


def compaction_summary(reader: Reader, record: Record, text: str, where: Where) -> None:
    """The summary that follows a boundary is the same compaction; without one it is its own."""
    boundary = reader.state.boundary
    if boundary is None or boundary.record != short(record.parent_uuid or ""):
        boundary = Boundary("", key_of("compaction", record_id(record, text)), None, None)
    event = Compaction(
        key=boundary.key,
        text=text,
        trigger=boundary.trigger,
        tokens_before=boundary.tokens_before,
        **where,
    )
    reader.emit(event)


def title(reader: Reader, record: Record, where: Where) -> None:
    facts = reader.facts(where["session"])
    if record.custom_title:
        facts.title, reader.state.named = record.custom_title, True
    elif record.ai_title and not reader.state.named:
        facts.title = record.ai_title


def summary(reader: Reader, record: Record, where: Where) -> None:
    """A title, mostly for another session: ours only if it names the record just before it."""
    text, leaf = record.summary or "", record.leaf_uuid
    if leaf and leaf == reader.leaf and not reader.state.named:
        reader.facts(where["session"]).title = text
    key = key_of("summary", leaf or "", text_digest(text))
    reader.emit(Notice(key=key, name="summary", text=text, **where))


def fact(reader: Reader, record: Record, where: Where) -> None:
    """A record that is kept as it is: its fields are the fact."""
    name = record.type or ""
    fields = plain(reader.line)
    data = {field: fields[field] for field in _FACT_FIELDS if field in fields}
    key = key_of("notice", where["session"], name, text_digest(str(sorted(data.items()))))
    reader.emit(Notice(key=key, name=name, data=data, **where))
