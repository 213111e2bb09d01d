"""A failure with a known fix is met: half of the sessions are told the fix, by a coin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script
from rig.seen import ask, ask_later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_FAILING = "python3 tool.py pack"
_FIXED = "python3 tool.py pack --allow-dirty"
_TOLD = "was got past by adding"
_PAST = ("before", "earlier")
"""The cues of sessions that found the fix."""
_CUES = tuple("abcdefghijkl")
_TOOL = """\
import sys
if "--allow-dirty" not in sys.argv:
    sys.exit("tool.PackError: the berth is dirty and cannot be packed")
"""


class Nudge:
    title = "A known fix, told by a coin when the failure is met"

    def script(self, stage: Stage) -> Script:
        stage.place.write(stage.place.project / "tool.py", _TOOL)
        shell = stage.agent.shell
        past = (shell(_FAILING), shell(_FIXED), Say("Packed."))
        met = (shell(_FAILING), shell(_FAILING), Say("It does not work."))
        return {**dict.fromkeys(_PAST, past), **dict.fromkeys(_CUES, met)}

    def play(self, stage: Stage) -> None:
        for cue in _PAST:
            stage.play(Launch(f"Please follow cue:{cue} to its end."))
        ask(stage.place, stage.variables(), "facts", "failures", "--json")
        hooks.init(stage)
        ask(stage.place, stage.variables(), "exp", "new", "--bind", "nudge", "--json")
        for cue in _CUES:
            stage.play(Launch(f"Please follow cue:{cue} to its end.", hooked=True))
            told = [_given(stage, cue) for cue in _CUES[: len(stage.runs) - len(_PAST)]]
            if {True, False} == set(told):
                break

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        runs = stage.runs[len(_PAST) :]
        given = {
            run.session or "": _given(stage, cue) for cue, run in zip(_CUES, runs, strict=False)
        }
        yield same("both arms occur", {True, False}, set(given.values()))
        own = {name: _deliveries(seen, name) for name in given}
        once = {name: ["hansei"] if told else [] for name, told in given.items()}
        yield same("told once in the treatment arm, never in control, and known as ours", once, own)
        fixed = [
            _FIXED.removeprefix("python3 ") in _text(seen, name) for name in given if given[name]
        ]
        yield same("what is told is the fix", [True] * len(fixed), fixed)
        told = ask_later(stage.place, stage.variables(), "exp", "report", "--json")
        arms = [sum(not it for it in given.values()), sum(given.values())]
        yield same("the experiment has them in their arms", arms, _sizes(told))
        why = {"no hook saw it meet a failure with a known fix", "it began before the experiment"}
        yield true("and says why others are out", set(told["left_out"]) <= why, told["left_out"])
        ask_later(stage.place, stage.variables(), "exp", "conclude", "--json")
        yield true("it ends with it", not (stage.place.store / "exposure.json").exists())


def _given(stage: Stage, cue: str) -> bool:
    return any(one.cue == cue and _TOLD in one.body for one in stage.server.served)


def _prompts(seen: Seen, name: str) -> list[dict[str, Any]]:
    session = seen.session(name)
    return [it for it in (session.kind("prompt") if session else ()) if _TOLD in it["text"]]


def _deliveries(seen: Seen, name: str) -> list[str]:
    return [it["origin"] for it in _prompts(seen, name)]


def _text(seen: Seen, name: str) -> str:
    return " ".join(it["text"] for it in _prompts(seen, name))


def _sizes(report: dict[str, Any]) -> list[int]:
    return [report["verdict"][arm]["sessions"] for arm in ("control", "treatment")]


SCENARIO = Nudge()
