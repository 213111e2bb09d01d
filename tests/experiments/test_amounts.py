"""What a session took, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from hansei.bets.recurring import Fact
from hansei.config import CommandClass
from hansei.errors import UsageError
from hansei.events.model import Basis, Driver, Status, Tool
from hansei.experiments.metrics import spent, work
from hansei.experiments.metrics.catalogue import (
    AMOUNTS,
    GUARDRAILS,
    Amount,
    amount,
    by_family,
    known,
)
from hansei.projection.facts import folds
from hansei.projection.facts.called import Called
from hansei.projection.facts.ran import Ran
from hansei.projection.facts.tables import Found
from hansei.projection.outcomes import Fate, Outcome, Written, packed
from hansei.projection.provenance import Carried, Kind
from hansei.projection.window import EARLIER, Session, Window
from hansei.store.database import Store, open_store
from retro_window import Telling, window

MINUTE = 60_000
NOWHERE = cast("Store", None)


def session(number: int, parent: int | None = None, started: int | None = 0) -> Session:
    driver = Driver.HUMAN if parent is None else Driver.SUBAGENT
    return Session(number, f"s{number}", "agent", driver, parent, 1, started, started, 1, None)


def seen(
    rows: Mapping[str, list[Any]], sessions: int = 1, children: Mapping[int, int] | None = None
) -> Window:
    """Sessions with these rows and no others."""
    tables: dict[str, list[Any]] = {it.name: [] for it in (*folds.TABLES, folds.OUTCOMES)}
    numbers = range(1, sessions + 1)
    told = {it: session(it, (children or {}).get(it)) for it in numbers}
    return Window(NOWHERE, told, 0, 1, {EARLIER: [], **tables, **rows})


# --- what it took ---------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "store", now=1)
    yield opened
    opened.close()


def spend(
    store: Store, number: int, tokens: int | None, cost: int | None, requests: int = 2
) -> None:
    """A line of the bill; tokens or a price that nobody knows are None."""
    values = {
        "session": number,
        "requests": requests,
        "input": tokens,
        "output": None if tokens is None else 10,
        "cost": cost,
        "unmeasured": requests if tokens is None else 0,
        "unpriced": requests if cost is None else 0,
        "copies": 0,
        "removed": 0,
    }
    with store.transaction() as db:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        db.execute(f"INSERT INTO spend ({names}) VALUES ({marks})", tuple(values.values()))


def bill(store: Store, children: Mapping[int, int] | None = None) -> Window:
    told = {it: session(it, (children or {}).get(it)) for it in (1, 2, 3, 4)}
    return Window(store, told, 0, 1)


def test_tokens_and_money_are_added_up_and_unknown_where_a_part_is(store: Store) -> None:
    spend(store, 1, 90, 2_000_000_000)
    spend(store, 1, 190, 1_000_000_000)
    spend(store, 2, 90, None)
    spend(store, 3, None, None)
    spend(store, 3, 90, 1)
    seen = bill(store)
    assert spent.tokens(seen) == {1: 300, 2: 100, 3: None}
    assert spent.cost(seen) == {1: 3.0, 2: None, 3: None}
    assert spent.requests(seen) == {1: 4, 2: 2, 3: 4}


def test_a_family_takes_what_all_of_it_took(store: Store) -> None:
    for number, tokens in ((1, 90), (2, 190), (3, None), (4, 40)):
        spend(store, number, tokens, 1)
    assert by_family(bill(store, {2: 1, 3: 4}), known("tokens")) == {1: 300, 4: None}
    assert by_family(bill(store, {2: 1, 3: 2}), known("requests")) == {1: 6, 4: 2}


def test_compactions_are_known_where_the_context_is() -> None:
    pieces = [
        Found(number, Carried(seq, kind, 10, 1, 1, None, None))
        for number, seq, kind in (
            (1, 1, Kind.PREFIX), (1, 5, Kind.SUMMARY), (1, 9, Kind.SUMMARY), (2, 1, Kind.PREFIX)
        )
    ]  # fmt: skip
    assert spent.compactions(seen({folds.PIECES.name: pieces}, 3)) == {1: 2, 2: 0, 3: None}


# --- what came of it ------------------------------------------------------------------------------

_RAN = Ran(
    0, "pytest", None, CommandClass.TEST, "pytest", "pytest", (), (), "", about=True, masked=False,
    inside=False, parsed=True,
)  # fmt: skip


def runs(*told: tuple[int, float | None, Status]) -> dict[str, list[Any]]:
    """Test runs: the session, the minute it ended, and how."""
    calls, commands = [], []
    for seq, (number, minute, status) in enumerate(told, 1):
        at = None if minute is None else round(minute * MINUTE)
        calls.append(
            Found(
                number,
                Called(seq, None, 0, at, at, Tool.SHELL, "Bash", None, status, Basis.NONE, 1),
            )
        )
        commands.append(Found(number, _RAN._replace(seq=seq)))
    return {folds.CALLS.name: calls, folds.COMMANDS.name: commands}


def test_minutes_to_the_first_test_run_that_passed() -> None:
    rows = runs(
        (1, 2, Status.FAILED), (1, 5, Status.OK), (1, 9, Status.OK),
        (2, 3, Status.FAILED), (3, None, Status.OK), (4, 1, Status.UNKNOWN),
    )  # fmt: skip
    assert work.minutes_to_green(seen(rows, 5)) == {1: 5, 3: None}
    assert work.green(seen(rows, 5)) == {1: 1, 2: 0, 3: 1}


def test_the_first_of_a_family_to_get_there_counts_from_the_start_of_the_first() -> None:
    rows = runs((1, 8, Status.OK), (2, 6, Status.OK), (3, 2, Status.FAILED))
    whole = seen(rows, 3, {2: 1, 3: 1})
    later = {**whole.sessions, 2: session(2, 1, started=5 * MINUTE)}
    family = Window(NOWHERE, later, 0, 1, rows)
    assert by_family(family, known("minutes")) == {1: 6}
    assert by_family(family, known("green")) == {1: 1}


def test_loops_are_counted_by_file() -> None:
    told = Telling()
    for _ in range(3):
        told.run("pytest -q", "1 failed in 0.1s", 1).edit("/work/app/src/money.py")
    told.run("pytest -q", "1 failed in 0.1s", 1)
    assert work.edit_loops(window([told, Telling()])) == {1: 1, 2: 0}


def test_remarks_are_counted_where_a_person_could_make_them() -> None:
    corrected = Telling().say("Add a limit.").edit("/work/app/a.py").answer("Done.")
    corrected.say("No, use the logger, not print.").edit("/work/app/a.py")
    told = window([corrected, Telling().say("Hi."), Telling(driver=Driver.AUTOMATED)])
    assert work.remarks(told) == {1: 1, 2: 0}


def outcomes(*told: tuple[int, Fate, int, int | None]) -> dict[str, list[Any]]:
    """Edits: the session, what became of it, lines that landed, and lines left after a week."""
    return {
        folds.OUTCOMES.name: [
            Found(number, Outcome(seq, 0, "a.py", fate, "", 9, landed, alive_7=alive))
            for seq, (number, fate, landed, alive) in enumerate(told)
        ]
    }


FATES = outcomes(
    (1, Fate.LANDED, 9, 4), (1, Fate.NOT_COMMITTED, 0, None),
    (2, Fate.LANDED, 9, None),
    (3, Fate.LANDED, 9, 9), (3, Fate.WAITING, 0, None),
    (4, Fate.UNKNOWN, 0, None),
    (5, Fate.TAKEN_BACK, 0, None),
)  # fmt: skip


def test_lines_that_landed_and_stayed_are_known_once_git_can_say() -> None:
    told = seen(FATES, 6)
    assert work.landed_lines(told) == {1: 9, 2: 9, 3: None, 4: None, 5: 0, 6: 0}
    assert work.surviving_lines(told) == {1: 4, 2: None, 3: None, 4: None, 5: 0, 6: 0}


def test_one_line_in_git_is_a_result_and_who_wrote_nothing_has_none() -> None:
    assert work.result(seen(FATES, 6)) == {1: 1, 2: 1, 3: 1, 4: None, 5: 0}
    family = seen(FATES, 6, {4: 5, 3: 6})
    assert by_family(family, known("result")) == {1: 1, 2: 1, 5: None, 6: 1}


def test_edits_that_nobody_looked_for_yet_are_unknown() -> None:
    hunk = packed(Written(1, "c1", 0, "a.py", None, ("a = 1",), (), 1))
    told = seen({folds.HUNKS.name: [Found(1, hunk)]}, 2)
    assert work.landed_lines(told) == {1: None, 2: 0}
    assert work.result(told) == {1: None}


# --- the table ------------------------------------------------------------------------------------


def test_a_name_means_an_amount_or_a_fact_and_never_both() -> None:
    names = [it.name for it in AMOUNTS]
    assert len(set(names)) == len(names)
    assert set(names).isdisjoint(Fact)
    assert set(GUARDRAILS) <= set(names)
    assert amount("failures") is None


@pytest.mark.parametrize("it", AMOUNTS, ids=lambda it: it.name)
def test_an_amount_that_nobody_has_is_no_amount(it: Amount) -> None:
    assert it.joined([None, None]) is None
    assert it.joined([1, 0, None]) in (None, 1, 0)
    assert it.smallest > 0


def test_a_wrong_name_is_told_the_right_ones() -> None:
    with pytest.raises(UsageError, match="'speed'") as raised:
        known("speed")
    assert "tokens" in (raised.value.hint or "")
