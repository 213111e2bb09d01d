"""A text is taken apart and put together without losing a byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.instructions.block import CLOSE, OPEN, Broken, name_of, open_fence, parse, render
from hansei.instructions.edits import Unfit, added, checked
from instruction_files import ITEMS, LINES, files

MARKS = st.sampled_from([OPEN, CLOSE, "<!-- kfmt -->", "```", "~~~", f"{OPEN}  ", f" {OPEN}"])
ANY = st.lists(
    st.tuples(
        st.one_of(LINES, MARKS, st.text(max_size=5)), st.sampled_from(["\n", "\r\n", "\r", ""])
    ),
    max_size=12,
).map(lambda parts: "".join(line + end for line, end in parts))


@given(st.one_of(ANY, ANY.map(lambda text: f"\ufeff{text}")))
def test_what_is_taken_apart_is_put_together_byte_for_byte(text: str) -> None:
    try:
        document = parse(text)
    except Broken as problem:
        line = problem.line
    else:
        assert render(document) == text
        return
    assert text.split("\n")[line - 1].startswith("<!-- ")


@given(files(), ITEMS)
def test_every_item_is_found_again_and_the_text_before_it_is_untouched(
    text: str, items: list[str]
) -> None:
    changed = text
    for item in items:
        changed = added(changed, name_of(item), checked(item)).text
    document = parse(changed)
    assert document.block is not None
    assert [item.name for item in document.block.items] == [name_of(item) for item in items]
    assert changed.startswith(text)
    assert render(document) == changed


def test_quoted_markers_mean_nothing() -> None:
    text = f"```\n{OPEN}\n```\n~~~~md\n```\n{CLOSE}\n~~~~\n    {OPEN}\n> {OPEN}\n`{OPEN}` inline\n"
    assert parse(text).block is None


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f"a\n{OPEN}\nb\n", 2, "without <!-- /hansei -->"),
        (f"a\n{CLOSE}\n", 2, "without <!-- hansei -->"),
        (f"{OPEN}\n{OPEN}\n{CLOSE}\n", 2, "inside the block of line 1"),
        (f"{OPEN}\n{CLOSE}\n\n{OPEN}\n{CLOSE}\n", 4, "besides the block of line 1"),
        (f"{OPEN}\n{CLOSE}\n{CLOSE}\n", 3, "without <!-- hansei -->"),
        (f"{OPEN}\n```\n{CLOSE}\n", 1, "without <!-- /hansei -->"),
    ],
)
def test_broken_markers_are_refused_with_their_line(text: str, line: int, words: str) -> None:
    with pytest.raises(Broken, match=words) as refused:
        parse(text)
    assert refused.value.line == line


def test_a_persons_comment_is_not_taken_for_a_name() -> None:
    document = parse(f"{OPEN}\n<!-- kfmt -->\nours\n<!-- note -->\n<!-- TODO -->\n{CLOSE}\n")
    assert document.block is not None
    assert [item.name for item in document.block.items] == ["kfmt"]


def test_names_are_short_stable_and_have_no_vowels() -> None:
    assert name_of("bet:3f2a") == name_of("bet:3f2a", 12)[:4]
    assert not set("".join(name_of(str(n)) for n in range(500))) & set("aeiouy0123456789")
    assert len({name_of(str(n), 8) for n in range(2000)}) == 2000


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n ",
        f"a\n{OPEN}\nb",
        CLOSE,
        "<!-- kfmt -->",
        "```\nopen",
        "bell \x07",
        "esc \x1b[2J",
        "turn \u202e",
    ],
)
def test_a_text_that_would_break_the_block_is_no_item(text: str) -> None:
    with pytest.raises(Unfit):
        checked(text)


def test_spaces_that_do_not_break_and_joined_emoji_are_text() -> None:
    assert checked("10\u00a0MB 👩\u200d💻") == "10\u00a0MB 👩\u200d💻"


def test_an_item_may_quote_markers_in_code() -> None:
    assert checked(f"like this:\r\n```\r\n{OPEN}\r\n```\r\n") == f"like this:\n```\n{OPEN}\n```"


def test_a_fence_that_is_never_closed_is_found() -> None:
    assert open_fence("a\n```\nb\n```\nc\n~~~\nd\n```\n") == 6
    assert open_fence("a\n```\nb\n```` \n") is None
