"""Whether the thing that a bet is about came up in a session, and how often it could have.

Every session is judged by its own facts alone. Would the same call count in one session and not in
another because of what went on elsewhere, one arm of an experiment would change what is seen in the
other. So nothing here compares sessions: floors like "in three sessions" are for finding a bet, not
for counting it. A cluster of corrections is named and bounded by the first who said it, which was
before any session that is compared.

Sessions that cannot tell are left out of `hits`: no known 0 is made of them.
"""

from __future__ import annotations

from collections import Counter
from functools import wraps
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.recurring import Fact
from hansei.config import CommandClass
from hansei.events.model import Tool
from hansei.experiments.metrics.of_edits import OF_EDITS
from hansei.hook.places import SKILL
from hansei.projection import refusals as refused
from hansei.projection.abandoned import abandoned, openings
from hansei.projection.cold import cold, kind_of
from hansei.projection.compactions import fillings
from hansei.projection.facts.ran import bare
from hansei.projection.failures.signature import OF_SHELL
from hansei.projection.files import LISTERS, LOOKS, Verb
from hansei.projection.funnel import idle_names
from hansei.projection.large_outputs import calls_of, large_outputs
from hansei.projection.loops import LOOP_ROUNDS, loops
from hansei.projection.outliers import outliers
from hansei.projection.pagings import pagings
from hansei.projection.patterns import of_key, writers
from hansei.projection.remarks import heard, remarks
from hansei.projection.rereads import repeats
from hansei.projection.reviewed import reviewed
from hansei.projection.reworks import is_below, reworks
from hansei.projection.small_sessions import small_sessions
from hansei.projection.starts import above, is_in, listings, working
from hansei.projection.telling import telling
from hansei.projection.tries import aim, tries
from hansei.projection.unfinished import planned_steps, unfinished
from hansei.projection.unfired import unfired
from hansei.projection.whole_reads import needed, stories

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from hansei.experiments.metrics.of_edits import Met
    from hansei.projection.window import Window

Places = set[tuple[int, int]]
"""Sessions and calls."""


class Recurrence(NamedTuple):
    """By the number of the session."""

    hits: dict[int, int]
    """How often it came up; sessions that cannot tell are not in it."""
    opportunities: dict[int, int] | None
    """How often it could have, never less; None where nobody knows what leads to it."""


def recurrences(window: Window, fact: str, subject: str) -> Recurrence | None:
    """How often a fact's subject came up in each session; None where the fact is not known."""
    return COUNTED[Fact(fact)](window, subject) if fact in COUNTED else None


def by_family(window: Window, found: Recurrence) -> Recurrence:
    """A session with all that it started, as one.

    A family that was hit anywhere was hit. Where nothing was seen it is left out if the session
    that began it cannot tell.
    """
    hits = _added(window, found.hits)
    known = {it: count for it, count in hits.items() if count or it in found.hits}
    could = found.opportunities
    return Recurrence(known, None if could is None else _added(window, could))


def _added(window: Window, counts: dict[int, int]) -> dict[int, int]:
    sums: Counter[int] = Counter()
    for session, count in counts.items():
        sums[window.task(session)] += count
    return dict(sorted(sums.items()))


def _counts(
    window: Window, sessions: Iterable[int], known: Container[int] | None = None
) -> dict[int, int]:
    """How often each session is among these, 0 included; `known` are those that can tell."""
    told = Counter(sessions)
    return {it: told[it] for it in sorted(window.sessions) if known is None or it in known}


def _of_places(window: Window, places: Iterable[tuple[int, int]]) -> dict[int, int]:
    return _counts(window, (session for session, _ in set(places)))


def _failures(window: Window, signature: str) -> Recurrence:
    """Stretches of failing with it; any run of the same program could have failed so."""
    hits = [session for session, it in telling(window) if it.signature == signature]
    failed = {(session, row.seq) for session, row in window.failures if row.signature == signature}
    if signature.startswith(OF_SHELL):
        return Recurrence(_counts(window, hits), None)
    could = failed | _runs(window, signature.partition(": ")[0])
    return Recurrence(_counts(window, hits), _of_places(window, could))


