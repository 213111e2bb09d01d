"""How many tokens a text is in this session, fitted from what the session itself was billed.

Every step is an equation: the growth of the context is the sum of what was new in it. From all of
them follow the tokens of a letter, a digit, a mark, a space and a byte beyond ASCII, of the frame
around an entry and of an image. Where a session has few steps the typical proportions below fill
in; they are scaled to the session first and outvoted by it as its steps become more.

Two things that agents do differently are settled by trying: whether the told size of an answer is
to be believed (some write the count of a stream's beginning), and whether thoughts stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from operator import add, mul
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hansei.projection.provenance.pieces import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.provenance.pieces import Piece
    from hansei.projection.provenance.steps import Answered, Step

TYPICAL = (0.28, 1.1, 0.58, 0.08, 0.22, 40.0, 1400.0)
"""Tokens of a letter, digit, mark, space, byte beyond ASCII, frame and image: chosen between what
fits all real sessions of one agent and of another. Where a session begins, not where it ends."""
BELIEF = 0.35
"""How far from typical, as a share, a rate may be before that counts against it. Chosen: of 0.15
and 0.35 the wider predicted real sessions a little better."""
NOISE = 0.1
"""How far from its text's size, as a share, a growth may be and still be that text. Chosen: about
what half of a real session misses the other half by."""
GRAIN = 15.0
"""The same in tokens, for small growths: separators and seams between texts. Chosen."""
CALMEST = 0.05
"""The least share of that spread that is granted, so that no equation outvotes all others."""
ROUNDS = 4
"""Times the fit is repeated with outliers weighed less: two more change the rates of the median
session by less than half a percent."""
FARTHEST = 4.0
"""A scale beyond this, either way, is a broken count and not a tokenizer."""
NOTHING = (0.0,) * len(TYPICAL)

Features: TypeAlias = tuple[float, ...]
"""A number for each of `TYPICAL`: of texts how many, of rates how many tokens."""


class Output(StrEnum):
    """Whether the told size of an answer is believed."""

    PLAUSIBLE = "plausible"  # unless it is less than half of what was written
    TOLD = "told"
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

    weights: Features = TYPICAL
    output: Output = Output.PLAUSIBLE
    thoughts: Thoughts = Thoughts.KEPT
    steps: int = 0
    """How many steps it was fitted on."""

    @property
    def letter(self) -> float:
        """Tokens per byte of plain words, for texts of which only the size is known."""
        return self.weights[0]

    def tokens(self, piece: Piece) -> float:
        """What a piece takes."""
        return _dot(self.weights, _features(piece))


def _features(piece: Piece) -> Features:
    return (*piece.profile, piece.entries, piece.images)


def _dot(weights: Features, features: Features) -> float:
    return float(sum(map(mul, weights, features)))


def sized_answer(answer: Answered, rates: Rates) -> list[Sized]:
    """The parts of an answer in tokens, thoughts included where there were any."""
    spoken = [rates.tokens(piece) for piece in answer.spoken]
    thought = [rates.tokens(piece) for piece in answer.thoughts]
    written = sum(spoken)
    if not _believed(answer.output, written, rates.output):
        return _parts(answer, spoken, thought)
    output = float(answer.output or 0)
    thinking = _thinking(output, answer.reasoning, written, thinks=bool(answer.thoughts))
    parts = _parts(answer, _scaled(spoken, output - thinking), _scaled(thought, thinking))
    if not answer.spoken:
        parts.append(Sized(answer.seq, Kind.REPLY, output - thinking))
    if not answer.thoughts:
        parts.append(Sized(answer.seq, Kind.THOUGHT, thinking))
    return parts


def _believed(told: int | None, written: float, output: Output) -> bool:
    if told is None or output is Output.WRITTEN:
        return False
    return output is Output.TOLD or told >= written / 2


def _thinking(output: float, reasoning: int | None, written: float, *, thinks: bool) -> float:
    """The part of an answer that was thought: as told, else what the written part leaves."""
    if reasoning is not None:
        return min(float(reasoning), output)
    return max(output - written, 0.0) if thinks else 0.0


def _scaled(sizes: list[float], total: float) -> list[float]:
    found = sum(sizes)
    if found <= 0:
        return [total / len(sizes) for _ in sizes]
    return [size * total / found for size in sizes]


def _parts(answer: Answered, spoken: list[float], thought: list[float]) -> list[Sized]:
    pieces = (*answer.spoken, *answer.thoughts)
    sizes = (*spoken, *thought)
    return [Sized(it.seq, it.kind, size) for it, size in zip(pieces, sizes, strict=True)]


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
    features: Features


class _Answer(NamedTuple):
    """An answer's texts added up."""

    output: int | None
    reasoning: int | None
    spoken: Features
    thought: Features
    thinks: bool


class _Sum(NamedTuple):
    """A step's texts added up, so that every trial need not do it again."""

    growth: int
    given: Features
    answers: list[_Answer]
    prompted: bool
    compacted: bool


