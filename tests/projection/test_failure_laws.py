"""Laws of verdicts and signatures."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failing_calls import Story, signature, verdict
from hansei.events.model import Status
from hansei.projection.failures.signature import LONGEST, normalised

NAMES = st.text(string.ascii_lowercase, min_size=1, max_size=8)
FOLDERS = st.lists(NAMES, min_size=1, max_size=4)
NUMBERS = st.integers(0, 10**9)
HASHES = st.text("0123456789abcdef", min_size=12, max_size=40).map(lambda it: f"a{it}1")


@st.composite
def places(draw: st.DrawFn) -> str:
    """A file somewhere, as three systems spell it."""
    folders = draw(FOLDERS)
    root, separator = draw(
        st.sampled_from([("/home/ann", "/"), ("C:\\Users\\bo", "\\"), ("~", "/")])
    )
    return separator.join([root, *folders, "fee.py"])


@given(places(), places(), NUMBERS, NUMBERS, HASHES, HASHES)
def test_where_when_and_how_much_do_not_change_a_signature(
    here: str, there: str, few: int, many: int, one: str, other: str
) -> None:
    line = "TariffError: {} rows of {} differ at {} after {}.25s on port {}"
    first = line.format(few, here, one, few, many)
    second = line.format(many, there, other, many, few)
    assert normalised(first) == normalised(second)


def test_spaces_in_a_folder_and_ids_of_three_parts_do_not_change_a_signature() -> None:
    assert normalised("no such file: /home/ann/New project/tests/fee.py") == normalised(
        "no such file: /home/bo/app/tests/fee.py"
    )
    assert normalised("issue cr-wisp-ci4 not found") == normalised("issue hq-wisp-9ab not found")


@given(NAMES, NAMES)
def test_the_name_of_what_is_missing_changes_a_signature(one: str, other: str) -> None:
    texts = [f"ModuleNotFoundError: No module named '{name}'" for name in (one, other)]
    found = [signature("python seed.py", text) for text in texts]
    assert (found[0] == found[1]) == (one == other)


@given(places(), places())
def test_a_missing_file_is_the_same_wherever_it_is_missed(here: str, there: str) -> None:
    found = [
        signature("frob x", f"Error: cannot open '{place}': No such file or directory")
        for place in (here, there)
    ]
    assert found[0] == found[1]
    assert "fee.py" in found[0]


@given(st.text(max_size=300))
def test_a_normalised_line_is_short_plain_and_stays_as_it_is(text: str) -> None:
    line = normalised(text)
    assert len(line) <= LONGEST
    assert "\n" not in line


CONTENTS = st.lists(
    st.sampled_from(
        [
            "error: it is broken",
            "fatal: not here",
            "3 failed, 2 passed in 1.0s",
            "FAILED tests/a.py::b - x",
            "Traceback (most recent call last):",
            "ValueError: no",
            "npm ERR! code 1",
            "error TS2345: no",
            "BUILD FAILED",
            "plain words",
        ]
    ),
    min_size=1,
)


@given(
    CONTENTS.map("\n".join),
    st.sampled_from(["cat log.txt", "rg -n error src", "head -50 log.txt", "sed -n 1,9p log.txt"]),
    st.sampled_from(["{}", "{} | head -40", "{} | tail -5"]),
)
def test_what_stands_in_a_file_never_makes_a_call_fail(
    content: str, command: str, form: str
) -> None:
    found = verdict(form.format(command), content, 0)
    assert (found.status, found.kind) == (Status.OK, None)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["pytest", "npx tsc", "rg x", "git push", "cat a.md", "make a | tail"]),
            st.sampled_from(["", "1 failed in 1s", "2 passed in 1s", "fatal: no", "error TS1: x"]),
            st.sampled_from([0, 1, 2, 127, 130, None]),
        ),
        max_size=12,
    )
)
def test_every_call_has_one_verdict_and_every_failure_one_episode(
    calls: list[tuple[str, str, int | None]],
) -> None:
    story = Story()
    for command, output, code in calls:
        story.shell(command, output, code)
    verdicts, rows, episodes = story.verdicts(), story.failures(), story.episodes()
    assert [it.seq for it in verdicts] == [call.seq for call in story.calls()]
    failed = [row.seq for row in rows if row.kind in ("failure", "harness")]
    assert sorted(seq for it in episodes for seq in it.failures) == failed
    assert [it.seq for it in episodes] == sorted(it.failures[0] for it in episodes)
    assert all(it.failures[-1] <= it.end for it in episodes)


NASTY = [
    *("\n", " \n", "\t", " ", "a", "a: ", "/a", ".F", "1, ", "error ", "= ", "a/b.c ", '"a": {'),
    "Traceback (most recent call last):\n",
    "Traceback (most recent call last):\n  x\n",
]


@pytest.mark.parametrize("piece", NASTY)
def test_no_output_takes_long_to_judge(piece: str) -> None:
    output = piece * (40_000 // len(piece))
    began = time.process_time()
    for command in ("npm test", "python x.py", "git push", "frob x"):
        Story().shell(command, output, 1).shell(f"{command} | tail", output, None).failures()
    assert time.process_time() - began < 2
