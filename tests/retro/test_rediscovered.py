"""What sessions find out again at their start."""

from __future__ import annotations

from dataclasses import replace

from hansei.bets.model import Design, Finding
from hansei.config import CommandClass
from hansei.events.model import Driver
from hansei.projection.facts import folds
from hansei.projection.facts.tables import Found
from hansei.projection.files import Crowded
from hansei.projection.window import Window
from hansei.retro.heuristics.rediscovered import Rediscovered
from made_window import Made, Told, bill, edit, listing, read, seq_of, shell, window_of

SOURCE = ("app/src/core/model.py", "app/src/core/store.py", "app/src/api.py")
BELOW: Told = [
    [listing("./")], [listing("app/")], *([read(it)] for it in SOURCE), [edit("app/src/new.py")],
    [], [],
]  # fmt: skip
"""Finds out that everything is in `app/src/`."""
SERVICES = ("src/services/berth.py", "src/services/crew.py", "src/services/ship.py")
WITHIN: Told = [
    [listing("src/services/")], *([read(it)] for it in SERVICES), [edit("src/services/new.py")],
    [edit("tests/test_new.py"), edit("docs/new.md"), edit("web/new.ts")], [], [],
]  # fmt: skip
"""Lists a folder for what is always in it."""


def found_in(window: Window) -> dict[str, Finding]:
    return {it.key: it for it in Rediscovered().find(window)}


def found(*sessions: Told) -> dict[str, Finding]:
    return found_in(window_of(dict(enumerate(sessions))))


def test_the_line_says_where_source_begins_and_where_not_to_look() -> None:
    finding = found(*[BELOW] * 4)["begins"]
    assert finding.change.design is Design.LINE
    assert finding.change.text == (
        "Source begins in `app/src/`: look there first, not in `./`, `app/`."
    )
    assert "4 sessions list `./`, `app/`" in finding.claim
    assert not finding.on_demand


def test_listings_took_what_the_bill_would_have_been_lower() -> None:
    finding = found(*[BELOW] * 4)["begins"]
    spared = bill(BELOW) - bill(BELOW, frozenset({(0, 0), (1, 0)}))
    assert sum(it.tokens or 0 for it in finding.occurrences) == 4 * spared


def test_names_of_files_are_told_on_demand_only() -> None:
    finding = found(*[WITHIN] * 4)["names src/services/"]
    assert finding.on_demand
    assert finding.change.text == (
        "`src/services/` holds `berth.py`, `crew.py`, `new.py`, `ship.py`: open them without "
        "listing it."
    )


def test_reading_is_no_waste() -> None:
    told = [*([read(it)] for it in SOURCE), [edit("app/src/new.py")], [], []]
    assert found(*[told] * 9) == {}


def test_who_is_asked_to_explore_has_to_explore() -> None:
    told = [[listing("./")], *([read(it)] for it in SOURCE), [], []]
    assert found(*[told] * 9) == {}


def test_subagents_do_as_they_are_told() -> None:
    window = window_of(dict.fromkeys(range(6), BELOW))
    by_others = {
        number: it._replace(driver=Driver.SUBAGENT) for number, it in window.sessions.items()
    }
    assert found_in(window)
    assert found_in(replace(window, sessions=by_others)) == {}


def test_three_sessions_may_be_one_piece_of_work() -> None:
    assert found(*[BELOW] * 3) == {}


def test_what_is_looked_at_after_the_first_change_is_no_start() -> None:
    told = [[edit("app/src/new.py")], *BELOW[:5], [], []]
    assert found(*[told] * 4) == {}


def test_where_sessions_work_all_over_there_is_no_beginning() -> None:
    told = [
        [[listing("./")], [edit(f"{part}/a.py")], [edit(f"{part}/b.py")], [], []]
        for part in ("web", "api", "docs", "ops")
    ]
    assert found(*told, *told) == {}


def test_what_lies_in_the_top_is_seen_at_a_glance() -> None:
    told = [[listing("./")], [edit("app/a.py")], [edit("app/b.py")], [], []]
    assert found(*[told] * 6) == {}


def test_a_crowded_listing_is_another_bet() -> None:
    window = window_of(dict.fromkeys(range(4), BELOW))
    row = Crowded(seq_of(BELOW, 0, 0), 100, 100, 1.0, ("node_modules",))
    window.rows(folds.CROWDED).extend(Found(it, row) for it in range(4))
    places = {it.seq for it in found_in(window)["begins"].occurrences}
    assert places == {seq_of(BELOW, 1, 0)}


def test_listing_in_a_shell_is_listing() -> None:
    look = shell("find", 400, form="find app -type f -name '*.py'", directory="")
    look = replace(look, runs=tuple({**it, "kind": CommandClass.SEARCH} for it in look.runs))
    finding = found(*[[[look], *BELOW[2:]]] * 4)["begins"]
    assert "list `app/`" in finding.claim


def test_instruction_files_are_what_was_written_down_already() -> None:
    told = [[listing("./")], *([edit(f"app/src/{it}/AGENTS.md")] for it in "abc"), [], []]
    assert found(*[told] * 4) == {}


def test_a_call_that_lists_and_tests_is_no_mere_looking() -> None:
    look = listing("./")
    both = Made(
        400, look.touches, shell("pytest", 1, kind=CommandClass.TEST).runs, look.tool, look.name
    )
    assert found(*[[[both], *BELOW[2:]]] * 4) == {}
