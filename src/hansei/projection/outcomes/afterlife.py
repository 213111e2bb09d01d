"""What happened to lines after they had landed.

Commits are gone through once more. A line that was there before one and is not after it was laid
out anew, moved to another file, or is gone; commits on branches that never had it say nothing.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from hansei.projection.outcomes.landing import enough_to_move
from hansei.projection.outcomes.lines import is_phrase, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.git.history import Change, Commit, History
    from hansei.projection.outcomes.landing import Copy
    from hansei.projection.outcomes.texts import Texts

MOST_SEARCHED: Final = 100
"""Other files of one commit in which lines are looked for that left their own."""
_NOTHING: Final[Counter[str]] = Counter()


@dataclass(eq=False, slots=True)
class Life:
    """A landed copy and how it fared."""

    copy: Copy
    path: str
    reformatted_in: Commit | None = None
    moved_in: Commit | None = None
    gone_in: Commit | None = None
    gone_from: Change | None = None
    words: str = ""
    been: set[str] = field(default_factory=set)
    """The files it was in."""

    @property
    def laid_out_anew(self) -> bool:
        """Whether a formatter has had its hands on it."""
        landing = self.copy.landing
        return self.reformatted_in is not None or (landing is not None and landing.reformatted)


def follow(copies: Sequence[Copy], history: History, texts: Texts) -> list[Life]:
    """The lives of all copies that landed."""
    lives = [Life(it, it.landing.path) for it in copies if it.landing is not None]
    for life in lives:
        life.words = words_of(life.copy.line)
        life.been.add(life.path)
    there: dict[str, list[Life]] = defaultdict(list)
    absent: dict[str, list[Life]] = defaultdict(list)
    for life in lives:
        there[life.path].append(life)
    settled = {(it.copy.line, it.path, it.copy.landing.place) for it in lives if it.copy.landing}
    for place, commit in enumerate(history.commits):
        on_main = commit.id in history.main
        for change in commit.changes:
            present = [it for it in there.get(change.path, ()) if _concerns(it, place, on_main)]
            missing = _missing(present, change, texts)
            gone = [it for it in absent.get(change.path, ()) if _concerns(it, place, on_main)]
            added = texts.added(change) if gone else ()
            for life in gone:
                line = life.copy.line
                again = (line, change.path, place) in settled  # somebody wrote it once more
                if not again and line in added:
                    _move(life, absent[change.path], there[change.path])
                    life.gone_in = life.gone_from = None
            if missing:
                _depart(missing, commit, change, texts, there)
                for life in missing:
                    if life.gone_in is not None:
                        absent[change.path].append(life)
    return lives


def _move(life: Life, source: list[Life], target: list[Life]) -> None:
    source.remove(life)
    target.append(life)


def _concerns(life: Life, place: int, on_main: bool) -> bool:
    landing = life.copy.landing
    assert landing is not None
    return landing.place < place and (on_main or not landing.on_main)


def _missing(present: Sequence[Life], change: Change, texts: Texts) -> list[Life]:
    """Those that were there before a change and are not after it."""
    fewer = texts.removed(change) if present else _NOTHING
    known = [life for life in present if life.copy.line in fewer]
    anew = [life for life in present if life.laid_out_anew and life.copy.line not in fewer]
    if not known and not anew:
        return []
    after = texts.bag(change.after)
    gone = [it for it in known if it.copy.line not in after]
    stood = (it for it in anew if texts.phrases_before(change, it.words))
    gone += [it for it in stood if it.copy.line not in after]
    return gone + _gone_with_others(present, gone, Counter(fewer), after)


def _gone_with_others(
    present: Sequence[Life], gone: Sequence[Life], fewer: Counter[str], after: Counter[str]
) -> list[Life]:
    """Of lines that the file has several times, those whose hunks went with this change."""
    unsure = [it for it in present if fewer[it.copy.line] and it.copy.line in after]
    if not unsure or not gone:
        return []
    went, stayed = (Counter(it.copy.hunk for it in lives) for lives in (gone, present))
    stayed -= Counter(it.copy.hunk for it in [*unsure, *gone])
    found = []
    for life in unsure:
        if went[life.copy.hunk] > stayed[life.copy.hunk] and fewer[life.copy.line] > 0:
            fewer[life.copy.line] -= 1
            found.append(life)
    return found


def _depart(
    missing: Sequence[Life],
    commit: Commit,
    change: Change,
    texts: Texts,
    there: dict[str, list[Life]],
) -> None:
    fewer = texts.removed(change)
    left = []
    for life in missing:
        # Those that are no fewer lines now were found by their phrase.
        if is_phrase(life.words) and texts.phrases_more(change, life.words) >= 0:
            if life.copy.line in fewer:
                life.reformatted_in = commit
        else:
            left.append(life)
    moved_to = _moved_to(left, commit, change, texts)
    for life in left:
        there[change.path].remove(life)
        if moved_to is not None and life.copy.line in texts.added(moved_to):
            life.path, life.moved_in = moved_to.path, commit
            life.been.add(moved_to.path)
            there[moved_to.path].append(life)
        else:
            life.gone_in, life.gone_from = commit, change


def _moved_to(left: Sequence[Life], commit: Commit, change: Change, texts: Texts) -> Change | None:
    """The file of the same commit that took most lines in, if it took enough of them."""
    if not left:
        return None
    for other in commit.changes:
        if other.after is not None and other.after in change.before and other != change:
            return other  # the whole file has another name
    ending = posixpath.splitext(change.path)[1]
    taking_in = texts.taking_in(commit, ending, MOST_SEARCHED)
    hosts = {it.path: it for life in left for it in taking_in.get(life.copy.line, ())}
    hosts.pop(change.path, None)
    gone = list(texts.removed(change)) if hosts else []
    best: tuple[int, Change] | None = None
    for path, host in sorted(hosts.items()):
        taken = {line for line in gone if any(it.path == path for it in taking_in.get(line, ()))}
        ours = sum(1 for life in left if life.copy.line in taken)
        most = ours * 2 >= len(left) or len(taken) * 2 >= len(gone)
        if most and enough_to_move(taken) and (best is None or len(taken) > best[0]):
            best = len(taken), host
    return best[1] if best else None
