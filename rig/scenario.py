"""A scenario: what the model says, what is done with the agent, what hansei must then see."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from rig.script import Purpose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.script import Script, Tokens, Usage
    from rig.seen import Seen
    from rig.server import Served
    from rig.stage import Stage


@dataclass(frozen=True)
class Finding:
    """A claim about what hansei saw, and whether it holds."""

    claim: str
    holds: bool
    detail: str = ""


class NotHere(Exception):
    """This machine lacks what a scenario needs."""


class Scenario(Protocol):
    """One scenario; each is a file in `rig/scenarios`."""

    title: str

    def script(self, stage: Stage) -> Script:
        """What the model says; also the place to lay out files and settings."""

    def play(self, stage: Stage) -> None:
        """Drive the agent."""

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        """What must hold beside what holds for every scenario."""


def same(claim: str, expected: Any, found: Any) -> Finding:
    """Two values are equal."""
    return Finding(claim, expected == found, f"expected {expected!r}, hansei has {found!r}")


def true(claim: str, holds: bool, detail: object = "") -> Finding:
    return Finding(claim, holds, str(detail))


def always(stage: Stage, seen: Seen) -> Iterator[Finding]:
    """What must hold in every scenario."""
    yield from _runs(stage)
    yield from _tokens(stage, seen)
    yield from _reading(stage, seen)
    yield from _prompts(stage, seen)


def _runs(stage: Stage) -> Iterator[Finding]:
    yield same("only our protocols were spoken", [], stage.server.strange)
    for number, run in enumerate(stage.runs, 1):
        ended = run.finished
        said = (ended.err or ended.out).strip()[-300:]
        yield true(f"run {number} of the agent ended by itself", ended.code is not None, said)


def _tokens(stage: Stage, seen: Seen) -> Iterator[Finding]:
    """Every answer in a turn counts once, and nothing counts that the server did not say."""
    due = Counter(_told(stage, one) for one in stage.server.served if one.purpose is Purpose.TURN)
    allowed = Counter(one for served in stage.server.served for one in _ways(stage, served))
    counted = Counter(seen.usage())
    yield same("every answer in a turn is counted, to the token", {}, dict(due - counted))
    yield same("nothing else is counted, and nothing twice", {}, dict(counted - allowed))


def unwritten(stage: Stage, seen: Seen) -> list[str]:
    """What the agent did not write down: requests for titles and summaries, who drove a fork."""
    counted = set(seen.usage())
    requests = [
        f"a request for {_PURPOSES[one.purpose]} ({sum_of(one.tokens)} tokens)"
        for one in stage.server.served
        if counted.isdisjoint(_ways(stage, one))
    ]
    if "driver" in stage.agent.silent:
        return requests
    silent = [one for one in seen.sessions if not one.heading["driver_recorded"]]
    return requests + [f"who drove session {one.heading['short']}" for one in silent]


def _ways(stage: Stage, served: Served) -> list[Usage]:
    """How a request may be counted: of a summary, agents need not tell the reasoning."""
    told = _told(stage, served)
    return [told, (*told[:-1], None)] if served.purpose is Purpose.SUMMARY else [told]


def _told(stage: Stage, served: Served) -> Usage:
    return stage.agent.wire.told(served.tokens)


_PURPOSES = {Purpose.TURN: "a turn", Purpose.SUMMARY: "a summary", Purpose.ASIDE: "a title"}


def sum_of(tokens: Tokens) -> int:
    return tokens.input + tokens.cache_read + tokens.cache_write + tokens.output


def _reading(stage: Stage, seen: Seen) -> Iterator[Finding]:
    known = {one["agent"]: one for one in seen.doctor["agents"]}
    if stage.agent.name not in known:
        yield true("hansei reads this agent", False, "there is no source for it")
        return
    health = known[stage.agent.name]
    yield same("no record of an unknown kind", {}, health["unrecognised"])
    yield same(
        "nothing unreadable, nothing skipped", ({}, []), (health["unreadable"], health["skipped"])
    )
    yield same("reading again adds nothing", (0, 0), (seen.again["events"], seen.again["changed"]))
    silent = stage.agent.silent
    versions = {session.heading["version"] for session in seen.sessions}
    told = None if "version" in silent else stage.installed.version
    yield same("the version is known where it is told", {told}, versions)
    drivers = {
        session.heading["driver"]
        for session in seen.sessions
        if session.heading["relation"] != "subagent" and session.heading["driver_recorded"]
    }
    if "driver" not in silent:
        yield same("a run by a program is automated", {"automated"}, drivers)


def _prompts(stage: Stage, seen: Seen) -> Iterator[Finding]:
    """Each prompt that reached the model, once, in the words it was given in."""
    said = seen.prompts("human")
    for run in stage.runs:
        prompt = run.launch.prompt
        if prompt in " ".join(stage.agent.command(run.launch)):
            times = sum(prompt in text for text in said)
            yield same(f"the prompt {prompt!r} is there once, as the user's", 1, times)
    foreign = [text for text in said if not any(run.launch.prompt in text for run in stage.runs)]
    yield same("nobody else's words are taken for the user's", [], foreign)
