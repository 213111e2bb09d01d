"""What is on disk: links, rights, line ends, generated and foreign files; all files or none."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from hansei.errors import UnusableInstructions, UsageError
from hansei.events.model import MARKER
from hansei.installation import files
from hansei.instructions import carrying, disk
from hansei.instructions.block import CLOSE, OPEN, name_of
from hansei.instructions.plans import Item, Plan, plan_add, plan_file, plan_remove, together
from hansei.store import journal
from hansei.store.database import Store
from hansei.store.journal import State

BET = Item("bet:1", "- use `make types`")
NAME = name_of(BET.reference)
BLOCK = f"{OPEN}\n<!-- {NAME} -->\n{BET.text}\n{CLOSE}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


def add(store: Store, repository: Path, now: int, target: str = "AGENTS.md") -> journal.Entry:
    return carrying.carry_out(store, plan_add(store, repository, target, BET), now=now)


def refused(plan: Plan) -> str:
    assert plan.files == ()
    assert plan.diff == ""
    (problem,) = plan.problems
    assert problem.hint
    return problem.message


def test_a_new_file_is_made_and_taken_away_again(store: Store, repository: Path, now: int) -> None:
    entry = add(store, repository, now, "packages/api/AGENTS.md")
    file = repository / "packages" / "api" / "AGENTS.md"
    assert file.read_text() == BLOCK
    assert entry.state is State.DONE
    (undone,) = carrying.undo(store, entry.id, now=now).files
    assert undone.exact
    assert undone.message == carrying.AS_BEFORE
    assert list(repository.iterdir()) == []


def test_folders_with_something_else_in_them_stay(store: Store, repository: Path, now: int) -> None:
    entry = add(store, repository, now, "packages/api/AGENTS.md")
    (repository / "packages" / "other").touch()
    carrying.undo(store, entry.id, now=now)
    assert [it.name for it in (repository / "packages").iterdir()] == ["other"]


def test_the_difference_is_the_change(store: Store, repository: Path, now: int) -> None:
    (repository / "AGENTS.md").write_bytes(b"one\r\ntwo")
    plan = plan_add(store, repository, "AGENTS.md", BET)
    assert plan.diff == (
        "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1,2 +1,7 @@\n one\r\n-two\n"
        "\\ No newline at end of file\n"
        f"+two\r\n+\r\n+{OPEN}\r\n+<!-- {NAME} -->\r\n+{BET.text}\r\n+{CLOSE}\r\n"
    )
    assert (repository / "AGENTS.md").read_bytes() == b"one\r\ntwo"


def test_a_rule_gets_what_its_format_begins_with(store: Store, repository: Path, now: int) -> None:
    entry = add(store, repository, now, ".cursor/rules/hansei.mdc")
    file = repository / ".cursor" / "rules" / "hansei.mdc"
    assert file.read_text() == f"---\nalwaysApply: true\n---\n\n{BLOCK}"
    file.write_text(file.read_text().replace("\n", "\r\n"))
    carrying.undo(store, entry.id, now=now)
    assert not (repository / ".cursor").exists()


def test_a_link_stays_a_link_and_its_file_is_written(
    store: Store, repository: Path, now: int
) -> None:
    (repository / "AGENTS.md").write_text("rules\n")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    entry = add(store, repository, now, "CLAUDE.md")
    assert (repository / "CLAUDE.md").is_symlink()
    assert (repository / "AGENTS.md").read_text() == f"rules\n\n{BLOCK}"
    assert entry.files[0].path == "AGENTS.md"
    assert plan_add(store, repository, "AGENTS.md", BET).notes
    carrying.undo(store, entry.id, now=now)
    assert (repository / "CLAUDE.md").is_symlink()
    assert (repository / "AGENTS.md").read_text() == "rules\n"


def test_two_names_of_one_file_in_one_plan_are_refused(store: Store, repository: Path) -> None:
    (repository / "AGENTS.md").write_text("rules\n")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    plan = together(
        *(plan_add(store, repository, name, BET) for name in ("AGENTS.md", "CLAUDE.md"))
    )
    assert [problem.message for problem in plan.problems] == ["AGENTS.md would be changed twice"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_rights_and_bytes_at_the_beginning_are_kept(
    store: Store, repository: Path, now: int, mode: int
) -> None:
    file = repository / "AGENTS.md"
    file.write_bytes(b"\xef\xbb\xbfrules\r\n")
    file.chmod(mode)
    add(store, repository, now)
    assert file.read_bytes().startswith(b"\xef\xbb\xbfrules\r\n\r\n<!--")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_new_file_has_the_rights_of_new_files(store: Store, repository: Path, now: int) -> None:
    (repository / "made").touch()
    add(store, repository, now)
    rights = {it.name: it.stat().st_mode for it in repository.iterdir()}
    assert rights["AGENTS.md"] == rights["made"]


def test_what_cannot_be_changed_is_refused_in_clear_words(
    store: Store, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside.md").write_text("theirs\n")
    (repository / "CLAUDE.md").symlink_to(tmp_path / "outside.md")
    (repository / "GEMINI.md").symlink_to("nowhere.md")
    (repository / "AGENTS.md").write_bytes(b"fine\n\xff\xfe\n")
    (repository / ".goosehints").mkdir()
    (repository / "a").mkdir()
    (repository / "a" / "AGENTS.md").write_text("<!-- Made by sync. DO NOT EDIT. -->\n# Rules\n")
    (repository / "b").mkdir()
    (repository / "b" / "AGENTS.md").write_text("# Rules\n```\nnever closed\n")
    (repository / "c").mkdir()
    (repository / "c" / "AGENTS.md").write_text(f"# Rules\n{OPEN}\n")
    (repository / "d").mkdir()
    (repository / "d" / "AGENTS.md").write_bytes("rules\n".encode("utf-16-le"))
    (repository / "e").mkdir()
    (repository / "e" / "AGENTS.md").symlink_to("AGENTS.md")
    os.mkfifo(repository / "SOUL.md")

    def said(target: str) -> str:
        return refused(plan_add(store, repository, target, BET))

    assert "outside the repository" in said("CLAUDE.md")
    assert said("GEMINI.md") == "GEMINI.md is a link to nowhere.md, which is not there"
    assert said("AGENTS.md") == "AGENTS.md, line 2: it is not UTF-8 text"
    assert said(".goosehints") == ".goosehints is a folder"
    assert said("a/AGENTS.md") == "a/AGENTS.md says that it is generated"
    assert said("b/AGENTS.md").startswith("b/AGENTS.md, line 2: this code fence is never closed")
    assert said("c/AGENTS.md").startswith("c/AGENTS.md, line 2: <!-- hansei --> without")
    assert said("d/AGENTS.md") == "d/AGENTS.md, line 1: it is not UTF-8 text"
    assert "link" in said("e/AGENTS.md")
    assert said("SOUL.md") == "SOUL.md is not an ordinary file"
    assert "names no file" in said("../AGENTS.md")
    assert "names no file" in said("/etc/AGENTS.md")
    assert said("README.md") == "no agent reads README.md as instructions"
    assert (tmp_path / "outside.md").read_text() == "theirs\n"


def test_words_about_generated_files_do_not_make_one(
    store: Store, repository: Path, now: int
) -> None:
    (repository / "AGENTS.md").write_text("# Rules\n- Do not edit files in gen/\n\n- Be kind\n")
    add(store, repository, now)


@pytest.mark.parametrize(
    "header",
    ["// Code generated by x. DO NOT EDIT.\n", "# @generated\n", "Do not edit:\ngenerated\n"],
)
def test_what_programs_write_at_the_top_of_their_files_is_known(
    store: Store, repository: Path, header: str
) -> None:
    (repository / "AGENTS.md").write_text(header)
    assert "generated" in refused(plan_add(store, repository, "AGENTS.md", BET))


def test_a_read_only_file_is_left_alone_whoever_runs_us(store: Store, repository: Path) -> None:
    file = repository / "AGENTS.md"
    file.write_text("rules\n")
    file.chmod(0o444)
    assert refused(plan_add(store, repository, "AGENTS.md", BET)) == "AGENTS.md is read-only"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write into any folder")
def test_a_read_only_folder_is_left_alone(store: Store, repository: Path) -> None:
    repository.chmod(0o555)
    assert "cannot be written to" in refused(plan_add(store, repository, "AGENTS.md", BET))


def test_a_file_edited_while_the_difference_is_shown_is_not_written(
    store: Store, repository: Path, now: int
) -> None:
    file = repository / "AGENTS.md"
    file.write_text("rules\n")
    plan = plan_add(store, repository, "AGENTS.md", BET)
    file.write_text("rules\nnew rule\n")
    with pytest.raises(UnusableInstructions, match="was changed while the difference was shown"):
        carrying.carry_out(store, plan, now=now)
    assert file.read_text() == "rules\nnew rule\n"
    assert carrying.history(store) == []


def test_an_edit_in_the_last_moment_is_seen(
    store: Store, repository: Path, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of all files and the replacing of this one."""
    file = repository / "AGENTS.md"
    file.write_text("rules\n")
    plan = plan_add(store, repository, "AGENTS.md", BET)
    check = disk._must_be_unchanged
    monkeypatch.setattr(
        disk, "_must_be_unchanged", lambda change: (check(change), file.write_text("late\n"))
    )
    with pytest.raises(UnusableInstructions, match="was changed"):
        carrying.carry_out(store, plan, now=now)
    assert file.read_text() == "late\n"
    assert [it.name for it in repository.iterdir()] == ["AGENTS.md"]


