"""How the lines of a hunk ended up, from what happened to each of them.

Only a commit that goes back to what was there before is called a revert; lines that just went away
were removed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes.lines import alike
from hansei.projection.outcomes.model import DAY_MS, By, Instead, Later

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.git.history import Change, Commit
    from hansei.projection.outcomes.afterlife import Life
    from hansei.projection.outcomes.landing import Landing
    from hansei.projection.outcomes.model import Written
    from hansei.projection.outcomes.texts import Texts

REVERTED_WITHIN_MS: Final = 30 * DAY_MS
"""Later than that, lines that go away are tidied up rather than taken back."""
REVERTED_SHARE: Final = 0.8
"""The share of a hunk's landed lines that must go at once."""
UNDONE_SHARE: Final = 0.9
"""The share of a commit's lines that must go, and come back, before another is said to undo it."""
STILL_ALIKE: Final = 0.4
"""Words a line shares with another, for that one to be what it was changed into."""

MOST_INSTEAD: Final = 20
"""Lines of a hunk of which is told what a person made of them: a habit shows in fewer."""

_REVERTS: Final = re.compile(r"\bThis reverts commit ([0-9a-f]{7,64})")


@dataclass(frozen=True)
class Hands:
    """Which lines edits of any session wrote and removed, by file."""

    wrote: Mapping[str, set[str]]
    removed: Mapping[str, set[str]]

    @classmethod
    def of(cls, hunks: Sequence[Written], places: Sequence[str | None]) -> Hands:
        wrote: dict[str, set[str]] = defaultdict(set)
        removed: dict[str, set[str]] = defaultdict(set)
        for hunk, place in zip(hunks, places, strict=True):
            if place is not None:
                wrote[place].update(hunk.added)
                removed[place].update(hunk.removed)
        return cls(wrote, removed)


class Ending(NamedTuple):
    later: Later
    commit: Commit | None = None
    by: By | None = None


def ending(hunk: Written, lives: Sequence[Life], hands: Hands, texts: Texts) -> Ending:
    """How a hunk's landed lines ended up; of several things that happened, the gravest."""
    gone: dict[str, list[Life]] = defaultdict(list)
    for life in lives:
        if life.gone_in is not None:
            gone[life.gone_in.id].append(life)
    for group in gone.values():
        if len(group) >= REVERTED_SHARE * len(lives) and _goes_back(hunk, group, texts):
            return Ending(Later.REVERTED, group[0].gone_in, _by(group, hands, texts))
    if gone:
        return _changed(list(gone.values()), len(lives), hands, texts)
    for later, commits in (
        (Later.MOVED, [life.moved_in for life in lives]),
        (Later.REFORMATTED, [life.reformatted_in for life in lives]),
    ):
        first = next((commit for commit in commits if commit is not None), None)
        if first is not None:
            return Ending(later, first)
    return Ending(Later.KEPT)


def _changed(groups: Sequence[list[Life]], landed: int, hands: Hands, texts: Texts) -> Ending:
    groups = sorted(groups, key=lambda group: _time(group[0]))
    everything = [life for group in groups for life in group]
    if len(everything) == landed and not any(_successor(life, texts) for life in everything):
        return Ending(Later.REMOVED, groups[-1][0].gone_in, _by(groups[-1], hands, texts))
    return Ending(Later.REWORKED, groups[0][0].gone_in, _by(groups[0], hands, texts))


def _time(life: Life) -> tuple[int, str]:
    assert life.gone_in is not None
    return life.gone_in.committed, life.gone_in.id


def _successor(life: Life, texts: Texts) -> str | None:
    """The line that stands where a line was, if one is enough like it."""
    assert life.gone_from is not None
    return _most_alike(life.copy.line, texts.added(life.gone_from))


def _most_alike(line: str, others: Iterable[str]) -> str | None:
    share, best = max(((alike(line, it), it) for it in others), default=(0.0, None))
    return best if share >= STILL_ALIKE else None


def _by(group: Sequence[Life], hands: Hands, texts: Texts) -> By:
    """Who changed lines: whoever wrote what they were changed into."""
    found = set()
    for life in group:
        assert life.gone_from is not None
        path = life.gone_from.path
        successor = _successor(life, texts)
        if life.copy.line in hands.removed.get(path, ()):
            found.add(By.AGENT)
        elif successor is not None:
            found.add(By.AGENT if successor in hands.wrote.get(path, ()) else By.PERSON)
    return next((by for by in (By.AGENT, By.PERSON) if by in found), By.UNKNOWN)


def instead(lives: Iterable[Life], hands: Hands, texts: Texts) -> tuple[Instead, ...]:
    """What people wrote in the place of lines within a month of their landing, in order."""
    found: dict[Instead, None] = {}
    for life in lives:
        landing, gone, change = life.copy.landing, life.gone_in, life.gone_from
        if landing is None or gone is None or change is None or len(found) == MOST_INSTEAD:
            continue
        if gone.committed - landing.commit.committed > REVERTED_WITHIN_MS:
            continue
        now = _successor(life, texts)
        if now is not None and _by([life], hands, texts) is By.PERSON:
            found[Instead(life.copy.line, now, gone.id)] = None
    return tuple(found)


# --- reverts --------------------------------------------------------------------------------------


def _goes_back(hunk: Written, group: Sequence[Life], texts: Texts) -> bool:
    """Whether a commit put back what a hunk had changed.

    A file that goes away need not be a revert: then the commit must say so, or undo all that the
    landing commit did.
    """
    commit, change, landing = group[0].gone_in, group[0].gone_from, group[0].copy.landing
    assert commit is not None
    assert change is not None
    assert landing is not None
    if _says_so(commit, landing.commit) or _is_inverse(commit, landing.commit):
        return True
    if commit.committed - landing.commit.committed > REVERTED_WITHIN_MS or change.after is None:
        return False
    back = texts.added(change)
    if hunk.removed and all(line in back for line in hunk.removed):
        strange = back - Counter(hunk.removed)
        return not any(_most_alike(life.copy.line, strange) for life in group)
    return _undoes(landing, change, texts)


def _says_so(commit: Commit, landed: Commit) -> bool:
    named = _REVERTS.search(commit.message)
    if named is not None:
        return landed.id.startswith(named[1])
    subject = landed.message.partition("\n")[0]
    return bool(subject) and commit.message.startswith(f'Revert "{subject}"')


def _is_inverse(commit: Commit, landed: Commit) -> bool:
    """Whether a commit brings the files of another, and hardly any else, back to what they were."""
    was = {change.path: change.before[:1] for change in landed.changes}
    back = sum(1 for it in commit.changes if was.get(it.path) == (it.after,))
    return back >= UNDONE_SHARE * max(len(was), len(commit.changes))


def _undoes(landing: Landing, change: Change, texts: Texts) -> bool:
    """Whether a change takes away what the landing commit brought to the file, and nothing else."""
    brought = next((it for it in landing.commit.changes if it.path == landing.path), None)
    if brought is None:
        return False
    came, went = texts.added(brought), texts.removed(brought)
    now_gone, back = texts.removed(change), texts.added(change)
    strange = (back - went).total() + (now_gone - came).total()
    return (
        _share(now_gone, came) >= UNDONE_SHARE
        and _share(back, went) >= UNDONE_SHARE
        and strange <= (1 - UNDONE_SHARE) * came.total()
    )


def _share(part: Counter[str], whole: Counter[str]) -> float:
    return (part & whole).total() / whole.total() if whole else 1.0
