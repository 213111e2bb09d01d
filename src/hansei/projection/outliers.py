"""Tasks that took far more than others of the same workspace, and what took it.

A task is a session with its subagents. What is far is told by the workspace itself: several times
what its middle task takes. Tasks of a few requests say nothing of what work takes.

The cause is a part of the bill that can be told apart and is large; where none is there is none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.compactions import FILE, cause_of
from hansei.projection.files import LOOKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.facts.asked import Asked
    from hansei.projection.failures import Episode
    from hansei.projection.window import Window

TASKS: Final = 5
"""That have to be there: fewer have no middle to speak of."""
REQUESTS: Final = 10
"""Of a task: fewer are a question, and no measure for work."""
MANY: Final = 4
"""Times the middle one: on real histories nine tasks of ten stay below."""

FAILING: Final = "failing"
CARRIED: Final = "carrying"
LEAST: Final = {FAILING: 0.25, CARRIED: 0.2}
"""Of a task's tokens, for it to be the cause."""
_ORDER: Final = {name: place for place, name in enumerate(LEAST)}
"""Of several causes the one that says most: what failed, then what was carried."""
STUCK: Final = 3
"""Times that the very same failure must come in a row of tries: a test run whose failures change or
become fewer is work that goes on."""


class _Part(NamedTuple):
    tokens: int
    seq: int
    """Where to look; 0 where the task itself does not show it."""


class Outlier(NamedTuple):
    """A task that took far more than others, and its cause."""

    session: int
    """The one that began it."""
    seq: int
    """Where to look."""
    tokens: int
    cause: str
    """`failing` and the program, or `carrying` and the thing."""
    share: float
    took: int
    """Tokens that the cause took."""


def limit(window: Window) -> int | None:
    """Tokens from which on a task is far above the others; None where there are too few."""
    sizes = [it for it in _sizes(window).values() if it > 0]
    return round(MANY * median(sizes)) if len(sizes) >= TASKS else None


def outliers(window: Window, above: int) -> list[Outlier]:
    """The tasks above a number of tokens whose cause can be told, in order."""
    families: dict[int, list[int]] = defaultdict(list)
    for session in window.sessions:
        families[window.task(session)].append(session)
    found = []
    for task, tokens in sorted(_sizes(window).items()):
        if tokens > above:
            cause = _cause(window, task, families[task], tokens)
            if cause is not None:
                found.append(cause)
    return found


def _sizes(window: Window) -> dict[int, int]:
    """Tokens of every task that is large enough to compare."""
    tokens: Counter[int] = Counter()
    requests: Counter[int] = Counter()
    for session, rows in window.requests.items():
        task = window.task(session)
        tokens[task] += sum(it.tokens or 0 for it in rows)
        requests[task] += len(rows)
    return {task: size for task, size in tokens.items() if requests[task] >= REQUESTS}


def _cause(window: Window, task: int, family: Sequence[int], tokens: int) -> Outlier | None:
    taken = {**_failing(window, family, task), **_carried(window, family, task)}
    able = {
        cause: part
        for cause, part in taken.items()
        if part.tokens >= LEAST[cause.partition(" ")[0]] * tokens
    }
    if not able:
        return None
    cause = min(able, key=lambda it: (_ORDER[it.partition(" ")[0]], -able[it].tokens, it))
    first = min((it.seq for it in window.requests.get(task, ())), default=0)
    part = able[cause]
    return Outlier(task, part.seq or first, tokens, cause, part.tokens / tokens, part.tokens)


def _billed(requests: Iterable[Asked]) -> int:
    return sum(it.tokens or 0 for it in requests)


def _failing(window: Window, family: Sequence[int], task: int) -> dict[str, _Part]:
    """Requests from a first failure of a program up to its next success, by program."""
    spans: dict[str, dict[tuple[int, int], Asked]] = defaultdict(dict)
    shown: dict[str, int] = {}
    for session, episode in window.episodes:
        if session in family and episode.program and _is_stuck(window, session, episode):
            cause = f"{FAILING} {episode.program}"
            for it in window.requests_between(session, episode.seq, episode.end):
                spans[cause][session, it.seq] = it
            if session == task:
                shown.setdefault(cause, episode.seq)
    return {cause: _Part(_billed(it.values()), shown.get(cause, 0)) for cause, it in spans.items()}


def _is_stuck(window: Window, session: int, episode: Episode) -> bool:
    """Whether most of its tries failed in the same words."""
    told = [window.failed.get((session, seq)) for seq in episode.failures]
    words = Counter(it.signature for it in told if it is not None)
    most = max(words.values(), default=0)
    return most >= STUCK and 2 * most > len(episode.failures)


def _carried(window: Window, family: Sequence[int], task: int) -> dict[str, _Part]:
    """What carrying a file, a command's output or a tool's answers took, by the thing.

    A file that the task changed is what it was about: that it was carried explains nothing.
    """
    changed = {
        f"{FILE} {it.path}"
        for session, it in window.touches
        if session in family and it.verb not in LOOKS
    }
    billed: Counter[str] = Counter()
    shown: dict[str, int] = {}
    calls = window.call_of
    for session, piece in window.pieces:
        if session in family:
            call = calls.get((session, piece.seq), piece.seq)
            cause = cause_of(window, session, call)
            if cause is not None and cause not in changed:
                billed[f"{CARRIED} {cause}"] += piece.billed
                if session == task:
                    shown.setdefault(f"{CARRIED} {cause}", call)
    return {cause: _Part(tokens, shown.get(cause, 0)) for cause, tokens in billed.items()}
