"""Play one scenario with one agent, and say how it went."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rig import place, processes
from rig.agent import NotApplicable
from rig.scenario import Finding, always, unseen
from rig.seen import Failed, look
from rig.server import Server
from rig.stage import Stage

if TYPE_CHECKING:
    from pathlib import Path

    from rig.agent import Agent
    from rig.install import Installed
    from rig.scenario import Scenario


class State(StrEnum):
    OK = "ok"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True)
class Result:
    """How one scenario went with one agent."""

    scenario: str
    agent: str
    version: str
    state: State
    reason: str
    """Why it is not applicable, or which claims do not hold."""
    claims: int
    requests: int
    unseen: tuple[str, ...]
    """Requests the agent made without writing them down."""
    seconds: float

    def record(self) -> dict[str, Any]:
        return asdict(self)


def perform(
    name: str, scenario: Scenario, agent: Agent, installed: Installed, folder: Path
) -> Result:
    """Play and check, in a fresh place that stays for a look afterwards."""
    started = time.monotonic()
    state, reason, served = State.OK, "", 0
    findings: list[Finding] = []
    hidden: list[str] = []
    with Server({}) as server:
        stage = Stage(agent, installed, place.settle(folder), server)
        try:
            findings, hidden = _play(scenario, stage)
        except NotApplicable as why:
            state, reason = State.NOT_APPLICABLE, str(why)
        except Failed as why:
            state, reason = State.FAILED, str(why)
        finally:
            processes.sweep()
        served = len(server.served)
    broken = [finding for finding in findings if not finding.holds]
    if broken:
        state = State.FAILED
        reason = "; ".join(f"{finding.claim}: {finding.detail}" for finding in broken)
    spent = round(time.monotonic() - started, 1)
    return Result(
        name,
        agent.name,
        installed.version,
        state,
        reason,
        len(findings),
        served,
        tuple(hidden),
        spent,
    )


def _play(scenario: Scenario, stage: Stage) -> tuple[list[Finding], list[str]]:
    stage.agent.settle(stage.place, stage.server.url)
    stage.server.script = scenario.script(stage)
    scenario.play(stage)
    processes.wait()
    seen = look(stage.place, stage.variables())
    return [*always(stage, seen), *scenario.check(stage, seen)], unseen(stage, seen)
