"""What hansei learned from one session is listed and loaded in the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rig import procedure
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Call, Purpose, Say, Script
from rig.seen import ask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rig.seen import Seen
    from rig.stage import Stage

_CUES = ("main", "again")
"""What two sessions did is offered."""


class SavedSkill:
    title = "A skill that hansei saved"

    def __init__(self) -> None:
        self.saved: list[dict[str, Any]] = []

    def script(self, stage: Stage) -> Script:
        return dict.fromkeys(_CUES, (*procedure.lay_out(stage), Say("It is out.")))

    def play(self, stage: Stage) -> None:
        for cue in _CUES:
            stage.play(Launch(f"Please follow cue:{cue} to its end."))
        learned = ask(stage.place, stage.variables(), "learn", "--yes", "--json")
        self.saved = learned["saved"]
        name = str(self.saved[0]["name"])
        # It says what to run and nobody typed it: it waits for a person's word.
        ask(stage.place, stage.variables(), "skills", "promote", name, "--yes", "--json")
        call: Call | None = stage.agent.skill(name)
        stage.server.script = {"next": (*([call] if call else []), Say("As it is done here."))}
        stage.play(Launch(f"Now follow cue:next to its end.{stage.agent.naming(name)}"))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        name = str(self.saved[0]["name"])
        (saved, *_) = [path for path in stage.place.project.rglob("SKILL.md") if _is(path, name)]
        head, _, body = saved.read_text(encoding="utf-8")[4:].partition("\n---\n")
        described = next(line for line in head.splitlines() if line.startswith("description:"))
        telling = procedure.TELLING.removeprefix("./")
        line = next(line for line in body.splitlines() if telling in line)
        turns = [one for one in stage.server.served if one.purpose is Purpose.TURN]
        begun = next(one for one in turns if one.cue == "next")
        yield true("the next session lists it", name in begun.body, described)
        yield true("the model was given the text", stage.server.was_told(line), line)
        last = stage.runs[-1].session
        session = seen.session(last or "")
        events = session.events if session else ()
        yield true("the transcript shows it", any(line in str(event) for event in events), line)
        if stage.agent.skill(name):
            yield true("its text comes only when it is wanted", line not in begun.body)
            called = [(c.status, name in c.text) for c in seen.calls() if c.session == last]
            yield same("the call names the skill", [("ok", True)], called)
        human = [text for text in seen.prompts("human") if line in text]
        yield same("not as the user's words", [], human)


def _is(path: Path, name: str) -> bool:
    return path.parent.name == name


SCENARIO = SavedSkill()
