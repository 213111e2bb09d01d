"""A skill of the repository is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_NAME = "lantern"
_BODY = "Light the lantern before the gate is opened."
_FILE = f"---\nname: {_NAME}\ndescription: How the gate is opened at night.\n---\n\n{_BODY}\n"


class Skill:
    title = "A skill that fires"

    def script(self, stage: Stage) -> Script:
        place = stage.place
        place.write(place.project / stage.agent.skills / _NAME / "SKILL.md", _FILE)
        call = stage.agent.skill(_NAME)
        return {"main": (*([call] if call else []), Say("The gate is open."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch(f"Please follow cue:main to its end.{stage.agent.naming(_NAME)}"))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        yield true("the model was given the skill", stage.server.was_told(_BODY))
        called = [call for call in seen.calls() if _NAME in call.text]
        loaded = [text for text in seen.prompts("harness") if _BODY in text]
        if stage.agent.skill(_NAME):
            yield same("the call names the skill", ["ok"], [call.status for call in called])
        shown = [
            event["kind"]
            for session in seen.sessions
            for event in session.events
            if _BODY in str(event)
        ]
        yield true("hansei shows the skill's text", bool(shown or loaded), shown)
        yield same(
            "not as the user's words", 0, sum(_BODY in text for text in seen.prompts("human"))
        )


SCENARIO = Skill()
