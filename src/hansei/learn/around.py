"""What happened around a command: what was edited before it, what followed, how it failed."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from hansei.learn.steps import called
from hansei.learn.worth import is_step
from hansei.learn.writing import briefly, code
from hansei.projection.corrections.words import own_words
from hansei.projection.failures import Kind
from hansei.projection.failures.missing import What, missing
from hansei.projection.files import LOOKS, Verb
from hansei.projection.ways import about
from hansei.projection.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hansei.learn.steps import Step
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_USAGE: Final = frozenset((What.OPTION, What.COMMAND, What.SCRIPT, What.PROGRAM))
_REQUEST: Final = 160
"""Characters of a request that can be said in a line."""
_LEAST_WORDS: Final = 4
_MOST: Final = 0.75
"""Of the runs, those of which must hold what is told of them all."""
_TOLD: Final = 3
"""Pitfalls that are told."""


def alike(ran: Ran) -> tuple[str, ...]:
    """What runs of one command have in common that differ only in what they work on."""
    return (called(ran), ran.directory or "", *ran.before, *sorted(set(ran.flags)))


def by_session(group: Sequence[Step]) -> dict[int, list[Step]]:
    found: dict[int, list[Step]] = defaultdict(list)
    for step in group:
        found[step.session].append(step)
    return found


def changed_before(window: Window, group: Sequence[Step]) -> str:
    """The folder that holds what was edited before the runs, the closest that holds most of it.

    Empty where there is none: a folder that only some of the edits were in would tell too little.
    """
    edited: Counter[str] = Counter()
    changed = 0
    for session, own in by_session(group).items():
        last = 0
        for step in own:
            paths = {
                it.path
                for call in window.calls_of(session, last, step.seq)
                for it in window.touched_by.get((session, call.seq), ())
                if it.verb not in LOOKS and it.inside and "*" not in it.path
            }
            edited.update({folder for it in paths for folder in _folders(it)})
            changed += bool(paths)
            last = step.seq
    least = max(_MOST * changed, len(group) / 2)
    most = [it for it in edited if edited[it] >= least]
    return min(most, key=lambda it: (-it.count("/"), -edited[it], it), default="")


def _folders(path: str) -> list[str]:
    """The folder at the top and the one in it; the file where it lies in none."""
    parts = path.replace("\\", "/").split("/")
    if len(parts) == 1:
        return [path]
    return ["/".join(parts[:size]) + "/" for size in range(1, min(len(parts) - 1, 2) + 1)]


def followed_by(steps: Mapping[int, Sequence[Step]], group: Sequence[Step]) -> str:
    """What most of the runs were followed by, unasked; empty where that differs."""
    following: Counter[str] = Counter()
    for session, own in by_session(group).items():
        rows = [it for it in steps.get(session, ()) if is_step(it.ran)]
        for step in own:
            later = next((it for it in rows if it.seq > step.seq), None)
            if later is not None and later.name != step.name and later.turn == step.turn:
                following[later.name] += 1
    name, times = min(following.items(), key=lambda it: (-it[1], it[0]), default=("", 0))
    return name if times >= _MOST * len(group) else ""


def pitfalls(window: Window, names: Collection[str]) -> list[str]:
    """Wrong words that these commands were given, as they complained of them."""
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    for session, row in window.failures:
        lacking = missing(row) if row.kind is Kind.FAILURE else None
        ran = about(window, session, row.seq)
        if lacking is None or ran is None or lacking.what not in _USAGE or called(ran) not in names:
            continue
        seen[called(ran), one_line(row.line, 100)].add(session)
    ranked = sorted(seen, key=lambda it: (-len(seen[it]), it))[:_TOLD]
    return [f"- {briefly(name)}: {code(line)}" for name, line in ranked]


def requested(window: Window, group: Sequence[Step]) -> str:
    """What people asked for before most of the runs, where that is a line and no more."""
    turns = {(it.session, it.turn) for it in group}
    said = [own_words(row.text) for session, row in window.said if (session, row.seq) in turns]
    seen = Counter(one_line(it, _REQUEST) for it in said if _is_request(it))
    words, times = min(seen.items(), key=lambda it: (-it[1], len(it[0]), it[0]), default=("", 0))
    return words if 2 * times > len(turns) else ""


def _is_request(words: str) -> bool:
    plain = words[:1] not in ("#", "[", "<", "/")
    return plain and len(words) <= _REQUEST and len(words.split()) >= _LEAST_WORDS


def when(after: str, asked: str, then: str = "") -> list[str]:
    """When to use what was found, as far as the sessions tell it."""
    lines = [f"- After files in `{after}` changed."] * bool(after)
    lines += [f"- When asked for something like: “{asked}”"] * bool(asked)
    return lines + [f"- Before {briefly(then)}, which usually follows."] * bool(then)


def made_here(window: Window) -> dict[int, set[str]]:
    """Names of files that each session itself made: a script among them is of that session."""
    first: dict[tuple[int, str], Verb] = {}
    for session, row in window.touches:
        first.setdefault((session, row.path), row.verb)
    found: dict[int, set[str]] = defaultdict(set)
    for (session, path), verb in first.items():
        if verb in (Verb.CREATE, Verb.WRITE):
            found[session].add(path.replace("\\", "/").rsplit("/", 1)[-1])
    return found
