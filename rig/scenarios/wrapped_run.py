"""`hansei run`: the agent says what it always says, its exit code is kept, then come the offers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig import procedure, wrapped
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script
from rig.seen import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class WrappedRun:
    title = "An agent under `hansei run`"
    options: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.codes: tuple[int | None, ...] = ()

    def script(self, stage: Stage) -> Script:
        return {"main": (*procedure.lay_out(stage), Say("It is out."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end."), through=wrapped.run(*self.options))
        listed = ask(stage.place, stage.variables(), "sessions", "--no-ingest", "--json")
        self.stored = [one["id"] for one in listed["sessions"]]
        self.codes = tuple(
            stage.fail(through=through) for through in ((), wrapped.run(*self.options))
        )

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        (run,) = stage.runs
        yield same("its exit code is kept", 0, run.finished.code)
        yield true("stdout is the agent's alone", run.session is not None, run.finished.out[-300:])
        yield same("the session was taken in when it ended", [run.session], self.stored)
        done = [(call.text, call.status) for call in seen.calls()]
        yield same("the commands ran", [(command, "ok") for command in procedure.COMMANDS], done)
        yield true("what was learned is offered on stderr", procedure.TELLING in run.finished.err)
        yield same("and nothing went wrong with it", False, "warning:" in run.finished.err)
        direct, through = self.codes
        yield same("a failing exit code is kept as well", direct, through)
        yield true("which is one that tells of a failure", direct not in {0, None}, direct)


SCENARIO = WrappedRun()
