"""Where an agent stands: a folder of this machine, its store and the clock.

A store is opened for every question and closed after it, so that one that is written, sealed or
replaced meanwhile is no different from one that is not. Nothing is taken in while an agent waits:
that is another process's work, begun beside the first question.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hansei.config import Config
    from hansei.ops.scope import Scope
    from hansei.ops.skills import Desk as SkillDesk
    from hansei.store.database import Store


@dataclass(frozen=True)
class Desk:
    """What every tool is given."""

    config: Config
    here: Path
    clock: Callable[[], int]

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The store, as it is now."""
        from hansei.store.database import complaints, open_store

        store = open_store(self.config.store, now=self.clock(), create=False)
        try:
            with complaints(self.config.store):
                yield store
        finally:
            store.close()

    @contextmanager
    def scoped(self) -> Iterator[tuple[Store, Scope]]:
        """The store and this workspace, whether or not facts are there."""
        with self.opened() as store:
            yield store, self.scope(store)

    @contextmanager
    def with_facts(self) -> Iterator[tuple[Store, Scope]]:
        """The store and this workspace, with facts to read."""
        from hansei.ops.projecting import ready

        with self.opened() as store:
            if not ready(store, self.config):
                raise NotFound(
                    "the facts of this workspace are not worked out yet",
                    hint="That is under way: ask again in a minute, or run `hansei facts`.",
                )
            yield store, self.scope(store)

    def scope(self, store: Store) -> Scope:
        """This workspace; where no session was ever in it, nothing."""
        from hansei.ops.scope import Scope, current_workspace

        number, name = current_workspace(store, self.here)
        return Scope(workspace=-1 if number is None else number, workspace_name=name)

    def skills(self, store: Store) -> SkillDesk:
        """Where the skillbook lies open for what an agent hands in."""
        from hansei.ops.skills import Desk as SkillDesk

        return SkillDesk(store, self.config, self.here, self.clock())
