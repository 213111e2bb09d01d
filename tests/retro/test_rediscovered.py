"""What sessions find out again at their start."""

from __future__ import annotations

from dataclasses import replace

from hansei.bets.model import Design, Finding
from hansei.config import CommandClass
from hansei.retro.heuristics.rediscovered import Rediscovered
from made_window import Made, Told, bill, edit, listing, read, shell, window_of

FILES = ("src/core/model.py", "src/core/store.py", "src/api.py")
START: Told = [[listing("src/")], *([read(it)] for it in FILES), [edit("src/new.py")], [], []]


def found(*sessions: Told) -> dict[str, Finding]:
    window = window_of(dict(enumerate(sessions)))
    return {it.key: it for it in Rediscovered().find(window)}


def test_the_line_holds_what_was_found_and_not_to_look_for_it() -> None:
    finding = found(*[START] * 4)["listings"]
    assert finding.change.design is Design.LINE
    assert finding.change.text == (
        "Where things are: `src/api.py`; `src/core/` `model.py`, `store.py`. "
        "Open these instead of listing `src/`."
    )
    assert "4 of 4 sessions list `src/`" in finding.claim


def test_listings_took_what_the_bill_would_have_been_lower() -> None:
    finding = found(*[START] * 4)["listings"]
    spared = bill(START) - bill(START, frozenset({(0, 0)}))
    assert [it.tokens for it in finding.occurrences] == [spared] * 4


def test_first_reads_are_a_task_that_names_the_files() -> None:
    finding = found(*[START] * 4)["first-reads"]
    assert finding.change.design is Design.BRIEF
    assert all(f"`{it}`" in finding.change.text for it in FILES)


def test_the_largest_of_the_first_reads_is_not_saved() -> None:
    finding = found(*[START] * 4)["first-reads"]
    spared = bill(START) - bill(START, frozenset({(1, 0), (2, 0), (3, 0)}))
    for it in finding.occurrences:
        assert it.tokens is not None
        assert spared / 2 < it.tokens < spared


def test_three_sessions_may_be_one_piece_of_work() -> None:
    assert found(*[START] * 3) == {}


def test_files_that_are_changed_had_to_be_read() -> None:
    told = [*START[:4], *([edit(it)] for it in FILES), [], []]
    assert "first-reads" not in found(*[told] * 4)


def test_what_is_looked_at_after_the_first_change_is_no_start() -> None:
    told = [[edit("src/new.py")], *START[:4], [], []]
    assert found(*[told] * 4) == {}


def test_a_listing_that_leads_nowhere_leaves_nothing_to_write_down() -> None:
    told = [[listing("src/")], [edit("src/new.py")], [], []]
    assert found(*[told] * 6) == {}


def test_a_session_that_looked_for_something_else_is_no_evidence() -> None:
    other = [[listing("src/")], [read("src/other.py")], [edit("src/new.py")], [], []]
    finding = found(*[START] * 4, other)["listings"]
    assert {it.session for it in finding.occurrences} == {0, 1, 2, 3}


def test_listing_in_a_shell_is_listing() -> None:
    look = shell("find", 400, form="find src -type f -name '*.py'", directory="")
    look = replace(look, runs=tuple({**it, "kind": CommandClass.SEARCH} for it in look.runs))
    finding = found(*[[[look], *START[1:]]] * 4)["listings"]
    assert "`src/`" in finding.claim


def test_instruction_files_are_what_was_written_down_already() -> None:
    told = [[listing("./")], *([read(f"{it}/AGENTS.md")] for it in "abc"), [], []]
    assert found(*[told] * 4) == {}


def test_a_call_that_lists_and_tests_is_no_mere_looking() -> None:
    look = listing("src/")
    both = Made(
        400, look.touches, shell("pytest", 1, kind=CommandClass.TEST).runs, look.tool, look.name
    )
    told = [[both], *START[1:]]
    assert "listings" not in found(*[told] * 4)
