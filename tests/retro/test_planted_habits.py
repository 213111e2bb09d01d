"""Habits planted in many made-up windows among ordinary sessions, against what is found."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pytest

from hansei.bets.model import Finding
from hansei.retro.heuristics.big_file import BigFile
from hansei.retro.heuristics.rediscovered import Rediscovered
from made_window import Made, Told, bill, edit, listing, read, shell, window_of

WINDOWS = 40
RECALL, PRECISION, NEAR, SHARE = 0.95, 0.9, 0.25, 0.9
BIG = "src/auth.py"


@dataclass(frozen=True)
class Planted:
    """A window's sessions, and what the planted ones would not have been billed."""

    sessions: dict[int, Told]
    cost: int | None


def ordinary(dice: Random) -> list[list[Made]]:
    """A session that reads a few files of its own and changes one of them."""
    names = [f"app/src/part_{dice.randrange(400)}.py" for _ in range(dice.randrange(1, 5))]
    reads = [[read(name, dice.randrange(200, 4_000), first=1, last=300)] for name in names]
    work = [[shell("make test", dice.randrange(50, 700))] for _ in range(dice.randrange(1, 6))]
    return [*reads, [edit(names[0])], *work, [], []]


def looking_around(dice: Random) -> tuple[Told, int]:
    """First the folders above, then work below them."""
    first = [[listing(it, dice.randrange(300, 2_000))] for it in ("./", "app/")]
    told = [*first, *ordinary(dice)]
    return told, bill(told) - bill(told, frozenset({(0, 0), (1, 0)}))


def small_edit(dice: Random) -> tuple[Told, int]:
    """All of the big file for a few lines of it; it would have done with those around them."""
    lines, tokens = 900, dice.randrange(6_000, 9_000)
    place, length = dice.randrange(50, 800), dice.randrange(1, 20)
    told = [[read(BIG, tokens, first=1, last=lines)], [edit(BIG, place, place + length)]]
    told += ordinary(dice)
    near = read(BIG, tokens * (length + 61) // lines)
    return told, bill(told) - bill([[near], *told[1:]])


def windows(plant: str) -> list[Planted]:
    """Half of them with the habit in some of their sessions, half without."""
    made = []
    for number in range(WINDOWS):
        dice = Random(f"{plant} {number}")
        sessions: list[Told] = [ordinary(dice) for _ in range(dice.randrange(6, 14))]
        cost = None
        if number % 2:
            act = looking_around if plant == "listings" else small_edit
            acted = [act(dice) for _ in range(dice.randrange(5, 9))]
            sessions += [told for told, _ in acted]
            cost = sum(tokens for _, tokens in acted)
        dice.shuffle(sessions)
        made.append(Planted(dict(enumerate(sessions)), cost))
    return made


def found(plant: str, sessions: dict[int, Told]) -> list[Finding]:
    heuristic = Rediscovered() if plant == "listings" else BigFile()
    return list(heuristic.find(window_of(sessions)))


@pytest.mark.parametrize("plant", ["listings", "small edits"])
def test_planted_habits_are_found_and_nothing_else_with_what_they_took(plant: str) -> None:
    right = wrong = missed = near = 0
    for planted in windows(plant):
        there = found(plant, planted.sessions)
        if planted.cost is None:
            wrong += len(there)
            continue
        missed += not there
        right, wrong = right + bool(there), wrong + max(len(there) - 1, 0)
        if there:
            took = sum(it.tokens or 0 for it in there[0].occurrences)
            near += abs(took / planted.cost - 1) <= NEAR
    assert right >= RECALL * (right + missed)
    assert right >= PRECISION * (right + wrong)
    assert near >= SHARE * right


def test_listings_of_different_folders_are_no_habit() -> None:
    sessions = [
        [[listing(f"src/part_{number}/")], [read(f"src/part_{number}/a.py")], [], []]
        for number in range(12)
    ]
    assert found("listings", dict(enumerate(sessions))) == []
