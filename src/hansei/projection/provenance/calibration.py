"""How many tokens a text is in this session, fitted from what the session itself was billed.

Every step is an equation: the growth of the context is the sum of what was new in it. From all of
them follow the tokens of a letter, a digit, a mark, a space and a byte beyond ASCII, of the frame
around an entry and of an image. Where a session has few steps the typical proportions below fill
in; they are scaled to the session first and outvoted by it as its steps become more.

Two things that agents do differently are settled by trying: whether the told size of an answer can
be believed (some write the count of a stream's beginning), and whether thoughts stay in the context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.provenance.pieces import Kind, Profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.provenance.pieces import Piece
    from hansei.projection.provenance.steps import Answered, Step

TYPICAL = (0.25, 1.0, 0.62, 0.12, 0.3, 25.0, 1400.0)
"""Tokens of a letter, digit, mark, space, byte beyond ASCII, frame and image: medians over real
sessions. Only their proportions matter."""
BELIEF = 0.35
"""How far from typical, as a share, a session's own rate usually is."""
NOISE = 0.1
"""How far from its text's size, as a share, a growth usually is."""
GRAIN = 15.0
"""Tokens by which a growth is off however small it is: reminders, separators."""
ROUNDS = 4
"""Times the fit is repeated with outliers weighed less; it settles in three."""


class Output(StrEnum):
    """Whether the told size of an answer is believed."""

    TOLD = "told"
    PLAUSIBLE = "plausible"  # unless it is less than half of what was written
    WRITTEN = "written"  # never: the size of the texts counts


class Thoughts(StrEnum):
    """How long thoughts stay in the context."""

    KEPT = "kept"
    TURN = "until the next prompt"
    NEVER = "never"


class Sized(NamedTuple):
    """A piece with its tokens."""

    seq: int
    kind: Kind
    tokens: float


@dataclass(frozen=True)
class Rates:
    """How texts become tokens in one session."""

    weights: tuple[float, ...] = TYPICAL
    output: Output = Output.PLAUSIBLE
    thoughts: Thoughts = Thoughts.KEPT
    steps: int = 0
    """How many steps it was fitted on."""

    def tokens(self, piece: Piece) -> float:
        """What a piece takes."""
        return _dot(self.weights, _features(piece))


def _features(piece: Piece) -> tuple[float, ...]:
    return (*piece.profile, piece.entries, piece.images)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def sized_answer(answer: Answered, rates: Rates) -> list[Sized]:
    """The parts of an answer in tokens, thoughts included where there were any."""
    spoken = [rates.tokens(piece) for piece in answer.spoken]
    thought = [rates.tokens(piece) for piece in answer.thoughts]
    written = sum(spoken)
    if not _believed(answer, written, rates.output):
        return _parts(answer, spoken, thought)
    output = float(answer.output or 0)
    if answer.reasoning is not None:
        thinking = min(float(answer.reasoning), output)
    else:
        thinking = max(output - written, 0.0) if answer.thoughts else 0.0
    return _parts(
        answer, _scaled(spoken, output - thinking), _scaled(thought, thinking), thinking
    )


def _believed(answer: Answered, written: float, output: Output) -> bool:
    if answer.output is None or output is Output.WRITTEN:
        return False
    return output is Output.TOLD or answer.output >= written / 2


def _scaled(sizes: list[float], total: float) -> list[float]:
    found = sum(sizes)
    if found <= 0:
        return [total / len(sizes) for _ in sizes]
    return [size * total / found for size in sizes]


def _parts(
    answer: Answered, spoken: list[float], thought: list[float], thinking: float = 0.0
) -> list[Sized]:
    parts = [
        Sized(piece.seq, piece.kind, size)
        for piece, size in zip(answer.spoken, spoken, strict=True)
    ]
    parts += [
        Sized(piece.seq, Kind.THOUGHT, size)
        for piece, size in zip(answer.thoughts, thought, strict=True)
    ]
    if thinking and not answer.thoughts:
        parts.append(Sized(answer.seq, Kind.THOUGHT, thinking))
    return parts


def expected(step: Step, rates: Rates) -> list[Sized]:
    """What is new in a step's context, in tokens."""
    stays = rates.thoughts is Thoughts.KEPT or (
        rates.thoughts is Thoughts.TURN and not step.prompted
    )
    answers = [
        part
        for answer in step.answers
        for part in sized_answer(answer, rates)
        if stays or part.kind is not Kind.THOUGHT
    ]
    return answers + [Sized(it.seq, it.kind, rates.tokens(it)) for it in step.given]


class Equation(NamedTuple):
    """One step as the fit sees it: what is left of its growth, and the texts that made it."""

    growth: float
    features: tuple[float, ...]


def calibrate(steps: Sequence[Step], chosen: Sequence[int] | None = None) -> Rates:
    """The rates of a session, from the chosen steps, or from all of them."""
    places = range(len(steps)) if chosen is None else chosen
    usable = [it for it in places if it and not steps[it].compacted]
    growing = [it for it in usable if steps[it].context >= steps[it - 1].context]
    if not growing:
        return Rates()
    trials = [_trial(steps, growing, usable, rates) for rates in _policies(steps)]
    return _refined(steps, growing, min(trials, key=lambda it: it[0])[1])


