"""What spend was for: the branch, the pull request or the commit it ended in. Pure.

A branch is known turn by turn. A pull request is found by the name of its branch, which its merge
tells, or by the lines that were written on the branch and came to the main line with it; so what
was spent on a branch by sessions that landed nothing belongs to it too. A commit is found by lines
alone. Where spend belongs to several it is divided by their lines, and every unit of it stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from hansei.git.merges import MainLine, Merge

K = TypeVar("K")

DETACHED: Final = "HEAD"
"""What agents record as the branch where there is none."""


class Why(StrEnum):
    """Why spend belongs to nothing that was asked for."""

    NO_EDITS = "nothing was edited"
    NOTHING_LANDED = "nothing landed"
    UNKNOWN = "what landed is unknown"
    NOT_MERGED = "not merged"
    NO_REQUEST = "without a pull request"
    NO_BRANCH = "no branch recorded"


class Spent(NamedTuple):
    """Some spend of a task: when, and on which branch it stood."""

    task: int
    """The session that a person or a program began; its subagents work on the same task."""
    branch: str | None
    at: int


class Landed(NamedTuple):
    """Lines of one edit that a commit brought."""

    task: int
    branch: str | None
    commit: str
    lines: int


class Goal(NamedTuple):
    """What spend was for; without a name it is for nothing we can name, and why."""

    name: str | None
    why: Why | None = None


Shares = list[tuple[Goal, int]]
"""Goals and their weights."""


@dataclass(frozen=True)
class Record:
    """What is known of the work in one repository."""

    landed: Sequence[Landed]
    unlanded: Mapping[int, Why]
    """Why tasks without landed lines have none."""
    line: MainLine

    @cached_property
    def commits_of(self) -> dict[int, Counter[str]]:
        """The commits each task's lines landed in, with the lines."""
        return _counted((it.task, it.commit, it.lines) for it in self.landed)

    @cached_property
    def brought(self) -> dict[str, Counter[str]]:
        """The commits of the main line that brought what was written on a branch."""
        return _counted(
            (it.branch, merge.commit, it.lines)
            for it in self.landed
            if it.branch is not None and (merge := self.line.bringing(it.commit)) is not None
        )

    @cached_property
    def merged(self) -> dict[str, list[Merge]]:
        """The merges that name a branch, the oldest first; a name may have been used again."""
        found: dict[str, list[Merge]] = defaultdict(list)
        for merge in sorted(self.line.merges.values(), key=lambda it: (it.at, it.commit)):
            if merge.branch is not None:
                found[merge.branch].append(merge)
        return dict(found)

    @staticmethod
    def named(branch: str | None) -> str | None:
        """A recorded branch, where it is one."""
        return None if branch == DETACHED else branch

    def merges_of(self, branch: str, since: int = 0) -> dict[Merge, int]:
        """What took a branch to the main line from a moment on: the next that names it, else all
        that brought its lines, with those."""
        named = next((it for it in self.merged.get(branch, ()) if it.at >= since), None)
        if named is not None:
            return {named: 1}
        found = self.brought.get(branch, Counter[str]())
        merges = ((self.line.merges[it], lines) for it, lines in found.items())
        return {it: lines for it, lines in merges if it.at >= since}

    def nothing(self, task: int) -> Goal:
        return Goal(None, self.unlanded.get(task, Why.NO_EDITS))


def _counted(rows: Iterable[tuple[K, str, int]]) -> dict[K, Counter[str]]:
    found: dict[K, Counter[str]] = defaultdict(Counter)
    for key, name, lines in rows:
        found[key][name] += lines
    return dict(found)


# --- goals ----------------------------------------------------------------------------------------


def by_branch(record: Record, spent: Spent) -> Shares:
    """The branch that was recorded; else those whose merges brought the task's lines."""
    branch = record.named(spent.branch)
    if branch is not None:
        return [(Goal(branch), 1)]
    commits = record.commits_of.get(spent.task)
    if not commits:
        return [(Goal(None, Why.NO_BRANCH), 1)]
    return _summed((_branch_of(record, it), lines) for it, lines in commits.items())


def _branch_of(record: Record, commit: str) -> Goal:
    merge = record.line.bringing(commit)
    name = None if merge is None else merge.branch
    return Goal(name, Why.NO_BRANCH if name is None else None)


def by_request(record: Record, spent: Spent) -> Shares:
    """The request that merged the branch; of work on the main line, those that brought its lines.

    Whoever begins on the main line and then makes a branch began the work of that branch.
    """
    branch = record.named(spent.branch)
    if branch is not None and branch not in record.line.names:
        merges = record.merges_of(branch, spent.at)
        if not merges:
            return [(Goal(None, Why.NOT_MERGED), 1)]
        return _summed((_request(merge), lines) for merge, lines in merges.items())
    commits = record.commits_of.get(spent.task)
    if not commits:
        return [(record.nothing(spent.task), 1)]
    return _summed((_request(record.line.bringing(it)), n) for it, n in commits.items())


def _request(merge: Merge | None) -> Goal:
    if merge is None:
        return Goal(None, Why.NOT_MERGED)
    return Goal(merge.request, Why.NO_REQUEST if merge.request is None else None)


def by_commit(record: Record, spent: Spent) -> Shares:
    """The commits that brought the task's lines."""
    commits = record.commits_of.get(spent.task)
    if not commits:
        return [(record.nothing(spent.task), 1)]
    return _summed((Goal(commit), lines) for commit, lines in commits.items())


GOALS: Final[dict[str, Callable[[Record, Spent], Shares]]] = {
    "branch": by_branch,
    "pr": by_request,
    "commit": by_commit,
}
RULES: Final = {
    "branch": "The branch each request was made on, as the agent recorded it; where it did not,"
    " the merged branches that the session's lines came with, by lines.",
    "pr": "Spend on a branch belongs to the request that merged it, found by the branch's name in"
    " the merge or by the lines written on it; on the main line, to the requests that brought the"
    " session's lines. Several: by lines.",
    "commit": "A session's spend is divided among the commits that brought its lines, by lines; its"
    " subagents are part of it.",
}
"""How spend is told apart, in words."""


def line_goal(goal: str, record: Record, landed: Landed) -> Goal:
    """What landed lines were for."""
    if goal == "commit":
        return Goal(landed.commit)
    if goal == "pr":
        return _request(record.line.bringing(landed.commit))
    branch = record.named(landed.branch)
    return Goal(branch) if branch is not None else _branch_of(record, landed.commit)


def _summed(weighed: Iterable[tuple[Goal, int]]) -> Shares:
    found: Counter[Goal] = Counter()
    for goal, weight in weighed:
        found[goal] += weight
    return sorted(found.items(), key=lambda it: (-it[1], it[0].name or "", it[0].why or ""))


def divided(amount: int | None, weights: Sequence[int]) -> Iterator[int | None]:
    """An amount in parts that add up to it; what is unknown is unknown in every part.

    What rounding leaves over goes where most was cut off.
    """
    if amount is None or len(weights) == 1:
        yield from (amount for _ in weights)
        return
    whole = sum(weights)
    parts = [divmod(amount * weight, whole) for weight in weights]
    left = amount - sum(part for part, _ in parts)
    order = sorted(range(len(weights)), key=lambda it: (-parts[it][1], it))
    more = frozenset(order[:left])
    yield from (part + (place in more) for place, (part, _) in enumerate(parts))
