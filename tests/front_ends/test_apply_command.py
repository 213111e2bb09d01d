"""`hansei apply` and `hansei undo`, typed in a repository."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bet_world import NOW, Bets, git, line, repository, stocked
from fake_secrets import fakes
from hansei.bets.model import Change, Design
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.errors import (
    GitError,
    NotFound,
    StoreUnwritable,
    UnusableInstructions,
    UsageError,
)
from hansei.instructions.disk import LARGEST
from hansei.ops import decisions, retro
from hansei.ops.rebuild import rebuild
from hansei.ops.removal import chosen, remove
from hansei.store import bets, journal, measurements
from hansei.store.database import Store, open_store
from instruction_files import files

CHANGES = {
    "make typecheck": line("Use `make types`, not `make typecheck`."),
    "split auth.py": Change(
        Design.BRIEF, "Split `auth.py` by verb.\n\n- keep its tests", "auth.py"
    ),
    "idle skill": Change(Design.REMOVAL, "skill `deploy`", ".claude/skills/deploy/SKILL.md"),
}


class Desk:
    """A repository, a store, and what is printed when a command is typed there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = repository(folder / "app")
        self.home = folder / "home"
        self.home.mkdir()
        self.store_folder = folder / "store"
        stocked(self.store_folder, self.folder, agent="codex").close()
        self.capsys = capsys
        self.place = self.folder
        self.said = ""
        self.clock = NOW

    def type(self, *arguments: str) -> str:
        self.clock += 1000
        self.capsys.readouterr()
        with self.there():
            root.main(args=list(arguments), standalone_mode=False)
        out, self.said = self.capsys.readouterr()
        return out

    def there(self) -> Any:
        variables = {"HANSEI_HOME": str(self.store_folder), "PATH": "/usr/bin:/bin"}
        return app.elsewhere(app.Place(Environment(self.home, variables), self.place))

    def told(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.type(*arguments, "--json"))
        return found

    def file(self, path: str, content: bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return file

    def ids(self) -> dict[str, str]:
        found = self.told("retro", "-n", "0", "--no-ingest")
        return {it["metric"]["subject"]: it["id"] for it in found["offers"]}

    @contextmanager
    def open(self) -> Iterator[Store]:
        store = open_store(self.store_folder, now=self.clock)
        try:
            yield store
        finally:
            store.close()


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    made = Desk(tmp_path, capsys)
    plant(monkeypatch, CHANGES)
    monkeypatch.setattr(app, "now", lambda: made.clock)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield made
    monkeypatch.undo()
    time.tzset()


def plant(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Change]) -> None:
    found = (Bets(changes),)

    def look(store: Store, scope: Any, now: int) -> retro.Retrospect:
        return retro.retro(store, scope, now, found)

    monkeypatch.setattr(decisions, "retro", look)
    monkeypatch.setattr(retro.retro, "__defaults__", (found,))


def apply(desk: Desk, *more: str) -> dict[str, Any]:
    return desk.told("apply", desk.ids()["make typecheck"], "--yes", "--no-ingest", *more)


# --- what people read -----------------------------------------------------------------------------


def test_it_prints_what_the_golden_files_say(
    desk: Desk, golden: Callable[[str, str], None]
) -> None:
    desk.file("AGENTS.md", b"# House rules\n\n- tests first\n")
    bet = desk.ids()
    said = desk.type("apply", bet["make typecheck"], "--yes", "--no-ingest")
    golden("apply-line.txt", said)
    golden("apply-brief.txt", desk.type("apply", bet["split auth.py"], "--no-ingest"))
    golden("apply-removal.txt", desk.type("apply", bet["idle skill"], "--no-ingest"))
    golden("undo-list.txt", desk.type("undo", "--list"))
    golden("undo.txt", desk.type("undo", "--yes"))
    golden("undo-again.txt", desk.type("undo", "1"))


def test_a_number_means_the_list_that_was_seen_last(desk: Desk) -> None:
    desk.type("retro", "-n", "0", "--no-ingest")
    first = desk.told("retro", "-n", "0", "--no-ingest")["offers"][0]
    assert desk.told("apply", "1", "--dry-run", "--no-ingest")["bet"] == first["id"]


# --- what is done ---------------------------------------------------------------------------------


def test_a_line_is_written_remembered_and_waits_for_its_verdict(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"# House rules\n")
    done = apply(desk)
    assert "- Use `make types`, not `make typecheck`." in file.read_text()
    assert done["tokens"]["tokens"] > 0
    with desk.open() as store:
        kept = bets.named(store, done["bet"])
        assert kept is not None
        assert kept.state == "applied"
        (waiting,) = measurements.pending(store)
        assert (waiting.bet, waiting.path) == (done["bet"], "AGENTS.md")
        assert (waiting.fact, waiting.subject) == ("failures", "make typecheck")
        assert waiting.channel == "instruction file"
        assert waiting.commit == git(desk.folder, "rev-parse", "HEAD")
        assert len(waiting.evidence) == 10
        assert waiting.entry == done["entry"]
    assert done["bet"] not in desk.ids().values()


