"""Reviews in JSON and in what `gh` prints, and the edits they are about."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.projection.calls import calls
from hansei.projection.corrections import Matched, matched, reviews
from hansei.projection.corrections.matching import Wrote
from hansei.projection.corrections.reviews import GITHUB, GITLAB, printed, read
from hansei.projection.outcomes.model import Written
from told import call, numbered, prompt, result

HUNK = "@@ -1,2 +1,4 @@\n def tide():\n+    height = metres(4)\n+    return round(height, 2)"


def comment(number: int = 1, **more: Any) -> dict[str, Any]:
    """A review comment as GitHub tells it."""
    return {
        "id": number,
        "path": "src/tide.py",
        "line": 3,
        "diff_hunk": HUNK,
        "body": "Round to one digit, please.",
        "user": {"login": "mira", "type": "User"},
        "created_at": "2026-03-04T10:11:12Z",
        "commit_id": "c" * 40,
        **more,
    }


def note(number: int = 1, **more: Any) -> dict[str, Any]:
    """A note as GitLab tells it."""
    return {
        "id": number,
        "body": "Please name the unit.",
        "author": {"username": "jonas"},
        "created_at": "2026-03-04T10:11:12.000+01:00",
        "system": False,
        "position": {"new_path": "src/tide.py", "new_line": 7, "head_sha": "d" * 40},
        **more,
    }


def test_a_comment_on_github_is_read_whole() -> None:
    (review,) = read(json.dumps([comment(in_reply_to_id=9)])).reviews
    assert (review.source, review.id, review.thread) == (GITHUB, "1", "9")
    assert (review.path, review.line, review.author, review.bot) == (
        "src/tide.py",
        3,
        "mira",
        False,
    )
    assert (review.at, review.revision) == (1_772_619_072_000, "c" * 40)
    assert review.hunk == ("height = metres(4)", "return round(height, 2)")
    assert review.text == "Round to one digit, please."


def test_an_outdated_comment_keeps_its_first_line() -> None:
    (review,) = read(json.dumps([comment(line=None, original_line=12)])).reviews
    assert review.line == 12


def test_a_note_on_gitlab_is_read_with_its_discussion() -> None:
    (review,) = read(json.dumps([{"id": "abc", "notes": [note(), note(2, system=True)]}])).reviews
    assert (review.source, review.id, review.thread) == (GITLAB, "1", "abc")
    assert (review.path, review.line, review.revision) == ("src/tide.py", 7, "d" * 40)
    assert review.at == 1_772_615_472_000


@pytest.mark.parametrize(
    ("author", "bot"),
    [
        ({"login": "mira", "type": "User"}, False),
        ({"login": "checks[bot]", "type": "Bot"}, True),
        ({"login": "release-bot", "type": "User"}, True),
        ({"login": "github-actions"}, True),
        ({"login": "abbott"}, False),
    ],
)
def test_programs_are_told_from_people(author: dict[str, str], bot: bool) -> None:
    (review,) = read(json.dumps([comment(user=author)])).reviews
    assert review.bot is bot


def test_pages_lines_and_nested_answers_are_read() -> None:
    one, other = json.dumps(comment(1)), json.dumps(comment(2))
    view = {"comments": [{**comment(3), "user": None, "author": {"login": "mira"}}], "title": "x"}
    for text, ids in (
        (f"[{one}][{other}]", ["1", "2"]),
        (f"{one}\n{other}\n", ["1", "2"]),
        (json.dumps(view), ["3"]),
        (json.dumps([[comment(1)], [comment(2)]]), ["1", "2"]),
    ):
        assert [it.id for it in read(text).reviews] == ids


def test_what_stands_before_the_end_of_a_cut_off_text_is_read() -> None:
    text = json.dumps([comment(1), comment(2)])
    found = read(text[:-40])
    assert [it.id for it in found.reviews] == ["1"]
    assert found.unread


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda it: (
            st.lists(it, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "body", "user", "notes", "login", "comments"]), it
            )
        ),
    )
)
def test_no_json_is_too_odd(value: object) -> None:
    assert not read(json.dumps(value)).reviews


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    read(text)
    printed(text)


PRINTED = (
    "author:\tmira\nassociation:\tmember\nedited:\tfalse\nstatus:\tchanges requested\n--\n"
    "Please name the unit.\n\nAnd round.\n--\n"
    "author:\tcodecov\nassociation:\tnone\nedited:\tfalse\nstatus:\tnone\n--\n97 %\n--\n"
)


def test_what_gh_prints_in_a_session_is_found_with_its_place() -> None:
    events = numbered(
        [
            prompt("What did they say?"),
            call("c1", text="gh pr view 4 --comments"),
            result("c1", PRINTED),
            call("c2", text="gh api repos/o/r/pulls/4/comments"),
            result("c2", json.dumps([comment()])),
            call("c3", text="cat reviews.json"),
            result("c3", json.dumps([comment(5)])),
        ]
    )
    found = reviews(calls(events))
    assert [(it.seq, it.author, it.bot) for it in found] == [
        (3, "mira", False),
        (3, "codecov", True),
        (5, "mira", False),
    ]
    assert found[0].text == "Please name the unit.\n\nAnd round."


def hunk(
    session: str, seq: int, *added: str, path: str = "/w/app/src/tide.py", at: int = 5
) -> Wrote:
    return Wrote(session, Written(seq, f"c{seq}", 0, path, at, added, (), len(added)))


def match(*hunks: Wrote, **more: Any) -> list[Matched]:
    return matched(read(json.dumps([comment(**more)])).reviews, hunks)


def test_a_review_is_matched_to_the_edit_that_wrote_the_line_above_it() -> None:
    first = hunk("a", 3, "height = metres(4)", "depth = metres(2)")
    last = hunk("b", 8, "return round(height, 2)")
    assert match(first, last) == [Matched("1", "b", 8, 1)]


def test_a_plain_last_line_leaves_it_to_most_of_the_lines() -> None:
    shown = f"{HUNK}\n+)"
    assert match(
        hunk("a", 3, "height = metres(4)", "return round(height, 2)"), diff_hunk=shown
    ) == [Matched("1", "a", 3, 2)]


def test_other_files_later_edits_and_other_lines_do_not_match() -> None:
    lines = ("height = metres(4)", "return round(height, 2)")
    assert match(hunk("a", 3, *lines, path="/w/app/src/other_tide.py")) == []
    assert match(hunk("a", 3, *lines, at=1_900_000_000_000)) == []
    assert match(hunk("a", 3, "height = feet(4)")) == []
    assert match(hunk("a", 3, *lines), path=None) == []
    assert match(hunk("a", 3, *lines, path=r"C:\w\app\src\tide.py")) == [Matched("1", "a", 3, 2)]
