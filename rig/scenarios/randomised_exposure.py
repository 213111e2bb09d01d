"""An experiment by a coin: transcripts alone tell who was given the text, and hansei agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hansei.hook.words import FORGETS
from hansei.sources.spool_lines import CALLED
from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script
from rig.seen import ask, ask_later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_TEXT = "Count the gulls before you count the boats."
_CUES = tuple("abcdefghijklmno")
"""The most sessions that are played: once in 1,000 times they leave an arm with fewer than two."""
_RESUMED = {"again": True, "anew": False}
"""The cue with which a session is resumed, by whether it was given the text."""


class RandomisedExposure:
    title = "An experiment by a coin"

    def script(self, stage: Stage) -> Script:
        hooks.init(stage)
        new = ("exp", "new", "--bind", "exposure", "--text", _TEXT, "--hypothesis", "gulls first")
        ask(stage.place, stage.variables(), *new, "--json")
        shell = stage.agent.shell
        return {cue: (shell(f"echo {cue}"), Say("Counted.")) for cue in (*_CUES, *_RESUMED)}

    def play(self, stage: Stage) -> None:
        for cue in _CUES:
            stage.play(Launch(f"Please follow cue:{cue} to its end.", hooked=True))
            with_it = sum(_given(stage, cue) for cue in _CUES)
            without = len(stage.runs) - with_it
            # Unequal, so that arms that were mixed up would show in their counts.
            if min(with_it, without) > 1 and with_it != without:
                break
        given = _arms(stage)
        for cue, told in _RESUMED.items():
            session = next((name for name, arm in given.items() if arm is told), None)
            stage.play(Launch(f"Now follow cue:{cue} as well.", session=session, hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        given = _arms(stage)
        told = list(given.values())
        arms = [told.count(False), told.count(True)]
        yield true("both arms occur", min(arms) > 1, arms)
        written = {session: _TEXT in _transcript(stage, session) for session in given}
        yield same("transcripts hold the text in the treatment arm alone", given, written)
        own = {one.id: _deliveries(one.kind("prompt")) for one in seen.sessions}
        due = {session: ["hansei"] * told for session, told in given.items()}
        if CALLED.get(stage.agent.name, stage.agent.name) in FORGETS:
            due = {session: told * _begun(stage, session) for session, told in due.items()}
        yield same("hansei reads it there once, and knows it for its own", due, own)
        stays = {cue: _given(stage, cue) for cue in _RESUMED}
        yield same("a resumed session stays in its arm", _RESUMED, stays)
        yield from _reported(stage, arms)


def _arms(stage: Stage) -> dict[str, bool]:
    """Whether each session was given the text when it began."""
    begun = [run for run in stage.runs if run.launch.session is None]
    pairs = zip(_CUES, begun, strict=False)
    return {run.session or "": _given(stage, cue) for cue, run in pairs}


def _given(stage: Stage, cue: str) -> bool:
    """Whether the model was told the text in the run of a cue."""
    return any(one.cue == cue and _TEXT in one.body for one in stage.server.served)


def _transcript(stage: Stage, session: str) -> str:
    """All that the agent wrote down of a session."""
    texts = [(file, file.read_text(encoding="utf-8")) for file in stage.place.home.rglob("*.jsonl")]
    return "".join(
        text for file, text in texts if session in f"{file} {text.partition(chr(10))[0]}"
    )


def _begun(stage: Stage, session: str) -> int:
    """How often a session was begun or taken up again."""
    return sum(session in (run.session, run.launch.session) for run in stage.runs)


def _deliveries(prompts: tuple[dict[str, Any], ...]) -> list[str]:
    return [one["origin"] for one in prompts if _TEXT in one["text"]]


def _reported(stage: Stage, arms: list[int]) -> Iterator[Finding]:
    place, variables = stage.place, stage.variables()
    soon = ask(place, variables, "exp", "report", "--json")
    going = {"it may still be going on": sum(arms)}
    yield same("who may still go on is not counted yet", going, soon["left_out"])
    told = ask_later(place, variables, "exp", "report", "--json")
    yield same("an hour later all are in an arm", {}, told["left_out"])
    yield same("and in the right one", arms, _sizes(told))
    yield same("which so few sessions do not decide", "inconclusive", told["verdict"]["word"])
    item = place.store / "exposure.json"
    yield true("the text is delivered as long as it runs", item.exists())
    over = ask_later(place, variables, "exp", "conclude", "--json")
    yield same(
        "concluding keeps what was counted", ("concluded", arms), (over["stage"], _sizes(over))
    )
    yield true("and ends the delivery", not item.exists())


def _sizes(report: dict[str, Any]) -> list[int]:
    return [report["verdict"][arm]["sessions"] for arm in ("control", "treatment")]


SCENARIO = RandomisedExposure()
