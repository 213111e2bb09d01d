"""Facts can be thrown away and worked out again, and one session's never touch another's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import any_event
from hansei.config import CommandClass, Config, Environment, Settings
from hansei.ops import projecting
from hansei.ops.ingest import ingest
from hansei.projection import exposure
from hansei.projection.facts import folds, keeping
from hansei.store import log, removal
from hansei.store.database import Store, open_store
from hansei.synth import build
from pieces import call, piece, prompt, request, result
from synthetic_world import NOW

DAY = 86_400_000


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The homes of two agents, with everything the world plants."""
    folder = tmp_path_factory.mktemp("world")
    agents = ("claude_code", "codex")
    return build(folder, seed=5, now_ms=NOW, sessions=14, weeks=2, agents=agents).home


def settings_of(store: Path, home: Path) -> Config:
    return Config(store, Settings(), Environment(home, {}))


def kept(store: Store) -> dict[str, list[Any]]:
    """Every fact, by table, told by the sessions' own ids."""
    tables = {}
    for table in folds.TABLES:
        columns = ", ".join(f'f."{name}"' for name in table.fields)
        tables[table.name] = store.db.execute(
            f"SELECT s.agent, s.native, f.nth, {columns} FROM {table.name} f"
            " JOIN sessions s ON s.id = f.session ORDER BY 1, 2, 3"
        ).fetchall()
    return tables


def rebuilt(store: Store, config: Config) -> dict[str, list[Any]]:
    store.db.execute("DELETE FROM meta WHERE name = ?", (keeping.STAMP,))
    projecting.refresh(store, config, workspace=None, now=NOW)
    return kept(store)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_refreshing_equals_rebuilding(
    tmp_path_factory: pytest.TempPathFactory, transcripts: Path, data: st.DataObject
) -> None:
    """Transcripts grow in steps of any size, in any order, before or after they are sealed."""
    folder = tmp_path_factory.mktemp("facts")
    home = folder / "home"
    shutil.copytree(transcripts, home)
    config = settings_of(folder / "store", home)
    store = open_store(config.store, now=NOW)
    try:
        whole = {path: path.read_bytes() for path in sorted(home.rglob("*.jsonl"))}
        for _ in range(data.draw(st.integers(1, 3), label="steps")):
            for path, text in whole.items():
                _grow(path, text, data.draw(st.floats(0, 1), label=path.name))
            later = data.draw(st.sampled_from([0, 4 * DAY, 60 * DAY]), label="later")
            ingest(store, config, now=NOW + later)
            projecting.refresh(store, config, workspace=None, now=NOW)
        refreshed = kept(store)
        assert refreshed == rebuilt(store, config)
    finally:
        store.close()


def _grow(path: Path, text: bytes, share: float) -> None:
    """Let a transcript have a share of its lines, never fewer than it has."""
    lines = text.splitlines(keepends=True)
    wanted = b"".join(lines[: max(1, round(len(lines) * share))])
    have = path.read_bytes()
    if len(have) == len(text) or len(wanted) > len(have):
        path.write_bytes(wanted)


@pytest.mark.timeout(300)  # it makes sixty stores
@settings(max_examples=60)
@given(told=st.lists(any_event.events(), max_size=12))
def test_no_events_at_all_stop_a_run(
    tmp_path_factory: pytest.TempPathFactory, told: list[Any]
) -> None:
    store = open_store(tmp_path_factory.mktemp("any"), now=0)
    try:
        log.commit(store, [piece(told)], now=1, seal_before=0)
        config = settings_of(store.folder, Path("/nowhere"))
        projecting.refresh(store, config, workspace=None, now=NOW)
        assert kept(store)["fact_problems"] == []
    finally:
        store.close()


def test_a_key_that_a_source_gave_to_two_things_stops_nothing(store: Store, now: int) -> None:
    first = prompt("a", 1, now)
    second = replace(request("a", "m", now, input=5), key=first.key)
    for told in ([first, second], [second]):
        log.commit(store, [piece(told, path="a")], now=now, seal_before=0)
    config = settings_of(store.folder, Path("/nowhere"))
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 1


def test_one_new_line_touches_its_session_alone(store: Store, now: int) -> None:
    config = settings_of(store.folder, Path("/nowhere"))
    for name in "abc":
        made = [prompt(name, 1, now), call(name, 1, now), result(name, 1, now)]
        log.commit(store, [piece(made, path=name)], now=now, seal_before=0)
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 3
    log.commit(store, [piece([call("b", 2, now)], path="b")], now=now, seal_before=0)
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 1
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 0
    assert len(kept(store)["fact_commands"]) == 4


def test_what_changes_while_it_is_worked_out_stays_due(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = settings_of(store.folder, Path("/nowhere"))
    log.commit(store, [piece([call("a", 1, now)])], now=now, seal_before=0)
    keep = keeping.keep

    def meanwhile(*arguments: Any) -> None:
        other = open_store(store.folder, now=now)
        log.commit(other, [piece([call("a", 2, now)])], now=now, seal_before=0)
        exposure.refresh(other)
        other.close()
        keep(*arguments)

    monkeypatch.setattr(keeping, "keep", meanwhile)
    projecting.refresh(store, config, workspace=None, now=NOW)
    monkeypatch.undo()
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 1
    assert len(kept(store)["fact_commands"]) == 2


def test_other_rules_work_everything_out_again(store: Store, now: int) -> None:
    log.commit(store, [piece([call("a", 1, now, "just check")])], now=now, seal_before=0)
    config = settings_of(store.folder, Path("/nowhere"))
    projecting.refresh(store, config, workspace=None, now=NOW)
    own = Config(
        store.folder,
        Settings(commands={"just check": CommandClass.TEST}),
        Environment(Path("/nowhere"), {}),
    )
    assert projecting.refresh(store, own, workspace=None, now=NOW) == 1
    (kind,) = store.db.execute("SELECT kind FROM fact_commands").fetchone()
    assert kind == "test"


def test_forgotten_sessions_leave_no_facts(store: Store, now: int) -> None:
    for name in "ab":
        log.commit(store, [piece([call(name, 1, now)], path=name)], now=now, seal_before=0)
    config = settings_of(store.folder, Path("/nowhere"))
    projecting.refresh(store, config, workspace=None, now=NOW)
    (number,) = store.db.execute("SELECT id FROM sessions WHERE native = 'a'").fetchone()
    removal.forget(store, [number], now=now)
    assert [row[1] for row in kept(store)["fact_commands"]] == ["b"]
    assert projecting.refresh(store, config, workspace=None, now=NOW) == 0


def test_a_session_that_cannot_be_worked_out_is_told(
    store: Store, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError("a secret of the transcript")

    monkeypatch.setattr(folds, "ran", fails)
    log.commit(store, [piece([call("a", 1, now)])], now=now, seal_before=0)
    config = settings_of(store.folder, Path("/nowhere"))
    projecting.refresh(store, config, workspace=None, now=NOW)
    ((*_, kind, place),) = kept(store)["fact_problems"]
    assert kind == "ValueError"
    assert "secret" not in place
