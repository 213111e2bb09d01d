"""What was written into the wrong place: taken back and written elsewhere, moved, or objected to.

Three things show it. The lines of an edit are taken back and written again in another file, or
elsewhere in the same one. A file that the session made is moved to another folder. A person objects
to an edit, and the next one is of a file of the same name in another folder.
"""

from __future__ import annotations

import posixpath
import sys
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.facts import folds
from hansei.projection.failures.places import is_everywhere
from hansei.projection.files import LOOKS, Verb
from hansei.projection.outcomes import Misstep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.files import Touch
    from hansei.projection.window import Window

_MOVED: Final = frozenset((Misstep.WRONG_FILE, Misstep.WRONG_PLACE))


class Misput(NamedTuple):
    """Something that was written into one place and belongs in another."""

    session: int
    seq: int
    """The edit that was wrong."""
    since: int
    """The call from which on it was for nothing: the same edit, or the last one before a person
    objected, because until then other things may have been done."""
    end: int
    """The one that put it right."""
    source: str
    target: str
    """The same file where only the place in it was wrong."""


def misput(window: Window) -> Iterator[Misput]:
    """Everything that was put into the wrong place, by session and in order."""
    touched: dict[int, list[Touch]] = defaultdict(list)
    for session, touch in window.touches:
        if touch.verb not in LOOKS and touch.inside:
            touched[session].append(touch)
    taken: dict[int, list[Misput]] = defaultdict(list)
    for session, row in window.rows(folds.MISPLACED):
        if row.kind in _MOVED and row.again is not None and row.moved_to is not None:
            source, target = (window.path_of(session, it) for it in (row.path, row.moved_to))
            end = max(row.back, row.again)
            taken[session].append(Misput(session, row.seq, row.seq, end, source, target))
    for session in sorted(touched):
        found = [*taken[session], *_moved(session, touched[session]), *_objected(window, session)]
        yield from sorted(set(found))


def _moved(session: int, touches: Sequence[Touch]) -> Iterator[Misput]:
    """Files that the session made and then moved to another folder."""
    made: dict[str, int] = {}
    old: dict[int, str] = {}
    for touch in touches:
        if touch.verb is Verb.CREATE:
            made[touch.path] = touch.seq
        elif touch.verb is Verb.RENAME and touch.path in made:
            old[touch.seq] = touch.path
        elif touch.verb is Verb.RENAME and touch.seq in old:
            source = old.pop(touch.seq)
            if posixpath.dirname(source) != posixpath.dirname(touch.path):
                seq = made[source]
                yield Misput(session, seq, seq, touch.seq, source, touch.path)


def _objected(window: Window, session: int) -> Iterator[Misput]:
    """Edits that a person objected to, and that a file of the same name got instead."""
    edits = [it for it in window.steps.get(session, ()) if it.passed is None]
    for at in window.corrected.get(session, ()):
        place = bisect_left(edits, at, key=lambda it: it.seq)
        known = {it.name for it in edits[:place]}
        if not 0 < place < len(edits) or edits[place].name in known:
            continue
        target = edits[place]
        wrong = [it for it in edits[:place] if _is_namesake(it.name, target.name)]
        if wrong and window.turns.get((session, target.seq)) == _turn_after(window, session, at):
            last = window.calls_of(session, -1, at)[-1].seq
            yield Misput(session, wrong[-1].seq, last, target.seq, wrong[-1].name, target.name)


def _turn_after(window: Window, session: int, at: int) -> int | None:
    """The turn that begins with what a person said."""
    return next((it.turn for it in window.calls_of(session, at, sys.maxsize)), None)


def _is_namesake(path: str, other: str) -> bool:
    """Whether two files of different folders have one name; of a name that is everywhere, also the
    folder."""
    one, two = (it.rsplit("/", 2)[-2:] for it in (path, other))
    if path == other or one[-1] != two[-1]:
        return False
    return not is_everywhere(one[-1].lower()) or one == two


def folders(source: str, target: str) -> tuple[str, str]:
    """The two folders that were taken for one another: what is left of both without what they
    share at the end."""
    one, two = source.split("/"), target.split("/")
    if one[-1] != two[-1]:
        one[-1] = two[-1] = ""
    while one and two and one[-1] == two[-1]:
        one.pop()
        two.pop()
    return f"{'/'.join(one)}/", f"{'/'.join(two)}/"
