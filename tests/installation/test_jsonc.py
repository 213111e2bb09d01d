"""Editing JSON with comments in place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.installation import jsonc
from written_json import documents, objects


@given(objects(), st.data())
def test_plain_json_is_read_as_the_standard_library_reads_it(value: Any, data: Any) -> None:
    indent = data.draw(st.sampled_from([None, 2, "\t"]))
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    assert jsonc.parse(text).value == value


@given(documents())
def test_comments_and_trailing_commas_do_not_change_what_is_read(written: tuple[str, Any]) -> None:
    text, value = written
    assert jsonc.parse(text).value == value


@given(documents(), objects())
def test_adding_a_member_and_taking_it_out_gives_back_every_byte(
    written: tuple[str, dict[str, Any]], added: dict[str, Any]
) -> None:
    text, value = written
    more = jsonc.append(text, jsonc.parse(text), added, "a new name")
    root = jsonc.parse(more)
    assert root.value == {**value, "a new name": added}
    less = jsonc.remove(more, root, len(root.parts) - 1)
    if value:
        assert less == text
    else:
        assert jsonc.parse(less).value == {}


@given(documents(), st.data())
def test_taking_out_any_member_leaves_the_others_and_every_comment(
    written: tuple[str, dict[str, Any]], data: Any
) -> None:
    text, value = written
    root = jsonc.parse(text)
    if not root.parts:
        return
    index = data.draw(st.integers(0, len(root.parts) - 1))
    less = jsonc.remove(text, root, index)
    gone = root.parts[index]
    assert jsonc.parse(less).value == {k: v for k, v in value.items() if k != gone.key}
    inside = text[gone.start : gone.end]
    assert less.count("note") == text.count("note") - inside.count("note")


@given(st.text(max_size=60))
def test_any_text_is_either_read_or_refused_with_a_place_in_it(text: str) -> None:
    line = 1
    try:
        jsonc.parse(text)
    except jsonc.Malformed as problem:
        line = problem.line
    assert 1 <= line <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{\n  "a": 1,\n  "b": [1, 2', 3, "it ends where"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, '"," or "}"'),
        ("{\n  a: 1\n}", 2, "a name in double quotes"),
        ('{"a": tru}', 1, "a value"),
        ('{"a": 1} {"b": 2}', 1, "something follows"),
        ("", 1, "it ends where a value"),
        ('{\n\n\n"a": 01x}', 4, ""),
        ("[" * 5000, 1, "nested too deeply"),
        ('{"a": "\\q"}', 1, "is not a value"),
        ("{ /* never closed", 1, ""),
    ],
)
def test_damage_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(jsonc.Malformed) as caught:
        jsonc.parse(text)
    assert caught.value.line == line
    assert words in str(caught.value)


def test_a_comment_never_swallows_what_stood_behind_a_removed_part() -> None:
    text = '{ // note\n "a": 1, "b": 2 }'
    less = jsonc.remove(text, jsonc.parse(text), 0)
    assert jsonc.parse(less).value == {"b": 2}
    assert "// note" in less


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"b": 2\n}\n'),
        ('{\r\n    "a": 1,\r\n}', '{\r\n    "a": 1,\r\n    "b": 2,\r\n}'),
        ('{"a":1}', '{"a":1, "b": 2}'),
        ("{}", '{\n  "b": 2\n}'),
        ('{\n  "a": 1 // why\n}', '{\n  "a": 1, // why\n  "b": 2\n}'),
    ],
)
def test_what_is_added_looks_like_its_neighbours(text: str, expected: str) -> None:
    assert jsonc.append(text, jsonc.parse(text), 2, "b") == expected