def test_several_files_are_written_all_or_none(
    store: Store, repository: Path, now: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "AGENTS.md").write_bytes(b"rules\r\n")
    names = ("AGENTS.md", "a/b/AGENTS.md", "c/AGENTS.md", "GEMINI.md")
    plan = together(*(plan_add(store, repository, name, BET) for name in names))
    real = files.replace

    def full(path: Path, *arguments: Any, **options: Any) -> None:
        if path.name == "GEMINI.md":
            raise OSError(28, "No space left on device")
        real(path, *arguments, **options)

    monkeypatch.setattr(files, "replace", full)
    with pytest.raises(UnusableInstructions, match="No space left"):
        carrying.carry_out(store, plan, now=now)
    assert [it.name for it in repository.iterdir()] == ["AGENTS.md"]
    assert (repository / "AGENTS.md").read_bytes() == b"rules\r\n"
    assert carrying.history(store) == []
    monkeypatch.undo()
    entry = carrying.carry_out(store, plan, now=now)
    assert len(entry.files) == 4
    undone = carrying.undo(store, entry.id, now=now)
    assert all(file.exact for file in undone.files)
    assert [it.name for it in repository.iterdir()] == ["AGENTS.md"]


def test_undoing_twice_says_so(store: Store, repository: Path, now: int) -> None:
    entry = add(store, repository, now)
    assert not carrying.undo(store, entry.id, now=now + 5).already
    again = carrying.undo(store, entry.id, now=now + 9)
    assert again.already
    assert again.entry.undone_at == now + 5


