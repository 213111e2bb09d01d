"""How many tokens a text is in this session, fitted from what the session itself was billed.

Every step is an equation: the growth of the context is the sum of what was new in it. From all of
them follow the tokens of a letter, a number, a mark, a space and a byte beyond ASCII, of the frame
around an entry and of an image. Where a session has few steps the typical proportions below fill
in; they are scaled to the session first and outvoted by it as its steps become more.

Two things that agents do differently are settled by trying: whether the told size of an answer is
what comes back with the next request, and whether thoughts stay.
"""

from __future__ import annotations

from enum import StrEnum
from operator import mul
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hansei.projection.provenance.pieces import NOTHING, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hansei.projection.provenance.pieces import Piece
    from hansei.projection.provenance.steps import Answered, Step

TYPICAL = (0.28, 2.5, 0.52, 0.07, 0.25, 40.0, 1400.0)
"""Tokens of a letter, number, mark, space, byte beyond ASCII, frame and image: chosen between what
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
ROUNDS = 2
"""Times the fit is repeated with outliers weighed less: more predict real sessions no better."""
FARTHEST = 4.0
"""A scale beyond this, either way, is a broken count and not a tokenizer."""

Weights: TypeAlias = tuple[float, ...]
"""A number for each feature of a text: how many, or how many tokens one is."""


class Output(StrEnum):
    """Whether the told size of an answer is believed."""

    TOLD = "told"  # unless it is less than half of what was written: a stream's beginning
    WRITTEN = "written"  # never: the size of the texts counts


class Thoughts(StrEnum):
    """How long thoughts stay in the context."""

    KEPT = "kept"
    TURN = "until the next prompt"
    NEVER = "never"


_OUTPUTS = tuple(Output)
_THOUGHTS = tuple(Thoughts)


class Sized(NamedTuple):
    """A piece with its tokens."""

    seq: int
    kind: Kind
    tokens: float


class Rates(NamedTuple):
    """How texts become tokens in one session."""

    weights: Weights = TYPICAL
    output: Output = Output.TOLD
    thoughts: Thoughts = Thoughts.KEPT
    steps: int = 0
    """How many steps it was fitted on."""

    @property
    def letter(self) -> float:
        """Tokens per byte of plain words, for texts of which only the size is known."""
        return self.weights[0]


def _dot(weights: Weights, features: Weights) -> float:
    # Spelled out, because this is what a session's time goes into.
    w0, w1, w2, w3, w4, w5, w6 = weights
    f0, f1, f2, f3, f4, f5, f6 = features
    return w0 * f0 + w1 * f1 + w2 * f2 + w3 * f3 + w4 * f4 + w5 * f5 + w6 * f6


def sized_answer(answer: Answered, rates: Rates) -> list[Sized]:
    """The parts of an answer in tokens, thoughts included where there were any."""
    weights = rates.weights
    spoken = [_dot(weights, it.features) for it in answer.spoken]
    thought = [_dot(weights, it.features) for it in answer.thoughts]
    written = sum(spoken)
    output = answer.output
    if output is None or not _believed(output, written, rates.output):
        return _parts(answer.spoken, spoken, 1.0) + _parts(answer.thoughts, thought, 1.0)
    thinking = _thinking(output, answer.reasoning, written, thinks=bool(thought))
    return _told(answer.seq, Kind.REPLY, answer.spoken, spoken, output - thinking) + _told(
        answer.seq, Kind.THOUGHT, answer.thoughts, thought, thinking
    )


def _believed(told: int, written: float, output: Output) -> bool:
    return output is Output.TOLD and told >= written / 2


def _thinking(output: int, reasoning: int | None, written: float, *, thinks: bool) -> float:
    """The part of an answer that was thought: as told, else what the written part leaves."""
    if reasoning is not None:
        return min(reasoning, output)
    return max(output - written, 0.0) if thinks else 0.0


def _told(
    seq: int, kind: Kind, pieces: list[Piece], sizes: list[float], total: float
) -> list[Sized]:
    """Pieces that have this size together; where there is none, it is the answer's as a whole."""
    if not total:
        return []
    if not pieces:
        return [Sized(seq, kind, total)]
    found = sum(sizes)
    if found > 0:
        return _parts(pieces, sizes, total / found)
    return _parts(pieces, [total] * len(pieces), 1 / len(pieces))


def _parts(pieces: list[Piece], sizes: list[float], scale: float) -> list[Sized]:
    return [
        Sized(seq, kind, size * scale) for (seq, kind, _), size in zip(pieces, sizes, strict=True)
    ]


