"""Experiments as they are kept: written, read back, and found by what a person calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from hansei.errors import NotFound, UsageError
from hansei.experiments.experiment import Experiment, Stage
from hansei.store import experiments as kept

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from hansei.store.database import Store

SHORTEST: Final = 4
"""Letters of an id that people are shown."""
LIST: Final = "`hansei exp list` shows them."


def save(db: sqlite3.Connection, it: Experiment) -> None:
    """Keep an experiment as it is now."""
    body = msgspec.json.encode(it).decode()
    kept.keep(db, kept.Row(it.id, it.workspace, it.stage, it.created_at, body))


def _read(row: kept.Row) -> Experiment:
    it = msgspec.json.decode(row.body, type=Experiment)
    return msgspec.structs.replace(it, workspace=row.workspace)


def listed(store: Store, workspace: int | None = None) -> list[Experiment]:
    """The experiments of a workspace, or of all, oldest first."""
    return [_read(row) for row in kept.listed(store, workspace)]


def running(store: Store, workspace: int | None = None) -> list[Experiment]:
    """Those that are going on."""
    return [it for it in listed(store, workspace) if it.stage is Stage.RUNNING]


def short(it: Experiment) -> str:
    """What people call it by."""
    return it.id[:SHORTEST]


def named(store: Store, name: str) -> Experiment:
    """An experiment by the beginning of its id."""
    found = kept.named(store, name.lower())
    if not found:
        raise NotFound(f"there is no experiment {name!r}", hint=LIST)
    if len(found) > 1:
        some = ", ".join(row.id for row in found)
        raise NotFound(f"{name!r} fits several experiments", hint=f"Type more of it: {some}")
    return _read(found[0])


def meant(
    store: Store, name: str | None, workspace: int | None, stages: Sequence[Stage] = ()
) -> Experiment:
    """The one a person means; without a name the only one of this workspace that can be meant.

    Several that run are told apart by name; where none runs the newest of `stages` is taken.
    """
    if name is not None:
        return named(store, name)
    here = listed(store, workspace)
    for stage in stages or (Stage.RUNNING,):
        found = [it for it in here if it.stage is stage]
        if len(found) == 1 or (found and stage is not Stage.RUNNING):
            return found[-1]
        if found:
            some = ", ".join(f"{short(it)} ({it.hypothesis})" for it in found)
            raise UsageError(
                f"{len(found)} experiments are running here",
                hint=f"Say which one: {some}",
            )
    wanted = (stages or (Stage.RUNNING,))[0]
    what = "is a draft" if wanted is Stage.DRAFT else f"is {wanted}"
    begin = '`hansei exp new --bind git --hypothesis "…"` begins one.'
    raise NotFound(f"no experiment {what} here", hint=f"{LIST} {begin}" if here else begin)
