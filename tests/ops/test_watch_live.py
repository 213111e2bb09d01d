"""The watcher on real folders with real events."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from claude_home import Session, session, small_history
from hansei.config import Config
from hansei.errors import StoreLocked
from hansei.ops.file_events import FileEvents, remote_folders
from hansei.ops.ingest import ingest
from hansei.ops.live import Live, the_only_watcher
from hansei.ops.watch import Round, watch
from hansei.store.database import open_store
from pieces import told

PATIENCE = 20.0
"""Seconds after which something does not happen any more, on a machine that is busy."""


@dataclass
class Watching:
    """A watcher in a thread of its own."""

    config: Config
    rounds: list[Round] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def texts(self) -> bytes:
        """Everything in the store."""
        store = open_store(self.config.store, now=0)
        try:
            return b"".join(event for events in told(store).values() for _, event in events)
        finally:
            store.close()

    def until(self, happened: Callable[[], bool]) -> float:
        """Wait for something to happen; returns how long it took."""
        started = time.monotonic()
        while not happened():
            assert time.monotonic() - started < PATIENCE, "it did not happen"
            time.sleep(0.02)
        return time.monotonic() - started

    def until_stored(self, text: bytes) -> float:
        return self.until(lambda: text in self.texts())


@contextmanager
def watching(config: Config, now: int) -> Iterator[Watching]:
    """Watch, once what is there has been taken in, until the end of the block."""
    stop = threading.Event()
    events = FileEvents(stop)
    seen = Watching(config)
    world = Live(config, events, lambda: now, stop.is_set, lambda _: None, seen.notes.append)

    def run() -> None:
        watch(world, tell=seen.rounds.append, note=seen.notes.append, stopped=stop.is_set)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        seen.until(lambda: bool(seen.rounds))
        yield seen
    finally:
        stop.set()
        thread.join()
        events.close()


@pytest.fixture
def recent(config: Config, now: int) -> Session:
    _, one, _ = small_history(config.environment.home, now)
    return one


def test_an_appended_line_is_in_the_store_within_a_second(
    config: Config, now: int, recent: Session
) -> None:
    with watching(config, now) as seen:
        taken = []
        for number in range(5):
            time.sleep(0.7)
            recent.prompt(f"line number {number}")
            taken.append(seen.until_stored(b"line number %d" % number))
    # Some may be late on a machine that is busy with other tests.
    assert sorted(taken)[2] < 1.0, taken


def test_a_new_session_in_a_new_folder_is_taken_in(
    config: Config, now: int, recent: Session
) -> None:
    with watching(config, now) as seen:
        session(config.environment.home, "dddd", now, cwd="/work/new").prompt("a fresh start")
        seen.until_stored(b"a fresh start")


def test_an_agent_that_is_installed_later_is_followed(config: Config, now: int) -> None:
    with watching(config, now) as seen:
        assert seen.rounds[0].transcripts == 0
        late = session(config.environment.home, "dddd", now)
        late.prompt("the first words")
        seen.until_stored(b"the first words")
        late.prompt("the second words")
        seen.until_stored(b"the second words")


def test_a_list_of_prompts_beside_the_folders_is_followed_too(
    config: Config, now: int, recent: Session
) -> None:
    listed = config.environment.home / ".claude" / "history.jsonl"
    typed = '{"display": "%s", "timestamp": %d, "project": "/work/app"}\n'
    listed.write_text(typed % ("typed before", now), encoding="utf-8")
    with watching(config, now) as seen:
        with listed.open("a", encoding="utf-8") as file:
            file.write(typed % ("typed later", now + 1))
        seen.until_stored(b"typed later")


def test_a_burst_reads_one_transcript_and_not_line_by_line(
    config: Config, now: int, recent: Session
) -> None:
    with watching(config, now) as seen:
        for number in range(100):
            recent.prompt(f"burst {number:03}")
            time.sleep(0.01)
        seen.until_stored(b"burst 099")
    later = seen.rounds[1:]
    assert 1 <= len(later) <= 8
    assert {it.read for it in later} == {1}
    assert sum(it.events for it in later) == 100


def test_a_transcript_replaced_by_another_file_is_read(
    config: Config, now: int, recent: Session
) -> None:
    """Written beside and renamed over, as editors and careful programs do."""
    with watching(config, now) as seen:
        before = recent.path.read_text(encoding="utf-8")
        beside = Session(path=recent.path.with_suffix(".tmp"), id=recent.id, at=now, count=90)
        beside.prompt("after the rename")
        text = before + beside.path.read_text(encoding="utf-8")
        beside.path.write_text(text, encoding="utf-8")
        beside.path.replace(recent.path)
        seen.until_stored(b"after the rename")
        recent.count = 200
        recent.prompt("and on")
        seen.until_stored(b"and on")


def test_a_transcript_cut_short_and_written_on_is_read(
    config: Config, now: int, recent: Session
) -> None:
    with watching(config, now) as seen:
        recent.path.write_text("", encoding="utf-8")
        recent.prompt("after the cut")
        seen.until_stored(b"after the cut")
        assert b"fix the failing test" in seen.texts()


def test_a_packed_rollout_doubles_nothing(config: Config, now: int) -> None:
    folder = config.environment.home / ".codex" / "sessions" / "2026" / "03" / "01"
    fixtures = Path(__file__).parents[1] / "fixtures" / "agents" / "codex" / "packed" / "sessions"
    (packed,) = fixtures.rglob("*.zst")
    plain = _unpacked(packed)
    folder.mkdir(parents=True)
    rollout = folder / packed.name.removesuffix(".zst")
    rollout.write_bytes(plain)
    with watching(config, now) as seen:
        before = seen.texts()
        assert before
        (folder / packed.name).write_bytes(packed.read_bytes())
        rollout.unlink()
        seen.until(lambda: sum(it.missing for it in seen.rounds) == 1)
        assert seen.texts() == before


def _unpacked(path: Path) -> bytes:
    import pyarrow as pa

    with pa.input_stream(path, compression="zstd") as stream:
        return stream.read()


def test_what_was_deleted_stays_in_the_store(config: Config, now: int, recent: Session) -> None:
    with watching(config, now) as seen:
        recent.path.unlink()
        seen.until(lambda: sum(it.missing for it in seen.rounds) == 1)
        assert b"fix the failing test" in seen.texts()


def test_a_folder_that_goes_and_comes_back_is_followed_again(
    config: Config, now: int, recent: Session
) -> None:
    projects = config.environment.home / ".claude" / "projects"
    away = config.environment.home / "away"
    with watching(config, now) as seen:
        projects.rename(away)
        seen.until(lambda: sum(it.missing for it in seen.rounds) == 3)
        away.rename(projects)
        seen.until(lambda: sum(it.read for it in seen.rounds[1:]) >= 3)
        recent.prompt("back again")
        seen.until_stored(b"back again")


def test_a_name_that_is_no_text_costs_nothing_but_a_look(
    config: Config, now: int, recent: Session
) -> None:
    if sys.platform != "linux":
        pytest.skip("file names are text here")
    with watching(config, now) as seen:
        (recent.path.parent / os.fsdecode(b"\xff\xfe.jsonl")).write_bytes(b"{}\n")
        recent.prompt("beside a strange name")
        seen.until_stored(b"beside a strange name")
        recent.prompt("and then")
        seen.until_stored(b"and then")


def test_other_commands_write_while_it_watches(config: Config, now: int, recent: Session) -> None:
    with watching(config, now) as seen:
        for number in range(5):
            recent.prompt(f"both of us {number}")
            store = open_store(config.store, now=now)
            ingest(store, config, now=now)
            store.close()
        seen.until_stored(b"both of us 4")
        assert seen.texts().count(b"both of us 2") == 1
    assert not [it for it in seen.rounds if it.problem]


def test_a_store_that_was_removed_is_made_anew(config: Config, now: int, recent: Session) -> None:
    with watching(config, now) as seen:
        for path in config.store.glob("hansei.db*"):
            path.unlink()
        recent.prompt("into the new store")
        seen.until_stored(b"into the new store")


def test_a_full_disk_is_told_of_and_the_watch_goes_on(
    config: Config, now: int, recent: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hansei.store import log

    commit = log.commit

    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with watching(config, now) as seen:
        monkeypatch.setattr(log, "commit", no_room)
        recent.prompt("no room for this")
        seen.until(lambda: any(it.problem for it in seen.rounds))
        (problem, *_) = [it for it in seen.rounds if it.problem]
        assert "no room left" in str(problem.problem)
        assert "Free some space" in str(problem.hint)
        monkeypatch.setattr(log, "commit", commit)
        seen.until_stored(b"no room for this")


def test_broken_settings_keep_the_old_ones_in_force(
    config: Config, now: int, recent: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hansei.ops.watch.EVERYTHING_SECONDS", 0.1)
    with watching(config, now) as seen:
        (config.store / "config.toml").write_text("workers = 'many'", encoding="utf-8")
        seen.until(lambda: any("from before stay" in note for note in seen.notes))
        recent.prompt("none the less")
        seen.until_stored(b"none the less")


def test_a_second_watcher_is_told_who_is_first(config: Config) -> None:
    with (
        the_only_watcher(config.store),
        pytest.raises(StoreLocked, match=f"process {os.getpid()}"),
        the_only_watcher(config.store),
    ):
        pass
    with the_only_watcher(config.store):
        pass


def test_without_file_watches_it_looks_by_itself(
    config: Config, now: int, recent: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> None:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("hansei.ops.file_events._notifier", refused)
    with watching(config, now) as seen:
        recent.prompt("found by looking")
        assert seen.until_stored(b"found by looking") < PATIENCE
        assert any("max_user_watches" in note for note in seen.notes)


def test_one_bad_folder_does_not_cost_the_others_their_events(tmp_path: Path) -> None:
    good = tmp_path / "good"
    good.mkdir()
    events = FileEvents(threading.Event())
    try:
        assert list(events.follow([good, tmp_path / "not there"])) == [tmp_path / "not there"]
        (good / "file").write_text("x", encoding="utf-8")
        assert events.wait(5) == {str(good / "file")}
    finally:
        events.close()


def test_events_below_a_link_carry_the_name_we_know(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    events = FileEvents(threading.Event())
    try:
        assert events.follow([link]) == {}
        (link / "file").write_text("x", encoding="utf-8")
        assert events.wait(5) == {str(link / "file")}
    finally:
        events.close()


MOUNTS = """\
1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw
2 1 0:40 / /mnt/team\\040share rw - nfs4 server:/export rw
3 2 8:2 / /mnt/team\\040share/local rw - ext4 /dev/sdb rw
4 1 0:41 / /mnt/remote rw - fuse.sshfs me@there: rw
nonsense
"""


def test_folders_on_network_file_systems_are_told_apart(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, encoding="utf-8")
    asked = ["/home/me", "/mnt/team share/x", "/mnt/team share/local/x", "/mnt/remote", "/mnt/rem"]
    found = remote_folders([Path(it) for it in asked], mounts)
    if sys.platform == "linux":
        assert list(found) == [Path("/mnt/team share/x"), Path("/mnt/remote")]
        assert "nfs4" in found[Path("/mnt/team share/x")]
    assert remote_folders([Path("/home/me")], tmp_path / "no list") == {}
