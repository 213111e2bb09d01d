"""Commits with the files they changed, read as a stream from `git log --raw`.

Nothing is checked out and nothing is fetched. What git cannot say (no git, no repository, a history
that was cut off) is told in the answer, because "not found" means something else then.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hansei.git.repository import git, own_environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_COMMITS: Final = 50_000
"""More commits than this are not looked through at once: about a minute of git's time."""
MOST_BESIDE: Final = 10_000
"""Commits that are not on the main line: those of other people's branches are rarely asked for."""
MOST_CHANGES: Final = 400_000
"""Nor more changed files than this: about 150 MB of memory."""

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
_NOT_KEPT: Final = ("refs/stash", "refs/notes/")
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
    files: Mapping[str, str] = field(default_factory=dict)
    """Paths and blobs at the end of the main line, for files that no commit here changed."""


class Standing(NamedTuple):
    """What a repository's references say; two that are equal have the same history."""

    key: str
    main: str | None
    """The commit at the end of the main line."""
    cut: frozenset[str]
    """Commits whose parents a shallow clone does not have."""


def standing(folder: str) -> Standing | None:
    """Where all references stand; None where git knows of no repository."""
    if git(folder, "rev-parse", "--git-dir") is None:
        return None
    refs = git(folder, "for-each-ref", "--format=%(objectname) %(refname)") or ""
    kept = [it for it in refs.splitlines() if not it.partition(" ")[2].startswith(_NOT_KEPT)]
    head = git(folder, "rev-parse", "--verify", "--quiet", "HEAD") or ""
    main, cut = main_line(folder), cut_off(folder)
    told = "\n".join((*kept, head, main or "", *sorted(cut)))
    return Standing(blake2b(told.encode(), digest_size=16).hexdigest(), main, cut)


def read_history(
    folder: str,
    *,
    since: int | None = None,
    most: int = MOST_COMMITS,
    known: Mapping[str, Commit] | None = None,
) -> History:
    """All commits that some reference keeps, from a moment on; those that are known are not read.

    A commit whose parents were cut off by a shallow clone is left out: what it changed is unknown.
    """
    at = standing(folder)
    if at is None:
        return History((), frozenset(), since)
    asked = [] if since is None else [f"--since={since // 1000}"]
    main = listed_commits(folder, most, *asked, at.main) if at.main else []
    beside = listed_commits(folder, min(most, MOST_BESIDE), *asked, *_REFS, *_without(at.main))
    missing = [committed for name, committed in (*main, *beside) if name in at.cut]
    for line, full in ((main, most), (beside, min(most, MOST_BESIDE))):
        missing += [line[-1][1]] if len(line) == full else []
    if since is not None:
        missing.append(since)
    names = [name for name, _ in (*main, *beside) if name not in at.cut]
    found = list(_found(folder, names, known or {}))
    if sum(len(commit.changes) for commit in found) > MOST_CHANGES:
        missing.append(found[-1].committed)
    on_main = frozenset(name for name, _ in main).intersection(commit.id for commit in found)
    return History(tuple(in_date_order(found)), on_main, max(missing, default=None))


def _without(line: str | None) -> tuple[str, ...]:
    return (f"^{line}",) if line else ()


def _found(folder: str, names: Sequence[str], known: Mapping[str, Commit]) -> Iterator[Commit]:
    """Commits in the order of their names, until they have changed more files than we look at."""
    new = commits(folder, [name for name in names if name not in known])
    changes = 0
    for name in names:
        commit = known.get(name) or next(new, None)
        if commit is None:  # an object is missing
            continue
        changes += len(commit.changes)
        yield commit
        if changes > MOST_CHANGES:
            break


def in_date_order(commits: Sequence[Commit]) -> Iterator[Commit]:
    """Commits from the oldest on, but none before its parents; the same however they were read."""
    by_id = {commit.id: commit for commit in commits}
    waiting = {it.id: sum(1 for name in set(it.parents) if name in by_id) for it in commits}
    children: dict[str, list[str]] = {}
    for commit in commits:
        for name in set(commit.parents):
            children.setdefault(name, []).append(commit.id)
    ready = [(it.committed, it.id) for it in commits if not waiting[it.id]]
    heapify(ready)
    while ready:
        _, name = heappop(ready)
        yield by_id[name]
        for child in children.get(name, ()):
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, (by_id[child].committed, child))


def commits(folder: str, names: Sequence[str]) -> Iterator[Commit]:
    """The commits of these names that are here; each changed file is told, however many."""
    if names:
        asked = "".join(f"{name}\n" for name in names).encode()
        yield from log(folder, "--no-walk=unsorted", "--stdin", asked=asked)


def log(folder: str, *arguments: str, asked: bytes = b"") -> Iterator[Commit]:
    """Commits as git lists them; nothing where there is no git or no such repository."""
    command = ["git", "-C", folder, *FLAGS, "--raw", "--no-abbrev", "--no-renames", "-c", _FORMAT]
    with reading([*command, *arguments, "--"], asked) as told:
        if told is not None:
            yield from _commits(words(told))


def main_line(folder: str) -> str | None:
    """The commit at the end of the main line: what the remote calls so, else main, else HEAD."""
    names = (git(folder, "rev-parse", "--verify", "--quiet", f"{it}^{{commit}}") for it in _MAIN)
    return next((name for name in names if name), None)


def worktrees(folder: str) -> list[str]:
    """The folders in which a repository is checked out."""
    told = git(folder, "worktree", "list", "--porcelain") or ""
    lines = (line.partition(" ") for line in told.splitlines())
    return [path for word, _, path in lines if word == "worktree"]


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
def reading(command: list[str], asked: bytes = b"") -> Iterator[IO[bytes] | None]:
    """What a command prints; None if it cannot be started. It ends when the reading does.

    `asked` is what it reads to the end before it prints anything.
    """
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if asked else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=own_environment(),
        )
    except (OSError, ValueError):
        yield None
        return
    try:
        if process.stdin is not None:
            with suppress(OSError), process.stdin:
                process.stdin.write(asked)
            process.stdin = None
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


def listed_commits(folder: str, most: int, *arguments: str) -> list[tuple[str, int]]:
    """Names of commits and when they were made, the newest first."""
    command = ["git", "-C", folder, "rev-list", "--timestamp", f"--max-count={most}"]
    found = []
    with reading([*command, *arguments, "--"]) as told:
        for line in told or ():
            at, _, name = line.decode("ascii", "replace").strip().partition(" ")
            found.append((name, _milliseconds(at)))
    return found


def cut_off(folder: str) -> frozenset[str]:
    """Commits whose parents a shallow clone does not have."""
    path = git(folder, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
    try:
        return frozenset(Path(path or "").read_text("ascii", "replace").split())
    except (OSError, ValueError):
        return frozenset()
