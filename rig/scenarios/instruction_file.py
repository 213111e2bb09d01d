"""The repository has an instruction file: the model gets it, and hansei can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_RULE = "Always greet the harbour master."


class InstructionFile:
    title = "An instruction file"

    def script(self, stage: Stage) -> Script:
        place = stage.place
        place.write(place.project / stage.agent.instructions, f"# Rules\n\n{_RULE}\n")
        return {"main": (Say("I greet the harbour master."),)}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end."))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield true("the model was given the file", stage.server.was_told(_RULE))
        where = [
            event["kind"]
            for session in seen.sessions
            for event in session.events
            if _RULE in str(event)
        ]
        yield true("hansei shows its text in the session", bool(where), where)
        yield same(
            "not as the user's words", 0, sum(_RULE in text for text in seen.prompts("human"))
        )


SCENARIO = InstructionFile()
