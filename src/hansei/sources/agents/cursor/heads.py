"""What is recorded of chats as wholes: their folders, titles and families.

Which chat belongs to which folder stands in other places than the chat itself: in a table of heads,
in the settings of the editor or of a workspace, and in the file beside a workspace's database.
"""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import msgspec

from hansei.events.keys import digest
from hansei.events.model import Driver, Interruption, Notice, Origin, Relation
from hansei.sources.agents.cursor.bubbles import Context, bubble
from hansei.sources.agents.cursor.reader import LONGEST_NAME, key_of
from hansei.sources.agents.cursor.records import (
    HEADS,
    ITEMS,
    TABS,
    Bubble,
    Chat,
    Heads,
    Tab,
    Tabs,
    decoded,
)
from hansei.sources.families.addresses import folder_of
from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from hansei.sources.agents.cursor.reader import Reader

_TASK = "task-"
"""How ids of chats begin that a subagent has."""
EDITOR = "ide"


def folder_beside(path: Path) -> str | None:
    """The folder of the workspace whose database this is; None if it has several, or none."""
    try:
        told = json.loads((path.parent / "workspace.json").read_bytes())
    except (OSError, ValueError):
        return None
    return folder_of(told.get("folder")) if isinstance(told, dict) else None


def tell(
    reader: Reader,
    db: sqlite3.Connection,
    tables: set[str],
    marks: dict[str, str],
    folder: str | None,
) -> None:
    """Tell what stands outside the chats, as far as it changed since the marks were made."""
    if "composerHeaders" in tables:
        _table_of_heads(reader, db, marks)
    if "ItemTable" in tables:
        for key in ITEMS:
            try:
                row = db.execute("SELECT value FROM ItemTable WHERE key = ?", (key,)).fetchone()
            except sqlite3.DatabaseError:
                reader.problem(0, f"the setting {key} cannot be read")
                continue
            value = row[0] if row is not None else None
            if isinstance(value, bytes) and _is_new(marks, key, value):
                reader.records += 1
                reader.taken += len(value)
                _setting(reader, key, value, folder)


def _is_new(marks: dict[str, str], name: str, value: bytes) -> bool:
    mark = digest(value)
    if marks.get(name) == mark:
        return False
    marks[name] = mark
    return True


def _table_of_heads(reader: Reader, db: sqlite3.Connection, marks: dict[str, str]) -> None:
    try:
        state = db.execute("SELECT count(*), max(rowid), total(length(value)) FROM composerHeaders")
        if not _is_new(marks, "composerHeaders", repr(state.fetchone()).encode()):
            return
        for number, value in db.execute("SELECT rowid, value FROM composerHeaders ORDER BY rowid"):
            if isinstance(value, bytes):
                reader.records += 1
                reader.taken += len(value)
                head, reason = decoded(value, Chat)
                if reason is not None:
                    reader.problem(number, reason)
                if head is not None:
                    _head(reader, head, None)
    except sqlite3.DatabaseError:
        reader.problem(0, "the table composerHeaders cannot be read")


def _setting(reader: Reader, key: str, value: bytes, folder: str | None) -> None:
    kind: type[Heads | Tabs] = Heads if key in HEADS else Tabs
    record, reason = decoded(value, kind)
    if reason is not None:
        reader.problem(0, f"{key}: {reason}")
    if isinstance(record, Heads):
        for head in record.all_composers or ():
            _head(reader, head, folder)
            if head.composer_id and head.conversation:
                context = chat(reader, None, head.composer_id, head, folder, told=True)
                early_messages(reader, context, head)
    elif isinstance(record, Tabs) and key == TABS:
        for tab in record.tabs or ():
            _tab(reader, tab, folder)


def _head(reader: Reader, head: Chat, folder: str | None) -> None:
    """A chat in a list: says where it belongs, not what was said in it."""
    if head.composer_id and head.is_draft is not True:
        _learn(reader, head.composer_id, head, folder)


# --- one chat -------------------------------------------------------------------------------------


def chat(
    reader: Reader,
    db: sqlite3.Connection | None,
    identity: str,
    whole: Chat,
    folder: str | None,
    *,
    told: bool,
) -> Context:
    """Tell of a chat as a whole if anything was said in it, and what its messages need to know."""
    told = told or bool(whole.conversation or whole.conversation_map)
    if told:
        _learn(reader, identity, whole, folder)
        _began(reader, identity, instant(whole.created_at), whole.unified_mode)
        _stopped(reader, identity, whole)
    return Context(
        chat=identity,
        cwd=_folder(whole) or folder,
        model=whole.model_config.model_name if whole.model_config else None,
        origin=_speaker(identity, whole),
        content=_kept_contents(reader, db),
    )