def expected(step: Step, rates: Rates) -> list[Sized]:
    """What is new in a step's context, in tokens."""
    weights = rates.weights
    new = [part for answer in step.answers for part in sized_answer(answer, rates)]
    if rates.thoughts is Thoughts.NEVER or (rates.thoughts is Thoughts.TURN and step.prompted):
        new = [part for part in new if part.kind is not Kind.THOUGHT]
    new += [Sized(seq, kind, _dot(weights, features)) for seq, kind, features in step.given]
    return new


class _Text(NamedTuple):
    """Texts added up, and what they would be at typical rates."""

    features: Weights
    typical: float


_NO_TEXT = _Text(NOTHING, 0.0)
_Sizing: TypeAlias = "Callable[[_Text], float]"


class _Answer(NamedTuple):
    """An answer's texts added up."""

    output: int | None
    reasoning: int | None
    spoken: _Text
    thought: _Text
    thinks: bool


class _Sum(NamedTuple):
    """A step's texts added up, so that every trial need not do it again."""

    growth: int
    given: _Text
    answers: list[_Answer]
    prompted: bool
    compacted: bool


class _Reading(NamedTuple):
    """A step read by one policy of outputs."""

    growth: float
    """Less the tokens spoken that are told."""
    thinking: float
    """Tokens thought, told or not."""
    size: float
    """Of the texts, at typical rates."""
    texts: list[_Text]
    """What else is new: given, or spoken and not believed as told."""

    def features(self) -> Weights:
        if len(self.texts) == 1:
            return self.texts[0].features
        return _summed([it.features for it in self.texts])


def calibrate(steps: Sequence[Step], chosen: Sequence[int] | None = None) -> Rates:
    """The rates of a session, from the chosen steps, or from all of them."""
    places = range(len(steps)) if chosen is None else chosen
    usable = [it for it in places if it and steps[it].unsized is None and not steps[it].compacted]
    if not usable:
        return Rates()
    sums = _sums(steps)
    growing = [it for it in usable if sums[it].growth >= 0]
    if not growing:
        return Rates()
    best = min(
        _tried(sums, _readings(sums, it, _scaling(1.0)), growing, usable, it, Thoughts.KEPT)
        for it in Output
    )
    if any(it.thinks or it.reasoning for step in sums for it in step.answers):
        readings = _readings(sums, best.output, _scaling(best.scale))
        best = min(_tried(sums, readings, growing, usable, best.output, it) for it in Thoughts)
    return _refined(sums, growing, best)


def predicted(steps: Sequence[Step], rates: Rates) -> list[float]:
    """The growth of each step that its texts and the session's rates make one expect."""
    sums = _sums(steps)
    readings = _readings(sums, rates.output, _weighing(rates))
    growths = _growths(sums, readings, rates.thoughts)
    return [
        it.growth - growth + _dot(rates.weights, reading.features())
        for it, growth, reading in zip(sums, growths, readings, strict=True)
    ]


def _scaling(scale: float) -> _Sizing:
    return lambda text: scale * text.typical


def _weighing(rates: Rates) -> _Sizing:
    return lambda text: _dot(rates.weights, text.features)


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


def _added(pieces: Sequence[Piece]) -> _Text:
    if not pieces:
        return _NO_TEXT
    features: Weights = pieces[0].features
    if len(pieces) > 1:
        features = _summed([it.features for it in pieces])
    return _Text(features, _dot(TYPICAL, features))


def _summed(features: Sequence[Weights]) -> Weights:
    return tuple(map(sum, zip(*features, strict=True)))


class _Trial(NamedTuple):
    """How well a policy does with the typical proportions at the session's best scale."""

    missed: int
    """In whole tokens, so that no rounding error decides."""
    place: tuple[int, int]
    """Of two policies that do equally well the usual one, which stands first, is taken."""
    scale: float
    output: Output
    thoughts: Thoughts


def _tried(
    sums: list[_Sum],
    readings: list[_Reading],
    growing: list[int],
    usable: list[int],
    output: Output,
    thoughts: Thoughts,
) -> _Trial:
    growths = _growths(sums, readings, thoughts)
    sizes = [it.size for it in readings]
    scale = _median_ratio([(growths[it], sizes[it]) for it in growing])
    missed = sum(abs(growths[it] - scale * sizes[it]) for it in usable)
    place = (_OUTPUTS.index(output), _THOUGHTS.index(thoughts))
    return _Trial(round(missed), place, scale, output, thoughts)


