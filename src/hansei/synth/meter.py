"""What each request cost: the context grows by exactly what was put into it.

The tokens of a text are its bytes times the session's rate. The context of a request is the context
of the one before, plus what that one answered, plus the texts that came in between. Nothing else
ever enters it, so whoever divides the growth among the texts can be checked to the token.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.synth.dice import dice
from hansei.synth.plan import HOUR, MINUTE
from hansei.synth.story import Command, Compaction, Prompt, Request, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from hansei.synth.contract import Writer
    from hansei.synth.story import Session, Step

CALL_OVERHEAD = 12
"""Tokens around the arguments of a call."""


def tokens(text: str, rate: float) -> int:
    """How many tokens a text is in a session of this rate."""
    return round(len(text.encode()) * rate)


def bill(session: Session, writer: Writer, inherited: int | None = None) -> tuple[Usage, ...]:
    """The usage of every request of a session, in order."""
    return _Meter(session, writer, inherited).run(session.steps)


def context_after(session: Session, writer: Writer, steps: Sequence[Step]) -> int:
    """How large the context is after the first steps of a session."""
    meter = _Meter(session, writer, None)
    meter.run(steps)
    return meter.context + meter.pending


class _Meter:
    """The state of a session's context."""

    def __init__(self, session: Session, writer: Writer, inherited: int | None) -> None:
        self.session = session
        self.writer = writer
        self.rng = dice(session.key, "meter")
        traits = writer.traits
        self.prefix = traits.base_tokens + tokens(session.instructions, session.rate)
        self.context = self.prefix if inherited is None else inherited
        self.pending = 0
        long_cache = session.era == "new" and self.rng.random() < 0.4
        self.long_cache = traits.tells_cache_writes and traits.long_cache and long_cache
        warm = inherited is None and self.rng.random() < 0.5
        self.cached = traits.base_tokens if warm else 0
        self.cached_at = session.started

    def run(self, steps: Sequence[Step]) -> tuple[Usage, ...]:
        return tuple(usage for step in steps if (usage := self._take(step)) is not None)

    def _take(self, step: Step) -> Usage | None:
        if isinstance(step, Request):
            return self._request(step)
        if isinstance(step, Compaction):
            self.context = self.prefix
            self.cached = min(self.cached, self.writer.traits.base_tokens)
            self.pending = self._tokens(step.summary)
        elif isinstance(step, Prompt):
            self.pending += self._tokens(step.text)
        elif isinstance(step, Command):
            self.pending += self._tokens(step.output)
        return None

    def _request(self, request: Request) -> Usage:
        self.context += self.pending
        reasoning, output = self._output(request)
        usage = _shares(self, request.at, output, reasoning)
        self.cached, self.cached_at = self.context, request.at
        self.context += output
        self.pending = sum(
            self._tokens(self.writer.result_text(call, self.session))
            for call in request.calls
            if call.outcome is not None
        )
        return usage

    def _output(self, request: Request) -> tuple[int | None, int]:
        """Reasoning, where the agent tells it, and all output with it."""
        thought = self._tokens(request.thought)
        told = self.writer.traits.tells_reasoning
        if told:  # these agents keep only a summary of what was thought
            thought = thought * 4 + (self.rng.randrange(20, 200) if request.calls else 0)
        spoken = self._tokens(request.reply) + sum(
            self._tokens(self.writer.arguments_text(call, self.session)) + CALL_OVERHEAD
            for call in request.calls
        )
        return (thought if told else None), thought + spoken

    def _tokens(self, text: str) -> int:
        return tokens(text, self.session.rate)


def _shares(meter: _Meter, at: int, output: int, reasoning: int | None) -> Usage:
    """Divide the context into what was read from a cache, written to one, and neither."""
    traits = meter.writer.traits
    lasts = HOUR if meter.long_cache else 5 * MINUTE
    read = meter.cached if at - meter.cached_at <= lasts else 0
    read -= read % traits.cache_block
    if not traits.tells_cache_writes:
        return Usage(meter.context - read, read, None, None, output, reasoning)
    plain = _plain(meter.rng, meter.context - read)
    written = meter.context - read - plain
    short, long = (0, written) if meter.long_cache else (written, 0)
    return Usage(plain, read, short, long, output, reasoning)


def _plain(rng: Random, most: int) -> int:
    """The few tokens at the very end that no cache holds."""
    return min(most, rng.randrange(3, 12))
