"""A call is refused by a rule: it never ran, and it did not fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class DeclinedTool:
    title = "A declined tool"

    def script(self, stage: Stage) -> Script:
        refused = stage.agent.forbid(stage.place)
        return {"main": (refused, stage.agent.shell("echo instead"), Say("As you wish."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end."))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        ends = [(call.status, call.basis) for call in seen.calls()][:1]
        yield same("the refused call counts as declined", [("unknown", "declined")], ends)
        left = (stage.place.project / "forbidden").exists()
        yield same("and it really did not run", False, left)
        ran = [call.status for call in seen.calls()][1:]
        yield same("the call after it is fine", ["ok"], ran)


SCENARIO = DeclinedTool()
