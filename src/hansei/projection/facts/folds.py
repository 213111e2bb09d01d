"""What is worked out of a session, in order: each fold is given the events and the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hansei.events.reviews import Review
from hansei.projection.calls import calls
from hansei.projection.corrections import Correction, corrections, reviews
from hansei.projection.exchanges import conversation
from hansei.projection.facts.asked import Asked, asked
from hansei.projection.facts.called import Called, called
from hansei.projection.facts.ended import Ended, ended
from hansei.projection.facts.paid import Paid, paid
from hansei.projection.facts.planned import Planned, planned
from hansei.projection.facts.ran import Ran, ran
from hansei.projection.facts.said import Said, said
from hansei.projection.facts.tables import Table
from hansei.projection.failures import (
    Episode,
    Failure,
    episodes,
    failures,
    runs_of_tests,
    verdicts,
)
from hansei.projection.files import Crowded, Touch, crowded, left_at, touches
from hansei.projection.funnel import Use, funnel
from hansei.projection.outcomes import (
    Broke,
    Misplaced,
    Outcome,
    Turned,
    WrittenRow,
    broke,
    misplaced,
    packed,
    turns,
    written,
)
from hansei.projection.provenance import Carried, Provenance, provenance
from hansei.projection.reports import Report, reports

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.config import CommandClass
    from hansei.projection.facts.subjects import Subject
    from hansei.store.reading import Numbered


class Stand(NamedTuple):
    """What a session's facts were worked out from, besides its events."""

    roots: tuple[str, ...]


class Problem(NamedTuple):
    """A session that could not be worked out, which is a fault of ours."""

    kind: str
    place: str


STANDS: Final = Table("stands", Stand)
PROBLEMS: Final = Table("problems", Problem)
ASKED: Final = Table("asked", Asked)
PAID: Final = Table("paid", Paid)
CALLS: Final = Table("calls", Called)
COMMANDS: Final = Table("commands", Ran)
SAID: Final = Table("said", Said)
PIECES: Final = Table("pieces", Carried)
TOUCHES: Final = Table("touches", Touch)
CROWDED: Final = Table("crowded", Crowded)
FAILURES: Final = Table("failures", Failure)
EPISODES: Final = Table("episodes", Episode)
CORRECTIONS: Final = Table("corrections", Correction)
REVIEWS: Final = Table("reviews", Review)
HUNKS: Final = Table("hunks", WrittenRow)
MISPLACED: Final = Table("misplaced", Misplaced)
TURNED: Final = Table("turned", Turned)
BROKE: Final = Table("broke", Broke)
USES: Final = Table("uses", Use)
PLANNED: Final = Table("planned", Planned)
REPORTS: Final = Table("reports", Report)
ENDED: Final = Table("ended", Ended)
TABLES: Final[tuple[Table[Any], ...]] = (
    STANDS,
    PROBLEMS,
    ASKED,
    PAID,
    CALLS,
    COMMANDS,
    SAID,
    PIECES,
    TOUCHES,
    CROWDED,
    FAILURES,
    EPISODES,
    CORRECTIONS,
    REVIEWS,
    HUNKS,
    MISPLACED,
    TURNED,
    BROKE,
    USES,
    PLANNED,
    REPORTS,
    ENDED,
)
"""What follows from a session's own events."""

OUTCOMES: Final = Table("outcomes", Outcome)
"""What became of hunks, which takes the repository and all its sessions to know."""


def work_out(
    subject: Subject, events: Sequence[Numbered], own: Mapping[str, CommandClass]
) -> dict[Table[Any], list[Any]]:
    """Everything that is kept of one session, by table."""
    made = calls(events, own)
    talk = conversation(events)
    context = provenance(talk, instructions=subject.instructions, inherited=subject.inherited)
    judged = verdicts(made)
    failed = failures(made, judged)
    hunks = written(events, made)
    edits = {hunk.seq for hunk in hunks}
    runs = runs_of_tests(made, judged, subject.roots)
    return {
        ASKED: asked(talk),
        PAID: paid(talk),
        CALLS: called(made, judged),
        COMMANDS: ran(made, subject.roots),
        SAID: said(events, subject.driver),
        PIECES: list(context.pieces),
        TOUCHES: touches(events, made, subject.roots, left_at(context.pieces)),
        CROWDED: crowded(made, subject.roots),
        FAILURES: failed,
        EPISODES: episodes(made, judged, events, failed, talk),
        CORRECTIONS: corrections(events, made, subject.driver),
        REVIEWS: reviews(made),
        HUNKS: [packed(hunk) for hunk in hunks],
        MISPLACED: misplaced(hunks, (call.seq for call in made)),
        TURNED: turns(runs, edits),
        BROKE: broke(runs, edits),
        USES: funnel(events, made, subject.texts, _rate(context)),
        PLANNED: planned(made),
        REPORTS: reports(events, made),
        ENDED: ended(events),
    }


def _rate(context: Provenance) -> float | None:
    """Tokens per byte of plain words; None where the session is too short to tell."""
    return context.rates.letter if context.rates.steps else None
