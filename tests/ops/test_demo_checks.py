"""The tour's own checks can fail, so their success says something."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hansei.ops import demo
from hansei.ops.ingest import ingest
from hansei.store.database import Store, open_store

NOW = 1_790_000_000_000


@pytest.fixture
def made(tmp_path: Path) -> demo.Demo:
    return demo.make(tmp_path, seed=10, now=NOW)


@pytest.fixture
def store(made: demo.Demo) -> Iterator[Store]:
    with closing(open_store(made.config.store, now=NOW)) as opened:
        ingest(opened, made.config, now=NOW)
        yield opened


def test_what_was_planted_is_what_was_counted(made: demo.Demo, store: Store) -> None:
    assert [it.what for it in demo.compare(store, made.world.truth) if not it.exact] == []


def test_a_lost_transcript_shows_in_every_total(made: demo.Demo) -> None:
    lost = max(made.world.home.rglob("rollout-*.jsonl"), key=lambda path: path.stat().st_size)
    lost.unlink()
    with closing(open_store(made.config.store, now=NOW)) as store:
        ingest(store, made.config, now=NOW)
        differing = {it.what for it in demo.compare(store, made.world.truth) if not it.exact}
    assert differing >= {"sessions", "requests", "tool calls", "input tokens", "output tokens"}


def test_a_secret_in_any_file_of_the_store_is_found(made: demo.Demo, store: Store) -> None:
    assert demo.leaks(store, made).in_store == 0
    url = next(it for it in made.world.truth.secrets if it.kind == "postgres_url")
    (store.folder / "note").write_text(f"password: {url.pieces[0]}")
    assert demo.leaks(store, made).in_store == 1


def test_a_secret_in_a_stored_event_is_found(made: demo.Demo, store: Store) -> None:
    secret = made.world.truth.secrets[0]
    with store.writing(wait_seconds=0), store.transaction() as db:
        changed = db.execute(
            "UPDATE events SET text = ? WHERE key = (SELECT min(key) FROM events)",
            (f"… {secret.pieces[0]} …",),
        )
        assert changed.rowcount == 1
    assert demo.leaks(store, made).in_store == 1


def test_the_difference_between_all_lines_and_the_bill_is_explained(
    made: demo.Demo, store: Store
) -> None:
    """What no repeated line and no fork explains is what the copied files hold."""
    found = demo.doubles(store, made.world.truth)
    assert found.billed == made.world.truth.tokens.total
    assert found.copied_files == 2
    assert 0 < found.in_copied_files < found.billed
