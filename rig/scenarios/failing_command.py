"""A command fails with an exit code, one hides its code in a pipe, and the next one succeeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_ENDS = {
    "echo broken; exit 3": ("failed", "exit_code", 3),
    "false | cat": ("unknown", "masked", None),
    "echo mended": ("ok", "flag or exit_code", None),
}


class FailingCommand:
    title = "A failing command and its recovery"

    def script(self, stage: Stage) -> Script:
        return {"main": (*map(stage.agent.shell, _ENDS), Say("It works now."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end."))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        calls = {call.text: call for call in seen.calls()}
        yield same("the commands are there", sorted(_ENDS), sorted(calls))
        for command, (status, basis, code) in _ENDS.items():
            call = calls.get(command)
            if call is None:
                continue
            yield same(f"`{command}` ended as it did", status, call.status)
            if status != "ok":
                yield same(f"how we know the end of `{command}`", basis, call.basis)
            if code is not None:
                yield same(f"the exit code of `{command}`", code, call.exit_code)
        yield same("they are shell calls", {"shell"}, {call.tool for call in calls.values()})


SCENARIO = FailingCommand()
