"""Sessions whose contexts, caches and clocks are kept like real ones, told in a few words.

A token is four letters here. Every request reads what the one before carried from the cache and
writes what is new, unless the cache was lost; so what anything took is known by adding up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any

from hansei.events.model import Basis, Interruption, Status, Tool
from retro_window import Telling, window
from told import call, compaction, prompt, result, usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.window import Window

PREFIX = 16_000
OPUS, SONNET = "claude-opus-4-1", "claude-sonnet-4-5"
MINUTE = 60_000
_WORDS = ("tide", "buoy", "cargo", "anchor", "vessel", "harbour", "signal", "berth", "keel")
_NAMES = count(1)


def prose(dice: Random, tokens: int) -> str:
    """A text of about so many tokens."""
    text = " ".join(dice.choice(_WORDS) for _ in range(tokens))
    return text[: 4 * tokens]


@dataclass
class Story(Telling):
    """A session with a context that grows, a cache and a clock."""

    model: str = SONNET
    context: int = PREFIX
    cached: int = 0
    clock: int = 0
    billed: int = 0
    """Everything so far."""

    def say(self, text: str) -> Story:
        self.events.append(prompt(text, at=self.clock))
        self._grow(text)
        return self

    def answer(self, text: str = "Done.") -> Story:
        super().answer(text)
        self._grow(text)
        return self

    def use(self, tool: Tool, text: str, output: str, **arguments: Any) -> Story:
        """Any call; what it and its result say is carried from then on."""
        message = self._request()
        name = f"used{next(_NAMES)}"
        more = {"arguments": arguments, "message": message}
        self.events.append(call(name, tool, text=text, **more))
        self.events.append(result(name, output, Status.OK, Basis.FLAG))
        self._grow(text + str(arguments) + output)
        return self

    def look(self, path: str, output: str, first: int = 0, lines: int = 0) -> Story:
        """A file read, whole or some lines of it."""
        part = {"offset": first, "limit": lines} if lines else {}
        return self.use(Tool.READ, path, output, file_path=path, **part)

    def pause(self, minutes: float, kept: float = 5) -> Story:
        """Nobody does anything; a cache is kept for some minutes."""
        self.clock += round(minutes * MINUTE)
        if minutes > kept:
            self.cached = 0
        return self

    def compact(self, summary: str) -> Story:
        self.events.append(compaction(summary, trigger="auto"))
        self.context, self.cached = PREFIX + len(summary) // 4, 0
        return self

    def stop(self) -> Story:
        self.events.append(Interruption(key=next(_NAMES), session="s", at=self.clock))
        return self

    def _call(self, tool: Tool, text: str, output: str, seconds: float = 1, **more: Any) -> Story:
        super()._call(tool, text, output, seconds, **more)
        self._grow(text + output)
        return self

    def _grow(self, text: str) -> None:
        self.context += len(text) // 4

    def _request(self) -> str:
        self._steps += 1
        self.clock += MINUTE // 4
        message = f"m{self._steps}"
        new = self.context - self.cached
        more = {"cache_read": self.cached, "cache_write_5m": new, "cache_write_1h": 0}
        told = usage(0, 20, message=message, model=self.model, at=self.clock, **more)
        self.events.append(told)
        self.billed += self.context + 20
        self.cached = self.context
        return message


def ordinary(dice: Random, model: str = SONNET) -> Story:
    """Some looks at files of its own, an edit, a test, an answer."""
    story = Story(model=model).say(f"please fix the {prose(dice, 90)} in {dice.randrange(10**6)}")
    for _ in range(dice.randrange(3, 7)):
        story.look(f"/work/app/src/part_{dice.randrange(10**6)}.py", prose(dice, 900))
    story.edit(f"/work/app/src/part_{dice.randrange(10**6)}.py")
    for _ in range(dice.randrange(3, 7)):
        story.run("make test", prose(dice, 100))
    return story.answer(prose(dice, 40))


def made(stories: Sequence[Story], parents: dict[int, int] | None = None) -> Window:
    """A window of them; `parents` says by place who started whom."""
    for child, parent in (parents or {}).items():
        stories[child].parent = parent + 1
    found = window(stories)
    for number, session in found.sessions.items():
        took = [it.tokens for it in found.requests.get(number, ()) if it.tokens is not None]
        told = session._replace(
            agent="claude_code", requests=len(took), tokens=sum(took) if took else None
        )
        found.sessions[number] = told  # type: ignore[index] # a dictionary, seen as a mapping
    return found
