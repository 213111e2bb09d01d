"""What a person did to the block decides what we may change in it."""

from __future__ import annotations

import pytest
from hypothesis import given

from hansei.instructions.block import CLOSE, OPEN, name_of, parse
from hansei.instructions.edits import Frame, Standing, added, checked, removed, replaced, standing
from instruction_files import ITEMS, files

OURS = "- ours"


def inside(*lines: str) -> str:
    return "\n".join(("before", "", OPEN, "<!-- kfmt -->", *lines, CLOSE, ""))


@given(files(), ITEMS)
def test_adding_and_removing_in_any_order_gives_the_text_back(text: str, items: list[str]) -> None:
    changed, frame = text, Frame()
    for item in items:
        edited = added(changed, name_of(item), checked(item))
        changed, frame = edited.text, edited.frame or frame
    for item in sorted(items):
        changed = removed(changed, name_of(item), checked(item), frame)
    assert changed == text


@given(files(), ITEMS)
def test_a_block_that_was_there_before_us_stays(text: str, items: list[str]) -> None:
    there = added(text, "bcdf", "theirs").text
    changed = there
    for item in items:
        edited = added(changed, name_of(item), checked(item))
        assert edited.frame is None
        changed = edited.text
    for item in items:
        changed = removed(changed, name_of(item), checked(item), None)
    assert changed == there


@given(files(), ITEMS)
def test_replacing_twice_gives_the_text_back(text: str, items: list[str]) -> None:
    first = added(text, "kfmt", checked(items[0])).text
    other = replaced(first, "kfmt", checked(items[0]), "other words")
    assert standing(parse(other), "kfmt", "other words") is Standing.OURS
    assert replaced(other, "kfmt", "other words", checked(items[0])) == first


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([OURS], Standing.OURS),
        (["", OURS + "  ", ""], Standing.OURS),
        ([OURS, "- theirs"], Standing.OURS),
        ([OURS, "", "theirs"], Standing.OURS),
        ([OURS, "  and more"], Standing.EDITED),
        ([OURS, "lazily more"], Standing.EDITED),
        ([OURS + "!"], Standing.EDITED),
        (["- theirs", OURS], Standing.EDITED),
        ([], Standing.EDITED),
        (["<!-- bcdf -->", OURS], Standing.EDITED),
    ],
)
def test_an_item_is_ours_only_as_we_wrote_it(lines: list[str], expected: Standing) -> None:
    assert standing(parse(inside(*lines)), "kfmt", OURS) is expected


def test_lines_a_person_added_stay_where_they_are() -> None:
    text = inside(OURS, "- theirs")
    left = removed(text, "kfmt", OURS, Frame(line_ends=1))
    assert left == f"before\n\n{OPEN}\n- theirs\n{CLOSE}\n"
    assert replaced(text, "kfmt", OURS, "- new") == inside("- new", "- theirs")


def test_lines_a_person_added_to_a_later_item_stay_below_the_one_before_it() -> None:
    text = inside(OURS, "<!-- bcdf -->", "- second", "- theirs")
    assert removed(text, "bcdf", "- second", None) == inside(OURS, "- theirs")
    assert standing(parse(inside(OURS, "- theirs")), "kfmt", OURS) is Standing.OURS


def test_an_item_copied_by_a_person_leaves_their_copy() -> None:
    text = inside("- theirs now", "<!-- kfmt -->", OURS)
    left = removed(text, "kfmt", OURS, Frame(line_ends=1))
    assert left == inside("- theirs now")


def test_line_ends_changed_by_git_are_no_edit() -> None:
    text = added("before\n", "kfmt", "two\nlines").text.replace("\n", "\r\n")
    assert standing(parse(text), "kfmt", "two\nlines") is Standing.OURS
    assert removed(text, "kfmt", "two\nlines", Frame(line_ends=1)) == "before\r\n"


@pytest.mark.parametrize(
    ("original", "before", "after", "left"),
    [
        ("a", "a\n\n", "", "a"),
        ("a", "a\n\n", "b\n", "a\nb\n"),
        ("a", "a\n", "", "a"),
        ("a", "x\na\n\n", "", "x\na"),
        ("a\n", "a\n\n", "b\n", "a\nb\n"),
        ("a\n", "a\n", "", "a\n"),
        ("a\n\n", "a\n\n", "", "a\n\n"),
        ("", "", "b", "b"),
    ],
)
def test_no_line_of_a_person_is_joined_or_lost(
    original: str, before: str, after: str, left: str
) -> None:
    edited = added(original, "kfmt", OURS)
    assert edited.frame is not None
    ours = edited.text[edited.text.index(OPEN) :]
    assert removed(before + ours + after, "kfmt", OURS, edited.frame) == left
