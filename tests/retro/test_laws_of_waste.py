"""What holds for every heuristic about waste, whatever the sessions were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from hansei.projection.files import Again
from hansei.projection.funnel import Use
from hansei.retro.heuristics.big_file import BigFile
from hansei.retro.heuristics.crowded_search import CrowdedSearch
from hansei.retro.heuristics.idle_rent import IdleRent
from hansei.retro.heuristics.large_output import LargeOutput
from hansei.retro.heuristics.rediscovered import Rediscovered
from hansei.retro.heuristics.reread import Reread
from made_window import Told, edit, listing, read, shell, window_of

if TYPE_CHECKING:
    from hansei.projection.window import Window
    from hansei.retro.contract import Heuristic

HEURISTICS = (
    CrowdedSearch(tokens=1),
    Rediscovered(),
    Reread(tokens=1),
    LargeOutput(total=1),
    BigFile(tokens=1),
    IdleRent(tokens=1),
)
FILES = ("src/a.py", "src/b.py", "src/c.py", "docs/d.md")
CALLS = some.one_of(
    some.builds(lambda path: read(path, 6_000, first=1, last=900), some.sampled_from(FILES)),
    some.builds(
        lambda path: read(path, 700, redundant=1, again=Again.REPEAT), some.sampled_from(FILES)
    ),
    some.builds(lambda path: edit(path, 300, 310), some.sampled_from(FILES)),
    some.builds(listing, some.sampled_from(("./", "src/"))),
    some.builds(
        shell, some.sampled_from(("git log", "tickets list")), some.sampled_from((50, 4_000))
    ),
)
SESSIONS = some.lists(
    some.lists(some.lists(CALLS, max_size=2), min_size=1, max_size=8), min_size=1, max_size=9
)
IDLE = Use(
    "skill", "tides", "/home/me/skills/tides/SKILL.md", 3, None, None, None,
    False, False, None, 0, 0, 400, 100, 4_000, "transcript",
)  # fmt: skip

every_heuristic = pytest.mark.parametrize("heuristic", HEURISTICS, ids=lambda it: it.name)


def made(sessions: list[Told]) -> Window:
    stories = dict(enumerate(sessions))
    return window_of(stories, {it: [IDLE] for it in stories})


def savings(heuristic: Heuristic, window: Window) -> dict[str, int]:
    return {
        it.key: sum(once.tokens or 0 for once in it.occurrences) for it in heuristic.find(window)
    }


@every_heuristic
@given(sessions=SESSIONS, data=some.data())
@settings(max_examples=60)
def test_one_session_more_in_which_it_happens_never_lowers_the_saving(
    heuristic: Heuristic, sessions: list[Told], data: some.DataObject
) -> None:
    before = savings(heuristic, made(sessions))
    after = savings(heuristic, made([*sessions, data.draw(some.sampled_from(sessions))]))
    assert all(after[key] >= tokens for key, tokens in before.items())


@every_heuristic
@given(sessions=SESSIONS, data=some.data())
@settings(max_examples=60)
def test_the_order_of_sessions_does_not_matter(
    heuristic: Heuristic, sessions: list[Told], data: some.DataObject
) -> None:
    shuffled = data.draw(some.permutations(sessions))
    there = [(it.key, it.claim, it.because, it.change) for it in heuristic.find(made(sessions))]
    assert there == [
        (it.key, it.claim, it.because, it.change) for it in heuristic.find(made(shuffled))
    ]
    assert savings(heuristic, made(sessions)) == savings(heuristic, made(shuffled))


@every_heuristic
@given(story=some.lists(some.lists(CALLS, max_size=2), min_size=1, max_size=30))
@settings(max_examples=60)
def test_one_session_alone_never_makes_a_bet(heuristic: Heuristic, story: Told) -> None:
    assert list(heuristic.find(made([story]))) == []


@every_heuristic
@given(sessions=SESSIONS)
@settings(max_examples=60)
def test_nothing_is_said_to_take_more_than_was_billed(
    heuristic: Heuristic, sessions: list[Told]
) -> None:
    window = made(sessions)
    billed = sum(piece.billed for _, piece in window.pieces)
    said = sum(
        sum(piece.tokens for made_by in it.spoken.values() for piece in made_by)
        + sum(sum(calls.values()) for calls in it.calls.values())
        for it in window.rounds.values()
    )
    if heuristic.name != "idle-rent":  # its rents are told by the rows, not by the pieces
        assert all(it <= billed + said for it in savings(heuristic, window).values())


@every_heuristic
def test_an_empty_window_has_no_bets(heuristic: Heuristic) -> None:
    assert list(heuristic.find(window_of({}))) == []


@every_heuristic
@given(sessions=SESSIONS)
@settings(max_examples=30)
def test_claims_and_lines_are_single_lines(heuristic: Heuristic, sessions: list[Told]) -> None:
    for finding in heuristic.find(made(sessions)):
        assert finding.claim.isprintable()
        assert all(it.isprintable() for it in finding.because)
        assert 1 <= len(finding.because) <= 3
