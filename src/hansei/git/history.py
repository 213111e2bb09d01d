"""Commits with the files they changed, read as a stream from `git log --raw`.

Nothing is checked out and nothing is fetched. What git cannot say (no git, no repository, a history
that was cut off) is told in the answer, because "not found" means something else then.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hansei.git.repository import git, own_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_COMMITS: Final = 50_000
"""More commits than this are not looked through at once: about a minute of git's time."""

_MODULE: Final = "160000"
_PIECE: Final = 1 << 18
_START: Final = b"\x01"
_FORMAT: Final = "--format=%x01%H%x00%P%x00%an%x00%ae%x00%at%x00%ct%x00%B"
_FIELDS: Final = 7
_NOTHING: Final = re.compile(r"0+")
FLAGS: Final = (  # nobody's settings, and no program of theirs, take part
    *("-c", "log.showRoot=true", "log", "-z", "--no-show-signature", "--no-mailmap"),
    *("--encoding=UTF-8", "--no-notes", "--no-color"),
)
_REFS: Final = ("--exclude=refs/stash", "--exclude=refs/notes/*", "--all")
"""Everything that somebody keeps; a stash is work that was put aside, not work that landed."""
_MAIN: Final = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master", "HEAD")


class Change(NamedTuple):
    """A file before and after a commit, as object ids; a merge has one `before` per parent."""

    path: str
    before: tuple[str | None, ...]
    after: str | None


class Commit(NamedTuple):
    """A commit; times in milliseconds."""

    id: str
    parents: tuple[str, ...]
    author: str
    mail: str
    authored: int
    committed: int
    message: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class History:
    """Commits from the oldest to the newest, parents first."""

    commits: tuple[Commit, ...]
    main: frozenset[str]
    """Those that the main line contains."""
    complete_since: int | None
    """From when on nothing is missing, in milliseconds; None if the history is whole."""


def read_history(folder: str, *, since: int | None = None, most: int = MOST_COMMITS) -> History:
    """All commits that some reference keeps, from a moment on.

    A commit whose parents were cut off by a shallow clone is left out: what it changed is unknown.
    """
    asked = [] if since is None else [f"--since={since // 1000}"]
    cut = _cut_off(folder)
    found = list(log(folder, *asked, f"--max-count={most}", "--date-order", *_REFS))
    known = [commit for commit in found if commit.id not in cut]
    missing = [commit.committed for commit in found if commit.id in cut]
    if len(found) == most:
        missing.append(found[-1].committed)
    if since is not None:
        missing.append(since)
    main = _contained(folder, main_line(folder), *asked)
    return History(tuple(reversed(known)), main, max(missing, default=None))


def log(folder: str, *arguments: str) -> Iterator[Commit]:
    """Commits as git lists them; nothing where there is no git or no such repository."""
    command = ["git", "-C", folder, *FLAGS, "--raw", "--no-abbrev", "--no-renames", "-c", _FORMAT]
    with reading([*command, *arguments, "--"]) as told:
        if told is not None:
            yield from _commits(words(told))


def main_line(folder: str) -> str | None:
    """The commit at the end of the main line: what the remote calls so, else main, else HEAD."""
    names = (git(folder, "rev-parse", "--verify", "--quiet", f"{it}^{{commit}}") for it in _MAIN)
    return next((name for name in names if name), None)


class Moved(NamedTuple):
    """A moment at which a reference was set to a commit."""

    commit: str
    at: int


def reflog(folder: str, name: str = "HEAD") -> list[Moved]:
    """Where a reference stood, newest first; empty where git keeps no such record."""
    told = git(folder, "log", "-g", "--format=%H %gd", "--date=unix", name, "--")
    found = []
    for line in (told or "").splitlines():
        match = re.fullmatch(r"([0-9a-f]+) .*@\{(\d+)\}", line)
        if match:
            found.append(Moved(match[1], int(match[2]) * 1000))
    return found


def from_reflog(folder: str, at: int, name: str = "HEAD") -> str | None:
    """Where a reference stood at a moment; None if the record does not reach back."""
    return next((moved.commit for moved in reflog(folder, name) if moved.at <= at), None)


