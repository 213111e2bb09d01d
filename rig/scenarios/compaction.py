"""The context is replaced by a summary, and the session goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Purpose, Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_COMMANDS = ("echo first", "echo second", "echo last")


class Compaction:
    title = "A compaction"

    def script(self, stage: Stage) -> Script:
        return {
            "main": (stage.agent.shell("echo first"), Say("First part.")),
            "then": (stage.agent.shell("echo second"), Say("Second part.")),
            "last": (stage.agent.shell("echo last"), Say("Third part.")),
        }

    def play(self, stage: Stage) -> None:
        session = stage.play(Launch("Please follow cue:main to its end.")).session
        stage.play(Launch("Now follow cue:then as well.", session=session, compacting=True))
        stage.play(Launch("And follow cue:last too.", session=session))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        asked = [one for one in stage.server.served if one.purpose is Purpose.SUMMARY]
        yield same("the agent asked for a summary", True, bool(asked))
        found = seen.kind("compaction")
        yield same("one compaction is seen", 1, len(found))
        yield same(
            "with the summary's words",
            True,
            any("The summary: all is well so far." in event.get("text", "") for event in found),
        )
        yield same("it is still one session", 1, len(seen.sessions))
        # Some agents are only asked to compact, and some forget the prompt with the rest.
        called = [one.step for one in stage.server.served]
        ran = [it for it in _COMMANDS if stage.agent.shell(it) in called]
        yield same("each command once", ran, [call.text for call in seen.calls()])


SCENARIO = Compaction()
