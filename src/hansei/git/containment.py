"""Whether a tree holds a change, however it came there: merged, squashed, rebased or picked.

Ancestry alone does not tell: a squash or a rebase makes another commit of the same change, and a
revert takes it back while its commit stays an ancestor. So the lines decide. Each place that the
change touched reads, in a tree, as it did before the change or as it did after it. Where neither is
found, because the place was rewritten since, the newest earlier tree that still tells decides, and
only where none tells does ancestry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from hansei.git import history
from hansei.git.repository import git

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.git.objects import Objects

_AROUND = (3, 1, 0)
"""Lines around a place that have to agree, the most telling first; neighbours change too."""
_LARGEST = 2_000_000
_LONGEST = 5_000
"""Bytes and lines of a file of which single places are compared; of a larger one all or nothing."""
_LOOKED_BACK = 200
"""Commits looked through for a tree that still tells."""
_MOST = 0.8
"""The share of places that have to agree; one or two are edited again without taking it back."""
_TELLING = 12
"""Bytes of a line that says something without the lines around it: a brace does not."""

Lines = tuple[bytes, ...]


class Place(NamedTuple):
    """A stretch of a file before and after the change, with the lines around it."""

    above: Lines
    before: Lines
    after: Lines
    below: Lines


class Touched(NamedTuple):
    """A file of the change; an id of None means that there was no file."""

    path: str
    old: str | None
    new: str | None
    places: tuple[Place, ...]
    """None where the file was made, deleted, or is not compared by its lines."""


@dataclass
class Containment:
    """Answers for one change; `objects` has to be open."""

    objects: Objects
    change: str
    _files: tuple[Touched, ...] = field(init=False)
    _cut_off: frozenset[str] = field(init=False)
    _known: dict[str, bool | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._cut_off = history.cut_off(self.objects.folder)
        self._files = () if self.change in self._cut_off else _touched(self.objects, self.change)

    @property
    def is_known(self) -> bool:
        """Whether this clone has the change, and it touches any file."""
        return bool(self._files)

    def held(self, commit: str) -> bool | None:
        """Whether the tree of a commit holds the change; None where this clone cannot tell."""
        if commit not in self._known:
            self._known[commit] = self._held(commit)
        return self._known[commit]

    def _held(self, commit: str) -> bool | None:
        folder = self.objects.folder
        if not self._files or not history.contains(folder, commit):
            return None
        for tree in (commit, *self._earlier(commit)):
            said = self._said(tree)
            if said:
                return _agreed(said)
        if _is_ancestor(folder, self.change, commit):
            return True
        return None if self._cut_off else False

    def _earlier(self, commit: str) -> Iterator[str]:
        """Commits that touched the same files, the newest first."""
        paths = [it.path for it in self._files]
        told = git(self.objects.folder, "rev-list", f"-n{_LOOKED_BACK}", commit, "--", *paths)
        yield from (told or "").split()

    def _said(self, commit: str) -> list[bool]:
        """For each place that tells in a tree, whether it reads as after the change."""
        told = (answer for it in self._files for answer in self._reads(commit, it))
        return [answer for answer in told if answer is not None]

    def _reads(self, commit: str, touched: Touched) -> Iterator[bool | None]:
        found = self.objects.read(f"{commit}:{touched.path}")
        there = None if found is None or found[1] != "blob" else found[0]
        if there == touched.new:
            yield True
        elif touched.old is None:
            yield there is not None or self._is_elsewhere(commit, touched.new)
        elif there == touched.old:
            yield False
        elif found is not None and touched.places:
            lines = _lines(found[2])
            yield from (_reads(lines, place) for place in touched.places)
        else:
            yield None

    def _is_elsewhere(self, commit: str, blob: str | None) -> bool:
        """Whether a file that the change made was moved since."""
        return any(it == blob for _, it in history.listed(self.objects.folder, commit))


def _agreed(said: Sequence[bool]) -> bool | None:
    """What most places say; None where a part of the change is held and a part is not."""
    share = sum(said) / len(said)
    return share > _MOST if max(share, 1 - share) > _MOST else None


def _touched(objects: Objects, change: str) -> tuple[Touched, ...]:
    commit = next(history.commits(objects.folder, [change]), None)
    if commit is None:
        return ()
    if len(commit.parents) > 1:
        return _of_merge(objects, change)
    return tuple(_file(objects, it.path, it.before[0], it.after) for it in commit.changes)


def _of_merge(objects: Objects, change: str) -> tuple[Touched, ...]:
    """What a merge brought to the line that it was made on."""
    raw = git(objects.folder, "diff-tree", "-r", "-z", "--no-renames", f"{change}^1", change)
    words = (raw or "").split("\0")
    heads = [head.split() for head in words[:-1:2]]
    ids = [[None if set(it) == {"0"} else it for it in head[2:4]] for head in heads]
    return tuple(_file(objects, path, *pair) for pair, path in zip(ids, words[1::2], strict=False))


def _file(objects: Objects, path: str, before: str | None, after: str | None) -> Touched:
    if before is None or after is None:
        return Touched(path, before, after, ())
    texts = [objects.blob(it, _LARGEST) for it in (before, after)]
    if any(text is None or b"\0" in text for text in texts):
        return Touched(path, before, after, ())
    lines = [_lines(text or b"") for text in texts]
    if max(map(len, lines)) > _LONGEST:
        return Touched(path, before, after, ())
    return Touched(path, before, after, tuple(_places(*lines)))


def _places(old: Lines, new: Lines) -> Iterator[Place]:
    around = _AROUND[0]
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield Place(old[max(0, a - around) : a], old[a:b], new[c:d], old[b : b + around])


def _reads(lines: Lines, place: Place) -> bool | None:
    """Whether a place reads as after the change; None where neither form is there, or both are."""
    for around in _AROUND:
        above = place.above[len(place.above) - around :] if around else ()
        below = place.below[:around]
        if not around and not any(len(it.strip()) >= _TELLING for it in place.before + place.after):
            break
        before = _holds(lines, (*above, *place.before, *below))
        after = _holds(lines, (*above, *place.after, *below))
        if before != after:
            return after
    return None


def _holds(lines: Sequence[bytes], wanted: Lines) -> bool:
    if not wanted:
        return False
    first, size = wanted[0], len(wanted)
    return any(
        line == first and tuple(lines[number : number + size]) == wanted
        for number, line in enumerate(lines)
    )


def _lines(text: bytes) -> Lines:
    return tuple(line.rstrip(b"\r") for line in text.split(b"\n"))


def _is_ancestor(folder: str, commit: str, later: str) -> bool:
    return git(folder, "rev-list", "-n1", commit, f"^{later}") is None
