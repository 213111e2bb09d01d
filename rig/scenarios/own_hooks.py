"""hansei's own hooks, put in by `hansei init` and taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig import hooks
from rig.agent import Launch
from rig.place import commit
from rig.scenario import Finding, same, true
from rig.script import Say, Script
from rig.seen import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage


class OwnHooks:
    title = "hansei's own hooks"

    def __init__(self) -> None:
        self.before: dict[str, bytes] = {}
        self.changed: set[str] = set()

    def script(self, stage: Stage) -> Script:
        place = stage.place
        place.write(place.project / stage.agent.instructions, "# Rules\n\nMind the tide.\n")
        place.write(place.project / "README.md", "# Changed and not committed\n")
        self.before = hooks.settings(stage)
        hooks.init(stage)
        after = hooks.settings(stage)
        both = self.before.keys() | after.keys()
        self.changed = {name for name in both if self.before.get(name) != after.get(name)}
        shell = stage.agent.shell
        return {"main": (shell("echo fine"), shell("exit 3"), Say("Mended."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield same("there is one session", 1, len(seen.sessions))
        yield from _calls(stage, seen)
        yield from _noted(seen)
        for session in seen.sessions:
            known = (session.heading["commit"], session.heading["branch"])
            yield same("commit and branch at the start", (commit(stage.place), "trunk"), known)
            in_force = ask(
                stage.place, stage.variables(), "show", session.id, "--exposure", "--json"
            )
            paths = [text["path"] for text in in_force["texts"]]
            found = any(path.endswith(stage.agent.instructions) for path in paths)
            yield true("the instruction file was in force", found, paths)
        hooks.init(stage, "--uninstall")
        after = hooks.settings(stage)
        left = {name for name in self.changed if self.before.get(name) != after.get(name)}
        yield true("init changed the settings", bool(self.changed))
        yield same("and uninstall put them back, byte for byte", set(), left)


def _calls(stage: Stage, seen: Seen) -> Iterator[Finding]:
    noted = seen.kind("observation")
    if "call" in stage.agent.silent:
        made = {call.name for call in seen.calls()}
        told = {one["native_tool"] for one in noted if "native_tool" in one}
    else:
        made = {call.id for call in seen.calls()}
        told = {one["call"] for one in noted if "call" in one}
    yield same("every call was also seen by a hook", made, told)


def _noted(seen: Seen) -> Iterator[Finding]:
    noted = seen.kind("observation")
    dirty = {one["dirty"] for one in noted if "dirty" in one}
    yield same("the tree was dirty", {True}, dirty)
    yield same("every line of the hooks was read", [], seen.doctor["spool"]["skipped"])
    own = seen.doctor["hooks"]["agents"]
    faults = [(agent["faults"], agent["missing"], agent["last_run"] is None) for agent in own]
    yield same("doctor finds the hooks in order, and that they ran", [([], [], False)], faults)


SCENARIO = OwnHooks()
