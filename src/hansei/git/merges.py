"""What brought work to the main line, told by the messages of its commits; nothing is fetched.

A branch is merged by a merge commit, which names it, or squashed into one commit, which does not.
Forges write the number of the pull or merge request into either. A commit of a merged branch was
brought by the first merge on the main line that contains it; one on the line itself, by itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.history import FLAGS, MOST_COMMITS, main_line, reading, words
from hansei.git.repository import git

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_FORMAT: Final = "--format=%H%x00%P%x00%ct%x00%B"
_FIELDS: Final = 4
_USUAL: Final = ("main", "master")
"""What the main line is called nearly everywhere; a repository may have renamed the one."""
_REMOTE: Final = "refs/remotes/origin/HEAD"

_PULL = re.compile(r"Merge pull request #(?P<number>\d+) from [^/\s]+/(?P<branch>\S+)")
_MERGED_IN = re.compile(r"Merged in (?P<branch>\S+) \(pull request #(?P<number>\d+)\)")
_MERGED_PR = re.compile(r"Merged PR (?P<number>\d+): (?P<title>.+)")
_SQUASHED = re.compile(r"(?P<title>.+?)\s*\(#(?P<number>\d+)\)")
_BRANCH = re.compile(
    r"Merge (?:remote-tracking )?branch(?:es)? '(?:origin/)?(?P<branch>[^']+)'(?: of (?P<of>\S+))?"
    r"(?: into (?P<into>\S+))?"
)
_REQUEST = re.compile(r"^See merge request \S*!(?P<number>\d+)\s*$", re.MULTILINE)


class Merge(NamedTuple):
    """A commit of the main line, and what its message says of where the work came from."""

    commit: str
    at: int
    """When it was made, in milliseconds."""
    title: str
    request: str | None = None
    """`#12` of a pull request, `!12` of a merge request."""
    branch: str | None = None
    """The branch that was merged, which may be deleted by now."""


@dataclass(frozen=True)
class MainLine:
    """How work came to the main line of a repository."""

    names: frozenset[str] = frozenset(_USUAL)
    """What the main line is or was called."""
    merges: Mapping[str, Merge] = field(default_factory=dict)
    """Its commits by id."""
    brought: Mapping[str, str] = field(default_factory=dict)
    """For every commit it contains, the one of the line that brought it."""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """The first line of the message of each of them."""

    def bringing(self, commit: str) -> Merge | None:
        """What brought a commit; None where the main line does not contain it."""
        return self.merges.get(self.brought.get(commit, ""))


class _Seen(NamedTuple):
    commit: str
    parents: tuple[str, ...]
    at: int
    message: str


def main_line_of(folder: str) -> MainLine:
    """The main line of a repository; an empty one where git knows of none."""
    end = main_line(folder)
    if end is None:
        return MainLine()
    named = git(folder, "symbolic-ref", "--short", _REMOTE) or ""
    names = {*_USUAL, named.partition("/")[2] or "main"}
    seen = {it.commit: it for it in _seen(folder, end)}
    line = list(_first_parents(seen, end))
    merges = {it.commit: told(it.commit, it.at, it.message, names) for it in line}
    subjects = {it.commit: it.message.strip().partition("\n")[0] for it in seen.values()}
    return MainLine(frozenset(names), merges, _brought(seen, line), subjects)


def _seen(folder: str, end: str) -> Iterator[_Seen]:
    command = ["git", "-C", folder, *FLAGS, _FORMAT, f"--max-count={MOST_COMMITS}", end, "--"]
    with reading(command) as printed:
        fields: list[str] = []
        for word in words(printed) if printed is not None else ():
            fields.append(word.decode("utf-8", "replace"))
            if len(fields) == _FIELDS:
                commit, parents, at, message = fields
                yield _Seen(commit, tuple(parents.split()), int(at) * 1000, message)
                fields = []


def _first_parents(seen: Mapping[str, _Seen], end: str) -> Iterator[_Seen]:
    name: str | None = end
    while name is not None and name in seen:
        yield seen[name]
        name = next(iter(seen[name].parents), None)


def _brought(seen: Mapping[str, _Seen], line: Iterable[_Seen]) -> dict[str, str]:
    on_line = list(line)
    found = {it.commit: it.commit for it in on_line}
    for merge in reversed(on_line):  # the oldest first: it brought what later ones contain too
        waiting = [it for it in merge.parents[1:] if it not in found]
        while waiting:
            name = waiting.pop()
            if name in found or name not in seen:
                continue
            found[name] = merge.commit
            waiting += [it for it in seen[name].parents if it not in found]
    return found


def told(commit: str, at: int, message: str, main: Iterable[str] = _USUAL) -> Merge:
    """What a commit of the main line says of itself."""
    subject, _, body = message.strip().partition("\n")
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    if found := _PULL.match(subject):
        return Merge(commit, at, first or subject, f"#{found['number']}", found["branch"])
    if found := _MERGED_IN.match(subject):
        return Merge(commit, at, first or subject, f"#{found['number']}", found["branch"])
    request = _REQUEST.search(body)
    number = f"!{request['number']}" if request else None
    if found := _BRANCH.match(subject):
        # A pull of the main line into itself merges no branch.
        own = found["of"] is not None or found["branch"] in set(main)
        title = first if number and first and not _REQUEST.match(first) else subject
        return Merge(commit, at, title, number, None if own else found["branch"])
    if found := _MERGED_PR.match(subject) or _SQUASHED.fullmatch(subject):
        return Merge(commit, at, found["title"], f"#{found['number']}")
    return Merge(commit, at, subject, number)
