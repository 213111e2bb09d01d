"""Which skills should leave the book, and which should be put before agents more firmly.

Gathers what `learn.retirement` and `learn.ladder` decide by: what sessions tell of each skill, the
requests that carried it, where it stands, and the calls of this workspace's past.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from hansei.learn import ladder, retirement
from hansei.learn.ladder import Footing
from hansei.learn.model import Rung, Scope
from hansei.ops import skill_guards, skill_places, skill_rules
from hansei.ops.scope import Scope as Span
from hansei.ops.scope import current_workspace
from hansei.ops.skill_counters import story
from hansei.ops.windows import grounds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hansei.learn.counters import Counters
    from hansei.learn.curation import Step
    from hansei.learn.ladder import Trial
    from hansei.learn.model import Skill
    from hansei.ops.skills import Desk, Shelf
    from hansei.ops.windows import Ground


def steps(
    desk: Desk, rows: Sequence[tuple[Shelf, Skill]], told: Mapping[str, Counters]
) -> Iterator[Step]:
    """What sessions say should be retired or promoted; `told` is what was counted of each."""
    skills = [skill for _, skill in rows]
    yield from retirement.retirements(skills, told, _requests(desk), now=desk.now, by=desk.by)
    footings = {skill.name: footing(desk, shelf, skill) for shelf, skill in rows}
    tried = cache(lambda skill: trial(desk, skill))
    yield from ladder.promotions(skills, told, footings, tried, by=desk.by)


def _requests(desk: Desk) -> dict[str, int]:
    """How many requests each session made."""
    return {
        session.name: session.requests
        for ground in grounds(desk.store, Span(), desk.now)
        for session in ground.window.sessions.values()
    }


def footing(desk: Desk, shelf: Shelf, skill: Skill) -> Footing:
    """Where a skill stands, since when, and which steps could be taken here."""
    root = desk.root(skill)
    rung = Rung.NOTE
    if skill_guards.is_guarded(desk, skill):
        rung = Rung.HOOK
    elif skill_places.is_placed(desk.store, skill.name, root):
        rung = Rung.SKILL
    elif skill_rules.standing(desk.store, skill.name, root):
        rung = Rung.RULE
    return Footing(rung, story(shelf, skill).risen, frozenset(_possible(desk, skill)))


def _possible(desk: Desk, skill: Skill) -> Iterator[Rung]:
    yield Rung.SKILL
    if skill.scope is not Scope.WORKSPACE:
        return  # rules and hooks are about one repository, and hooks are tried on its past
    if any(skill_rules.spots(desk.store, skill, desk.root(skill))):
        yield Rung.RULE
    if skill_guards.obeying(desk.config):
        yield Rung.HOOK


def trial(desk: Desk, skill: Skill) -> Trial:
    """What a hook for a skill would have stopped in this workspace."""
    ground = _here(desk)
    return ladder.trial(ground.window, skill) if ground else ladder.Trial(0, 0, 0, 0)


def _here(desk: Desk) -> Ground | None:
    number, name = current_workspace(desk.store, desk.here)
    if number is None:
        return None
    found = grounds(desk.store, Span(workspace=number, workspace_name=name), desk.now)
    return found[0] if found else None