def _learn(reader: Reader, identity: str, whole: Chat, folder: str | None) -> None:
    facts = reader.facts(identity)
    facts.title = whole.name or facts.title
    facts.cwd = facts.cwd or _folder(whole) or folder
    branch = whole.active_branch.branch_name if whole.active_branch else None
    facts.branch = whole.created_on_branch or branch or facts.branch
    facts.entrypoint = EDITOR
    started_by = whole.subagent_info
    if _speaker(identity, whole) is Origin.HUMAN:
        # The parent may know better: that a person is at the keyboard is nowhere recorded.
        facts.driver = facts.driver or Driver.HUMAN
    else:
        facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
        facts.relation = Relation.SUBAGENT
    if started_by is not None:
        role = started_by.subagent_type_name
        facts.parent = started_by.parent_composer_id or facts.parent
        facts.spawned_by = started_by.tool_call_id or facts.spawned_by
        facts.role = role[:LONGEST_NAME] if role else facts.role
    for child in (*(whole.subagent_composer_ids or ()), *(whole.sub_composer_ids or ())):
        _child(reader, child, identity)


def _child(reader: Reader, child: str, parent: str) -> None:
    facts = reader.facts(child)
    facts.driver, facts.driver_recorded = Driver.SUBAGENT, True
    facts.parent, facts.relation = facts.parent or parent, Relation.SUBAGENT


def _folder(whole: Chat) -> str | None:
    if whole.git_worktree is not None and whole.git_worktree.worktree_path:
        return folder_of(whole.git_worktree.worktree_path)
    return folder_of(whole.workspace_identifier.uri) if whole.workspace_identifier else None


def _speaker(identity: str, whole: Chat) -> Origin:
    """Who speaks in the user's place: a person, the agent above, or the program for many chats."""
    if whole.is_best_of_n_subcomposer:
        return Origin.HARNESS
    started = whole.subagent_info is not None and whole.subagent_info.parent_composer_id
    return Origin.PARENT_AGENT if started or identity.startswith(_TASK) else Origin.HUMAN


def _began(reader: Reader, identity: str, at: int | None, mode: str | int | None) -> None:
    """When a chat began: of its messages many do not say their time."""
    if at is not None:
        data = {"mode": mode} if isinstance(mode, str) else {}
        key = key_of("chat", identity)
        reader.emit(Notice(key=key, session=identity, at=at, name="chat", data=data))


def _stopped(reader: Reader, identity: str, whole: Chat) -> None:
    """The last answer was stopped; when the next one runs this is no longer recorded."""
    headers = whole.full_conversation_headers_only
    if whole.status == "aborted" and headers and headers[-1].bubble_id:
        key = key_of("stopped", identity, headers[-1].bubble_id)
        reader.emit(Interruption(key=key, session=identity, at=instant(whole.last_updated_at)))


def _kept_contents(reader: Reader, db: sqlite3.Connection | None) -> Callable[[str], str | None]:
    def content(identity: str) -> str | None:
        if db is None:
            return None
        try:
            row = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (identity,)).fetchone()
        except sqlite3.DatabaseError:
            return None
        value = row[0] if row is not None else None
        reader.lacking |= value is None
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else None

    return content


# --- chats that hold their messages themselves ----------------------------------------------------


def early_messages(reader: Reader, context: Context, whole: Chat) -> None:
    """The messages in the record of a chat itself."""
    by_id = whole.conversation_map or {}
    named = [*(whole.conversation or ()), *by_id.values()]
    _messages(reader, context, named)


def _tab(reader: Reader, tab: Tab, folder: str | None) -> None:
    identity = tab.tab_id
    if not identity or not tab.bubbles:
        return
    facts = reader.facts(identity)
    facts.title, facts.cwd = tab.chat_title or facts.title, facts.cwd or folder
    facts.driver, facts.entrypoint = Driver.HUMAN, EDITOR
    _began(reader, identity, instant(tab.last_send_time), None)
    _messages(reader, Context(chat=identity, cwd=folder), tab.bubbles)


def _messages(reader: Reader, context: Context, told: Iterable[Bubble]) -> None:
    for number, message in enumerate(told):
        reader.records += 1
        identity = message.bubble_id or message.id or str(number)
        bubble(reader, context, message, identity, msgspec.json.encode(message))
