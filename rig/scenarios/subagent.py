"""The agent starts a subagent, which runs a command of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.agent import Launch
from rig.scenario import Finding, same
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_TASK = "Follow cue:child and report."


class Subagent:
    title = "A subagent"

    def script(self, stage: Stage) -> Script:
        agent = stage.agent
        # The pause lets an agent that works beside its subagent see it end.
        return {
            "main": (agent.spawn(_TASK), agent.shell("sleep 3"), Say("Both are done.")),
            "child": (agent.shell("echo child"), Say("The part is done.")),
        }

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end."))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        main = [one for one in seen.sessions if one.heading["relation"] is None]
        children = [one for one in seen.sessions if one.heading["relation"] == "subagent"]
        yield same("one session and one subagent", (1, 1), (len(main), len(children)))
        if not (main and children):
            return
        (parent, *_), (child, *_) = main, children
        yield same("the subagent knows its parent", parent.id, child.heading["parent"])
        yield same("it is driven by it", "subagent", child.heading["driver"])
        own = [call.text for call in seen.calls() if call.session == child.id]
        yield same("its command is its own", ["echo child"], own)
        started = [event.get("child") for event in parent.kind("tool_result") if event.get("child")]
        yield same("the call that started it points to it", [child.id], started)
        tasks = [text for text in seen.prompts("parent_agent") if _TASK in text]
        yield same("its task comes from its parent", 1, len(tasks))


SCENARIO = Subagent()
