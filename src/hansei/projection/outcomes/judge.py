"""What became of the hunks that sessions wrote, one row for each.

All sessions of a repository are judged together, because a line is credited to the last of them
that wrote it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes.afterlife import follow
from hansei.projection.outcomes.ending import Hands, ending, instead
from hansei.projection.outcomes.landing import blob_before, land, versions
from hansei.projection.outcomes.model import DAY_MS, Fate, Later, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.git.history import Change, Commit, History
    from hansei.projection.outcomes.afterlife import Life
    from hansei.projection.outcomes.landing import Elsewhere
    from hansei.projection.outcomes.model import Written
    from hansei.projection.outcomes.rows import WrittenRow
    from hansei.projection.outcomes.texts import Texts

SETTLED_MS: Final = 7 * DAY_MS
"""After so long what was not committed is taken for dropped."""

OUTSIDE: Final = "the file is not in the repository"
NO_TIME: Final = "no time is recorded"
NOTHING_TELLING: Final = "its lines could stand anywhere"
ONLY_REMOVES: Final = "it only removes lines"
NOT_SO_FAR_BACK: Final = "the history here does not reach back to it"
VERSION_MISSING: Final = "the repository here lacks versions of the file"
ALREADY_THERE: Final = "the same lines were committed before"


class Verdict(NamedTuple):
    """What became of a hunk, and what that depends on."""

    outcome: Outcome
    files: tuple[str, ...]
    """The files its lines were in: changes to others do not matter."""
    astray: bool
    """Whether it did not land where it was written: then it was looked for everywhere."""


def judge(
    hunks: Sequence[Written],
    places: Sequence[str | None],
    history: History,
    texts: Texts,
    now: int,
    elsewhere: Elsewhere,
) -> list[Verdict]:
    """What became of each hunk; `places` are their files from the top of the repository.

    All hunks of a file must be judged together. `now` is when the history was read.
    """
    copies, astray = land(hunks, places, history, texts, elsewhere)
    lives: dict[int, list[Life]] = defaultdict(list)
    for life in follow(copies, history, texts):
        lives[life.copy.hunk].append(life)
    hands = Hands.of(hunks, places)
    past = versions(history, {place for place in places if place is not None})
    found = []
    for number, (whole, place) in enumerate(zip(hunks, places, strict=True)):
        hunk = whole
        landed = len(lives[number])
        earlier = past.get(place or "", ())
        if landed * 2 < len(hunk.added):
            last = blob_before(history, place or "", earlier, hunk.at or 0)
            hunk = _without_old_lines(hunk, last, lives[number], texts)
        if landed and (landed * 2 >= len(hunk.added) or not _mostly_taken_back(whole)):
            outcome = _landed(hunk, place or hunk.path, lives[number], hands, texts, now)
        else:
            outcome = _not_landed(whole, hunk, place, history, texts, earlier, now)
        files = {place or "", *(path for life in lives[number] for path in life.been)} - {""}
        found.append(Verdict(outcome, tuple(sorted(files)), number in astray))
    return found


def unknown(row: WrittenRow, reason: str) -> Outcome:
    """The row of a hunk that nothing can be said of."""
    return Outcome(row.seq, row.hunk, row.path, Fate.UNKNOWN, reason, row.telling)


# --- hunks of which lines landed ------------------------------------------------------------------


def _landed(
    hunk: Written, place: str, lives: Sequence[Life], hands: Hands, texts: Texts, now: int
) -> Outcome:
    landings = [life.copy.landing for life in lives if life.copy.landing is not None]
    (most, _), *_ = Counter(it.place for it in landings).most_common(1)
    main = next(landing for landing in landings if landing.place == most)
    at = main.commit.committed
    days = [_alive(lives, at + count * DAY_MS, now) for count in (7, 14, 30)]
    last = ending(hunk, lives, hands, texts)
    fate = Fate.LANDED if len(lives) * 2 >= len(hunk.added) else Fate.PARTLY
    return _row(hunk, place, fate)._replace(
        landed=len(lives),
        landed_commit=main.commit.id,
        landed_at=at,
        on_main=main.on_main,
        reformatted=any(landing.reformatted for landing in landings),
        landed_in=main.path if main.path != place else None,
        later=last.later,
        later_commit=last.commit.id if last.commit else None,
        later_at=last.commit.committed if last.commit else None,
        later_by=last.by,
        alive_7=days[0],
        alive_14=days[1],
        alive_30=days[2],
        taken_back_by=hunk.taken_back[-1].seq if hunk.taken_back else None,
        instead=instead(lives, hands, texts) if last.later is Later.REWORKED else (),
    )


def _alive(lives: Iterable[Life], moment: int, now: int) -> int | None:
    """How many lines were there at a moment; None while it has not come."""
    if moment > now:
        return None
    return sum(1 for it in lives if it.gone_in is None or it.gone_in.committed > moment)


# --- hunks of which none did ----------------------------------------------------------------------


def _not_landed(
    whole: Written,
    hunk: Written,
    place: str | None,
    history: History,
    texts: Texts,
    past: Sequence[tuple[Commit, Change]],
    now: int,
) -> Outcome:
    named = place or hunk.path
    reason = _undecided(whole, hunk, place, history)
    if reason is None and not texts.lost.isdisjoint(change.after for _, change in past):
        reason = VERSION_MISSING
    if reason in (None, ALREADY_THERE, OUTSIDE) and _mostly_taken_back(whole):
        back = hunk.taken_back[-1]
        fate = Fate.TAKEN_BACK if back.restored else Fate.REPLACED
        return _row(hunk, named, fate)._replace(taken_back_by=back.seq)
    if reason is not None:
        return _row(hunk, named, Fate.UNKNOWN, reason)
    settled = now - (hunk.at or 0) >= SETTLED_MS
    return _row(hunk, named, Fate.NOT_COMMITTED if settled else Fate.WAITING)


def _mostly_taken_back(hunk: Written) -> bool:
    return bool(hunk.taken_back) and 2 * len(hunk.taken_back) >= len(hunk.added)


def _undecided(whole: Written, hunk: Written, place: str | None, history: History) -> str | None:
    """Why nothing can be said, if so."""
    if not whole.added:
        return ONLY_REMOVES if whole.removed and not whole.lines else NOTHING_TELLING
    if not hunk.added:
        return ALREADY_THERE
    if place is None:
        return OUTSIDE
    if hunk.at is None:
        return NO_TIME
    if history.complete_since is not None and hunk.at < history.complete_since:
        return NOT_SO_FAR_BACK
    return None


def _without_old_lines(
    hunk: Written, last: str | None, lives: Sequence[Life], texts: Texts
) -> Written:
    """A hunk without the lines that its file already had: who writes a file anew repeats them."""
    landed = {life.copy.line for life in lives}
    kept = [it for it in hunk.added if it in landed or not texts.holds(last, it)]
    return hunk._replace(added=tuple(kept))


def _row(hunk: Written, path: str, fate: Fate, reason: str = "") -> Outcome:
    return Outcome(hunk.seq, hunk.hunk, path, fate, reason, len(hunk.added))