def test_an_edited_item_is_kept_and_reported(store: Store, repository: Path, now: int) -> None:
    entry = add(store, repository, now)
    file = repository / "AGENTS.md"
    edited = file.read_text().replace("make types", "make check")
    file.write_text(edited)
    plan = plan_add(store, repository, "AGENTS.md", Item(BET.reference, "- something else"))
    assert [note.message for note in plan.notes] == [f"{NAME} was edited by hand; left alone"]
    with pytest.raises(UsageError, match="edited by hand"):
        carrying.carry_out(store, plan, now=now)
    (undone,) = carrying.undo(store, entry.id, now=now).files
    assert undone.message == carrying.ITEM_EDITED
    assert file.read_text() == edited


def test_a_deleted_item_is_put_back_only_when_asked_again(
    store: Store, repository: Path, now: int
) -> None:
    (repository / "AGENTS.md").write_text("rules\n")
    add(store, repository, now)
    (repository / "AGENTS.md").write_text("rules\n")
    plan = plan_add(store, repository, "AGENTS.md", BET)
    assert [note.message for note in plan.notes] == [
        f"{NAME} was taken out by hand since; not put back"
    ]
    again = plan_add(store, repository, "AGENTS.md", BET, again=True)
    entry = carrying.carry_out(store, again, now=now)
    carrying.undo(store, entry.id, now=now)
    assert (repository / "AGENTS.md").read_text() == "rules\n"


def test_an_item_of_another_clone_is_left_alone(store: Store, repository: Path) -> None:
    (repository / "AGENTS.md").write_text(BLOCK)
    plan = plan_add(store, repository, "AGENTS.md", BET)
    assert "already there, written elsewhere" in plan.notes[0].message
    other = plan_add(store, repository, "AGENTS.md", Item(BET.reference, "- other"))
    assert "there with another text" in other.notes[0].message


def test_a_changed_item_goes_back_step_by_step(store: Store, repository: Path, now: int) -> None:
    first = add(store, repository, now)
    changed = plan_add(store, repository, "AGENTS.md", Item(BET.reference, "- better words"))
    second = carrying.carry_out(store, changed, now=now)
    with pytest.raises(UsageError, match=f"entry {second.id} changed the same text"):
        carrying.undo(store, first.id, now=now)
    carrying.undo(store, second.id, now=now)
    assert (repository / "AGENTS.md").read_text() == BLOCK
    carrying.undo(store, first.id, now=now)
    assert not (repository / "AGENTS.md").exists()


