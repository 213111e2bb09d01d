"""Taking in reviews from a file, and finding the edits they are about."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.errors import UsageError
from hansei.git.repository import identify
from hansei.ops.scope import named_workspace
from hansei.ops.sessions import short_id
from hansei.projection.calls import calls
from hansei.projection.corrections.matching import Wrote, matched
from hansei.projection.corrections.reviews import read
from hansei.projection.outcomes.edits import written
from hansei.redaction.engine import Redactor
from hansei.redaction.reviews import redact_review
from hansei.store import reading, reviews, workspaces
from hansei.store.key import redaction_key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.events.reviews import Review
    from hansei.store.database import Store

LOCK_SECONDS = 30.0
HOW = "Get one with `gh api --paginate repos/OWNER/REPO/pulls/comments > reviews.json`."
_MARKS = {
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
"""How files begin that say in which encoding they are; PowerShell writes such."""


@dataclass(frozen=True)
class About:
    """An edit that was remarked on."""

    session: str
    seq: int
    path: str | None
    line: int | None
    bot: bool
    words: str


@dataclass(frozen=True)
class Imported:
    workspace: str
    new: int
    changed: int
    known: int
    bots: int
    """How many of them programs wrote."""
    on_lines: int
    """How many say which lines they are about."""
    cut_off: bool
    """Whether the end of the file could not be read."""
    matched: list[About]
    """Those about lines that an agent wrote in a session we know."""


def import_reviews(
    store: Store, data: bytes, name: str, *, folder: Path, workspace: str | None, now: int
) -> Imported:
    """Keep the reviews of a file; `name` is what the file is called in errors."""
    found = read(_text(data, name))
    if not found.reviews:
        raise UsageError(
            f"{name} holds no reviews: {_instead(found.objects, unread=found.unread)}", hint=HOW
        )
    redactor = Redactor(redaction_key(store.folder))
    clean = [redact_review(review, redactor) for review in found.reviews]
    with store.writing(wait_seconds=LOCK_SECONDS):
        number, title = _workspace(store, folder, workspace)
        with store.transaction() as db:
            saved = reviews.save(db, number, clean, now=now)
    told = [it.review for it in clean]
    return Imported(
        workspace=title,
        new=saved.new,
        changed=saved.changed,
        known=saved.known,
        bots=sum(review.bot for review in told),
        on_lines=sum(bool(review.hunk) for review in told),
        cut_off=found.unread,
        matched=_about(store, number, told),
    )


def _text(data: bytes, name: str) -> str:
    encoding = next((it for mark, it in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        raise UsageError(f"{name} is no text: {problem}", hint=HOW) from None


def _instead(objects: int, *, unread: bool) -> str:
    if unread:
        return "it is not JSON"
    if objects:
        return "there is JSON, but no comment with an author and a body in it"
    return "it is empty"


def _workspace(store: Store, folder: Path, name: str | None) -> tuple[int, str]:
    if name is not None:
        return named_workspace(store, name)
    identity = identify(str(folder))
    with store.transaction() as db:
        workspaces.remember(db, {str(folder): identity})
        number = workspaces.workspace_of(db, str(folder))
    (title,) = store.db.execute("SELECT name FROM workspaces WHERE id = ?", (number,)).fetchone()
    return number, title


def _about(store: Store, workspace: int, told: list[Review]) -> list[About]:
    by_id = {review.id: review for review in told}
    found = matched(told, _written(store, workspace) if any(it.hunk for it in told) else ())
    rows = [(by_id[match.review], match) for match in found]
    return [
        About(short_id(it.session), it.seq, review.path, review.line, review.bot, review.text)
        for review, it in sorted(rows, key=lambda row: (row[0].at or 0, row[0].id))
    ]


def _written(store: Store, workspace: int) -> Iterator[Wrote]:
    """What agents wrote in a workspace."""
    rows = store.db.execute(
        "SELECT s.id, s.native FROM sessions s WHERE s.workspace = ? AND EXISTS"
        " (SELECT 1 FROM tallies t WHERE t.session = s.id AND t.kind = 'file_edit') ORDER BY s.id",
        (workspace,),
    ).fetchall()
    for number, native in rows:
        events = list(reading.events(store, number))
        for hunk in written(events, calls(events)):
            yield Wrote(native, hunk)