def calibrate(steps: Sequence[Step], chosen: Sequence[int] | None = None) -> Rates:
    """The rates of a session, from the chosen steps, or from all of them."""
    sums = _sums(steps)
    places = range(len(steps)) if chosen is None else chosen
    usable = [it for it in places if it and not steps[it].compacted]
    growing = [it for it in usable if sums[it].growth >= 0]
    if not growing:
        return Rates()
    best = min(_trials(sums, growing, usable, [Rates(output=it) for it in Output]))
    if any(it.thinks or it.reasoning for step in sums for it in step.answers):
        policies = [replace(best.rates, thoughts=it) for it in Thoughts]
        best = min(_trials(sums, growing, usable, policies))
    return _refined(sums, growing, best.rates)


def predicted(steps: Sequence[Step], rates: Rates) -> list[float]:
    """The growth of each step that its texts and the session's rates make one expect."""
    sums = _sums(steps)
    return [
        it.growth - equation.growth + _dot(rates.weights, equation.features)
        for it, equation in zip(sums, _equations(sums, rates), strict=True)
    ]


def _sums(steps: Sequence[Step]) -> list[_Sum]:
    before = 0
    found = []
    for step in steps:
        answers = [
            _Answer(
                answer.output,
                answer.reasoning,
                _added(answer.spoken),
                _added(answer.thoughts),
                bool(answer.thoughts),
            )
            for answer in step.answers
        ]
        growth = step.context - before
        found.append(_Sum(growth, _added(step.given), answers, step.prompted, step.compacted))
        before = step.context
    return found


def _added(pieces: Sequence[Piece]) -> Features:
    if not pieces:
        return NOTHING
    return tuple(map(sum, zip(*map(_features, pieces), strict=True)))


class _Trial(NamedTuple):
    missed: float
    place: int
    """Of two policies that do equally well the usual one, which stands first, is taken."""
    rates: Rates


def _trials(
    sums: list[_Sum], growing: list[int], usable: list[int], policies: list[Rates]
) -> Iterator[_Trial]:
    """How well policies do with the typical proportions at the session's best scale."""
    for place, rates in enumerate(policies):
        equations = _equations(sums, rates)
        sizes = [_dot(TYPICAL, it.features) for it in equations]
        scale = _median_ratio([(equations[it].growth, sizes[it]) for it in growing])
        missed = sum(abs(equations[it].growth - scale * sizes[it]) for it in usable)
        scaled = tuple(scale * it for it in TYPICAL)
        yield _Trial(missed, place, replace(rates, weights=scaled))


def _median_ratio(pairs: list[tuple[float, float]]) -> float:
    """The scale with the smallest sum of misses: the median of the ratios, weighed by size."""
    ratios = sorted((growth / size, size) for growth, size in pairs if size > 0)
    half = sum(size for _, size in ratios) / 2
    for ratio, size in ratios:
        half -= size
        if half <= 0:
            return min(max(ratio, 1 / FARTHEST), FARTHEST)
    return 1.0


def _equations(sums: list[_Sum], rates: Rates) -> list[Equation]:
    """Each step's growth less what is known of it, and the features of what is not."""
    held = 0.0
    found = []
    for step in sums:
        growth = float(step.growth)
        leaves = rates.thoughts is Thoughts.TURN and step.prompted
        if leaves or step.compacted:
            growth += held if leaves and not step.compacted else 0.0
            held = 0.0
        features = step.given
        for answer in step.answers:
            believed, spoken, thinking = _known(answer, rates)
            growth -= spoken
            if not believed:
                features = tuple(map(add, features, answer.spoken))
            if rates.thoughts is not Thoughts.NEVER and not leaves:
                growth -= thinking
                held += thinking
        found.append(Equation(growth, features))
    return found


def _known(answer: _Answer, rates: Rates) -> tuple[bool, float, float]:
    """Whether the told size is believed, and then the tokens spoken; and the tokens thought."""
    written = _dot(rates.weights, answer.spoken)
    if not _believed(answer.output, written, rates.output):
        return False, 0.0, _dot(rates.weights, answer.thought)
    output = float(answer.output or 0)
    thinking = _thinking(output, answer.reasoning, written, thinks=answer.thinks)
    return True, output - thinking, thinking


def _refined(sums: list[_Sum], growing: list[int], start: Rates) -> Rates:
    """Each rate moved to where the session's own steps want it."""
    equations = _equations(sums, start)
    chosen = [equations[it] for it in growing]
    weights = start.weights
    for _ in range(ROUNDS):
        weights = _least_squares(chosen, weights, start.weights)
    return replace(start, weights=weights, steps=len(growing))


def _least_squares(equations: list[Equation], now: Features, start: Features) -> Features:
    size = len(start)
    matrix = [[0.0] * (size + 1) for _ in range(size)]
    guesses = [_dot(now, features) for _, features in equations]
    calm = _calm(equations, guesses)
    for (growth, features), guess in zip(equations, guesses, strict=True):
        spread = calm * usual_spread(guess)
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


def usual_spread(size: float) -> float:
    """By how many tokens a growth is usually off the size of its texts."""
    return GRAIN + NOISE * max(size, 0.0)


def _calm(equations: list[Equation], guesses: list[float]) -> float:
    """How much less than usual a session's own growths are off; a few say little."""
    off = sorted(
        abs(growth - guess) / usual_spread(guess)
        for (growth, _), guess in zip(equations, guesses, strict=True)
    )
    trust = len(off) / (len(off) + len(TYPICAL))
    return min(1.0, max(1 - trust + trust * off[len(off) // 2], CALMEST))


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
