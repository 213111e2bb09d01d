"""The same in a sandbox, in which the agent also tries to write where it may not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rig import wrapped
from rig.scenario import Finding, NotHere, same
from rig.scenarios.wrapped_run import WrappedRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.script import Script
    from rig.seen import Seen
    from rig.stage import Stage

_KEY = "rig-secret-key"


class SandboxedRun(WrappedRun):
    title = "An agent under `hansei run --sandbox`"
    options = ("--sandbox",)

    def script(self, stage: Stage) -> Script:
        if not wrapped.can_sandbox():
            raise NotHere("bubblewrap makes no sandbox on this machine")
        script = super().script(stage)
        place = stage.place
        place.write(place.home / ".ssh/id_rig", _KEY)
        outside = "touch ../outside /tmp/rig-was-here; cat ~/.ssh/id_rig; true"
        place.write(place.project / "Makefile", f"configure package:\n\t@{outside}\n")
        return script

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield from super().check(stage, seen)
        outside = [stage.place.folder / "outside", Path("/tmp/rig-was-here")]
        yield same("nothing was written outside", [], [path for path in outside if path.exists()])
        yield same("nobody was shown the key", False, stage.server.was_told(_KEY))


SCENARIO = SandboxedRun()
