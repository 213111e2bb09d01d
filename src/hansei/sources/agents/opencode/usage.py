"""What each request took.

A step is a request, and its end tells what it took. The message tells the same again, of its last
step only: several steps add up to more than the message says. Whether reasoning is part of the
output has changed from version to version; the total that newer versions tell beside the parts
shows which it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import RequestUsage
from hansei.sources.families.streams import Counts, billed

if TYPE_CHECKING:
    from hansei.sources.agents.opencode.reader import Reader, Said
    from hansei.sources.agents.opencode.records import Number, Tokens

MOST = 2**53
"""A number of tokens beyond this, or below zero, is a fault in the record."""


def requests(reader: Reader, said: Said) -> None:
    """Every request of an answer; one whose tokens nobody told is unknown, not free."""
    steps = [counts(part.tokens) for part in said.parts if part.type == "step-finish"]
    repeated, last = billed(counts(said.message.tokens)), len(steps) - 1
    begun = sum(part.type == "step-start" for part in said.parts) if said.is_over else 0
    if repeated and said.parts and said.is_over and not (steps or begun):
        steps, repeated = [counts(said.message.tokens)], 0
    steps += [Counts()] * (begun - len(steps))  # stopped before it was told what they took
    for number, step in enumerate(steps):
        again = repeated if number == last else 0
        usage = RequestUsage(
            key=said.key("request", str(number)),
            model=said.message.modelID,
            lines=2 if again else 1,
            repeated=again,
            **step._asdict(),
            **said.where,
        )
        reader.emit(usage)


def counts(tokens: Tokens | None) -> Counts:
    """Disjoint counts, output with the reasoning; none at all where all of them are zero."""
    if tokens is None:
        return Counts()
    cache = tokens.cache
    told = Counts(
        input=_sound(tokens.input),
        cache_read=_sound(cache.read) if cache else None,
        cache_write_5m=_sound(cache.write) if cache else None,
        output=_sound(tokens.output),
        reasoning=_sound(tokens.reasoning),
    )
    if not billed(told) and not told.reasoning:
        return Counts()  # what is not known is written down as zero
    apart = told.reasoning and _is_apart(told, _sound(tokens.total))
    return told._replace(output=(told.output or 0) + (told.reasoning or 0)) if apart else told


def _is_apart(told: Counts, total: int | None) -> bool:
    """Whether the reasoning is not part of the output: only then does it make up the total."""
    if total is None:
        return False
    without = billed(told)
    return abs(without + (told.reasoning or 0) - total) < abs(without - total)


def _sound(number: Number) -> int | None:
    return int(number) if number is not None and 0 <= number <= MOST else None
