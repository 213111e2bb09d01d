"""A hook ends with an error, prints garbage or hangs: the agent goes on, and hansei reads on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_WAYS = {
    "broken": hooks.EXIT_CODE,
    "garbled": hooks.GARBAGE,
    "hanging": hooks.HANGING,
}


class HookCrash:
    title = "A crash of the hook"

    def script(self, stage: Stage) -> Script:
        hooks.install(stage, hooks.EXIT_CODE)
        return {way: (stage.agent.shell(f"echo {way}"), Say("All the same.")) for way in _WAYS}

    def play(self, stage: Stage) -> None:
        for way, then in _WAYS.items():
            hooks.install(stage, then)
            stage.play(Launch(f"Please follow cue:{way} to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        for way, run in zip(_WAYS, stage.runs, strict=True):
            yield same(f"the agent ended well with a {way} hook", 0, run.finished.code)
            calls = [call.status for call in seen.calls() if call.text == f"echo {way}"]
            yield same(f"its call with a {way} hook is fine", ["ok"], calls)
        events = hooks.called(stage)
        begun = stage.agent.hook_events[0]
        yield true("the hooks were really called", begun in events, events)
        yield same("there are as many sessions as runs", len(stage.runs), len(seen.sessions))


SCENARIO = HookCrash()
