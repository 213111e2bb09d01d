"""Big files read whole for small edits."""

from __future__ import annotations

import pytest

from hansei.bets.model import Category, Design, Finding
from hansei.projection.files import Extent, Verb
from hansei.retro.heuristics.big_file import BigFile
from made_window import Made, Told, edit, read, window_of

BIG = "src/auth.py"


def session(*edits: Made, lines: int = 1_000, path: str = BIG) -> Told:
    return [[read(path, 8_000, first=1, last=lines)], *([it] for it in edits), [], []]


def found(*sessions: Told) -> list[Finding]:
    return list(BigFile().find(window_of(dict(enumerate(sessions)))))


def test_a_file_that_many_sessions_edit_is_to_be_split() -> None:
    told = session(edit(BIG, 500, 510))
    (finding,) = found(*[told] * 4)
    assert finding.claim.startswith("Split `src/auth.py` (1,000 lines")
    assert finding.change.design is Design.BRIEF
    assert finding.category is Category.INVESTIGATE
    assert finding.change.path == BIG


def test_a_file_that_few_edit_is_to_be_read_by_range() -> None:
    told = session(edit(BIG, 500, 510))
    (finding,) = found(*[told] * 3)
    assert finding.change.design is Design.LINE
    assert "1,000 lines" in finding.change.text


def test_text_is_never_split() -> None:
    told = session(edit("docs/long.md", 500, 510), path="docs/long.md")
    (finding,) = found(*[told] * 5)
    assert finding.change.design is Design.LINE


def test_what_is_saved_is_the_share_of_lines_far_from_every_edit() -> None:
    told = session(edit(BIG, 500, 509), edit(BIG, 520, 529))
    (finding,) = found(*[told] * 3)
    near = 30 + 30 + 30  # the two edits with what lies between, and the lines around
    carried = len(told)
    assert [it.tokens for it in finding.occurrences] == [
        8_000 * carried * (1_000 - near) // 1_000
    ] * 3


def test_calls_a_turn_are_told() -> None:
    told = session(edit(BIG, 500, 510), edit(BIG, 700, 701))
    (finding,) = found(*[told] * 3)
    assert "3 calls a turn" in finding.claim


@pytest.mark.parametrize(
    "told",
    [
        session(edit(BIG, 500, 510), lines=300),
        session(edit(BIG, 100, 900)),
        session(),
        session(edit(BIG, extent=Extent.WHOLE)),
        session(edit(BIG), edit(BIG, verb=Verb.WRITE)),
        session(edit(BIG, inside=False), path="/elsewhere/auth.py"),
    ],
    ids=["small file", "large edit", "no edit", "all of it", "written anew", "outside"],
)
def test_what_needs_all_of_it_is_left_alone(told: Told) -> None:
    assert found(*[told] * 5) == []


def test_an_edit_whose_place_is_not_told_needs_the_lines_around_one() -> None:
    told = session(edit(BIG, None, None))
    (finding,) = found(*[told] * 3)
    assert finding.occurrences[0].tokens == 8_000 * len(told) * (1_000 - 61) // 1_000


def test_edits_all_over_the_file_are_not_small() -> None:
    told = session(*(edit(BIG, line, line + 1) for line in range(50, 1_000, 150)))
    assert found(*[told] * 5) == []


def test_its_length_is_told_as_it_was_read_then() -> None:
    small, large = (session(edit(BIG, 300, 310), lines=it) for it in (600, 1_200))
    (finding,) = found(small, small, large)
    assert "(600 to 1,200 lines, " in finding.claim


def test_what_few_of_many_sessions_do_is_left_alone() -> None:
    told = session(edit(BIG, 500, 510))
    assert found(*[told] * 4, *[[[]]] * 80) == []


def test_a_split_that_would_not_pay_in_weeks_is_a_line() -> None:
    told = session(edit(BIG, 500, 510))
    window = window_of(dict(enumerate([told] * 4)), days={it: 30 * it for it in range(4)})
    (finding,) = BigFile().find(window)
    assert finding.change.design is Design.LINE