def test_undone_the_bet_is_one_to_act_on_again(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"# House rules")
    done = apply(desk)
    undone = desk.told("undo", "--yes")
    assert undone["files"][0]["exact"]
    assert file.read_bytes() == b"# House rules"
    with desk.open() as store:
        assert measurements.pending(store) == []
        kept = bets.named(store, done["bet"])
        assert kept is not None
        assert kept.state == "accepted"
    assert desk.ids()["make typecheck"] == done["bet"]
    assert apply(desk)["done"]


def test_a_dry_run_writes_and_remembers_nothing(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"x\n")
    assert "make types" in desk.told("apply", *dry(desk))["diff"]
    desk.type("apply", *dry(desk, "split auth.py"))
    assert file.read_bytes() == b"x\n"
    with desk.open() as store:
        assert journal.listed(store.db) == []
        assert measurements.pending(store) == []
        assert all(bets.named(store, it) is None for it in desk.ids().values())
    apply(desk)
    written = file.read_bytes()
    assert desk.told("undo", "--dry-run")["done"] is False
    assert file.read_bytes() == written


def dry(desk: Desk, key: str = "make typecheck") -> tuple[str, ...]:
    return desk.ids()[key], "--dry-run", "--no-ingest"


def test_with_commit_exactly_that_file_is_committed(desk: Desk) -> None:
    desk.file("AGENTS.md", b"x\n")
    git(desk.folder, "add", "AGENTS.md")
    git(desk.folder, "commit", "-q", "-m", "rules")
    desk.file("mine.py", b"unfinished\n")
    done = apply(desk, "--commit")
    assert done["commit"] == git(desk.folder, "rev-parse", "HEAD")
    assert git(desk.folder, "show", "--name-only", "--format=", "HEAD") == "AGENTS.md"
    with desk.open() as store:
        assert measurements.pending(store)[0].commit == done["commit"]
    assert "commit the undoing too" in desk.type("undo", "--yes")