def _missing(window: Window, key: str) -> Recurrence:
    """Calls for it; whoever runs the program, or works in the right folder, could have tried it."""
    met = {(it.session, it.failure.seq) for it in tries(window) if it.key == key}
    tool, folder = aim(key)
    could: Places | None = None
    if tool:
        could = met | _runs(window, tool)
    elif folder:
        could = met | {(s, it.seq) for s, it in window.touches if it.path.startswith(folder)}
    return Recurrence(_of_places(window, met), None if could is None else _of_places(window, could))


def _corrections(window: Window, cluster: str) -> Recurrence:
    """Times that a person said it; every prompt and every review could have said it."""
    said = next((it.said for it in remarks(window) if it.cluster.name == cluster), None)
    if said is None:
        return Recurrence({}, {})
    met = {(session, row.seq) for session, row in said}
    could = met | {(session, row.seq) for session, row in window.said}
    could |= {(it.session, it.said.seq) for it in reviewed(window)}
    known = heard(window)
    return Recurrence(
        _counts(window, (session for session, _ in met), known),
        _counts(window, (session for session, _ in could), known),
    )


def _declined(window: Window, key: str) -> Recurrence:
    """Refused calls; whoever made such a call could have been refused."""
    met = {(it.session, it.call.seq) for it in refused.refusals(window) if it.key == key}
    by, _, what = key.partition(" ")
    could: Places | None = None
    if by == refused.PERSON:
        could = {(s, it.seq) for s, it in window.commands if it.about and bare(it) == what}
        could |= met | _calls(window, what)
    elif by == refused.RULE and " " not in what:  # a page of the web is known only by its refusal
        could = met | _calls(window, what)
    return Recurrence(_of_places(window, met), None if could is None else _of_places(window, could))


def _rereads(window: Window, path: str) -> Recurrence:
    """Needless reads, among all reads of the file."""
    met = {(it.session, it.seq) for it in repeats(window) if it.path == path}
    reads = {(s, it.seq) for s, it in window.touches if it.path == path and it.verb is Verb.READ}
    return Recurrence(_of_places(window, met), _of_places(window, met | reads))


def _whole_reads(window: Window, path: str) -> Recurrence:
    """Once in a session that read it whole for small edits, of those that made small edits."""
    told = stories(window).get(path, {})
    return Recurrence(
        _counts(window, (it for it, story in told.items() if needed(story) is not None)),
        _counts(window, (it for it, story in told.items() if story.small_work)),
    )


def _loops(window: Window, path: str) -> Recurrence:
    """Loops about the file, among edits of it: a loop takes two of them."""
    met = [it.session for it in loops(window) if it.path == path and it.rounds >= LOOP_ROUNDS]
    edits = {(s, it.seq) for s, it in window.touches if it.path == path and it.verb not in LOOKS}
    return Recurrence(_counts(window, met), _of_places(window, edits))


def _large_outputs(window: Window, group: str) -> Recurrence:
    """Large outputs, among all calls of the command; only where the context is known."""
    known = {session for session, _ in window.pieces}
    met = {(it.session, it.seq) for it in large_outputs(window) if it.group == group}
    could = met | set(calls_of(window, group))
    return Recurrence(
        _counts(window, (session for session, _ in met), known),
        _counts(window, (session for session, _ in could), known),
    )


def _crowded(window: Window, _: str) -> Recurrence:
    """Crowded answers, among all searches and listings."""
    searches = {(session, it.seq) for session, it in window.calls if it.tool is Tool.SEARCH}
    searches |= {
        (session, it.seq)
        for session, it in window.commands
        if it.about and (it.kind is CommandClass.SEARCH or it.program in LISTERS)
    }
    return Recurrence(
        _of_places(window, window.crowds), _of_places(window, window.crowds | searches)
    )


