"""What hooks saw and what transcripts say become one, whichever comes first."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_home import Session, session
from fake_secrets import ALNUM, Maker
from hansei.config import Config, Environment, Settings
from hansei.events.codec import encode
from hansei.events.keys import digest
from hansei.events.model import MARKER, Observation, RequestUsage
from hansei.hook.record import MOST_BYTES
from hansei.ops import ingest as ingesting
from hansei.ops import removal, sessions, spool
from hansei.ops.doctor import doctor
from hansei.ops.exposure import disagreements, exposure
from hansei.ops.ingest import ingest
from hansei.ops.scope import Scope
from hansei.ops.show import show
from hansei.store import reading
from hansei.store.database import Store, open_store
from hook_calls import line, write_spool

COMMIT, OTHER = "a" * 40, "b" * 40
TEXT = f"{MARKER}\nUse make test."


def observations(store: Store) -> list[Observation]:
    numbers = store.db.execute("SELECT id FROM sessions ORDER BY native").fetchall()
    found = [event for (number,) in numbers for _, event in reading.events(store, number)]
    return [event for event in found if isinstance(event, Observation)]


def take_in(store: Store, config: Config, now: int) -> None:
    ingest(store, config, now=now, wait_seconds=0)


def test_a_line_becomes_an_observation(store: Store, config: Config, home: Path, now: int) -> None:
    size = {"bytes": 12, "hash": "0123456789abcdef"}
    write_spool(
        home,
        line("5f1c", "PreToolUse", now, call="toolu_1", tool="Bash", input=size, commit=COMMIT),
    )
    take_in(store, config, now)
    (seen,) = observations(store)
    assert (seen.session, seen.name, seen.call, seen.native_tool) == (
        "5f1c",
        "PreToolUse",
        "toolu_1",
        "Bash",
    )
    assert seen.input is not None
    assert seen.input.bytes == 12
    assert seen.commit == COMMIT


def test_a_line_read_twice_is_kept_once(store: Store, config: Config, home: Path, now: int) -> None:
    lines = [line("5f1c", "Stop", now), line("5f1c", "PreToolUse", now, call="c")]
    path = write_spool(home, *lines)
    take_in(store, config, now)
    path.unlink()
    write_spool(home, *lines[::-1], *lines)
    take_in(store, config, now)
    assert len(observations(store)) == 2


def test_a_hook_named_in_two_settings_files_is_kept_once(
    store: Store, config: Config, home: Path, now: int
) -> None:
    lines = [line("5f1c", "PreToolUse", now + late, call="c") for late in (7, 0)]
    for one in lines:
        write_spool(home, one)
        take_in(store, config, now)
    (seen,) = observations(store)
    assert seen.at == now
    (found,) = sessions.sessions(store, Scope())
    assert (found.started_at, found.ended_at) == (now, now + 7)


def test_the_commit_a_hook_read_wins_over_the_agents(
    store: Store, config: Config, home: Path, now: int
) -> None:
    write_spool(
        home,
        line("5f1c", "PostToolUse", now + 50, call="c", commit=OTHER, cwd="/work/app"),
        line("5f1c", "look", now + 1, commit=COMMIT, dirty=True, instructions=[]),
        line("5f1c", "SessionStart", now, commit=COMMIT, branch="main", cwd="/work/app"),
    )
    take_in(store, config, now)
    (found,) = sessions.sessions(store, Scope())
    assert (found.commit, found.commit_basis, found.dirty) == (COMMIT, "hook", True)
    assert (found.branch, found.cwd) == ("main", "/work/app")


def test_what_the_transcript_says_of_a_branch_stays(
    store: Store, config: Config, home: Path, now: int
) -> None:
    session(home, "5f1c", now, branch="from-transcript").prompt("hello")
    write_spool(home, line("5f1c", "SessionStart", now, branch="from-hook", commit=COMMIT))
    take_in(store, config, now)
    (found,) = sessions.sessions(store, Scope())
    assert (found.branch, found.commit_basis, found.dirty) == ("from-transcript", "hook", None)


def test_what_a_subagents_hook_saw_belongs_to_the_subagent(
    store: Store, config: Config, home: Path, now: int
) -> None:
    fields = {"agent_id": "a7", "agent_type": "explorer"}
    write_spool(home, line("5f1c", "SubagentStart", now, **fields))
    take_in(store, config, now)
    (found,) = sessions.sessions(store, Scope())
    assert (found.id, found.parent, found.driver, found.role) == (
        "5f1c/agent-a7",
        "5f1c",
        "subagent",
        "explorer",
    )


def test_tokens_that_only_a_hook_tells_are_counted_once(
    store: Store, config: Config, home: Path, now: int
) -> None:
    tokens = {"input": 100, "output": 5, "cache_read": 60, "cache_write": 10}
    fields: dict[str, Any] = {
        "agent": "cursor",
        "turn": "g1",
        "tokens": tokens,
        "model": "claude-sonnet-4-5",
    }
    write_spool(home, line("c1", "stop", now, **fields), line("c1", "stop", now + 3, **fields))
    take_in(store, config, now)
    (number,) = store.db.execute("SELECT id FROM sessions").fetchone()
    usage = [it for _, it in reading.events(store, number) if isinstance(it, RequestUsage)]
    assert [(it.input, it.cache_read, it.cache_write_5m, it.output) for it in usage] == [
        (30, 60, 10, 5)
    ]


def test_the_timeline_puts_hooks_where_they_ran(
    store: Store, config: Config, home: Path, now: int
) -> None:
    one = session(home, "5f1c", now)
    one.prompt("first")
    one.prompt("second")
    write_spool(
        home,
        line("5f1c", "Stop", now + 90_000),
        line("5f1c", "SessionStart", now),
        line("5f1c", "UserPromptSubmit", now + 1_500),
    )
    take_in(store, config, now)
    told = [getattr(it.event, "text", None) or it.event.name for it in show(store, "5f1c").events]  # type: ignore[union-attr]
    assert told == ["SessionStart", "first", "UserPromptSubmit", "second", "Stop"]


# --- order of arrival -----------------------------------------------------------------------------


def hook_lines(now: int) -> list[str]:
    start = {"cwd": "/work/app", "branch": "dev", "commit": COMMIT, "version": "2.1.40"}
    place = {"kind": "instructions", "path": "CLAUDE.md", "hash": "0" * 16, "bytes": 3}
    context = {"bytes": len(TEXT), "hash": digest(TEXT.encode())}
    return [
        line(
            "5f1c", "SessionStart", now - 5, **start, delivered=["t"], arms={"t": "treatment"},
            context=context,
        ),
        line("5f1c", "look", now - 4, **start, dirty=False, instructions=[place]),
        line("5f1c", "look", now + 9_000, dirty=True, instructions=[{**place, "hash": "1" * 16}]),
        line("5f1c", "PreToolUse", now + 3, call="c1", commit=OTHER, cwd="/work/other"),
        line("5f1c", "PreToolUse", now + 2, call="c1", commit=OTHER, cwd="/work/other"),
        line("5f1c", "PostToolUse", now + 4, call="c1"),
        line("5f1c", "SubagentStart", now + 5, agent_id="a7", agent_type="explorer", **start),
        line("5f1c", "Stop", now + 60_000),
        line("c1", "stop", now, agent="cursor", turn="g", tokens={"input": 9, "output": 1}),
        line("c1", "sessionStart", now - 9, agent="cursor", cwd="/work/app", version="2.1"),
    ]  # fmt: skip


def transcript(home: Path, now: int) -> Session:
    one = session(home, "5f1c", now)
    one.line("attachment", attachment={"type": "hook_additional_context", "content": [TEXT]})
    one.prompt("fix it")
    one.run("pytest -q", "1 failed", exit_code=1)
    one.say("Fixed.")
    return one


def state(store: Store) -> dict[str, Any]:
    """Everything known, without numbers that tell the order of reading."""
    name = "(SELECT agent || ' ' || native FROM sessions s WHERE s.id = session)"
    numbers = store.db.execute("SELECT id, agent FROM sessions").fetchall()
    skipped = {"id", "workspace", "transcript", "next_seq"}
    columns = [row[1] for row in store.db.execute("PRAGMA table_info(sessions)")]
    kept = ", ".join(f'"{column}"' for column in columns if column not in skipped)
    queries = {
        "sessions": f"SELECT {kept} FROM sessions ORDER BY agent, native",
        "exposure": f"SELECT {name}, kind, path, hash, bytes, basis, reach FROM exposure",
        "ledger": f"SELECT {name}, basis, note FROM ledger",
        "tallies": f"SELECT {name}, kind, detail, n FROM tallies WHERE n > 0",
    }
    told = {what: sorted(store.db.execute(query).fetchall()) for what, query in queries.items()}
    events = sorted(
        (agent, encode(event))
        for number, agent in numbers
        for _, event in reading.events(store, number)
    )
    return {**told, "events": events}


@settings(max_examples=12)
@given(st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, dice: random.Random
) -> None:
    now = 1_790_000_000_000
    folder = tmp_path_factory.mktemp("order")
    whole = transcript(folder / "whole", now)
    write_spool(folder / "whole", *hook_lines(now))
    expected = taken_in(folder / "whole", now, steps=[lambda: None])

    home = folder / "pieces"
    pieces = [line + "\n" for line in whole.lines]
    lines = hook_lines(now)
    dice.shuffle(lines)
    path = home / whole.path.relative_to(folder / "whole")
    path.parent.mkdir(parents=True)

    def tell_one() -> None:
        if pieces and (not lines or dice.random() < 0.5):
            with path.open("a", encoding="utf-8") as file:
                file.write(pieces.pop(0))
        elif lines:
            write_spool(home, *[lines.pop() for _ in range(min(len(lines), dice.randint(1, 4)))])

    assert taken_in(home, now, steps=[tell_one] * (len(pieces) + len(lines))) == expected


def taken_in(home: Path, now: int, steps: list[Any]) -> dict[str, Any]:
    store = open_store(home / "store", now=now)
    try:
        for step in steps:
            step()
            take_in(store, Config(home / "store", Settings(), Environment(home, {})), now)
        return state(store)
    finally:
        store.close()


# --- exposure -------------------------------------------------------------------------------------


def deliver(home: Path, now: int, text: str = TEXT) -> None:
    context = {"bytes": len(text), "hash": digest(text.encode())}
    write_spool(
        home,
        line(
            "5f1c", "SessionStart", now, delivered=["t"], arms={"t": "treatment"}, context=context
        ),
    )


def test_what_was_delivered_is_read_back_from_the_transcript(
    store: Store, config: Config, home: Path, now: int
) -> None:
    transcript(home, now)
    deliver(home, now)
    take_in(store, config, now)
    found = exposure(store, "5f1c")
    assert {(it.kind, it.path, it.basis) for it in found.texts} == {
        ("delivered", "t", "hook"),
        ("delivered", "t", "transcript"),
    }
    assert disagreements(store) == []


@pytest.mark.parametrize("shown", [True, False])
def test_doctor_tells_where_the_transcript_disagrees(
    store: Store, config: Config, home: Path, now: int, shown: bool
) -> None:
    if shown:
        transcript(home, now)
    else:
        session(home, "5f1c", now).say("Hello.")
    deliver(home, now, f"{MARKER}\nAnother text.")
    take_in(store, config, now)
    (found,) = doctor(store, config, now=now).spool.disagreements
    assert (found.session, found.item) == ("5f1c", "t")
    assert found.what.endswith("another text" if shown else "lacks it")


def test_a_transcript_that_has_not_gone_on_yet_does_not_disagree(
    store: Store, config: Config, home: Path, now: int
) -> None:
    session(home, "5f1c", now - 60_000).say("Earlier.")
    deliver(home, now)
    take_in(store, config, now)
    assert disagreements(store) == []


# --- the spool itself -----------------------------------------------------------------------------


def test_broken_lines_are_counted_and_cost_nothing_else(
    store: Store, config: Config, home: Path, now: int
) -> None:
    path = write_spool(home, line("5f1c", "Stop", now))
    with path.open("ab") as file:
        file.write(b'{"v": 1, "agent": "cla')
    later = json.dumps({"v": 2, "agent": "x", "hook": "y", "at": 1, "session": "z"})
    write_spool(home, line("", "Stop", now), f"\n{later}\n", line("5f1c", "Stop", now + 1))
    take_in(store, config, now)
    assert len(observations(store)) == 2
    health = doctor(store, config, now=now).spool
    assert sorted(it.reason for it in health.skipped) == [
        "a hook whose input names no session",
        "a line of a later hansei",
        "not JSON",
    ]
    assert [(it.agent, it.calls, it.last_at) for it in health.agents] == [
        ("claude_code", 2, now + 1)
    ]
    assert not health.full


def test_a_full_spool_is_told(store: Store, config: Config, home: Path, now: int) -> None:
    path = write_spool(home, line("5f1c", "Stop", now))
    with path.open("r+b") as file:
        file.truncate(MOST_BYTES)
    assert doctor(store, config, now=now).spool.full


@pytest.fixture
def own(config: Config, home: Path) -> Config:
    """Settings of the store that the spool lies in."""
    return replace(config, store=home / ".hansei")


def test_a_large_spool_is_rotated_and_later_deleted(
    own: Config, home: Path, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "ROTATED_BYTES", 100)
    path = write_spool(home, line("5f1c", "Stop", now), line("5f1c", "Stop", now + 1))
    store = open_store(own.store, now=now)
    try:
        take_in(store, own, now)
        (old,) = spool.rotated(path.parent)
        assert not path.exists()
        with old.open("a", encoding="utf-8") as late:  # a hook that had opened it before
            late.write(line("5f1c", "Stop", now + 2))
        write_spool(home, line("5f1c", "Stop", now + 3))
        take_in(store, own, now + 10)
        assert len(observations(store)) == 4
        take_in(store, own, now + 8 * 86_400_000)
        assert spool.rotated(path.parent) == []
        assert len(observations(store)) == 4
        assert store.db.execute("SELECT path FROM transcripts").fetchall() == [(str(path),)]
    finally:
        store.close()


def test_another_store_leaves_the_spool_where_it_is(
    store: Store, config: Config, home: Path, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "ROTATED_BYTES", 10)
    path = write_spool(home, line("5f1c", "Stop", now))
    take_in(store, config, now)
    assert path.exists()
    assert len(observations(store)) == 1


def test_forgetting_a_session_takes_its_lines_out_of_the_spool(
    store: Store, config: Config, home: Path, now: int
) -> None:
    path = write_spool(
        home,
        line("5f1c", "Stop", now, cwd="/work/secret-project"),
        line("5f1c", "SubagentStart", now, agent_id="a7", cwd="/work/secret-project"),
        line("other", "Stop", now),
    )
    size = path.stat().st_size
    take_in(store, config, now)
    removal.remove(store, removal.chosen(store, config, "5f1c"), config, now=now)
    assert path.stat().st_size == size
    assert b"5f1c" not in path.read_bytes()
    assert b"secret-project" not in path.read_bytes()
    write_spool(home, line("5f1c", "Stop", now + 5))
    take_in(store, config, now)
    assert {seen.session for seen in observations(store)} == {"other"}
    assert doctor(store, config, now=now).spool.skipped == []
    for table in ("evidence", "exposure", "ledger", "unexposed"):
        rows = store.db.execute(f"SELECT DISTINCT session FROM {table}").fetchall()
        assert len(rows) <= 1


def test_secrets_in_a_line_do_not_reach_the_store(
    store: Store, config: Config, home: Path, now: int
) -> None:
    secret = "ghp_" + Maker(1).of(ALNUM, 36)
    size = {"bytes": 1, "hash": secret}
    place = {"kind": "rule", "path": f"/x/{secret}.md", "hash": "0" * 16, "bytes": 1}
    write_spool(
        home,
        line("5f1c", "Stop", now, cwd=f"/work/{secret}", input=size, instructions=[place]),
    )
    take_in(store, config, now)
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = b"".join(path.read_bytes() for path in store.folder.rglob("*") if path.is_file())
    assert secret.encode() not in kept


def test_reading_side_by_side_brings_the_same(
    config: Config, home: Path, now: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript(home, now)
    write_spool(home, *hook_lines(now), line("old", "Stop", now - 30 * 86_400_000))
    states = []
    for workers in (1, 2):
        monkeypatch.setattr(ingesting, "PARALLEL_BYTES", 0)
        store = open_store(tmp_path / f"by-{workers}", now=now)
        take_in(store, replace(config, settings=Settings(workers=workers)), now)
        states.append(state(store))
        store.close()
    assert states[0] == states[1]
