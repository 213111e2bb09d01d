"""Text fitted to a terminal."""

from __future__ import annotations

from typing import Literal

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.cli import output
from hansei.cli.output import Column


@given(
    text=st.text(st.characters(categories=("L", "N", "P", "M"))),
    columns=st.integers(min_value=1, max_value=40),
    keep=st.sampled_from(("beginning", "ends")),
)
def test_a_cut_text_fits(text: str, columns: int, keep: Literal["beginning", "ends"]) -> None:
    fitted = output.cut(text, columns, keep)
    assert output.width(fitted) <= columns
    assert fitted == text or "…" in fitted


def test_names_that_begin_alike_keep_their_ends() -> None:
    assert output.cut("model-with-a-name-20250514", 13, "ends") == "model-…250514"


def test_a_styled_text_is_cut_without_leaving_the_style_on() -> None:
    assert output.cut(click.style("not recorded", dim=True), 8) == "not rec…"


COLUMNS = [
    Column("name", "left", flexible=True, keep="ends"),
    Column("first to go", drop=1),
    Column("second to go", drop=2),
    Column("stays"),
]
ROW = ["a-name-that-is-thirty-long-001", "1" * 20, "2" * 20, "3" * 6]


def shown(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(columns))
    return [click.unstyle(line) for line in output.table(COLUMNS, [ROW])]


def test_everything_is_shown_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    heading, row = shown(monkeypatch, 100)
    assert heading.split() == ["name", "first", "to", "go", "second", "to", "go", "stays"]
    assert row.split() == ROW


def test_labels_are_cut_before_columns_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    _, row = shown(monkeypatch, 74)
    assert row.split()[1:] == ROW[1:]
    assert output.READABLE <= len(row.split()[0]) < len(ROW[0])


def test_columns_are_left_out_in_turn_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    _, row, told = shown(monkeypatch, 62)
    assert row.split() == [ROW[0], *ROW[2:]]
    assert told == "no room here for: first to go"
