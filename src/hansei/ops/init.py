"""Making a store on purpose, for everything or for one repository alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.config import remember_local_store
from hansei.errors import UsageError
from hansei.git.repository import git
from hansei.store.database import open_store
from hansei.store.workspaces import keep_only

if TYPE_CHECKING:
    from hansei.config import Config


@dataclass(frozen=True)
class Made:
    """A store, and whether it was there before."""

    store: str
    existed: bool


def init(config: Config, *, now: int) -> Made:
    """Make the store that holds every workspace."""
    made = _made(config.store)
    open_store(config.store, now=now).close()
    return made


def init_local(config: Config, folder: Path, *, now: int) -> Made:
    """Make a store for the repository around a folder, for its sessions alone."""
    top = git(str(folder), "rev-parse", "--show-toplevel")
    if top is None:
        raise UsageError(
            f"{folder} is not inside a git repository",
            hint="Run `git init` first, or `hansei init` without --local.",
        )
    repository = Path(top)
    made = _made(repository / ".hansei")
    store = open_store(repository / ".hansei", now=now)
    try:
        keep_only(store, str(repository))
        remember_local_store(config.environment, repository / ".hansei")
    finally:
        store.close()
    return made


def _made(folder: Path) -> Made:
    return Made(str(folder), existed=(folder / "hansei.db").exists())