@pytest.mark.parametrize("later", ["", "more\n"])
def test_a_removed_item_comes_back(store: Store, repository: Path, now: int, later: str) -> None:
    (repository / "AGENTS.md").write_text("rules")
    add(store, repository, now)
    with_item = (repository / "AGENTS.md").read_text()
    plan = plan_remove(store, repository, "AGENTS.md", BET.reference)
    entry = carrying.carry_out(store, plan, now=now)
    file = repository / "AGENTS.md"
    assert file.read_text() == "rules"
    file.write_text("rules" + ("\n" + later if later else ""))
    (undone,) = carrying.undo(store, entry.id, now=now).files
    assert undone.exact is not bool(later)
    assert file.read_text() == (f"rules\n{later}\n{BLOCK}" if later else with_item)


def test_a_skill_is_a_file_of_our_own(store: Store, repository: Path, now: int) -> None:
    path = ".claude/skills/types/SKILL.md"
    text = "---\nname: types\ndescription: d\n---\nRun it.\n"
    first = carrying.carry_out(store, plan_file(store, repository, path, text, "skill:1"), now=now)
    file = repository / path
    assert file.read_text() == f"---\nname: types\ndescription: d\n---\n{MARKER}\nRun it.\n"
    assert plan_file(store, repository, path, text, "skill:1").notes
    better = plan_file(store, repository, path, text + "Then look.\n", "skill:1")
    second = carrying.carry_out(store, better, now=now)
    gone = carrying.carry_out(store, plan_file(store, repository, path, None, "skill:1"), now=now)
    assert list(repository.iterdir()) == []
    for entry in (gone, second, first):
        (undone,) = carrying.undo(store, entry.id, now=now).files
        assert undone.exact
    assert list(repository.iterdir()) == []


def test_a_skill_that_a_person_changed_is_theirs(store: Store, repository: Path, now: int) -> None:
    path = ".agents/skills/types/SKILL.md"
    plan = plan_file(store, repository, path, "Run it.\n", "skill:1")
    entry = carrying.carry_out(store, plan, now=now)
    (repository / path).write_text("mine\n")
    again = plan_file(store, repository, path, "Run that.\n", "skill:1")
    assert [note.message for note in again.notes] == ["changed by hand since; left alone"]
    (undone,) = carrying.undo(store, entry.id, now=now).files
    assert undone.message == carrying.OWN_CHANGED
    assert (repository / path).read_text() == "mine\n"


def test_a_skill_of_a_person_is_never_taken_over(store: Store, repository: Path) -> None:
    path = ".agents/skills/types/SKILL.md"
    (repository / path).parent.mkdir(parents=True)
    (repository / path).write_text("mine\n")
    plan = plan_file(store, repository, path, "ours\n", "skill:1")
    assert "hansei did not write it" in refused(plan)


def test_history_tells_newest_first_and_undo_can_be_shown_before(
    store: Store, repository: Path, now: int
) -> None:
    one = add(store, repository, now)
    two = carrying.carry_out(
        store, plan_add(store, repository, "AGENTS.md", Item("bet:2", "- two")), now=now + 1
    )
    assert [entry.id for entry in carrying.history(store)] == [two.id, one.id]
    assert carrying.history(store, one.workspace + 1) == []
    shown = carrying.undoing(store, one.id)
    assert f"-{BET.text}\n" in shown.diff
    assert "- two" in (repository / "AGENTS.md").read_text()
    assert carrying.undo(store, one.id, now=now).files[0].message == carrying.TAKEN_OUT


def test_a_repository_that_moved_is_undone_where_it_is(
    store: Store, repository: Path, now: int
) -> None:
    entry = add(store, repository, now)
    moved = repository.rename(repository.with_name("elsewhere"))
    carrying.undo(store, entry.id, now=now, repository=moved)
    assert list(moved.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give files away")
def test_a_file_keeps_its_owner(store: Store, repository: Path, now: int) -> None:
    file = repository / "AGENTS.md"
    file.write_text("rules\n")
    os.chown(file, 1234, 4321)
    add(store, repository, now)
    assert (file.stat().st_uid, file.stat().st_gid) == (1234, 4321)


def test_a_file_that_is_gone_is_not_made_again_by_undoing_a_removal(
    store: Store, repository: Path, now: int
) -> None:
    file = repository / "AGENTS.md"
    file.write_text("rules\n")
    add(store, repository, now)
    plan = plan_remove(store, repository, "AGENTS.md", BET.reference)
    entry = carrying.carry_out(store, plan, now=now)
    file.unlink()
    (undone,) = carrying.undo(store, entry.id, now=now).files
    assert undone.message == carrying.GONE
    assert not file.exists()
