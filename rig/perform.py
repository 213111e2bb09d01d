"""Play one scenario with one agent, and say how it went."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from rig import place, processes
from rig.scenario import Finding, NotHere, always, unwritten
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
    outward: tuple[str, ...]
    """Other machines the agent tried to reach; it was refused."""
    unwritten: tuple[str, ...]
    """What the agent did and did not write down."""
    seconds: float

    def record(self) -> dict[str, Any]:
        return asdict(self)


def perform(
    name: str, scenario: Scenario, agent: Agent, installed: Installed, folder: Path
) -> Result:
    """Play and check, in a fresh place that stays for a look afterwards."""
    if reason := agent.lacks.get(name):
        return _not_applicable(name, agent, installed, reason)
    started = time.monotonic()
    with Server({}) as server:
        stage = Stage(agent, installed, place.settle(folder), server)
        try:
            findings, left_out = _play(scenario, stage)
        except NotHere as why:
            return _not_applicable(name, agent, installed, str(why))
        except (Failed, LookupError, TypeError, ValueError, OSError) as why:
            findings, left_out = [Finding("it can be played and checked", False, repr(why))], []
        finally:
            processes.sweep()
    broken = [finding for finding in findings if not finding.holds]
    return Result(
        name,
        agent.name,
        installed.version,
        State.FAILED if broken else State.OK,
        "; ".join(f"{finding.claim}: {finding.detail}" for finding in broken),
        len(findings),
        len(server.served),
        tuple(sorted(set(server.outward))),
        tuple(left_out),
        round(time.monotonic() - started, 1),
    )


def _not_applicable(name: str, agent: Agent, installed: Installed, reason: str) -> Result:
    return Result(
        name, agent.name, installed.version, State.NOT_APPLICABLE, reason, 0, 0, (), (), 0.0
    )


def _play(scenario: Scenario, stage: Stage) -> tuple[list[Finding], list[str]]:
    stage.agent.settle(stage.place, stage.server.url)
    stage.server.script = scenario.script(stage)
    scenario.play(stage)
    processes.wait()
    seen = look(stage.place, stage.variables())
    return [*always(stage, seen), *scenario.check(stage, seen)], unwritten(stage, seen)
