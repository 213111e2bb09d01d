"""hansei's hook when hansei is gone, its spool is blocked, or it is told to deliver nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_COMPLAINTS = ("hook_non_blocking_error", "hook_cancelled")
_WAYS = ("gone", "full", "nonsense")


class OwnHookBroken:
    title = "A crash of hansei's own hook"

    def script(self, stage: Stage) -> Script:
        hooks.init(stage)
        return {way: (stage.agent.shell(f"echo {way}"), Say("All the same.")) for way in _WAYS}

    def play(self, stage: Stage) -> None:
        launcher, spool = hooks.launcher(stage), stage.place.store / "spool"
        whole = launcher.read_text(encoding="utf-8")
        launcher.write_text(whole.replace("run.py", "gone.py"), encoding="utf-8")
        _run(stage, "gone")
        launcher.write_text(whole, encoding="utf-8")
        stage.place.write(spool, "in the way of a folder")
        _run(stage, "full")
        spool.unlink()
        stage.place.write(stage.place.store / "exposure.json", '{"v": 1, "items": [7, {"text"')
        _run(stage, "nonsense")

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        for way, run in zip(_WAYS, stage.runs, strict=True):
            yield same(f"the agent ended well with the hook {way}", 0, run.finished.code)
            calls = [call.status for call in seen.calls() if call.text == f"echo {way}"]
            yield same(f"its call with the hook {way} is fine", ["ok"], calls)
        complaints = [one["name"] for one in seen.kind("notice") if one["name"] in _COMPLAINTS]
        yield same("the agent complains of nothing", [], complaints)
        noted = {one["session"] for one in seen.kind("observation")}
        yield same("what could be noted was", {stage.runs[-1].session}, noted)


def _run(stage: Stage, way: str) -> None:
    stage.play(Launch(f"Please follow cue:{way} to its end.", hooked=True))


SCENARIO = OwnHookBroken()