def _listings(window: Window, folder: str) -> Recurrence:
    """Listings by sessions that went on with a file in it.

    A bet counts only those that went on with one of the files its line names.
    """
    return _looked(window, [folder], lambda file: is_in(file, folder))


def _listings_above(window: Window, source: str) -> Recurrence:
    """Listings of folders above by sessions that went on below."""
    return _looked(window, above(source), lambda file: file.startswith(source))


def _looked(window: Window, folders: list[str], is_there: Callable[[str], bool]) -> Recurrence:
    there = [it for it in working(window) if any(map(is_there, it.went_on))]
    made = {it.session: len(listings(window, it, folders)) for it in there}
    none = dict.fromkeys(sorted(window.sessions), 0)
    could = {session: max(count, 1) for session, count in made.items()}
    return Recurrence(none | made, none | could)


def _idle(window: Window, subject: str) -> Recurrence:
    """Once in a session that carries some of it unused; 0 where all of it is gone or wanted.

    A bet about a full list of skills counts only sessions whose list is full.
    """
    kind, names = idle_names(subject)
    told: dict[int, list[bool | None]] = {session: [] for session, _ in window.uses}
    for session, use in window.uses:
        if use.kind == kind and use.name in names:
            told[session].append(use.idle)
    known = {it for it, idle in told.items() if not idle or any(one is not None for one in idle)}
    return Recurrence(
        _counts(window, (it for it, idle in told.items() if True in idle), known),
        _counts(window, (it for it, idle in told.items() if idle), known),
    )


def _unfollowed(window: Window, subject: str) -> Recurrence:
    """Once in a session that was told and did not do it, of those where that is known."""
    told = {
        session: use.followed
        for session, use in window.uses
        if f"{use.kind} {use.name}" == subject and use.followed is not None
    }
    return Recurrence(
        _counts(window, (it for it, followed in told.items() if not followed), told),
        _counts(window, list(told), told),
    )


def _reworked(window: Window, area: str) -> Recurrence:
    """Once in a session whose lines there people changed; younger than two weeks nobody knows."""
    told = [it for it in reworks(window) if it.path == area or is_below(it.path, area)]
    known = {it.session for it in told}
    return Recurrence(
        _counts(window, {it.session for it in told if it.gone}, known),
        _counts(window, known, known),
    )


def _replaced(window: Window, key: str) -> Recurrence:
    """Edits that write it, among all edits: whether somebody replaced it is known only later."""
    edits = {(it.session, it.row.seq) for it in window.hunks}
    met = writers(window, of_key(key).old)
    return Recurrence(_of_places(window, met), _of_places(window, edits))


def _paged(window: Window, path: str) -> Recurrence:
    """Times that it was paged through, among all calls that read it."""
    met = [it.session for it in pagings(window) if it.path == path]
    reads = {(s, it.seq) for s, it in window.touches if it.path == path and it.verb is Verb.READ}
    return Recurrence(_counts(window, met), _of_places(window, reads))


def _cold(window: Window, kind: str) -> Recurrence:
    """Requests that lost the cache in this way, among all; only where they are told."""
    met = [it.session for it in cold(window) if kind_of(it) == kind]
    requests = [session for session, rows in window.paid.items() for _ in rows]
    return Recurrence(_counts(window, met, window.paid), _counts(window, requests, window.paid))


def _compacted(window: Window, cause: str) -> Recurrence:
    """Compactions of contexts that it filled; only where the context is known."""
    known = {session for session, _ in window.pieces}
    met = [it.session for it in fillings(window) if it.cause == cause]
    return Recurrence(_counts(window, met, known), None)


def _unfired(window: Window, name: str) -> Recurrence:
    """Sessions that asked for a skill and did not load it, of those that asked."""
    known = {session for session, _ in window.uses}
    met = [session for session, use in unfired(window) if use.name == name]
    asked = [s for s, it in window.uses if (it.kind, it.name) == (SKILL, name) and it.matched]
    return Recurrence(_counts(window, met, known), _counts(window, asked, known))