def _median_ratio(pairs: list[tuple[float, float]]) -> float:
    """The scale with the smallest sum of misses: the median of the ratios, weighed by size."""
    ratios = sorted((growth / size, size) for growth, size in pairs if size > 0)
    half = sum(size for _, size in ratios) / 2
    for ratio, size in ratios:
        half -= size
        if half <= 0:
            return min(max(ratio, 1 / FARTHEST), FARTHEST)
    return 1.0


def _readings(sums: list[_Sum], policy: Output, sizing: _Sizing) -> list[_Reading]:
    """Each step's growth less what is told of it, and the texts of what is not."""
    found = []
    for grown, given, answers, _, _ in sums:
        growth = float(grown)
        thinking = 0.0
        size = given.typical
        texts = [given]
        for output, reasoning, spoken, thought, thinks in answers:
            written = sizing(spoken)
            if output is not None and _believed(output, written, policy):
                thought_of = _thinking(output, reasoning, written, thinks=thinks)
                growth -= output - thought_of
                thinking += thought_of
            else:
                thinking += sizing(thought)
                size += spoken.typical
                texts.append(spoken)
        found.append(_Reading(growth, thinking, size, texts))
    return found


def _growths(sums: list[_Sum], readings: list[_Reading], thoughts: Thoughts) -> list[float]:
    """What is left of each step's growth when thoughts come and go."""
    if thoughts is Thoughts.NEVER:
        return [it.growth for it in readings]
    if thoughts is Thoughts.KEPT:
        return [it.growth - it.thinking for it in readings]
    held = 0.0
    found = []
    for step, reading in zip(sums, readings, strict=True):
        if step.compacted:
            held = 0.0
        if step.prompted:
            found.append(reading.growth + held)
            held = 0.0
        else:
            found.append(reading.growth - reading.thinking)
            held += reading.thinking
    return found


def _refined(sums: list[_Sum], growing: list[int], best: _Trial) -> Rates:
    """Each rate moved to where the session's own steps want it."""
    readings = _readings(sums, best.output, _scaling(best.scale))
    left = _growths(sums, readings, best.thoughts)
    growths = [left[it] for it in growing]
    texts = [readings[it].features() for it in growing]
    start = [best.scale * it for it in TYPICAL]
    # What no text here has is not fitted: its rate stays where it starts.
    present = [place for place, column in enumerate(zip(*texts, strict=True)) if any(column)]
    rows = [tuple(features[it] for it in present) for features in texts]
    first = tuple(start[it] for it in present)
    weights = first
    for _ in range(ROUNDS):
        weights = _least_squares(growths, rows, weights, first)
    fitted = dict(zip(present, weights, strict=True))
    whole = tuple(fitted.get(place, it) for place, it in enumerate(start))
    return Rates(whole, best.output, best.thoughts, len(growing))


def _least_squares(
    growths: list[float], rows: list[Weights], now: Weights, start: Weights
) -> Weights:
    """The weights that fit best, where what is off by more than is usual counts for less."""
    guesses: list[float] = [sum(map(mul, now, row)) for row in rows]
    off = [abs(growth - guess) for growth, guess in zip(growths, guesses, strict=True)]
    spreads = [usual_spread(guess) for guess in guesses]
    calm = _calm([miss / spread for miss, spread in zip(off, spreads, strict=True)])
    trust = []
    for miss, usual in zip(off, spreads, strict=True):
        spread = calm * usual
        trust.append(1 / (spread * max(spread, miss)))
    columns = [*zip(*rows, strict=True), growths]
    matrix = [[0.0] * len(columns) for _ in start]
    for row, value in enumerate(start):
        line = matrix[row]
        trusted = list(map(mul, trust, columns[row]))
        for column in range(row, len(columns)):
            line[column] = sum(map(mul, trusted, columns[column]))
        for column in range(row):
            line[column] = matrix[column][row]
        belief = 1 / (BELIEF * value) ** 2
        line[row] += belief
        line[-1] += belief * value
    return tuple(max(it, 0.0) for it in _solve(matrix))


def usual_spread(size: float) -> float:
    """By how many tokens a growth is usually off the size of its texts."""
    return GRAIN + NOISE * size if size > 0 else GRAIN


def _calm(off: list[float]) -> float:
    """How much less than usual a session's own growths are off; a few say little."""
    trust = len(off) / (len(off) + len(TYPICAL))
    return min(1.0, max(1 - trust + trust * sorted(off)[len(off) // 2], CALMEST))


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
