"""A SessionStart hook gives the model a text with our marker: hansei knows it for its own."""

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

_TEXT = "<!-- hansei --> Count the boats before noon."


class SessionStart:
    title = "SessionStart delivery"

    def script(self, stage: Stage) -> Script:
        hooks.install(stage, hooks.deliver(_TEXT))
        return {"main": (stage.agent.shell("echo boats"), Say("Seven boats."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield true("the model was given the text", stage.server.was_told(_TEXT))
        own = [text for text in seen.prompts("hansei") if _TEXT in text]
        yield same("hansei knows it for its own", 1, len(own))
        for origin in ("human", "hook", "harness"):
            found = [text for text in seen.prompts(origin) if _TEXT in text]
            yield same(f"and not as words of origin {origin}", [], found)
        starts = [one for one in hooks.told(stage) if one["hook_event_name"] == "SessionStart"]
        named = {one["session_id"] for one in starts}
        yield same(
            "the hook names the session as the transcript does",
            {session.id for session in seen.sessions},
            named,
        )


SCENARIO = SessionStart()
