"""What a fold is told of a session besides its events."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hansei.hook.places import INSTRUCTIONS, RULE
from hansei.projection.commands.paths import spelled, tidy
from hansei.projection.places import folded, ground, inside, repository_roots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hansei.store.database import Store


class Subject(NamedTuple):
    """A session, as far as its own events do not tell it."""

    number: int
    agent: str
    driver: str | None
    roots: tuple[str, ...]
    """Folders that are the top of its repository, or of the worktree it is in."""
    inherited: bool
    """Whether it goes on from what another session did."""
    texts: tuple[Text, ...]
    """What was in force in it."""

    @property
    def instructions(self) -> Mapping[str, int]:
        """Bytes of the instruction texts in force from the start, by path."""
        known: dict[str, int] = {}
        for text in self.texts:
            if text.kind in (INSTRUCTIONS, RULE) and text.reach == "start" and text.path:
                known[text.path] = max(text.bytes, known.get(text.path, 0))
        return known


class Text(NamedTuple):
    """A row of the exposure."""

    kind: str
    path: str
    hash: str
    bytes: int
    basis: str
    reach: str


Ground: TypeAlias = tuple[str | None, tuple[str, ...]]
"""The folder of a repository, and all its roots."""


def subject(store: Store, session: int, grounds: dict[int, Ground]) -> Subject:
    """One session, from the tables that the log and the exposure keep.

    `grounds` keeps what was found of each workspace, from one call to the next.
    """
    agent, driver, cwd, workspace, inherited = store.db.execute(
        "SELECT agent, driver, cwd, workspace,"
        " EXISTS (SELECT 1 FROM replays r WHERE r.session = s.id) FROM sessions s WHERE id = ?",
        (session,),
    ).fetchone()
    texts = store.db.execute(
        "SELECT kind, path, hash, bytes, basis, reach FROM exposure WHERE session = ?"
        " ORDER BY kind, path, hash, basis",
        (session,),
    )
    return Subject(
        number=session,
        agent=agent,
        driver=driver,
        roots=roots(*_ground(store, workspace, grounds), cwd),
        inherited=bool(inherited),
        texts=tuple(Text(*row) for row in texts),
    )


def all_roots(store: Store, workspace: int | None) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The roots of every session of a workspace, or of all, as they are known now."""
    grounds: dict[int, Ground] = {}
    rows = store.db.execute(
        "SELECT id, workspace, cwd FROM sessions"
        " WHERE :workspace IS NULL OR workspace = :workspace ORDER BY id",
        {"workspace": workspace},
    ).fetchall()
    for number, home, cwd in rows:
        yield number, roots(*_ground(store, home, grounds), cwd)


def _ground(store: Store, workspace: int, grounds: dict[int, Ground]) -> Ground:
    if workspace not in grounds:
        grounds[workspace] = _looked_up(store, workspace)
    return grounds[workspace]


def _looked_up(store: Store, workspace: int) -> Ground:
    (folder,) = store.db.execute(
        "SELECT folder FROM workspaces WHERE id = ?", (workspace,)
    ).fetchone()
    seen = store.db.execute("SELECT path FROM folders WHERE workspace = ?", (workspace,))
    return folder, repository_roots(folder, (path for (path,) in seen))


@lru_cache(maxsize=4096)
def roots(folder: str | None, known: tuple[str, ...], cwd: str | None) -> tuple[str, ...]:
    """The repository's folder, and of its worktrees the one that a session is in."""
    whole = tidy(spelled(cwd)) if cwd else None
    return tuple(
        root
        for root in known
        if root == folder
        or (whole is not None and inside(folded(whole), whole, ground([root])) is not None)
    )
