"""A skill that was promoted to a hook: the call it warns of is stopped, the next one is not.

An agent that is not known to heed a refusal makes every call.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hansei.hook.words import BEFORE_CALLS
from hansei.sources.spool_lines import CALLED
from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

GUARD = {
    "name": "quiet-harbour",
    "needles": ["touch"],
    "reason": "Nothing is touched here. Use `mkdir` instead. (skill quiet-harbour)",
    "predicates": {"avoid": ["touch forbidden"], "do": ["mkdir"]},
}


class GuardedCall:
    title = "A call that a promoted skill stops"

    def script(self, stage: Stage) -> Script:
        hooks.init(stage)
        guard = {**GUARD, "root": str(stage.place.project.resolve())}
        told = json.dumps({"v": 1, "guards": [guard]})
        stage.place.write(stage.place.store / "guards.json", told)
        shell = stage.agent.shell
        calls = (shell("touch forbidden"), shell("echo touch forbidden"), shell("touch allowed"))
        return {"main": (*calls, Say("As you wish."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        project = stage.place.project
        heeds = CALLED.get(stage.agent.name, stage.agent.name) in BEFORE_CALLS
        yield same("the call did not run", not heeds, (project / "forbidden").exists())
        yield same("the one beside it did", True, (project / "allowed").exists())
        ends = [(call.status, call.basis) for call in seen.calls()]
        if heeds:
            yield same("it counts as declined", [("unknown", "declined")], ends[:1])
        yield same("and the others as fine", ["ok", "ok"], [status for status, _ in ends[1:]])


SCENARIO = GuardedCall()
