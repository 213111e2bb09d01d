"""Searches that are answered with files nobody wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hansei.events.model import AnyEvent, Tool
from hansei.projection.calls import calls
from hansei.projection.files import Crowded, crowded
from told import call, numbered, result

REPO = "/w/shop"
PACKAGES = [f"{REPO}/web/node_modules/pkg{number}/index.js" for number in range(40)]
SOURCES = [f"{REPO}/web/src/part{number}.js" for number in range(10)]


def answered(
    lines: list[str], text: str = "**/*.js", tool: Tool = Tool.SEARCH, cwd: str = REPO
) -> list[Crowded]:
    more = {"arguments": {"command": text}} if tool is Tool.SHELL else {}
    events: list[AnyEvent] = [
        call("c", tool, text=text, cwd=cwd, **more),
        result("c", "\n".join(lines)),
    ]
    return crowded(calls(numbered(events)), [REPO])


def test_an_answer_full_of_packages_names_the_folder_they_are_in() -> None:
    (row,) = answered([*SOURCES, *PACKAGES])
    assert (row.seq, row.lines, row.made, row.folders) == (1, 50, 40, ("web/node_modules",))
    letters = [sum(map(len, it)) for it in (PACKAGES, SOURCES)]
    assert row.share == letters[0] / sum(letters)


def test_a_shell_that_looks_for_files_is_searching() -> None:
    lines = [it.replace(REPO, ".") for it in PACKAGES]
    (row,) = answered(lines, "find . -name '*.js'", Tool.SHELL)
    assert row.folders == ("web/node_modules",)


def test_matches_count_by_the_file_they_are_in() -> None:
    matches = [f"{it}:12: import x from './y'" for it in PACKAGES]
    assert len(answered(matches)) == 1
    about = [f"{it}:12: see node_modules/pkg/index.js" for it in SOURCES * 2]
    assert answered(about) == []


@pytest.mark.parametrize("drive", ["C:\\w\\shop", "c:/w/shop"])
def test_a_drive_is_no_end_of_a_path(drive: str) -> None:
    assert len(answered([it.replace(REPO, drive) for it in PACKAGES])) == 1


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (PACKAGES, "web/node_modules/**/*.js"),
        (PACKAGES[:9], "**/*.js"),
        ([*SOURCES * 5, *PACKAGES], "**/*.js"),
        ([f"{REPO}/build/{it}/out.js" for it in range(40)], "**/*.js"),
        (["no files found"], "**/*.js"),
    ],
    ids=["asked for", "few", "mostly source", "perhaps written by hand", "nothing"],
)
def test_other_answers_are_in_order(lines: list[str], text: str) -> None:
    assert answered(lines, text) == []


def test_what_is_no_search_may_print_what_it_likes() -> None:
    assert answered(PACKAGES, "npm test", Tool.SHELL) == []


@given(some.lists(some.text(max_size=40), max_size=60))
def test_any_answer_is_read_and_shares_are_shares(lines: list[str]) -> None:
    assert all(0 < row.share <= 1 for row in answered([*lines, *PACKAGES]))
