"""Laws of how lines are compared."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.projection.outcomes.lines import alike, bag, normal, phrase, replaced, says_something

LINES = st.lists(st.text("ab =('\"\\,)\t", max_size=12), max_size=12).map("\n".join)
WORDS = st.lists(st.from_regex(r"[a-z]{1,6}", fullmatch=True), min_size=1, max_size=8)


@given(WORDS, st.lists(st.sampled_from([" ", "\n", "\n    ", ", ", '"', "'"]), min_size=8))
def test_layout_and_quotes_do_not_change_a_phrase(words: list[str], between: list[str]) -> None:
    laid_out = "".join(f"{word} {sign}" for word, sign in zip(words, between, strict=False))
    assert phrase(laid_out) == phrase(" ".join(words))


@given(LINES, LINES)
def test_a_replacement_adds_and_removes_what_makes_one_text_of_the_other(
    old: str, new: str
) -> None:
    before, after = (
        Counter(normal(line) for line in text.split("\n")) if text else Counter()
        for text in (old, new)
    )
    added, removed = replaced(old, new)
    assert before + Counter(added) == after + Counter(removed)


@given(LINES)
def test_a_text_put_in_its_own_place_changes_nothing(text: str) -> None:
    added, removed = replaced(text, text)
    assert bag("\n".join(added)) == bag("\n".join(removed)) == Counter()


@pytest.mark.parametrize(
    "line",
    ["", "}", "});", "return None", "import os", "else:", "} else {", "pass", "x = 1", "</div>"],
)
def test_lines_that_could_stand_anywhere_say_nothing(line: str) -> None:
    assert not says_something(line)


@pytest.mark.parametrize(
    "line", ["GRACE_DAYS = 45", "from app.models import Berth", "raise Refused(reason)"]
)
def test_lines_of_somebody_say_something(line: str) -> None:
    assert says_something(line)


def test_a_changed_line_is_still_like_itself() -> None:
    assert alike("total = price * count", "total = price * amount") > 0.5
    assert alike("total = price * count", "return render(page)") == 0
