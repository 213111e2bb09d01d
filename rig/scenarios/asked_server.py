"""A model asks hansei's server, which `hansei init --plugin` connected, and gets an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Purpose, Say, Script
from rig.seen import ask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_MARKER = "<!-- hansei -->"
_FAILING = "python3 -c 'import berthline_rig'"

_WAIT = "sleep 4"
"""Codex does not wait for servers before its first request."""
_FAILED = ("main", "again")
"""Cues of sessions in which it failed: once is an anecdote."""

MOST_BYTES = 8_000
"""Tools may take 6,000; the rest is skills, and what agents put around both."""


class AskedServer:
    title = "The agent asks hansei's server"

    def __init__(self) -> None:
        self.without = 0
        self.before: dict[str, bytes] = {}
        self.changed: set[str] = set()

    def script(self, stage: Stage) -> Script:
        shell = stage.agent.shell
        failed = (shell(_FAILING), Say("It fails."))
        return {**dict.fromkeys(_FAILED, failed), "more": (shell(_WAIT), Say("Nothing."))}

    def play(self, stage: Stage) -> None:
        for cue in _FAILED:
            stage.play(Launch(f"Please follow cue:{cue} to its end."))
        stage.play(Launch("Please follow cue:more to its end."))
        self.without = _size(stage, "more")
        ask(stage.place, stage.variables(), "facts", "failures", "--json")
        self.before = hooks.settings(stage)
        hooks.init(stage, "--plugin")
        after = hooks.settings(stage)
        both = self.before.keys() | after.keys()
        self.changed = {name for name in both if self.before.get(name) != after.get(name)}
        call = stage.agent.server("brief", {"task": "make the import work"})
        waiting = stage.agent.shell(_WAIT)
        stage.server.script = {"next": (waiting, call, Say("I know it now."))}
        stage.play(Launch("Now follow cue:next to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        session = seen.session(stage.runs[-1].session or "")
        calls = [it for it in seen.calls() if session and it.session == session.id]
        asked = [it.status for it in calls if "brief" in it.name]
        yield same("one call is there and went well", ["ok"], asked)
        told = [it.body for it in stage.server.served if it.cue == "next"]
        known = [it for it in told if "berthline_rig" in it and _MARKER in it]
        yield true("the model was given what failed before, marked as ours", bool(known))
        results = session.kind("tool_result") if session else ()
        shown = [it for it in results if _MARKER in it.get("text", "")]
        yield same("the transcript shows it", 1, len(shown))
        yield same("no words of ours are taken for the user's", [], _human(seen))
        seen_by_hooks = {it["name"] for it in (session.kind("observation") if session else ())}
        yield true("the hooks ran too, once", _once(session, seen_by_hooks), seen_by_hooks)
        more = _size(stage, "next") - self.without
        print(f"rig: {stage.agent.name}: a request is {more} bytes longer with the package")
        yield true("a request grew by less than 8,000 bytes", 0 < more < MOST_BYTES, more)
        hooks.init(stage, "--uninstall")
        after = hooks.settings(stage)
        left = {name for name in self.changed if self.before.get(name) != after.get(name)}
        yield same("and uninstall put all files back, byte for byte", set(), left)


def _human(seen: Seen) -> list[str]:
    return [text for text in seen.prompts("human") if _MARKER in text]


def _once(session: object, names: set[str]) -> bool:
    events = getattr(session, "events", ())
    starts = [it for it in events if it["kind"] == "observation" and it["name"] in _STARTS]
    return bool(names) and len(starts) <= 1


_STARTS = ("SessionStart", "session.created")


def _size(stage: Stage, cue: str) -> int:
    """Bytes of the second request of a turn, when servers have told their tools."""
    turns = [it for it in stage.server.served if it.cue == cue and it.purpose is Purpose.TURN]
    return len(turns[1].body.encode())


SCENARIO = AskedServer()
