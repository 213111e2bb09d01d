"""Reviews that a person imported. No transcript holds them, so they are kept over a rebuild."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from hansei.events.reviews import Review

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from hansei.redaction.reviews import CleanReview
    from hansei.store.database import Store

_COLUMNS = "source, id, thread, author, bot, path, line, at, revision, text, hunk"


class Saved(NamedTuple):
    new: int
    changed: int
    known: int


def save(
    db: sqlite3.Connection, workspace: int, reviews: Iterable[CleanReview], *, now: int
) -> Saved:
    """Keep reviews, each once; one that was edited where it was made replaces what we had."""
    new = changed = known = 0
    for clean in reviews:
        row = _row(clean.review)
        there = db.execute(
            f"SELECT {_COLUMNS} FROM reviews WHERE workspace = ? AND source = ? AND id = ?",
            (workspace, row[0], row[1]),
        ).fetchone()
        if there == row:
            known += 1
            continue
        new += there is None
        changed += there is not None
        db.execute(
            f"INSERT OR REPLACE INTO reviews (workspace, imported_at, {_COLUMNS})"
            f" VALUES ({', '.join('?' * (len(row) + 2))})",
            (workspace, now, *row),
        )
    return Saved(new, changed, known)


def _row(review: Review) -> tuple[Any, ...]:
    hunk = msgspec.json.encode(review.hunk).decode()
    return (
        *(review.source, review.id, review.thread, review.author, int(review.bot)),
        *(review.path, review.line, review.at, review.revision, review.text, hunk),
    )


def imported(store: Store, workspace: int | None = None) -> list[Review]:
    """The reviews of a workspace, or of all, oldest first."""
    rows = store.db.execute(
        f"SELECT {_COLUMNS} FROM reviews WHERE ? IS NULL OR workspace = ?"
        " ORDER BY at IS NULL, at, source, id",
        (workspace, workspace),
    )
    return [_review(row) for row in rows]


def _review(row: tuple[Any, ...]) -> Review:
    told = dict(zip(_COLUMNS.split(", "), row, strict=True))
    told["bot"] = bool(told["bot"])
    told["hunk"] = msgspec.json.decode(told["hunk"], type=tuple[str, ...])
    return Review(seq=None, **told)


def count(db: sqlite3.Connection, workspace: int) -> int:
    (number,) = db.execute(
        "SELECT count(*) FROM reviews WHERE workspace = ?", (workspace,)
    ).fetchone()
    return int(number)
