"""Ctrl-C while a command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class Interruption:
    title = "An interruption"

    def script(self, stage: Stage) -> Script:
        wait = stage.agent.shell("touch started; sleep 40")
        return {"main": (wait, Say("Too late."))}

    def play(self, stage: Stage) -> None:
        started = stage.place.project / "started"
        stage.play(Launch("Please follow cue:main to its end."), interrupt=started.exists)

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield same("there is one session", 1, len(seen.sessions))
        yield same("the interruption is seen", 1, len(seen.kind("interruption")))
        calls = seen.calls()
        yield same("the command is there", 1, len(calls))
        yield true(
            "a stopped command neither failed nor succeeded",
            all(call.status in {None, "unknown"} for call in calls),
            calls,
        )


SCENARIO = Interruption()
