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


def found(*folders: str, share: float = 0.75, sessions: int = 5) -> list[Finding]:
    return list(CrowdedSearch().find(window(*folders, share=share, sessions=sessions)))


def test_the_line_says_where_to_search_and_what_to_leave_out() -> None:
    (finding,) = found("app/node_modules", "venv")
    assert finding.change.design is Design.LINE
    assert finding.change.text == (
        "To search, begin in `app/src/`: higher up, `app/node_modules/`, `venv/` fill the answer. "
        "With `find`, use `-prune`."
    )
    assert "`app/node_modules/`, `venv/`" in finding.claim


def test_several_folders_of_one_name_are_named_once() -> None:
    (finding,) = found("app/node_modules", "lib/node_modules")
    assert "find `node_modules/` instead" in finding.claim


def test_a_folder_that_holds_packages_is_not_where_to_search() -> None:
    (finding,) = found("app/src/node_modules")
    assert finding.change.text.startswith("To search, name a folder, or leave out ")


def test_every_folder_that_is_changed_is_named_and_none_where_they_are_many() -> None:
    def told(*paths: str) -> str:
        made = window("app/node_modules", share=0.75, sessions=6)
        more: Told = [[edit(path) for path in paths]]
        made.rows(folds.TOUCHES).extend(window_of({5: more}).touches)
        (finding,) = CrowdedSearch().find(made)
        return finding.change.text

    assert "begin in `app/src/`, `server/`: " in told("server/a.py", "server/b.py")
    assert "leave out" in told("a/1.py", "b/1.py", "c/1.py", "d/1.py")


def test_where_all_projects_read_the_line_it_names_no_folder_of_one() -> None:
    made = window("app/node_modules", share=0.75, sessions=5)
    made.rows(folds.STANDS).extend(Found(it, folds.Stand(("/home/me",))) for it in made.sessions)
    (finding,) = CrowdedSearch().find(made)
    assert finding.anywhere
    assert "app/src" not in finding.change.text


def test_one_answer_that_makes_up_the_sum_is_told_and_is_not_enough() -> None:
    made = window("venv", share=0.75, sessions=5)
    rows = made.rows(folds.CROWDED)
    rows[0] = Found(0, rows[0].row._replace(lines=9_000, made=8_000))
    (finding,) = CrowdedSearch().find(made)
    assert "8,300 of 9,400 lines lie there, most of it one answer" in finding.because[0]
    assert "most" not in finding.because[1]
    rows[1:] = [Found(it.session, it.row._replace(share=0.01)) for it in rows[1:]]
    assert list(CrowdedSearch().find(made)) == []


def test_what_counts_is_the_share_of_the_answer_as_long_as_it_was_carried() -> None:
    (finding,) = found("venv", share=0.5)
    assert [it.tokens for it in finding.occurrences] == [SIZE * CARRIED // 2] * 5


def test_it_must_recur() -> None:
    assert found("venv", sessions=4) == []
    assert found("venv", share=0.01) == []


def test_subagents_of_one_task_on_one_day_are_told_the_same() -> None:
    made = window("venv", share=0.75, sessions=5)
    family = {
        number: it._replace(parent=0 if number else None, started=made.sessions[0].started)
        for number, it in made.sessions.items()
    }
    assert list(CrowdedSearch().find(replace(made, sessions=family))) == []


def test_a_window_without_such_answers_has_none() -> None:
    assert list(CrowdedSearch().find(window_of(dict.fromkeys(range(5), STORY)))) == []
