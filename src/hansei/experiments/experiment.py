"""An experiment: what is claimed, how the arms are told apart, what is counted, how far it got.

It only ever goes forward: draft, running, concluded, archived. What it rests on is frozen when it
is concluded, so that a verdict stays what it was.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from hansei.errors import UsageError


class Stage(StrEnum):
    """How far an experiment got."""

    DRAFT = "draft"
    RUNNING = "running"
    CONCLUDED = "concluded"
    ARCHIVED = "archived"


NEXT: Final = {
    Stage.DRAFT: Stage.RUNNING,
    Stage.RUNNING: Stage.CONCLUDED,
    Stage.CONCLUDED: Stage.ARCHIVED,
}


class Bind(StrEnum):
    """How the sessions with the change are told from those without it."""

    EXPOSURE = "exposure"
    NUDGE = "nudge"
    DAYS = "days"
    GIT = "git"
    BRANCH = "branch"
    PROMPT = "prompt"
    TAG = "tag"


RANDOMISED: Final = frozenset({Bind.EXPOSURE, Bind.NUDGE, Bind.DAYS})
"""A coin decides: only these may say that a change helped or harmed."""

DELIVERED: Final = frozenset({Bind.EXPOSURE, Bind.NUDGE})
"""A hook tells the sessions of one arm."""


class Terms(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a binding needs to know; each uses its own part."""

    change: str | None = None
    """A commit."""
    pin: str | None = None
    """A commit before the change."""
    treatment: str | None = None
    control: str | None = None
    """Branches, or fingerprints."""
    text: str | None = None
    """What is delivered, or stands in a file's block."""
    path: str | None = None
    salt: str | None = None
    share: float = 0.5
    """Of sessions, or days, that are to have the change."""


class Experiment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question put to the sessions of a workspace."""

    id: str
    workspace: int
    hypothesis: str
    bind: Bind
    fact: str
    """What is counted; see `metrics`."""
    created_at: int
    subject: str = ""
    """Of the fact: a signature, a cluster, a path."""
    terms: Terms = Terms()
    stage: Stage = Stage.DRAFT
    margin: float = 0.1
    """A difference this small is none: in share of sessions, or as a part of the mean."""
    alpha: float = 0.05
    auto: bool = False
    """Whether a harmful change is taken back without asking."""
    bet: str | None = None
    entry: int | None = None
    """Of the journal: the change itself."""
    started_at: int | None = None
    concluded_at: int | None = None
    archived_at: int | None = None
    verdict: str | None = None
    """The word it ended with."""
    report: str | None = None
    """As it stood when it was concluded: JSON."""

    @property
    def randomised(self) -> bool:
        return self.bind in RANDOMISED


def advanced(it: Experiment, stage: Stage, *, now: int) -> Experiment:
    """The experiment one step on; backwards, or over a step, there is no way."""
    if NEXT.get(it.stage) is not stage:
        usual = NEXT.get(it.stage)
        raise UsageError(
            f"experiment {it.id} is {it.stage}: it cannot become {stage}",
            hint=f"Next it can be {usual}." if usual else "An archived one stays as it is.",
        )
    moment = {
        Stage.RUNNING: "started_at",
        Stage.CONCLUDED: "concluded_at",
        Stage.ARCHIVED: "archived_at",
    }[stage]
    return msgspec.structs.replace(it, stage=stage, **{moment: now})
