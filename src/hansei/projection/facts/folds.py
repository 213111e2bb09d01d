"""What is worked out of a session, in order: each fold is given the events and the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.projection.calls import calls
from hansei.projection.facts.ran import Ran, ran
from hansei.projection.facts.tables import Table
from hansei.projection.provenance import Carried, provenance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.store.reading import Numbered


class Problem(NamedTuple):
    """A session that could not be worked out, which is a fault of ours."""

    kind: str
    place: str


PROBLEMS: Final = Table("problems", Problem)
COMMANDS: Final = Table("commands", Ran)
PIECES: Final = Table("pieces", Carried)
TABLES: Final[tuple[Table[Any], ...]] = (PROBLEMS, COMMANDS, PIECES)


class Subject(NamedTuple):
    """A session, as far as its own events do not tell it."""

    number: int
    agent: str
    driver: str | None
    roots: tuple[str, ...]
    """Folders that are the top of its repository, or of a worktree."""
    inherited: bool
    """Whether it goes on from what another session did."""
    instructions: Mapping[str, int]
    """Bytes of the instruction texts in force from the start, by path."""


def work_out(
    subject: Subject, events: Sequence[Numbered], own: Mapping[str, CommandClass]
) -> dict[Table[Any], list[Any]]:
    """Everything that is kept of one session, by table."""
    made = calls(events, own)
    carried = provenance(events, instructions=subject.instructions, inherited=subject.inherited)
    return {COMMANDS: ran(made, subject.roots), PIECES: list(carried.pieces)}