def _premium(window: Window, model: str) -> Recurrence:
    """Small sessions with a model, of all small ones."""
    small = small_sessions(window)
    return Recurrence(
        _counts(window, (it.session for it in small if it.model == model)),
        _counts(window, (it.session for it in small)),
    )


def _outliers(window: Window, subject: str) -> Recurrence:
    """Tasks above the number of tokens that was far above the others when the bet was made."""
    above, _, cause = subject.partition(" ")
    if not above.isdecimal():
        return Recurrence({}, None)
    met = [it.session for it in outliers(window, int(above)) if it.cause == cause]
    return Recurrence(_counts(window, met, window.requests), None)


def _unused(window: Window, role: str) -> Recurrence:
    """Reports of a kind of subagent that were not used, of those of which it is known."""
    told = [it for it in window.reports if it.row.role == role and it.row.used is not None]
    return Recurrence(
        _counts(window, (session for session, it in told if not it.used)),
        _counts(window, (session for session, _ in told)),
    )


def _abandoned(window: Window, kind: str) -> Recurrence:
    """Sessions that begin so and were left with nothing done, of those that begin so."""
    begun = {session: it for session, (it, _) in openings(window).items()}
    return Recurrence(
        _counts(window, (it.session for it in abandoned(window) if it.kind == kind), begun),
        _counts(window, (session for session, it in begun.items() if it == kind), begun),
    )


def _unfinished(window: Window, kind: str) -> Recurrence:
    """Sessions whose plan ends with such a step open, of those that planned one."""
    return Recurrence(
        _counts(window, (it.session for it in unfinished(window) if it.kind == kind)),
        _counts(window, (it for it, steps in planned_steps(window).items() if kind in steps)),
    )


def _of_edits(where: Callable[[Window, str], Met]) -> Callable[[Window, str], Recurrence]:
    """What bets on edits and runs are about, counted; it says of itself what the places say."""

    @wraps(where)
    def counted(window: Window, subject: str) -> Recurrence:
        hits, could = where(window, subject)
        known = None if could is None else _of_places(window, hits | could)
        return Recurrence(_of_places(window, hits), known)

    return counted


def _runs(window: Window, tool: str) -> Places:
    """The calls that ran a program with its subcommand, or a tool that is no shell."""
    ran = {
        (session, it.seq)
        for session, it in window.commands
        if " ".join(part for part in (it.program, it.subcommand) if part) == tool
    }
    return ran | _calls(window, tool)


def _calls(window: Window, name: str) -> Places:
    return {(session, it.seq) for session, it in window.calls if it.name == name}


COUNTED: Final[dict[Fact, Callable[[Window, str], Recurrence]]] = {
    Fact.FAILURES: _failures,
    Fact.MISSING: _missing,
    Fact.CORRECTIONS: _corrections,
    Fact.DECLINED: _declined,
    Fact.REREADS: _rereads,
    Fact.WHOLE_READS: _whole_reads,
    Fact.LOOPS: _loops,
    Fact.LARGE_OUTPUTS: _large_outputs,
    Fact.CROWDED: _crowded,
    Fact.LISTINGS: _listings,
    Fact.LISTINGS_ABOVE: _listings_above,
    Fact.IDLE: _idle,
    Fact.UNFOLLOWED: _unfollowed,
    Fact.REWORKED: _reworked,
    Fact.REPLACED: _replaced,
    Fact.PAGED: _paged,
    Fact.COLD: _cold,
    Fact.COMPACTED: _compacted,
    Fact.UNFIRED: _unfired,
    Fact.PREMIUM: _premium,
    Fact.OUTLIERS: _outliers,
    Fact.UNUSED: _unused,
    Fact.ABANDONED: _abandoned,
    Fact.UNFINISHED: _unfinished,
    **{fact: _of_edits(where) for fact, where in OF_EDITS.items()},
}
