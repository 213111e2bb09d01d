"""A session is ended and resumed: it stays one, and nothing in it counts twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class Resume:
    title = "A resume"

    def script(self, stage: Stage) -> Script:
        return {
            "main": (stage.agent.shell("echo first"), Say("First part.")),
            "then": (stage.agent.shell("echo second"), Say("Second part.")),
        }

    def play(self, stage: Stage) -> None:
        first = stage.play(Launch("Please follow cue:main to its end."))
        stage.play(Launch("Now follow cue:then as well.", session=first.session))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        named = {run.session for run in stage.runs}
        yield same(
            "it is one session, by the agent's name", named, {one.id for one in seen.sessions}
        )
        yield same(
            "each command once", ["echo first", "echo second"], [call.text for call in seen.calls()]
        )
        yield same("four requests", 4, len(seen.usage()))


SCENARIO = Resume()
