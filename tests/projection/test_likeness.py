"""Which known failures a text is like."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.projection.failures.likeness import Known

SIGNATURES = (
    "command not found: jq",
    'npm test: Missing script: "test"',
    "pytest: ModuleNotFoundError: No module named 'berthline'",
    "pytest: ModuleNotFoundError: No module named 'yaml'",
    "tsc: error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
)


def likest(question: str) -> str | None:
    found = Known(SIGNATURES).like(question)
    return SIGNATURES[found[0].place] if found else None


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_signature_is_likest_to_itself(signature: str) -> None:
    assert likest(signature) == signature


@pytest.mark.parametrize(
    ("question", "signature"),
    [
        ("E   ModuleNotFoundError: No module named 'yaml'", SIGNATURES[3]),
        ("bash: line 12: jq: command not found", SIGNATURES[0]),
        (
            "src/fees.ts:31:7 - error TS2345: Argument of type 'string' is not assignable",
            SIGNATURES[4],
        ),
        ("berthline module", SIGNATURES[2]),
    ],
)
def test_the_telling_words_decide_and_not_the_ordinary_ones(question: str, signature: str) -> None:
    assert likest(question) == signature


@given(company=st.lists(st.text("abcdefghij ", max_size=40), max_size=60), place=st.integers(0, 60))
def test_the_telling_line_is_found_in_any_company(company: list[str], place: int) -> None:
    lines = [*company[:place], "E   ModuleNotFoundError: No module named 'yaml'", *company[place:]]
    assert likest("\n".join(lines)) == SIGNATURES[3]


@given(st.text(max_size=300))
def test_any_text_may_be_asked_and_likeness_stays_between_the_floor_and_one(question: str) -> None:
    for _, likeness in Known(SIGNATURES).like(question):
        assert 0.35 <= likeness <= 1 + 1e-9


def test_words_that_no_failure_has_find_nothing() -> None:
    assert likest("the quick brown fox") is None


def test_nothing_known_is_like_nothing() -> None:
    assert Known(()).like("No module named 'yaml'") == []


def test_a_line_that_says_only_that_it_failed_decides_nothing() -> None:
    known = Known(("frob daemon: exit 1", "frob rig: Error: rig 'mayor' not found"))
    question = "Bash frob rig beads\nExit code 1\nError: rig 'beads' not found"
    assert known.like(question)[0].place == 1