def test_where_a_hook_refuses_the_commit_the_bet_is_applied_all_the_same(desk: Desk) -> None:
    hook = desk.file(".git/hooks/pre-commit", b"#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError, match="refused"):
        apply(desk, "--commit")
    with desk.open() as store:
        (waiting,) = measurements.pending(store)
        kept = bets.named(store, waiting.bet)
        assert kept is not None
        assert kept.state == "applied"


def test_a_task_is_printed_and_the_bet_accepted(desk: Desk) -> None:
    bet = desk.ids()["split auth.py"]
    text = desk.type("apply", bet, "--no-ingest")
    for part in ("Split `auth.py` by verb.", "- keep its tests", "hansei show", "wrong"):
        assert part in text
    with desk.open() as store:
        kept = bets.named(store, bet)
        assert kept is not None
        assert kept.state == "accepted"
        assert measurements.pending(store) == []


def test_a_task_goes_into_a_new_file_and_never_over_another(desk: Desk) -> None:
    bet = desk.ids()["make typecheck"]
    desk.type("apply", bet, "--brief", "task.md", "--no-ingest")
    assert "Add this line" in (desk.folder / "task.md").read_text()
    with pytest.raises(UsageError, match=r"task\.md is there already"):
        desk.type("apply", bet, "--brief", "task.md", "--no-ingest")


def test_what_a_person_edited_stays_and_is_said(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"x\n")
    apply(desk)
    file.write_text(file.read_text().replace("make types", "make all-types"))
    edited = file.read_bytes()
    said = desk.type("undo", "--yes")
    assert "edited by hand" in said
    assert "Left as it is: AGENTS.md" in said
    assert file.read_bytes() == edited


def test_a_line_taken_out_by_hand_comes_back_only_when_asked(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"x\n")
    bet = apply(desk)["bet"]
    file.write_bytes(b"x\n")
    said = desk.type("apply", bet, "--yes", "--no-ingest")
    assert "taken out by hand" in said
    assert file.read_bytes() == b"x\n"
    assert desk.told("apply", bet, "--yes", "--again", "--no-ingest")["done"]
    assert "make types" in file.read_text()


def test_a_change_undone_in_a_crash_is_settled_by_the_next_one(desk: Desk) -> None:
    done = apply(desk)
    with desk.open() as store, store.transaction() as db:
        journal.mark(db, done["entry"], journal.State.UNDONE, undone_at=NOW)
    desk.file("AGENTS.md", b"")
    assert desk.told("apply", done["bet"], "--yes", "--no-ingest")["done"]
    with desk.open() as store:
        assert [it.entry for it in measurements.pending(store)] != [done["entry"]]
        assert len(measurements.pending(store)) == 1


def test_what_a_crash_kept_from_being_noted_is_noted_when_asked_again(desk: Desk) -> None:
    done = apply(desk)
    with desk.open() as store, store.transaction() as db:
        db.execute("DELETE FROM measurements")
    assert desk.told("apply", done["bet"], "--yes", "--no-ingest")["entry"] == done["entry"]
    with desk.open() as store:
        assert len(measurements.pending(store)) == 1


def test_a_moved_repository_is_undone_where_one_stands(desk: Desk) -> None:
    desk.file("AGENTS.md", b"x\n")
    entry = apply(desk)["entry"]
    desk.place = desk.folder.rename(desk.folder.parent / "moved")
    assert desk.told("undo", str(entry), "--yes")["files"][0]["exact"]
    assert (desk.place / "AGENTS.md").read_bytes() == b"x\n"


# --- what is kept ---------------------------------------------------------------------------------


def test_a_rebuild_keeps_measurements(desk: Desk) -> None:
    apply(desk)
    with desk.open() as store:
        before = measurements.pending(store)
    with desk.there():
        rebuild(app.config(), now=NOW)
    with desk.open() as store:
        assert [it._replace(workspace=0) for it in measurements.pending(store)] == [
            it._replace(workspace=0) for it in before
        ]


def test_forgetting_takes_sessions_out_and_the_workspace_takes_all(desk: Desk) -> None:
    apply(desk)
    with desk.open() as store, desk.there():
        config = app.config()
        remove(store, chosen(store, config, "00000000"), config, now=NOW)
        (left,) = measurements.pending(store)
        assert len(left.evidence) == 9
        remove(store, chosen(store, config, "app"), config, now=NOW)
        assert measurements.pending(store) == []


# --- what is refused ------------------------------------------------------------------------------


def refused(desk: Desk, words: str, *more: str) -> None:
    """Applying says why not, and nothing is written or remembered."""
    before = {file: file.read_bytes() for file in desk.folder.glob("*.md") if file.is_file()}
    with pytest.raises(UnusableInstructions, match=words) as problem:
        apply(desk, *more)
    assert problem.value.hint
    after = {file: file.read_bytes() for file in desk.folder.glob("*.md") if file.is_file()}
    assert after == before
    with desk.open() as store:
        assert [it for it in journal.listed(store.db) if it.state != "void"] == []
        assert measurements.pending(store) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe rules\n", "not UTF-8"),
        (b"<!-- Generated by tool. DO NOT EDIT. -->\n", "generated"),
        (b"```sh\nmake\n", "never closed"),
        (b"<!-- hansei -->\n", "line 1"),
        (b"x" * (LARGEST + 1), "too many"),
    ],
)
def test_a_file_that_cannot_take_it_is_refused(desk: Desk, content: bytes, words: str) -> None:
    desk.file("AGENTS.md", content)
    refused(desk, words, "--to", "AGENTS.md")


def test_a_read_only_file_is_refused(desk: Desk) -> None:
    desk.file("AGENTS.md", b"x\n").chmod(0o444)
    refused(desk, "read-only", "--to", "AGENTS.md")


