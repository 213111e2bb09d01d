"""Large outputs that are carried long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hansei.bets.model import Category, Design, Finding
from hansei.config import CommandClass
from hansei.events.model import Status, Tool
from hansei.projection.files import Verb
from hansei.retro.heuristics.large_output import LargeOutput
from made_window import Made, Told, edit, shell, window_of

LONG: Told = [[], [], [], [], [], []]


def found(*calls: Made, times: int = 3) -> list[Finding]:
    told = [[it] for it in calls] + list(LONG)
    return list(LargeOutput().find(window_of(dict.fromkeys(range(times), told))))


def test_a_known_program_is_told_how_to_be_quiet() -> None:
    (finding,) = found(shell("docker compose logs", 9_000))
    assert "`docker compose logs`" in finding.claim
    assert finding.change.design is Design.LINE
    assert "`docker compose logs --tail 50`" in finding.change.text
    assert finding.fix == "docker compose logs --tail 50"
    assert finding.category is Category.FIX


def test_what_a_quieter_form_still_prints_is_not_saved() -> None:
    (finding,) = found(shell("docker compose logs", 9_000))
    requests = len(LONG) + 1
    assert [it.tokens for it in finding.occurrences] == [(9_000 - 300) * requests] * 3


def test_an_unknown_program_is_a_task_not_a_line() -> None:
    (finding,) = found(shell("tickets list", 9_000))
    assert finding.change.design is Design.BRIEF
    assert finding.category is Category.INVESTIGATE
    assert "`tickets list`" in finding.change.text


def test_an_option_that_is_there_already_is_not_proposed() -> None:
    (finding,) = found(shell("pytest", 9_000, flags=("-q",), kind=CommandClass.TEST))
    assert "tail" in finding.change.text


def test_one_subcommand_with_many_arguments_is_one_thing() -> None:
    (finding,) = LargeOutput().find(window_of(_shown_by("git", "log")))
    assert finding.key == "git log"


def test_an_unknown_program_that_shows_another_thing_each_time_is_left_alone() -> None:
    assert list(LargeOutput().find(window_of(_shown_by("tickets", "show")))) == []


def _shown_by(program: str, subcommand: str) -> dict[int, Told]:
    name = f"{program} {subcommand}"
    runs = [shell(name, 5_000, form=f"{name} {it}") for it in "abc"]
    return {number: [[it], *LONG] for number, it in enumerate(runs)}


def test_a_tool_of_a_server_counts_too() -> None:
    (finding,) = found(Made(9_000, tool=Tool.MCP, name="mcp__db__list_tables"))
    assert "`mcp__db__list_tables`" in finding.claim


@pytest.mark.parametrize(
    "call",
    [
        shell("pytest", 9_000, status=Status.FAILED),
        shell("rg", 9_000, kind=CommandClass.SEARCH),
        shell("docker compose logs", 900),
        Made(9_000, ({"path": "src/a.py", "verb": Verb.READ},), tool=Tool.SHELL),
        Made(9_000, tool=Tool.SUBAGENT, name="Task"),
    ],
    ids=["failed", "search", "small", "source file", "subagent"],
)
def test_what_was_needed_is_left_alone(call: Made) -> None:
    assert found(call) == []


def test_what_is_soon_gone_again_costs_little() -> None:
    told = [*LONG, [edit("a.py")], [shell("docker compose logs", 9_000)], []]
    assert list(LargeOutput().find(window_of(dict.fromkeys(range(3), told)))) == []


def test_twice_is_chance() -> None:
    assert found(shell("docker compose logs", 9_000), times=2) == []


def test_sizes_are_told_as_a_range() -> None:
    told = {
        number: [[shell("docker compose logs", size)], *LONG]
        for number, size in enumerate((4_000, 21_000, 6_000))
    }
    (finding,) = LargeOutput().find(window_of(told))
    assert finding.claim.startswith("`docker compose logs` prints 4 k to 21 k tokens")


def test_a_call_that_was_filtered_already_is_no_occurrence() -> None:
    whole = shell("docker compose logs", 9_000)
    cut = replace(whole, runs=(*whole.runs, {**whole.runs[0], "program": "grep", "about": False}))
    (finding,) = found(whole, cut)
    assert len(finding.occurrences) == 3
    assert found(cut) == []


def test_another_form_of_an_unknown_program_is_another_thing() -> None:
    plain = shell("tickets list", 9_000)
    below = shell("tickets list", 9_000, form="tickets list --parent x")
    (finding,) = LargeOutput().find(
        window_of({it: [[plain], *([[below]] if it < 2 else []), *LONG] for it in range(3)})
    )
    assert finding.key == "tickets list"
    assert len(finding.occurrences) == 3
