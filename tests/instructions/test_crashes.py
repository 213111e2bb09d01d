"""A crash between journal and files is recognised, and finished or taken back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hansei.config import Config
from hansei.errors import UnusableInstructions
from hansei.installation import files
from hansei.instructions import carrying, disk
from hansei.instructions.plans import Item, Plan, plan_add, together
from hansei.ops.doctor import doctor
from hansei.store import journal
from hansei.store.database import Store
from hansei.store.journal import State

BET = Item("bet:1", "- use `make types`")
NAMES = ("AGENTS.md", "GEMINI.md", "packages/api/AGENTS.md")


class Crash(BaseException):
    """The process ends here: nothing of ours runs any more."""


def _dead(entry: object) -> None:
    raise Crash


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "AGENTS.md").write_bytes(b"rules\r\nno end")
    (folder / "GEMINI.md").write_bytes(b"more\n")
    return folder


def planned(store: Store, repository: Path) -> Plan:
    return together(*(plan_add(store, repository, name, BET) for name in NAMES))


def crash_after(monkeypatch: pytest.MonkeyPatch, writes: int, *, half: bool = False) -> None:
    """End the process after so many files; with `half` leave a temporary file behind."""
    make = disk._make
    made: list[disk.Change] = []

    def dying(change: disk.Change) -> None:
        if len(made) == writes:
            if half:
                change.file.parent.mkdir(parents=True, exist_ok=True)
                (change.file.parent / f".{change.file.name}.x1y2.hansei").write_bytes(b"half")
            raise Crash
        made.append(change)
        make(change)

    monkeypatch.setattr(disk, "_make", dying)
    monkeypatch.setattr(disk, "_restore", lambda change: None)
    monkeypatch.setattr(carrying, "_given_up", _dead)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


@pytest.mark.parametrize("writes", range(len(NAMES)))
@pytest.mark.parametrize("half", [False, True])
def test_what_was_not_finished_is_taken_back(
    store: Store, repository: Path, now: int, writes: int, half: bool
) -> None:
    before = tree(repository)
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, writes, half=half)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    assert [entry.state for entry in journal.unfinished(store.db)] == [State.INTENDED]
    (settled,) = carrying.recover(store, now=now)
    assert settled.state is State.VOID
    assert tree(repository) == before
    assert carrying.recover(store, now=now) == []
    assert carrying.history(store) == []


def test_what_was_written_whole_is_finished(store: Store, repository: Path, now: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        write = disk.write

        def write_and_die(changes: Sequence[disk.Change]) -> None:
            write(changes)
            raise Crash

        patch.setattr(disk, "write", write_and_die)
        patch.setattr(carrying, "_given_up", _dead)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    (settled,) = carrying.recover(store, now=now)
    assert settled.state is State.DONE
    assert all(file.exact for file in carrying.undo(store, settled.id, now=now).files)


@pytest.mark.parametrize("writes", range(len(NAMES)))
def test_an_undo_that_was_cut_short_is_finished(
    store: Store, repository: Path, now: int, writes: int
) -> None:
    before = tree(repository)
    entry = carrying.carry_out(store, planned(store, repository), now=now)
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, writes)
        with pytest.raises(Crash):
            carrying.undo(store, entry.id, now=now)
    again = carrying.undo(store, entry.id, now=now + 1)  # settles what is open first
    assert again.already
    assert again.entry.state is State.UNDONE
    assert tree(repository) == before
    assert not (repository / "packages").exists()


def test_a_persons_edits_after_a_crash_survive_it(store: Store, repository: Path, now: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, 1)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    file = repository / "AGENTS.md"
    file.write_bytes(b"new first line\r\n" + file.read_bytes())
    carrying.recover(store, now=now)
    assert file.read_bytes() == b"new first line\r\nrules\r\nno end"


def test_the_next_change_settles_what_is_open(store: Store, repository: Path, now: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, 1)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    plan = plan_add(store, repository, "CLAUDE.md", Item("bet:2", "- other"))
    entry = carrying.carry_out(store, plan, now=now)
    assert [it.id for it in carrying.history(store)] == [entry.id]
    assert (repository / "AGENTS.md").read_bytes() == b"rules\r\nno end"


def test_a_file_that_cannot_be_read_now_waits(store: Store, repository: Path, now: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, 1)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    kept = (repository / "AGENTS.md").read_bytes()
    (repository / "AGENTS.md").unlink()
    (repository / "AGENTS.md").mkdir()
    assert carrying.recover(store, now=now) == []
    (repository / "AGENTS.md").rmdir()
    (repository / "AGENTS.md").write_bytes(kept)
    assert [entry.state for entry in carrying.recover(store, now=now)] == [State.VOID]
    assert (repository / "AGENTS.md").read_bytes() == b"rules\r\nno end"


def test_a_failed_undo_leaves_everything_and_can_be_tried_again(
    store: Store, repository: Path, now: int
) -> None:
    entry = carrying.carry_out(store, planned(store, repository), now=now)
    applied = tree(repository)
    with pytest.MonkeyPatch.context() as patch:
        real = files.replace

        def full(path: Path, *arguments: Any, **options: Any) -> None:
            if path.name == "GEMINI.md":
                raise OSError(28, "No space left on device")
            real(path, *arguments, **options)

        patch.setattr(files, "replace", full)
        with pytest.raises(UnusableInstructions, match="No space left"):
            carrying.undo(store, entry.id, now=now)
    assert tree(repository) == applied
    assert [it.state for it in carrying.history(store)] == [State.DONE]
    assert all(file.exact for file in carrying.undo(store, entry.id, now=now).files)


def test_a_write_that_fails_takes_back_what_a_person_edited_meanwhile(
    store: Store, repository: Path, now: int
) -> None:
    """The first file is written and edited before the second one fails."""
    with pytest.MonkeyPatch.context() as patch:
        real = files.replace

        def edited_then_full(path: Path, *arguments: Any, **options: Any) -> None:
            if path.name == "GEMINI.md":
                first = repository / "AGENTS.md"
                first.write_bytes(b"mine\r\n" + first.read_bytes())
                raise OSError(28, "No space left on device")
            real(path, *arguments, **options)

        patch.setattr(files, "replace", edited_then_full)
        with pytest.raises(UnusableInstructions, match="No space left"):
            carrying.carry_out(store, planned(store, repository), now=now)
    assert (repository / "AGENTS.md").read_bytes() == b"mine\r\nrules\r\nno end"
    assert carrying.history(store) == []


def test_doctor_names_what_is_open(
    store: Store, repository: Path, config: Config, now: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, 1)
        with pytest.raises(Crash):
            carrying.carry_out(store, planned(store, repository), now=now)
    (warning,) = doctor(store, config, now=now).warnings
    assert warning.startswith("a change of AGENTS.md, GEMINI.md and packages/api/AGENTS.md")
    carrying.recover(store, now=now)
    assert doctor(store, config, now=now).warnings == []
