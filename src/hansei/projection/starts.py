"""What sessions look at before they change anything: folders they list, files they go on with.

Only calls that did nothing else count, because only those need not have been made. Tools and shell
commands are told alike: a `Glob` of `src/*.py`, `ls src` and `find src -type f` list one folder.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.events.model import Driver
from hansei.projection.files import LISTERS, LOOKS, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.projection.facts.ran import Ran
    from hansei.projection.files import Touch
    from hansei.projection.window import Window

_LOOKING: Final = frozenset((CommandClass.SEARCH, CommandClass.READ, CommandClass.OTHER))
_BY_HEART: Final = frozenset(("AGENTS.md", "CLAUDE.md", "GEMINI.md", "SKILL.md", "MEMORY.md"))
"""Files that hold what was written down already."""
_FILTERS: Final = frozenset(
    ("cd", "pwd", "echo", "head", "tail", "sort", "uniq", "wc", "grep", "true")
)
"""What often stands beside a listing and adds nothing to it."""


LONGEST: Final = 25
"""Calls; a session has found its feet by then even if it changes nothing."""


class Start(NamedTuple):
    """What one session looked at before it changed anything."""

    session: int
    lists: Mapping[str, frozenset[int]]
    """Calls that did nothing but list a folder, by folder."""
    changed: frozenset[str]
    """Files of the repository that it changed, then or later."""
    went_on: frozenset[str]
    """Those, and files it read before."""


def working(window: Window, longest: int = LONGEST) -> Iterator[Start]:
    """The starts of sessions that set out to change something and did; none is a subagent."""
    for start in starts(window, longest):
        if start.changed and window.sessions[start.session].driver != Driver.SUBAGENT:
            yield start


def listings(window: Window, start: Start, folders: Iterable[str]) -> set[int]:
    """Calls that list one of these folders, without what is waste of another kind: crowded ones."""
    return {
        seq
        for folder in folders
        for seq in start.lists.get(folder, ())
        if (start.session, seq) not in window.crowds
    }


def above(folder: str) -> list[str]:
    """The folders that a folder lies in, the top first."""
    parts = folder.rstrip("/").split("/")
    return ["./", *("/".join(parts[:count]) + "/" for count in range(1, len(parts)))]


def is_in(file: str, folder: str) -> bool:
    """Whether a file lies in a folder itself and not further down."""
    return file.startswith(folder) and "/" not in file.removeprefix(folder)


def starts(window: Window, longest: int = LONGEST) -> Iterator[Start]:
    """The start of each session: up to its first change, and at most so many calls."""
    touched: dict[int, list[Touch]] = {it: [] for it in window.sessions}
    order: dict[int, list[int]] = {it: [] for it in window.sessions}
    ran: dict[int, dict[int, list[Ran]]] = {it: {} for it in window.sessions}
    for session, touch in window.touches:
        touched[session].append(touch)
    for session, call in window.calls:
        order[session].append(call.seq)
    for session, run in window.commands:
        ran[session].setdefault(run.seq, []).append(run)
    for session in sorted(window.sessions):
        yield _start(session, touched[session], order[session][longest:], ran[session])


def _start(
    session: int, touched: Sequence[Touch], late: Sequence[int], ran: Mapping[int, Sequence[Ran]]
) -> Start:
    changes = [it for it in touched if it.verb not in LOOKS]
    until = min((*(it.seq for it in changes), *late[:1]), default=None)
    early = [it for it in touched if until is None or it.seq < until]
    calls: dict[int, list[Touch]] = defaultdict(list)
    for touch in early:
        if all(it.kind in _LOOKING for it in ran.get(touch.seq, ())):
            calls[touch.seq].append(touch)
    lists = _listings(calls)
    touching = {it.seq for it in touched}
    for seq, runs in ran.items():
        if seq not in touching and (until is None or seq < until):
            folder = _listed(runs)
            if folder is not None:
                lists[folder] = lists.get(folder, frozenset()) | {seq}
    changed = frozenset(it.path for it in changes if _is_news(it))
    read = frozenset(it.path for it in early if it.verb is Verb.READ and _is_news(it))
    return Start(session, lists, changed, changed | read)


def _listings(calls: Mapping[int, Iterable[Touch]]) -> dict[str, frozenset[int]]:
    """Calls that did nothing but list, by folder."""
    found: dict[str, set[int]] = defaultdict(set)
    for seq, touches in calls.items():
        if all(it.verb is Verb.LIST for it in touches):
            for touch in touches:
                found[touch.path].add(seq)
    return {path: frozenset(seqs) for path, seqs in found.items()}


def shares(groups: Iterable[Iterable[str]]) -> dict[str, float]:
    """The share of files that lie below each folder, each group counting as much as another."""
    weights: dict[str, float] = defaultdict(float)
    total = 0
    for files in sorted(map(sorted, groups)):
        total += bool(files)
        for file in files:
            for folder in PurePosixPath(file).parents:
                if folder.name:
                    weights[f"{folder}/"] += 1 / len(files)
    return {folder: weight / total for folder, weight in weights.items()}


def _is_news(touch: Touch) -> bool:
    """Whether a file of the repository is not itself what somebody wrote down for agents."""
    return touch.inside and "*" not in touch.path and touch.path.split("/")[-1] not in _BY_HEART


def _listed(runs: Sequence[Ran]) -> str | None:
    """The folder that a shell call lists, from where it began; None if it does something else."""
    lists = [it for it in runs if _is_lister(it)]
    if len(lists) != 1 or lists[0].directory != "" or not lists[0].parsed:
        return None
    if any(it.program not in _FILTERS for it in runs if it is not lists[0]):
        return None
    words = [it.strip("'\"") for it in lists[0].form.split()[1:]]
    if lists[0].program == "find":
        words = list(takewhile(lambda it: not it.startswith("-"), words))
    paths = [it for it in words if not it.startswith(("-", "{", "(", "!"))]
    return _folder(paths[0]) if paths else "./"


def _is_lister(run: Ran) -> bool:
    return run.program in LISTERS or (run.program == "rg" and "--files" in run.flags)


def _folder(path: str) -> str | None:
    """The folder itself, or the one that a pattern looks in; None outside the repository."""
    whole = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
    bare = whole.removeprefix("./").strip("/")
    if path.startswith(("/", "~", "$", "..")) or ":" in path:
        return None
    return f"{bare}/" if bare not in ("", ".") else "./"
