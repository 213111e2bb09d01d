"""A session while it is being told.

Time is kept in two kinds: rigid (a test run takes what it takes) and elastic (people and models
think). When the telling is over, the elastic part is stretched so that the work ends at the moment
the plan says, because that is when its commit was made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hansei.synth.dice import fingerprint
from hansei.synth.output import chatter
from hansei.synth.story import (
    Aside,
    Call,
    Change,
    Compaction,
    Correction,
    Create,
    Outcome,
    Prompt,
    Read,
    Request,
    Run,
)
from hansei.synth.voices import pick

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from hansei.synth.story import Action, Manner, Origin, Plant, State, Step

ROOM = 380_000
"""Bytes of text after which an agent compacts its context by itself: about 145,000 tokens."""

CALL_GAP = 0.3
"""Seconds between two calls of one answer."""

RIGID_PART = 0.8
"""The most that rigid time may take of a sitting; it is squeezed where a world is very dense."""


@dataclass(frozen=True)
class Doing:
    """A call to be made, with its answer."""

    action: Action
    text: str = ""
    seconds: float = 0.2
    state: State = "ok"
    exit_code: int | None = None
    answered: bool = True
    spilled: bool = False


def ran(command: str, text: str, seconds: float = 1.0, exit_code: int = 0) -> Doing:
    """A command that ran to its end."""
    return Doing(
        Run(command), text.strip("\n"), seconds, "failed" if exit_code else "ok", exit_code
    )


class Draft:
    """Steps and plants of one sitting, added to by scenes."""

    def __init__(
        self, rng: Random, name: str, files: Mapping[str, str], padding: float, summary: str
    ) -> None:
        self.rng = rng
        self.name = name
        self.files = dict(files)
        self.padding = padding
        self.summary = summary
        self.steps: list[Step] = []
        self.plants: list[Plant] = []
        self.seen: dict[str, str] = {}
        """Files in the context, as they were when read."""
        self.work_done: int | None = None
        """The moment that is to fall on the planned end."""
        self._moments: list[tuple[float, float]] = []
        self._elastic = 0.0
        self._rigid = 0.0
        self._bytes = 0
        self._calls = 0

    # Moments are numbers into a table until the draft is finished.

    def now(self) -> int:
        self._moments.append((self._elastic, self._rigid))
        return len(self._moments) - 1

    def wait(self, low: float, high: float) -> None:
        """Let somebody think for some seconds."""
        self._elastic += self.rng.uniform(low, high)

    def say(
        self,
        text: str,
        origin: Origin = "human",
        topic: str | None = None,
        manner: Manner = "said",
        aside: str | None = None,
        about: str | None = None,
    ) -> None:
        """A prompt; with a topic, one that corrects the call `about`, else the last one.

        `aside` is why it only seems to correct anything.
        """
        if self.steps and origin == "human":
            last = self.steps[-1]
            if isinstance(last, Request) and last.calls:  # an agent ends its turn with words
                self.act(reply=pick(self.rng, "say_pause"))
            self.wait(15, 240)
        if topic is not None:
            self.plants.append(Correction(len(self.steps), topic, manner, about))
        if aside is not None:
            self.plants.append(Aside(len(self.steps), aside))
        self.steps.append(Prompt(self.now(), text, origin))
        self._bytes += len(text)

    def act(self, *doings: Doing, reply: str = "", thought: str = "") -> list[str]:
        """One request to the model and the calls it answered with; returns their keys."""
        if self._bytes > ROOM:
            self.compact("auto")
        self.wait(2.5, 14)
        return self._request(doings, reply, thought)

    def act_after(self, seconds: float, doing: Doing) -> None:
        """One request whose only call ends exactly so many seconds from now."""
        self._rigid += seconds - doing.seconds - CALL_GAP
        self._request((doing,), "", "")

    def next_call(self) -> str:
        """The key the next call will have."""
        return fingerprint(self.name, self._calls + 1, size=12)

    def compact(self, trigger: Literal["manual", "auto"]) -> None:
        """Replace the context by a summary."""
        self.wait(8, 30)
        self.steps.append(Compaction(self.now(), trigger, self.summary))
        self._bytes = len(self.summary)
        self.seen.clear()

    def read(self, *paths: str, reply: str = "", thought: str = "") -> list[str]:
        """Read whole files that are not in the context as they are now."""
        fresh = [path for path in paths if self.seen.get(path) != self.files[path]]
        for path in fresh:
            self.seen[path] = self.files[path]
        doings = [Doing(Read(path), self.files[path]) for path in fresh]
        return self.act(*doings, reply=reply, thought=thought) if doings else []

    def change(self, path: str, old: str, new: str, reply: str = "", thought: str = "") -> str:
        """Change a file, or create it where there is no old text."""
        before = self.files.get(path, "")
        action = Change(path, old, new, before) if old else Create(path, new)
        self.files[path] = before.replace(old, new, 1) if old else new
        return self.act(Doing(action), reply=reply, thought=thought)[0]

    def body(self, lines: int) -> str:
        """A long output, scaled by the world's padding."""
        return chatter(self.rng, max(1, int(lines * self.padding)))

    def finish(self, start: int, end: int) -> tuple[Step, ...]:
        """The steps at their real moments; `work_done` falls on the end."""
        elastic, rigid = self._moments[-1 if self.work_done is None else self.work_done]
        length = (end - start) / 1000
        squeeze = min(1.0, RIGID_PART * length / rigid) if rigid else 1.0
        stretch = (length - rigid * squeeze) / elastic
        # What comes after the work is brief: it must not run into the next session.
        times = [
            start
            + round(1000 * min(waited, elastic) * stretch + 1000 * min(worked, rigid) * squeeze)
            + round(1000 * (max(waited - elastic, 0) * min(stretch, 1) + max(worked - rigid, 0)))
            for waited, worked in self._moments
        ]
        return tuple(_timed(step, times) for step in self.steps)

    def _request(self, doings: Sequence[Doing], reply: str, thought: str) -> list[str]:
        begun = self.now()
        starts = []
        for _ in doings:
            self._rigid += CALL_GAP
            starts.append(self.now())
        # Calls run side by side once all of them are made.
        calls = [self._call(doing, at) for doing, at in zip(doings, starts, strict=True)]
        self._rigid += max((doing.seconds for doing in doings), default=0)
        self.steps.append(Request(begun, thought, reply, tuple(calls)))
        self._bytes += len(thought) + len(reply)
        return [call.key for call in calls]

    def _call(self, doing: Doing, at: int) -> Call:
        key = self.next_call()
        self._calls += 1
        outcome = None
        if doing.answered:
            self._moments.append((self._elastic, self._rigid + doing.seconds))
            at_end = len(self._moments) - 1
            outcome = Outcome(doing.text, at_end, doing.state, doing.exit_code, doing.spilled)
            self._bytes += len(doing.text)
        return Call(key, at, doing.action, outcome)


def _timed(step: Step, times: list[int]) -> Step:
    if not isinstance(step, Request):
        return replace(step, at=times[step.at])
    return replace(
        step, at=times[step.at], calls=tuple(_timed_call(call, times) for call in step.calls)
    )


def _timed_call(call: Call, times: list[int]) -> Call:
    outcome = call.outcome and replace(call.outcome, at=times[call.outcome.at])
    return replace(call, at=times[call.at], outcome=outcome)
