"""Imported reviews in the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from hansei.config import Config
from hansei.events.reviews import Review
from hansei.git.repository import Identity
from hansei.ops.rebuild import rebuild
from hansei.redaction.engine import Redactor
from hansei.redaction.reviews import CleanReview, redact_review
from hansei.store import log, reviews, workspaces
from hansei.store.database import Store, open_store
from hansei.store.removal import forget
from pieces import KEY, piece, prompt

REVIEW = Review(
    None, "github", "1", None, "mira", False, "a.py", 3, 5, "c" * 40, "name it", ("x = 1",)
)


def keep(store: Store, workspace: int, *told: Review) -> reviews.Saved:
    clean = [redact_review(review, Redactor(KEY)) for review in told]
    with store.transaction() as db:
        return reviews.save(db, workspace, clean, now=9)


def place(store: Store, name: str) -> int:
    with store.transaction() as db:
        return workspaces.number_of(db, Identity(name, name, "folder", f"/w/{name}", None))


def test_only_redacted_reviews_are_accepted() -> None:
    with pytest.raises(TypeError, match="redact_review"):
        CleanReview(REVIEW, object())


def test_what_goes_in_comes_out(store: Store) -> None:
    one = place(store, "one")
    robot = REVIEW._replace(id="2", bot=True, at=None, path=None, line=None, hunk=())
    assert keep(store, one, robot, REVIEW) == (2, 0, 0)
    assert reviews.imported(store, one) == [REVIEW, robot]
    assert keep(store, one, REVIEW._replace(text="name both"), robot) == (0, 1, 1)
    assert reviews.imported(store)[0].text == "name both"
    assert reviews.imported(store, one + 1) == []


def test_reviews_without_sessions_survive_the_forgetting_of_others(store: Store, now: int) -> None:
    log.commit(store, [piece([prompt("gone", 1, now)])], now=now, seal_before=0)
    one = place(store, "one")
    keep(store, one, REVIEW)
    (number,) = store.db.execute("SELECT id FROM sessions").fetchone()
    forget(store, [number], now=now)
    assert reviews.imported(store, one) == [REVIEW]


def test_reviews_go_with_the_last_session_of_their_workspace(store: Store, now: int) -> None:
    events = [prompt("a", 1, now), prompt("b", 2, now)]
    log.commit(store, [piece(events)], now=now, seal_before=0)
    rows = store.db.execute("SELECT id, workspace FROM sessions ORDER BY native").fetchall()
    (first, home), (second, _) = rows
    keep(store, home, REVIEW)
    forget(store, [first], now=now)
    assert reviews.imported(store, home) == [REVIEW]
    forget(store, [second], now=now)
    assert reviews.imported(store) == []
    assert store.db.execute("SELECT count(*) FROM workspaces").fetchone() == (0,)


def test_a_database_older_than_reviews_is_salvaged_too(config: Config, now: int) -> None:
    store = open_store(config.store, now=now)
    store.db.execute("DROP TABLE reviews")
    store.db.execute("INSERT INTO forgotten VALUES ('toy', 'x', NULL)")
    store.close()
    assert rebuild(config, now=now).choices_kept
    store = open_store(config.store, now=now)
    assert store.db.execute("SELECT native FROM forgotten").fetchall() == [("x",)]
    store.close()
    assert Path(config.store).exists()