def test_a_link_out_of_the_repository_is_refused(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    (desk.folder / "AGENTS.md").symlink_to(outside)
    refused(desk, "outside", "--to", "AGENTS.md")
    assert outside.read_text() == "theirs\n"


def test_a_file_that_no_agent_reads_is_refused(desk: Desk) -> None:
    refused(desk, "no agent reads", "--to", "README.md")
    refused(desk, "names no file", "--to", "../AGENTS.md")


def test_a_file_that_changed_while_the_difference_was_shown_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hansei.cli.commands import apply as typed
    from hansei.cli.commands import undo as taken

    file = desk.file("AGENTS.md", b"x\n")

    def meanwhile(*_: Any, **__: Any) -> None:
        file.write_bytes(b"theirs\n")

    with monkeypatch.context() as patch:
        patch.setattr(typed, "agree", meanwhile)
        with pytest.raises(UnusableInstructions, match="while the difference was shown"):
            apply(desk)
    assert file.read_bytes() == b"theirs\n"
    apply(desk)
    with monkeypatch.context() as patch:
        patch.setattr(taken, "agree", meanwhile)
        with pytest.raises(UnusableInstructions, match="while the difference was shown"):
            desk.told("undo", "--yes")
    assert file.read_bytes() == b"theirs\n"


def test_nothing_happens_without_a_person_or_a_yes(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.file("AGENTS.md", b"x\n")
    bet = desk.ids()["make typecheck"]
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(UsageError, match="nobody to ask"):
        desk.type("apply", bet, "--no-ingest")
    with pytest.raises(UsageError, match="cannot ask"):
        desk.told("apply", bet, "--no-ingest")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr(click, "confirm", lambda *_, **__: False)
    with pytest.raises(SystemExit):
        desk.type("apply", bet, "--no-ingest")
    assert file.read_bytes() == b"x\n"


def test_other_refusals_say_what_to_do(desk: Desk) -> None:
    ids = desk.ids()
    with pytest.raises(UsageError, match="--to means nothing"):
        desk.type("apply", ids["split auth.py"], "--to", "AGENTS.md", "--no-ingest")
    with pytest.raises(UsageError, match="--brief writes a task"):
        desk.type("apply", ids["make typecheck"], "--brief", "-", "--commit", "--no-ingest")
    with pytest.raises(NotFound, match="nothing to undo"):
        desk.type("undo", "--yes")
    with pytest.raises(NotFound, match="no change 7"):
        desk.type("undo", "7", "--yes")
    entry = apply(desk, "--to", "AGENTS.md")["entry"]
    with pytest.raises(UsageError, match="applied already, in AGENTS") as problem:
        desk.type("apply", ids["make typecheck"], "--to", "CLAUDE.md", "--no-ingest")
    assert f"hansei undo {entry}" in (problem.value.hint or "")


def test_uncommitted_work_in_the_file_is_never_committed_along(desk: Desk) -> None:
    file = desk.file("AGENTS.md", b"mine, unfinished\n")
    with pytest.raises(GitError, match="not committed"):
        apply(desk, "--commit", "--to", "AGENTS.md")
    assert file.read_bytes() == b"mine, unfinished\n"


def test_without_the_repository_it_says_so_and_the_task_still_works(desk: Desk) -> None:
    ids = desk.ids()
    desk.folder.rename(desk.folder.parent / "gone")
    desk.place = desk.home
    with pytest.raises(UsageError, match="not on this machine"):
        desk.type("apply", ids["make typecheck"], "--workspace", "app", "--yes", "--no-ingest")
    told = ("apply", ids["make typecheck"], "--workspace", "app", "--no-ingest")
    assert "make types" in desk.type(*told, "--brief", "-")


def test_a_store_that_cannot_be_written_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.file("AGENTS.md", b"x\n")
    bet = desk.ids()["make typecheck"]
    allowed = os.access

    def own(path: Path) -> bool:
        return path.is_relative_to(desk.store_folder)

    monkeypatch.setattr(os, "access", lambda path, mode: not own(path) and allowed(path, mode))
    with pytest.raises(StoreUnwritable, match="read-only"):
        desk.told("apply", bet, "--yes", "--no-ingest")
    assert file.read_bytes() == b"x\n"


# --- texts ----------------------------------------------------------------------------------------


def test_words_of_transcripts_cannot_do_harm_in_the_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = fakes(7)["github-token"][0].secret
    text = f"Ask @AGENTS.md\x1b[31m,\n# Heading\u202e token {secret}; `@kept`, me@example.org."
    plant(monkeypatch, {"make typecheck": line(text)})
    desk.file("AGENTS.md", b"")
    apply(desk, "--to", "AGENTS.md")
    written = (desk.folder / "AGENTS.md").read_text()
    assert secret not in written
    (item,) = [it for it in written.splitlines() if it.startswith("- ")]
    assert item.startswith("- Ask `@AGENTS.md` [31m, # Heading token")
    assert item.endswith("`@kept`, me@example.org.")


# --- the law --------------------------------------------------------------------------------------


@given(
    text=st.one_of(st.none(), files()),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    path=st.sampled_from(["AGENTS.md", "CLAUDE.md", ".cursor/rules/team/all.mdc"]),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_applied_and_undone_every_byte_is_as_it_was(
    desk: Desk, text: str | None, mark: bytes, path: str
) -> None:
    file = desk.folder / path
    before = None if text is None else mark + text.encode()
    if before is not None:
        desk.file(path, before)
    folders = {it for it in desk.folder.rglob("*") if ".git" not in it.parts and it.is_dir()}
    assert apply(desk, "--to", path)["done"]
    assert file.read_bytes() != before
    assert desk.told("undo", "--yes")["files"][0]["exact"]
    assert (file.read_bytes() if file.exists() else None) == before
    assert {
        it for it in desk.folder.rglob("*") if ".git" not in it.parts and it.is_dir()
    } == folders
    file.unlink(missing_ok=True)
