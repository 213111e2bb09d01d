"""Playing a scenario: whatever goes wrong, the result says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rig.catalogue import AGENTS
from rig.install import Installed
from rig.perform import State, perform
from rig.scenario import Finding
from rig.script import Script
from rig.seen import Failed, Seen
from rig.stage import Stage

INSTALLED = Installed(Path("no-such-agent"), "1.0")


class Broken:
    title = "One that goes wrong"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def script(self, stage: Stage) -> Script:
        return {}

    def play(self, stage: Stage) -> None:
        raise self.error

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        return iter(())


@pytest.mark.parametrize("error", [Failed("hansei said no"), KeyError("gone"), OSError("no agent")])
def test_a_scenario_that_goes_wrong_has_failed(tmp_path: Path, error: Exception) -> None:
    result = perform("broken", Broken(error), AGENTS[0], INSTALLED, tmp_path / "place")
    assert result.state is State.FAILED
    assert str(error.args[0]) in result.reason


def test_what_an_agent_lacks_is_not_played(tmp_path: Path) -> None:
    agent = next(agent for agent in AGENTS if agent.lacks)
    name, reason = next(iter(agent.lacks.items()))
    result = perform(name, Broken(KeyError()), agent, INSTALLED, tmp_path / "place")
    assert (result.state, result.reason) == (State.NOT_APPLICABLE, reason)
    assert not (tmp_path / "place").exists()
