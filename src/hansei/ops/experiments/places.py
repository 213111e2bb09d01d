"""Where an experiment happens: its repository, and what the files in it said at which time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hansei.errors import HanseiError
from hansei.events.keys import digest
from hansei.experiments.binding.days import Span
from hansei.git.objects import Objects
from hansei.git.repository import git
from hansei.hook.repository import top
from hansei.instructions import disk
from hansei.store import journal, workspaces

if TYPE_CHECKING:
    from hansei.store.database import Store
    from hansei.store.journal import Entry

_LARGEST = 2_000_000
"""Bytes of an instruction file that are looked through; real ones are a hundredth of that."""
_MOST = 1_000
"""Commits that touched one instruction file."""


def repository(store: Store, workspace: int, here: Path) -> Path | None:
    """A workspace's repository: where the person stands, else where it was seen."""
    root = top(str(here))
    if root is not None and workspaces.find(store, root) == workspace:
        return Path(root).resolve()
    row = store.db.execute("SELECT folder FROM workspaces WHERE id = ?", (workspace,)).fetchone()
    folder = None if row is None else row[0]
    return Path(folder).resolve() if folder is not None and Path(folder).is_dir() else None


class Versions(NamedTuple):
    """Hashes of a file with a text in it and without, over all that is known of it."""

    holding: frozenset[str]
    lacking: frozenset[str]
    committed: bool
    """Whether any commit holds it."""


def versions(folder: Path, path: str, text: str) -> Versions:
    """Every version of a file in git and the one on disk, by whether a text stands in it."""
    wanted = text.strip().encode()
    past = list(_past(folder, path))
    there = _on_disk(folder, path)
    every = past if there is None else [*past, there]
    holding = {digest(it) for it in every if wanted in it}
    committed = any(wanted in it for it in past)
    return Versions(frozenset(holding), frozenset(map(digest, every)) - holding, committed)


def stands(folder: Path, path: str, text: str) -> bool:
    """Whether a text is in a file now."""
    return text.strip().encode() in (_on_disk(folder, path) or b"")


def _on_disk(folder: Path, path: str) -> bytes | None:
    try:
        return disk.find(folder, path).content
    except HanseiError:
        return None


def _past(folder: Path, path: str) -> list[bytes]:
    asked = ("log", "--all", "--format=%H", f"--max-count={_MOST}", "--", path)
    commits = (git(str(folder), *asked) or "").split()
    found: dict[str, bytes] = {}
    with Objects(str(folder)) as objects:
        for commit in commits:
            read = objects.read(f"{commit}:{path}")
            if read is not None and read[1] == "blob" and len(read[2]) <= _LARGEST:
                found[read[0]] = read[2]
    return list(found.values())


def spans(store: Store, folder: Path, reference: str) -> tuple[Span, ...]:
    """When what the journal knows by a reference stood in files of a repository."""
    entries = [it for it in _written(store, folder) if it.reference == reference]
    return tuple(Span(it.at, it.undone_at) for it in reversed(entries))


def _written(store: Store, folder: Path) -> list[Entry]:
    made = (journal.State.DONE, journal.State.UNDONE)
    return [
        it for it in journal.listed(store.db) if it.repository == str(folder) and it.state in made
    ]
