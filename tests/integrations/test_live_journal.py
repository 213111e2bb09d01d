"""What handlers write: whole lines, for their owner alone, and never a reason to fail."""

from __future__ import annotations

import json
import logging
import os
import signal
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

import fake_secrets
from hansei.config import Config, Environment, Settings
from hansei.integrations import journal
from hansei.integrations.journal import Journal, quietly
from hansei.integrations.telling import Told, tokens
from hansei.ops import live_logs, removal, survey
from hansei.ops.imports import check_logs
from hansei.ops.ingest import ingest
from hansei.sources import live
from hansei.store.database import Store, open_store

DAY_SECONDS = 86_400


def lines(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(folder.rglob("*.jsonl"))
        for line in path.read_text("ascii").splitlines()
    ]


@pytest.fixture
def owned(tmp_path: Path) -> Config:
    """A store that owns the folder programs write to."""
    home = tmp_path / "hansei"
    return Config(home, Settings(), Environment(tmp_path, {"HANSEI_HOME": str(home)}))


def say(home: Path, session: str = "s1", **told: Any) -> Told:
    talk = Told(Journal("hansei", home), session, "bot", {})
    talk.tell("prompt", "p1", text="how is the weather?")
    talk.tell("call", "c1", tool="bash", arguments={"command": "date"})
    talk.tell("result", "c1", text="calm", status="ok")
    talk.tell("usage", "r1", model="m", **{"input": 5, "output": 2, **told})
    return talk


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    say(tmp_path / "home")
    (log,) = (tmp_path / "home" / "live" / "hansei").iterdir()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    for folder in (log.parent, log.parent.parent, tmp_path / "home"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    told = Journal("hansei", tmp_path)

    def write(number: int) -> None:
        for count in range(50):
            told.add(f"s{number % 3}", {"hansei": 1}, [{"n": number, "c": count, "x": "é" * 500}])

    threads = [threading.Thread(target=write, args=(it,)) for it in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = lines(tmp_path)
    assert sum("n" in it for it in found) == 400
    assert sum("hansei" in it for it in found) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_begins_a_file_of_its_own(tmp_path: Path) -> None:
    talk = say(tmp_path)
    child = os.fork()
    if child == 0:
        talk.tell("reply", "of the child", text="hello")
        os._exit(0)
    os.waitpid(child, 0)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 2
    assert sum(it["type"] == "session" for it in lines(tmp_path)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_another_thread_writes_does_not_hang(tmp_path: Path) -> None:
    talk = say(tmp_path)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with talk.journal.lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    child = os.fork()
    if child == 0:
        signal.alarm(5)  # ends a child that hangs
        talk.tell("reply", "of the child", text="hello")
        os._exit(0)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert sum(it["type"] == "reply" for it in lines(tmp_path)) == 1


def test_a_long_session_goes_on_in_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "LARGEST", 300)
    say(tmp_path)
    files = list(tmp_path.rglob("*.jsonl"))
    assert len(files) > 1
    assert all(it.read_text().startswith('{"hansei": 1') for it in files)


def test_no_file_grows_so_large_that_reading_it_for_each_line_is_slow(tmp_path: Path) -> None:
    talk = say(tmp_path)
    for number in range(9):
        talk.tell("reply", str(number), text="x" * 2**20)
    sizes = [it.stat().st_size for it in tmp_path.rglob("*.jsonl")]
    assert len(sizes) == 3
    assert max(sizes) < 5.1 * 2**20
    assert check_logs([tmp_path]).sessions == 1


def test_a_handler_that_fails_says_so_once(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    (tmp_path / "live").write_text("in the way")

    @quietly
    def handler() -> None:
        say(tmp_path)

    with caplog.at_level(logging.WARNING, "hansei.integrations"):
        handler()
        handler()
    assert len(caplog.records) == 1


def test_the_input_is_what_no_cache_held() -> None:
    assert tokens(1000, 600, 100, 50, 20) == {
        "input": 300, "cache_read": 600, "cache_write": 100, "output": 50, "reasoning": 20,
    }  # fmt: skip
    assert tokens(10, 600) == {"input": 10, "cache_read": 600}
    assert tokens(None, output=5) == {"output": 5}


# --- what becomes of them -------------------------------------------------------------------------


def opened(owned: Config, now: int) -> Store:
    return open_store(owned.store, now=now)


def count(store: Store) -> int:
    (found,) = store.db.execute("SELECT count(*) FROM sessions").fetchone()
    return int(found)


def test_any_ingest_takes_them_in_once(owned: Config, now: int) -> None:
    say(owned.store)
    store = opened(owned, now)
    assert survey.anything_to_do(store, owned, now) is not None
    assert ingest(store, owned, now=now).events == 5
    assert ingest(store, owned, now=now).read == 0
    assert survey.anything_to_do(store, owned, now) is None
    say(owned.store, "s2")
    assert ingest(store, owned, now=now).events == 5
    assert count(store) == 2
    store.close()


def test_the_same_words_twice_are_told_twice_where_their_ids_differ(
    owned: Config, now: int
) -> None:
    """A thread that goes on in another process may hear the same words again."""
    talk = Told(Journal("hansei", owned.store), "s", "bot", {})
    for number in ("1", "2", "2"):
        talk.tell("prompt", number, text="go on")
    store = opened(owned, now)
    ingest(store, owned, now=now)
    (prompts,) = store.db.execute("SELECT count(*) FROM events WHERE kind = 'prompt'").fetchone()
    assert prompts == 2
    store.close()


def test_what_was_read_long_ago_is_deleted_and_stays_known(owned: Config, now: int) -> None:
    say(owned.store)
    store = opened(owned, now)
    ingest(store, owned, now=now)
    (log,) = live.discover(owned.environment)
    os.utime(log.path, (now / 1000 - 8 * DAY_SECONDS,) * 2)
    live_logs.sweep(store, owned, now=now)
    assert log.path.exists()  # it changed since it was read
    ingest(store, owned, now=now)
    assert not log.path.exists()
    assert count(store) == 1
    store.close()


def test_what_is_forgotten_is_deleted_here_too(owned: Config, now: int) -> None:
    say(owned.store)
    say(owned.store, "other")
    store = opened(owned, now)
    ingest(store, owned, now=now)
    doomed = removal.chosen(store, owned, "s1")
    removal.remove(store, doomed, owned, now=now)
    (left,) = live.discover(owned.environment)
    assert '"other"' in left.path.read_text()
    ingest(store, owned, now=now)
    assert count(store) == 1
    store.close()


def test_secrets_are_replaced_before_they_are_stored(owned: Config, now: int) -> None:
    (fake, *_) = fake_secrets.fakes(7)["aws-access-key"]
    talk = Told(Journal("hansei", owned.store), "s", "bot", {})
    talk.tell("prompt", "1", text=f"use {fake.text}")
    store = opened(owned, now)
    ingest(store, owned, now=now)
    store.close()
    stored = b"".join(it.read_bytes() for it in owned.store.glob("hansei.db*"))
    assert b"use " in stored
    assert fake.secret.encode() not in stored


def test_a_folder_of_no_format_is_left_alone(owned: Config, now: int) -> None:
    (owned.store / "live" / "morse").mkdir(parents=True)
    (owned.store / "live" / "morse" / "a.jsonl").write_text("{}")
    assert live.discover(owned.environment) == []
