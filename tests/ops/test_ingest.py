"""From files on disk to rows in the store."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from claude_home import session, small_history
from hansei.config import Config, Settings
from hansei.ops.ingest import Progress, ingest
from hansei.store.database import Store
from pieces import derived, told


def test_reading_a_second_time_reads_nothing(store: Store, config: Config, now: int) -> None:
    small_history(config.environment.home, now)
    first = ingest(store, config, now=now)
    before = told(store), derived(store)
    second = ingest(store, config, now=now)
    assert first.read == 3
    assert (second.read, second.bytes, second.events) == (0, 0, 0)
    assert (told(store), derived(store)) == before


def test_an_appended_line_is_read_alone(store: Store, config: Config, now: int) -> None:
    _, recent, _ = small_history(config.environment.home, now)
    ingest(store, config, now=now)
    size = recent.path.stat().st_size
    recent.prompt("one more thing")
    report = ingest(store, config, now=now)
    assert report.read == 1
    assert report.bytes == recent.path.stat().st_size - size
    assert report.events == 1


def test_a_deleted_transcript_stays_told(store: Store, config: Config, now: int) -> None:
    sessions = small_history(config.environment.home, now)
    ingest(store, config, now=now)
    before = told(store)
    for one in sessions:
        one.path.unlink()
    report = ingest(store, config, now=now)
    assert report.missing == 3
    assert told(store) == before


def test_a_transcript_that_comes_back_doubles_nothing(
    store: Store, config: Config, now: int
) -> None:
    one, *_ = small_history(config.environment.home, now)
    ingest(store, config, now=now)
    before = told(store)
    text = one.path.read_text(encoding="utf-8")
    one.path.unlink()
    ingest(store, config, now=now)
    one.path.write_text(text, encoding="utf-8")
    ingest(store, config, now=now)
    assert told(store) == before


def test_a_rewritten_transcript_is_reconciled(store: Store, config: Config, now: int) -> None:
    """Cut short and written on differently: what was told stays, what is new is added."""
    _, recent, _ = small_history(config.environment.home, now)
    ingest(store, config, now=now)
    (kept,) = [events for name, events in told(store).items() if "bbbb" in name]
    lines = recent.path.read_text(encoding="utf-8").splitlines(keepends=True)
    recent.path.write_text("".join(lines[:2]), encoding="utf-8")
    recent.prompt("and now for something else")
    report = ingest(store, config, now=now)
    assert report.events == 1
    (after,) = [events for name, events in told(store).items() if "bbbb" in name]
    assert after[:-1] == kept


def test_broken_lines_are_counted_and_the_rest_is_read(
    store: Store, config: Config, now: int
) -> None:
    _, recent, _ = small_history(config.environment.home, now)
    with recent.path.open("ab") as file:
        file.write(b'{"type": "user", "mess\n\x00\x00\xff\xfe\n')
    recent.prompt("still here")
    report = ingest(store, config, now=now)
    assert report.skipped == 2
    rows = store.db.execute("SELECT line, reason FROM problems ORDER BY line").fetchall()
    assert len(rows) == 2
    assert any(b"still here" in event for events in told(store).values() for _, event in events)


def test_an_unreadable_transcript_is_named_and_the_rest_is_read(
    store: Store, config: Config, now: int
) -> None:
    one, *_ = small_history(config.environment.home, now)
    one.path.unlink()
    one.path.mkdir()
    (one.path.parent / "loop.jsonl").symlink_to("loop.jsonl")
    report = ingest(store, config, now=now)
    assert report.read >= 2
    assert len(told(store)) == 2


def test_many_processes_read_what_one_reads(
    config: Config, now: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hansei.ops import ingest as module
    from hansei.store.database import open_store

    home = config.environment.home
    small_history(home, now)
    for number in range(8):
        one = session(home, f"ffff{number}", now - number * 1000)
        one.prompt("go")
        one.run("make", "x" * 5000)
    monkeypatch.setattr(module, "COMMIT_BYTES", 10_000)
    dumps = []
    for workers, parallel in ((1, 10**9), (2, 0)):
        monkeypatch.setattr(module, "PARALLEL_BYTES", parallel)
        folder = tmp_path / f"store-{workers}"
        settings = Config(folder, Settings(workers=workers), config.environment)
        store = open_store(folder, now=now)
        (folder / "redaction.key").write_bytes(b"k" * 32)
        ingest(store, settings, now=now)
        dumps.append((told(store), derived(store)))
        store.close()
    assert dumps[0] == dumps[1]


def test_two_processes_at_once_double_nothing(config: Config, now: int) -> None:
    home = config.environment.home
    for number in range(30):
        one = session(home, f"abcd{number:03}", now - number * 1000)
        one.prompt("go")
        one.run("make", "x" * 2000)
    command = [sys.executable, "-m", "hansei", "ingest"]
    environment = {
        "HOME": str(home),
        "HANSEI_HOME": str(config.store),
        "PATH": os.environ["PATH"],
    }
    runs = [
        subprocess.Popen(
            command, env=environment, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for run in runs:
        _, errors = run.communicate(timeout=60)
        assert run.returncode == 0, errors.decode()
    from hansei.store.database import open_store

    store = open_store(config.store, now=now)
    assert len(told(store)) == 30
    assert store.db.execute("SELECT count(*) FROM requests").fetchone() == (30,)
    store.close()


def test_a_full_disk_loses_nothing_that_was_stored(config: Config, now: int) -> None:
    """The process may write files of 400 kB at most; what it had committed before stays."""
    home = config.environment.home
    small_history(home, now)
    environment = {"HOME": str(home), "HANSEI_HOME": str(config.store), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-m", "hansei", "ingest"]
    subprocess.run(command, env=environment, cwd=home, check=True, capture_output=True)
    from hansei.store.database import open_store

    store = open_store(config.store, now=now)
    before = told(store)
    store.close()
    big = session(home, "9999-big", now)
    for number in range(300):
        big.prompt(f"{number} " + os.urandom(3000).hex())

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    failed = subprocess.run(
        command,
        env=environment,
        cwd=home,
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=small_files,
    )
    assert failed.returncode == 4, failed.stderr
    assert "no room left" in failed.stderr
    store = open_store(config.store, now=now)
    assert told(store) == before
    store.close()
    subprocess.run(command, env=environment, cwd=home, check=True, capture_output=True)
    store = open_store(config.store, now=now)
    assert len(told(store)) == len(before) + 1
    store.close()


def test_progress_ends_at_all_there_is(store: Store, config: Config, now: int) -> None:
    sessions = small_history(config.environment.home, now)
    seen: list[Progress] = []
    ingest(store, config, now=now, progress=seen.append)
    last = seen[-1]
    assert last.done_bytes == last.all_bytes == sum(s.path.stat().st_size for s in sessions)
    assert last.done_transcripts == last.all_transcripts == 3


def test_a_repository_of_its_own_takes_in_only_its_sessions(
    config: Config, now: int, tmp_path: Path
) -> None:
    from hansei.store.database import open_store
    from hansei.store.workspaces import keep_only

    small_history(config.environment.home, now)
    store = open_store(tmp_path / "local", now=now)
    keep_only(store, "/work/site")
    settings = Config(tmp_path / "local", Settings(), config.environment)
    ingest(store, settings, now=now)
    assert list(told(store)) == ["claude_code cccc3333-other"]
    store.close()


def test_old_history_goes_straight_to_parquet(store: Store, config: Config, now: int) -> None:
    small_history(config.environment.home, now)
    ingest(store, config, now=now)
    (sealed,) = store.db.execute("SELECT sum(rows) FROM sealed").fetchone()
    (hot,) = store.db.execute("SELECT count(*) FROM events").fetchone()
    (old,) = [events for name, events in told(store).items() if "aaaa" in name]
    assert sealed == len(old) > 0
    assert hot == sum(map(len, told(store).values())) - sealed


def test_a_transcript_that_becomes_readable_is_read(
    store: Store, config: Config, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hansei.errors import UnreadableTranscript
    from hansei.sources.agents.claude_code.source import ClaudeCode

    small_history(config.environment.home, now)

    def refused(*_: object) -> None:
        raise UnreadableTranscript("no permission")

    with monkeypatch.context() as patched:
        patched.setattr(ClaudeCode, "read", refused)
        assert len(ingest(store, config, now=now).unreadable) == 3
    assert ingest(store, config, now=now).read == 3
    assert len(told(store)) == 3


def test_a_fork_in_another_folder_leaves_the_original_its_spend(
    store: Store, config: Config, now: int
) -> None:
    home = config.environment.home
    original = session(home, "1111aaaa-original", now - 5000, cwd="/work/zeta")
    original.prompt("go")
    original.say("done")
    fork = session(home, "2222bbbb-fork", now, cwd="/work/alpha")
    fork.path.parent.mkdir(parents=True)
    fork.path.write_text(original.path.read_text(encoding="utf-8"), encoding="utf-8")
    fork.prompt("go on")
    ingest(store, config, now=now)
    (owner,) = store.db.execute(
        "SELECT s.native FROM requests r JOIN sessions s ON s.id = r.session"
    ).fetchone()
    assert owner == "1111aaaa-original"


def test_looking_at_one_transcript_leaves_the_others_alone(
    store: Store, config: Config, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hansei.ops.survey import glance, survey
    from hansei.sources.agents.claude_code.source import ClaudeCode

    old, recent, other = small_history(config.environment.home, now)
    ingest(store, config, now=now)
    everything = survey(store, config).transcripts
    for one in (old, recent, other):
        one.prompt("more")
    other.path.unlink()
    monkeypatch.setattr(ClaudeCode, "discover", None)
    named = [it for it in everything if it.path in (recent.path, other.path)]
    report = ingest(store, config, now=now, look=lambda store, _: glance(store, named))
    assert (report.read, report.events, report.missing) == (1, 1, 0)


def test_a_file_name_that_is_no_text_is_taken_in(store: Store, config: Config, now: int) -> None:
    if sys.platform != "linux":
        pytest.skip("file names are text here")
    _, recent, _ = small_history(config.environment.home, now)
    strange = recent.path.with_name(os.fsdecode(b"caf\xe9.jsonl"))
    recent.path.rename(strange)
    (strange.parent / os.fsdecode(b"\xff.jsonl")).symlink_to(strange.parent)
    report = ingest(store, config, now=now)
    assert report.read == 3
    assert ingest(store, config, now=now).read == 0
    (path,) = store.db.execute("SELECT path FROM transcripts WHERE path LIKE '%caf%'").fetchone()
    assert path.endswith("caf\\xe9.jsonl")
