"""hansei's SessionStart hook gives the model a text, and hansei knows it again."""

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

_WORDS = "Count the boats before noon."
_TEXT = f"<!-- hansei --> {_WORDS}"
_TASK = "Follow cue:child and report."


class SessionStart:
    title = "SessionStart delivery"

    def script(self, stage: Stage) -> Script:
        hooks.init(stage)
        hooks.expose(stage, _TEXT)
        spawn, pause = stage.agent.spawn(_TASK), stage.agent.shell("sleep 3")
        return {
            "main": (spawn, pause, Say("Seven boats.")),
            "child": (Say("Four of them are red."),),
        }

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        begun = {"main": None, "child": "subagent"}
        if "SubagentStart" not in stage.agent.hook_events:
            begun.pop("child")
        for cue in begun:
            given = [one for one in stage.server.served if one.cue == cue and _WORDS in one.body]
            yield true(f"the model was given the text in {cue}", bool(given))
        yield same("there are a session and a subagent", 2, len(seen.sessions))
        for session in seen.sessions:
            own = [one["origin"] for one in session.kind("prompt") if _WORDS in one["text"]]
            due = ["hansei"] if session.heading["relation"] in begun.values() else []
            yield same("each was given it once, and hansei knows it for its own", due, own)
        noted = [one for one in seen.kind("observation") if one.get("delivered") == ["rig"]]
        yield same("the hook noted each delivery", len(begun), len(noted))
        disagreements = seen.doctor["spool"]["disagreements"]
        yield same("the notes agree with the transcripts", [], disagreements)


SCENARIO = SessionStart()
