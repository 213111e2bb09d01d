"""A part of a window: as it could be seen at a time."""

from __future__ import annotations

from hansei.projection.facts.folds import TABLES
from retro_window import DAY, Telling, window

ASKED = "No, use `uv run pytest`, never plain pytest."


def sessions() -> list[Telling]:
    """Five days, one session on each, in all of which a person says the same."""
    return [Telling().say("Fix it.").run("pytest", "1 failed", 1).say(ASKED) for _ in range(5)]


def test_it_holds_what_its_sessions_hold_and_nothing_else() -> None:
    whole = window(sessions())
    part = whole.within({2, 3}, 2 * DAY, 4 * DAY)
    assert set(part.sessions) == {2, 3}
    for table in TABLES:
        wanted = [it for it in whole.rows(table) if it.session in {2, 3}]
        assert part.rows(table) == wanted
    assert {it.session for it in part.calls} == {2, 3}


def test_what_was_said_before_is_known_and_what_is_said_later_is_not() -> None:
    whole = window(sessions())
    part = whole.within({2, 3}, 2 * DAY, 4 * DAY)
    assert {it.session for it in whole.corrections_of_all_time} == {1, 2, 3, 4, 5}
    assert {it.session for it in part.corrections_of_all_time} == {1, 2, 3}
