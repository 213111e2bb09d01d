"""Offers planted in a repository with sessions, for tests of what is done with offers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hansei.learn.model import Evidence, Offer, Skill, State
from hansei.ops.learn import Saved, Suggestion
from hansei.ops.windows import Ground

CHECKS = ("make fmt", "make check", "git push")


def offer(
    name: str = "procedure-make",
    commands: Sequence[str] = CHECKS,
    *,
    detector: str = "multi-step",
    sessions: Sequence[int] = (7, 8, 9),
    description: str = "Check and push; use it before a branch is handed over.",
) -> Offer:
    """An offer that some of the sessions in `bet_world.stocked` show."""
    steps = "".join(f"{number}. `{it}`\n" for number, it in enumerate(commands, 1))
    return Offer(
        detector=detector,
        name=name,
        description=description,
        body=f"## Steps\n\n{steps}",
        commands=tuple(commands),
        evidence=tuple(Evidence(f"{it:08x}-session", 3) for it in sessions),
        sessions=len(sessions),
        key=f"{detector}:{name}",
    )


@dataclass(frozen=True)
class Verdict:
    """What a gate says."""

    state: State = State.DRAFT
    reasons: tuple[str, ...] = ()


PASSES = Verdict()


@dataclass
class Planted:
    """Means that find what was planted and write nothing."""

    offers: Sequence[Offer] = ()
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    kept: list[Skill] = field(default_factory=list)
    saved: list[tuple[str, State, bool]] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    def find(self, ground: Ground) -> Iterable[Offer]:
        there = {ground.natives[number] for number in ground.window.sessions}
        return [it for it in self.offers if there & {place.session for place in it.evidence}]

    def judge(self, ground: Ground, offer: Offer) -> Verdict:
        assert ground.window.sessions
        self.judged.append(offer.name)
        return self.verdicts.get(offer.name, PASSES)

    def skills(self, ground: Ground) -> Iterable[Skill]:
        assert ground.name
        return self.kept

    def save(self, found: Suggestion, now: int, *, user: bool) -> Saved:
        assert now
        self.saved.append((found.offer.name, found.state, user))
        where = "~/.agents/skills" if user else ".agents/skills"
        files = (f"{where}/{found.offer.name}/SKILL.md",)
        live = found.state is State.DRAFT
        return Saved(found.offer.name, found.state, files if live else ())
