"""What a fold is told of a session besides its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.hook.places import INSTRUCTIONS, RULE
from hansei.projection.facts.folds import Subject

if TYPE_CHECKING:
    from hansei.store.database import Store


def subject(store: Store, session: int) -> Subject:
    """One session, from the tables that the log and the exposure keep."""
    agent, driver, folder, inherited = store.db.execute(
        "SELECT s.agent, s.driver, w.folder,"
        " EXISTS (SELECT 1 FROM replays r WHERE r.session = s.id)"
        " FROM sessions s JOIN workspaces w ON w.id = s.workspace WHERE s.id = ?",
        (session,),
    ).fetchone()
    known = store.db.execute(
        "SELECT path, max(bytes) FROM exposure WHERE session = ? AND reach = 'start'"
        " AND kind IN (?, ?) AND path <> '' GROUP BY path",
        (session, INSTRUCTIONS, RULE),
    )
    return Subject(
        number=session,
        agent=agent,
        driver=driver,
        roots=(folder,) if folder else (),
        inherited=bool(inherited),
        instructions=dict(known),
    )