def from_graph(folder: str, at: int, branch: str | None = None) -> str | None:
    """The newest commit of a branch, or of the main line, that existed at a moment.

    The branch as it is now is walked by first parents: what was merged later came later.
    """
    line = branch and git(folder, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}")
    line = line or main_line(folder)
    if line is None:
        return None
    asked = ("--first-parent", "--max-count=1", f"--before={at // 1000}", line, "--")
    return git(folder, "rev-list", *asked)


def contains(folder: str, commit: str) -> bool:
    """Whether a commit's object is here."""
    return git(folder, "cat-file", "-t", commit) == "commit"


def moment_of(folder: str, commit: str) -> int | None:
    """When a commit was made; None if it is not here."""
    told = git(folder, "log", "-1", "--no-show-signature", "--format=%ct", commit, "--")
    return _milliseconds(told) if told else None


def listed(folder: str, commit: str) -> Iterator[tuple[str, str]]:
    """Paths and blobs of the files of a commit; links and submodules are left out."""
    with reading(["git", "-C", folder, "ls-tree", "-r", "-z", commit, "--"]) as told:
        for word in words(told) if told is not None else ():
            head, _, path = word.partition(b"\t")
            mode, _, rest = head.decode("ascii", "replace").partition(" ")
            if mode.startswith("100"):
                yield path.decode("utf-8", "surrogateescape"), rest.rpartition(" ")[2]


# --- how git is asked -----------------------------------------------------------------------------


@contextmanager
def reading(command: list[str]) -> Iterator[IO[bytes] | None]:
    """What a command prints; None if it cannot be started. It ends when the reading does."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=own_environment(),
        )
    except (OSError, ValueError):
        yield None
        return
    try:
        yield process.stdout
    finally:
        process.kill()
        process.communicate()


def words(told: IO[bytes]) -> Iterator[bytes]:
    """What stands between zero bytes."""
    rest = b""
    while piece := told.read(_PIECE):
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _commits(told: Iterator[bytes]) -> Iterator[Commit]:
    """A commit is its fields, then for each file a line of ids and a path."""
    head: list[str] = []
    changes: list[Change] = []
    for word in told:
        mark = word.lstrip(b"\n")
        if mark.startswith(_START):
            if head:
                yield _commit(head, changes)
            fields = [mark[1:], *islice(told, _FIELDS - 1)]
            head = [field.decode("utf-8", "replace") for field in fields]
            changes = []
        elif mark.startswith(b":"):
            change = _change(mark, next(told, b""))
            if change is not None:
                changes.append(change)
    if head:
        yield _commit(head, changes)


def _commit(head: list[str], changes: list[Change]) -> Commit:
    identity, parents, author, mail, authored, committed, message = head
    times = _milliseconds(authored), _milliseconds(committed)
    return Commit(
        identity, tuple(parents.split()), author, mail, *times, message.strip(), tuple(changes)
    )


def _milliseconds(seconds: str) -> int:
    return int(seconds) * 1000 if seconds.lstrip("-").isdigit() else 0


def _change(ids: bytes, path: bytes) -> Change | None:
    """A line of `--raw`: a colon and a mode for each side, an id for each side, and a letter."""
    colons = len(ids) - len(ids.lstrip(b":"))
    parts = ids[colons:].decode("ascii", "replace").split()
    modes, names = parts[: colons + 1], parts[colons + 1 : -1]
    if len(names) != colons + 1 or _MODULE in modes:
        return None
    *before, after = [None if _NOTHING.fullmatch(name) else name for name in names]
    return Change(path.decode("utf-8", "surrogateescape"), tuple(before), after)


def _contained(folder: str, line: str | None, *asked: str) -> frozenset[str]:
    if line is None:
        return frozenset()
    told = git(folder, "rev-list", *asked, f"--max-count={MOST_COMMITS}", line, "--", seconds=60)
    return frozenset((told or "").split())


def _cut_off(folder: str) -> frozenset[str]:
    """Commits whose parents a shallow clone does not have."""
    path = git(folder, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
    try:
        return frozenset(Path(path or "").read_text("ascii", "replace").split())
    except (OSError, ValueError):
        return frozenset()
