"""A book: versions, broken files beside good ones, and every change taken back byte for byte."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import NOW
from hansei.errors import NotFound, UnusableSkill, UsageError
from hansei.learn.book import Book
from hansei.learn.files import written
from hansei.learn.history import Progress
from hansei.learn.model import Evidence, Skill, State, Vote

PLAIN = Skill("run-types", "Type checks.", "Run `make types`.")
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "skills", tmp_path / "history.jsonl")


def content(book: Book) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in book.folder.glob("*.md")}


def test_a_new_text_is_a_new_version_and_anything_else_is_not(book: Book) -> None:
    first = book.keep(PLAIN, NOW)
    assert (first.version, first.created_at, first.changed_at) == (1, NOW, NOW)
    approved = book.keep(replace(first, state=State.APPROVED), NOW + 1)
    assert (approved.version, approved.changed_at) == (1, NOW + 1)
    voted = book.keep(replace(approved, votes=(Vote("a", NOW, helpful=True),)), NOW + 2)
    assert (voted.version, voted.changed_at) == (1, NOW + 1)
    again = book.keep(replace(voted, body="Run `make all`."), NOW + 3)
    assert (again.version, again.created_at, again.changed_at) == (2, NOW, NOW + 3)


def test_keeping_the_same_again_changes_nothing(book: Book) -> None:
    kept = book.keep(PLAIN, NOW)
    before = content(book)
    assert book.keep(kept, NOW + 5) == kept
    assert content(book) == before
    assert len(book.history()) == 1


STEP = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["Do it.", "Do it twice.", "--- three", None]),
    st.sampled_from(State),
)


@settings(max_examples=40)
@given(st.lists(STEP, min_size=1, max_size=8))
def test_undoing_everything_leaves_every_byte_as_it_was(
    steps: list[tuple[str, str | None, State]],
) -> None:
    with TemporaryDirectory(dir=MEMORY) as folder:
        book = Book(Path(folder) / "skills", Path(folder) / "history.jsonl")
        book.folder.mkdir()
        (book.folder / "a.md").write_text(written(replace(PLAIN, name="a")) + "\n\n# by hand\n")
        states = [content(book)]
        for number, (name, body, state) in enumerate(steps):
            wanted = None if body is None else Skill(name, "What for.", body, state=state)
            if book.change("keep", {name: wanted}, NOW + number) is not None:
                states.append(content(book))
        while len(states) > 1:
            assert content(book) == states.pop()
            book.undo(None, NOW)
        assert content(book) == states[0]
        with pytest.raises(NotFound):
            book.undo(None, NOW)


def test_an_earlier_change_is_undone_after_the_later_one(book: Book) -> None:
    kept = book.keep(PLAIN, NOW)
    book.keep(replace(kept, body="Else."), NOW + 1)
    with pytest.raises(UsageError, match="change 2"):
        book.undo(1, NOW)
    book.undo(2, NOW)
    book.undo(1, NOW)
    with pytest.raises(UsageError, match="already"):
        book.undo(1, NOW)


def test_what_a_person_edited_is_not_undone(book: Book) -> None:
    book.keep(PLAIN, NOW)
    file = book.file(PLAIN.name)
    file.write_text(file.read_text() + "Mine.\n")
    with pytest.raises(UnusableSkill, match="by hand"):
        book.undo(None, NOW)
    assert "Mine." in file.read_text()


def test_a_broken_file_is_told_with_its_line_and_the_others_work(book: Book) -> None:
    book.keep(PLAIN, NOW)
    book.keep(replace(PLAIN, name="other"), NOW)
    file = book.file("other")
    broken = file.read_text().replace("state: draft", "<<<<<<< HEAD\nstate: draft")
    file.write_text(broken)
    (book.folder / "README.md").write_text("A book.")
    (book.folder / "Not A Name.md").write_text("x")
    (book.folder / "latin.md").write_bytes(b"---\nname: latin\n\xff")
    assert [it.name for it in book.skills()] == [PLAIN.name]
    told = {it.path.name: it.line for it in book.problems()}
    assert told == {"Not A Name.md": 1, "latin.md": 3, "other.md": 5}
    with pytest.raises(UnusableSkill, match="line 5"):
        book.find("other")
    with pytest.raises(UnusableSkill, match="line 5"):
        book.keep(replace(PLAIN, name="other"), NOW)
    assert file.read_text() == broken


@pytest.mark.parametrize("name", ["../../x", "..", "/tmp/x", "a/b", "con", "a\x1b[0m", ""])
def test_a_hostile_name_is_written_nowhere(book: Book, name: str) -> None:
    with pytest.raises(UnusableSkill):
        book.keep(replace(PLAIN, name=name), NOW)
    with pytest.raises(NotFound):
        book.find(name)
    written_files = [it for it in book.folder.parent.rglob("*") if it.is_file()]
    assert [it for it in written_files if it.suffix not in (".lock", ".jsonl")] == []


def test_a_link_is_neither_read_nor_written_through(book: Book, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.md"
    elsewhere.write_text(written(PLAIN))
    book.folder.mkdir()
    book.file(PLAIN.name).symlink_to(elsewhere)
    assert book.skills() == []
    assert "ordinary" in book.problems()[0].message
    with pytest.raises(UnusableSkill):
        book.keep(replace(PLAIN, body="Owned."), NOW)
    assert "Owned" not in elsewhere.read_text()


def test_a_pipe_and_a_giant_are_problems(book: Book) -> None:
    book.folder.mkdir()
    os.mkfifo(book.file("pipe"))
    book.file("giant").write_bytes(b"x" * 2_000_000)
    assert sorted(it.path.stem for it in book.problems()) == ["giant", "pipe"]


def test_unfit_skills_are_not_kept(book: Book) -> None:
    for wrong in (
        replace(PLAIN, body="x" * 1_000_000),
        replace(PLAIN, body="\x1b]0;title\x07"),
        replace(PLAIN, description=""),
        replace(PLAIN, evidence=tuple(Evidence("s" * 100, n) for n in range(5000))),
    ):
        with pytest.raises(UnusableSkill):
            book.keep(wrong, NOW)
    assert book.skills() == []
    assert book.history() == []


def test_several_skills_change_together_or_not_at_all(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.keep(PLAIN, NOW)
    before = content(book)
    real = Book._replace

    def full(self: Book, name: str, old: bytes | None, new: bytes | None) -> None:
        if name == "zulu" and new is not None:
            raise OSError(28, "no space")
        real(self, name, old, new)

    monkeypatch.setattr(Book, "_replace", full)
    wanted = {"run-types": replace(PLAIN, body="New."), "zulu": replace(PLAIN, name="zulu")}
    with pytest.raises(OSError, match="no space"):
        book.change("keep", wanted, NOW + 1)
    assert content(book) == before
    assert len(book.history()) == 1


class Crash(BaseException):
    """The power goes."""


def crash_after(patch: pytest.MonkeyPatch, files: int) -> None:
    """Have the power go once so many files are written; nothing is put back."""
    real = Book._replace
    made: list[str] = []

    def write(self: Book, _: object, changes: list[tuple[str, bytes | None, bytes | None]]) -> None:
        for name, before, after in changes:
            if len(made) == files:
                raise Crash
            made.append(name)
            real(self, name, before, after)
        raise Crash

    patch.setattr(Book, "_write", write)


@pytest.mark.parametrize("files", [0, 1, 2])
def test_a_change_cut_short_is_taken_back_or_finished(book: Book, files: int) -> None:
    two = {name: replace(PLAIN, name=name) for name in ("a", "b")}
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, files)
        with pytest.raises(Crash):
            book.change("keep", two, NOW)
    book.keep(replace(PLAIN, name="next"), NOW + 5)
    whole = ["a.md", "b.md", "next.md"]
    assert sorted(content(book)) == (whole if files == 2 else ["next.md"])
    assert {it.progress for it in book.history()} == {Progress.DONE}


@pytest.mark.parametrize("files", [0, 1, 2])
def test_an_undoing_cut_short_is_finished(book: Book, files: int) -> None:
    book.change("keep", {name: replace(PLAIN, name=name) for name in ("a", "b")}, NOW)
    with pytest.MonkeyPatch.context() as patch:
        crash_after(patch, files)
        with pytest.raises(Crash):
            book.undo(None, NOW)
    book.keep(replace(PLAIN, name="next"), NOW + 5)
    assert sorted(content(book)) == ["next.md"]
    assert [it.progress for it in book.history()] == [Progress.DONE, Progress.UNDONE]


def test_a_history_cut_in_its_last_line_goes_on(book: Book) -> None:
    book.keep(PLAIN, NOW)
    assert book.records is not None
    with book.records.open("ab") as file:
        file.write(b'{"entry":{"id":2,"at"')
    book.keep(replace(PLAIN, name="other"), NOW)
    assert [it.id for it in book.history()] == [3, 1]


def test_removing_can_be_undone(book: Book) -> None:
    kept = book.keep(PLAIN, NOW)
    book.remove(PLAIN.name, NOW)
    assert book.skills() == []
    book.undo(None, NOW)
    assert book.find(PLAIN.name) == kept
