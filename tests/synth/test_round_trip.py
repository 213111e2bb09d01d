"""What was planted in a generated history is what hansei reads back."""

from __future__ import annotations

from pathlib import Path

import pytest

from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.store.database import Store, open_store
from hansei.synth import World, agents, build
from hansei.synth.truth import Tokens

NOW = 1_790_000_000_000
FIELDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning")


@pytest.fixture(scope="module", params=agents())
def read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> object:
    """A generated history of one agent, and the store it was read into."""
    folder = tmp_path_factory.mktemp("world")
    world = build(folder, seed=5, now_ms=NOW, sessions=40, weeks=6, agents=[request.param])
    config = Config(folder / "store", Settings(), Environment(world.home, {}))
    store = open_store(config.store, now=NOW)
    ingest(store, config, now=NOW)
    return world, store


def test_every_token_comes_back_once(read: tuple[World, Store]) -> None:
    world, store = read
    sums = ", ".join(f"sum({name})" for name in FIELDS)
    row = store.db.execute(f"SELECT {sums} FROM requests").fetchone()
    assert _known(Tokens(*row)) == _known(world.truth.tokens)


def _known(tokens: Tokens) -> dict[str, int]:
    """Fields that were told, since 0 and untold look alike in a sum."""
    return {name: getattr(tokens, name) or 0 for name in FIELDS}


def test_no_planted_secret_comes_back(read: tuple[World, Store]) -> None:
    world, store = read
    assert world.truth.secrets
    stored = b"".join(path.read_bytes() for path in Path(store.folder).rglob("*") if path.is_file())
    import pyarrow.parquet as pq

    for path in store.cold.rglob("*.parquet"):
        stored += str(pq.read_table(path).to_pydict()).encode()
    assert [it.kind for it in world.truth.secrets if it.value.encode() in stored] == []


def test_drivers_come_back(read: tuple[World, Store]) -> None:
    world, store = read
    told = store.db.execute(
        "SELECT driver, count(*) FROM sessions WHERE next_seq > 1 GROUP BY 1 ORDER BY 1"
    ).fetchall()
    planted: dict[str, int] = {}
    for one in world.truth.sessions:
        planted[one.driver] = planted.get(one.driver, 0) + 1
    assert dict(told) == planted