def _policies(steps: Sequence[Step]) -> Iterator[Rates]:
    """Every way an agent may treat answers and thoughts, the usual ones first."""
    thinks = any(it.thoughts or it.reasoning for step in steps for it in step.answers)
    thoughts = (Thoughts.KEPT, Thoughts.TURN, Thoughts.NEVER) if thinks else (Thoughts.KEPT,)
    outputs = (Output.PLAUSIBLE, Output.TOLD, Output.WRITTEN)
    for kept, output in product(thoughts, outputs):
        yield Rates(output=output, thoughts=kept)


def _trial(
    steps: Sequence[Step], growing: list[int], usable: list[int], rates: Rates
) -> tuple[float, Rates]:
    """How well a policy does with the typical proportions at the session's best scale."""
    equations = equations_of(steps, rates)
    pairs = [(equations[it].growth, _dot(rates.weights, equations[it].features)) for it in growing]
    scale = _median_ratio(pairs)
    fitted = replace(rates, weights=tuple(scale * it for it in TYPICAL))
    again = equations_of(steps, fitted)
    missed = sum(
        abs(again[it].growth - _dot(fitted.weights, again[it].features)) for it in usable
    )
    return missed, fitted


def _median_ratio(pairs: list[tuple[float, float]]) -> float:
    """The scale with the smallest sum of misses: the median of the ratios, weighed by size."""
    ratios = sorted((growth / size, size) for growth, size in pairs if size > 0)
    half = sum(size for _, size in ratios) / 2
    for ratio, size in ratios:
        half -= size
        if half <= 0:
            return min(max(ratio, 0.25), 4.0)
    return 1.0


def equations_of(steps: Sequence[Step], rates: Rates) -> list[Equation]:
    """Each step's growth less what is known of it, and the features of what is not."""
    held = 0.0
    found = []
    for place, step in enumerate(steps):
        before = steps[place - 1].context if place else 0
        growth = float(step.context - before)
        if step.compacted:
            held = 0.0
        leaves = rates.thoughts is Thoughts.TURN and step.prompted
        if leaves:
            growth += held
            held = 0.0
        features = [0.0] * len(TYPICAL)
        for piece in step.given:
            _add(features, piece)
        for answer in step.answers:
            spoken, thinking = _known(answer, rates, features, leaves=leaves)
            growth -= spoken
            if rates.thoughts is not Thoughts.NEVER and not leaves:
                growth -= thinking
                held += thinking
        found.append(Equation(growth, tuple(features)))
    return found


def _known(
    answer: Answered, rates: Rates, features: list[float], *, leaves: bool
) -> tuple[float, float]:
    """Tokens spoken and thought where they are told; else the texts join the features."""
    written = sum(rates.tokens(piece) for piece in answer.spoken)
    thought = sum(rates.tokens(piece) for piece in answer.thoughts)
    if not _believed(answer, written, rates.output):
        for piece in answer.spoken:
            _add(features, piece)
        return 0.0, thought
    output = float(answer.output or 0)
    if answer.reasoning is not None:
        thinking = min(float(answer.reasoning), output)
    else:
        thinking = max(output - written, 0.0) if answer.thoughts else 0.0
    return output - thinking, thinking


def _add(features: list[float], piece: Piece) -> None:
    for place, value in enumerate(_features(piece)):
        features[place] += value


def _refined(steps: Sequence[Step], growing: list[int], start: Rates) -> Rates:
    """Each rate moved to where the session's own steps want it."""
    chosen = [equations_of(steps, start)[it] for it in growing]
    weights = start.weights
    for _ in range(ROUNDS):
        weights = _least_squares(chosen, weights, start.weights)
    return replace(start, weights=weights, steps=len(growing))


def _least_squares(
    equations: list[Equation], now: Sequence[float], start: Sequence[float]
) -> tuple[float, ...]:
    size = len(start)
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    for growth, features in equations:
        guess = _dot(now, features)
        spread = GRAIN + NOISE * max(guess, 0.0)
        weight = 1 / (spread * max(spread, abs(growth - guess)))
        present = [it for it in range(size) if features[it]]
        for row in present:
            factor = weight * features[row]
            line = matrix[row]
            line[size] += factor * growth
            for column in present:
                line[column] += factor * features[column]
    for row, value in enumerate(start):
        belief = 1 / (BELIEF * value) ** 2
        matrix[row][row] += belief
        matrix[row][size] += belief * value
    solved = _solve(matrix)
    return tuple(max(it, 0.0) for it in solved)


def _solve(matrix: list[list[float]]) -> list[float]:
    """Gauss on a positive definite matrix with its right side as the last column."""
    size = len(matrix)
    for place in range(size):
        pivot = matrix[place]
        for row in range(place + 1, size):
            factor = matrix[row][place] / pivot[place]
            if factor:
                line = matrix[row]
                for column in range(place, size + 1):
                    line[column] -= factor * pivot[column]
    found = [0.0] * size
    for place in reversed(range(size)):
        line = matrix[place]
        known = sum(line[it] * found[it] for it in range(place + 1, size))
        found[place] = (line[size] - known) / line[place]
    return found
