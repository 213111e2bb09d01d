"""Searches that find packages and caches instead of source."""

from __future__ import annotations

from dataclasses import replace

from hansei.bets.model import Design, Finding
from hansei.projection.facts import folds
from hansei.projection.facts.tables import Found
from hansei.projection.files import Crowded
from hansei.projection.window import Window
from hansei.retro.heuristics.crowded_search import CrowdedSearch
from made_window import Told, edit, listing, read, seq_of, window_of

SIZE = 4_000
STORY: Told = [[listing("./", SIZE)], [read("app/src/a.ts")], [edit("app/src/a.ts")], [], [], []]
CARRIED = len(STORY)
"""Requests that carry the answer."""


def window(*folders: str, share: float, sessions: int) -> Window:
    numbers = range(sessions)
    made = window_of(dict.fromkeys(numbers, STORY))
    row = Crowded(seq_of(STORY, 0, 0), 100, 75, share, folders)
    made.rows(folds.CROWDED).extend(Found(it, row) for it in numbers)
    return made


def found(*folders: str, share: float = 0.75, sessions: int = 4) -> list[Finding]:
    return list(CrowdedSearch().find(window(*folders, share=share, sessions=sessions)))


def test_the_line_says_where_to_search_and_what_to_leave_out() -> None:
    (finding,) = found("app/node_modules", "venv")
    assert finding.change.design is Design.LINE
    assert finding.change.text == (
        "Search below `app/src/`, not `**` from the top: answers would be full of "
        "`app/node_modules/`, `venv/`. With `find`, use `-prune`."
    )
    assert "`app/node_modules/`, `venv/`" in finding.claim


def test_several_folders_of_one_name_are_named_once() -> None:
    (finding,) = found("app/node_modules", "lib/node_modules")
    assert "find `node_modules/` instead" in finding.claim


def test_a_folder_that_holds_packages_is_not_where_to_search() -> None:
    (finding,) = found("app/src/node_modules")
    assert finding.change.text.startswith("Name a folder when you search,")


def test_what_counts_is_the_share_of_the_answer_as_long_as_it_was_carried() -> None:
    (finding,) = found("venv", share=0.5)
    assert [it.tokens for it in finding.occurrences] == [SIZE * CARRIED // 2] * 4


def test_it_must_recur() -> None:
    assert found("venv", sessions=2) == []
    assert found("venv", share=0.01) == []


def test_subagents_of_one_task_on_one_day_are_told_the_same() -> None:
    made = window("venv", share=0.75, sessions=4)
    family = {
        number: it._replace(parent=0 if number else None, started=made.sessions[0].started)
        for number, it in made.sessions.items()
    }
    assert list(CrowdedSearch().find(replace(made, sessions=family))) == []


def test_a_window_without_such_answers_has_none() -> None:
    assert list(CrowdedSearch().find(window_of(dict.fromkeys(range(5), STORY)))) == []
