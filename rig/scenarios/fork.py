"""A session is forked: what the fork copied belongs to its original and counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class Fork:
    title = "A fork"

    def script(self, stage: Stage) -> Script:
        return {
            "main": (stage.agent.shell("echo first"), Say("First part.")),
            "left": (stage.agent.shell("echo left"), Say("Left.")),
            "right": (stage.agent.shell("echo right"), Say("Right.")),
        }

    def play(self, stage: Stage) -> None:
        first = stage.play(Launch("Please follow cue:main to its end."))
        stage.play(Launch("Now follow cue:left instead.", session=first.session, fork=True))
        stage.play(Launch("Now follow cue:right instead.", session=first.session, fork=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        named = [run.session for run in stage.runs]
        yield same(
            "three sessions", sorted(map(str, named)), sorted(one.id for one in seen.sessions)
        )
        for run, command in zip(stage.runs, ("echo first", "echo left", "echo right"), strict=True):
            own = [call.text for call in seen.calls() if call.session == run.session]
            yield same(f"`{command}` belongs to one of them", [command], own)
        yield same("six requests", 6, len(seen.usage()))


SCENARIO = Fork()
