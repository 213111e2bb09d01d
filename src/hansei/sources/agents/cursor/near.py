"""What the databases near a transcript have of the same chat.

A transcript and the editor's databases lie below the same home folder. A chat that is in both is
told turn by turn: by the database if it has the prompt that began the turn, else by the transcript.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, TypeVar

from hansei.errors import UnreadableTranscript
from hansei.sources.agents.cursor import (
    STATE,
    prompts,
    user_folders_at,
    windows_user_folders,
)
from hansei.sources.agents.cursor.bubbles import PERSON
from hansei.sources.agents.cursor.passes import as_bytes
from hansei.sources.agents.cursor.records import CHAT, MESSAGE, Bubble, Chat, decoded
from hansei.sources.families import sqlite
from hansei.sources.families.streams import text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def prompts_of(transcript: Path, chat: str) -> dict[str, int]:
    """Digests of a chat's prompts in the databases near its transcript, and how often each."""
    found: dict[str, int] = {}
    for path in _databases(transcript):
        try:
            marks = sqlite.read(path, lambda db: list(_prompts(db, chat)))
        except UnreadableTranscript:  # told of where the database itself is read
            continue
        for mark in marks:
            found[mark] = found.get(mark, 0) + 1
    return found


def _databases(transcript: Path) -> Iterator[Path]:
    projects = next((place for place in transcript.parents if place.name == "projects"), None)
    if projects is None:
        return
    home = projects.parent.parent
    for user in [*user_folders_at(home), *windows_user_folders()]:
        path = user / "globalStorage" / STATE
        if path.is_file():
            yield path


def _prompts(db: sqlite3.Connection, chat: str) -> Iterator[str]:
    """A chat lists its messages, and which of them are a person's."""
    try:
        whole = _record(db, f"{CHAT}:{chat}", Chat)
        headers = whole.full_conversation_headers_only if whole is not None else None
        for header in headers or ():
            if header.type == PERSON and header.bubble_id:
                told = _record(db, f"{MESSAGE}:{chat}:{header.bubble_id}", Bubble)
                if told is not None:
                    yield text_digest(_asked(told))
    except sqlite3.DatabaseError:
        return


def _asked(told: Bubble) -> str:
    text = told.text or told.raw_text or prompts.typed_in(told.rich_text or "")
    return "\n\n".join(part.text for part in prompts.pieces(text) if part.origin is None)


T = TypeVar("T", Chat, Bubble)


def _record(db: sqlite3.Connection, key: str, kind: type[T]) -> T | None:
    row = db.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,)).fetchone()
    return decoded(as_bytes(row[0]), kind)[0] if row is not None else None
