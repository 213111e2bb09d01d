"""Which instruction texts were in force, how far they got, and whether deliveries arrived."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.ops import sessions
from hansei.projection.calls import calls
from hansei.projection.exchanges import conversation
from hansei.projection.funnel import Use, funnel
from hansei.projection.provenance import provenance
from hansei.sources import catalogue
from hansei.store import reading
from hansei.store.evidence import DELIVERED, HOOK, MARKED

if TYPE_CHECKING:
    from hansei.ops.sessions import SessionLine
    from hansei.store.database import Store


@dataclass(frozen=True)
class Text:
    """One text that was in force."""

    kind: str
    path: str
    hash: str
    bytes: int
    basis: str
    """How we know: a hook looked, the commit holds it, or the transcript shows it."""
    reach: str
    """`start`: from the beginning; `below`: once the agent worked in that folder."""


@dataclass(frozen=True)
class Exposure:
    session: SessionLine
    basis: str | None
    """How the files in force are known; None where they are not."""
    note: str
    """Why they are not known."""
    texts: list[Text]
    uses: list[Use]
    """How far each text got: matched a prompt, fired, followed."""


@dataclass(frozen=True)
class Disagreement:
    """A hook's line says that a text was delivered, and the transcript does not show it."""

    session: str
    item: str
    what: str


def exposure(store: Store, reference: str) -> Exposure:
    """The ledger of one session."""
    number = sessions.find(store, reference.partition("#")[0])
    basis, note = store.db.execute(
        "SELECT basis, note FROM ledger WHERE session = ?", (number,)
    ).fetchone() or (None, "it has not been worked out yet")
    rows = store.db.execute(
        "SELECT kind, path, hash, bytes, basis, reach FROM exposure WHERE session = ?"
        " ORDER BY reach DESC, kind, path, basis, hash",
        (number,),
    ).fetchall()
    events = list(reading.events(store, number))
    rates = provenance(conversation(events)).rates
    uses = funnel(events, calls(events), rows, rates.letter if rates.steps else None)
    session = sessions.describe(store, number)
    return Exposure(session, basis, note, [Text(*row) for row in rows], uses)


def disagreements(store: Store) -> list[Disagreement]:
    """Deliveries that the transcript ought to show by now and does not."""
    rows = store.db.execute(
        "SELECT s.id, s.native, e.path, e.hash, e.at FROM evidence e JOIN sessions s"
        " ON s.id = e.session WHERE e.basis = ? AND e.kind = ? AND s.transcript IS NOT NULL"
        " AND s.agent IN (SELECT value FROM json_each(?)) ORDER BY e.at, s.native, e.path",
        (HOOK, DELIVERED, _that_show_it()),
    ).fetchall()
    found = []
    for number, native, item, mark, at in rows:
        shown = {
            hash_
            for (hash_,) in store.db.execute(
                "SELECT hash FROM evidence WHERE session = ? AND kind = ?", (number, MARKED)
            )
        }
        if mark not in shown and _went_on(store, number, at):
            what = "the transcript shows another text" if shown else "the transcript lacks it"
            found.append(Disagreement(native, item, what))
    return found


def _that_show_it() -> str:
    import json

    sources, _ = catalogue.load_all()
    return json.dumps([it.name for it in sources if it.capabilities.added_context])


def _went_on(store: Store, number: int, at: int) -> bool:
    """Whether the transcript tells of anything later, so that the delivery must stand before it."""
    (last,) = store.db.execute(
        "SELECT max(at) FROM requests WHERE session = ?", (number,)
    ).fetchone()
    return last is not None and last > at
