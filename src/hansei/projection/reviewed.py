"""What people said in review about lines that agents wrote, as corrections of those sessions.

A remark counts for the session whose edit wrote the lines it was made on. What programs say is left
out: it is not people's own words, and must not become anybody's instruction. So are answers in a
thread, praise, and questions that ask for nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.corrections import Correction, Kind, Rule
from hansei.projection.corrections.likeness import normal_form
from hansei.projection.corrections.matching import Wrote, matched
from hansei.projection.corrections.reviews import GITHUB
from hansei.projection.corrections.words import own_words, sentences
from hansei.projection.outcomes import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.events.reviews import Review
    from hansei.projection.outcomes import Stored
    from hansei.projection.window import Window

_SENTENCES: Final = 3
"""Of a remark: what it is about is said in the first ones."""
_LEAST: Final = 3
"""Words of a sentence that says something."""
_LABEL: Final = re.compile(
    r"\s*[*_]*(?:nit(?:pick)?|minor|suggestion|issue|blocker|blocking|optional|todo|typo|style)"
    r"(?: \([^)]*\))?[*_]*\s*[:–—-]\s*[*_]*",
    re.IGNORECASE,
)
"""How a remark begins that says how much it matters."""
_PRAISE: Final = re.compile(
    r"(?:lgtm|looks? (?:good|great|fine|nice)|nice|great|good|thanks?|thank you|approved?|love|"
    r"perfect|well done|awesome|agreed|done|fixed|ack|resolved|\+1|sgtm|nvm)\b",
    re.IGNORECASE,
)
_ASKS_FOR: Final = re.compile(
    r"(?:can|could|would|should|shouldn't|will) (?:you|we|this|it|that)\b", re.IGNORECASE
)
"""How a question begins that is a request."""


class Reviewed(NamedTuple):
    """A remark, and the session that it is about."""

    session: int
    review: str
    """Its id."""
    said: Correction


def reviewed(window: Window) -> list[Reviewed]:
    """Remarks of people on lines that agents wrote in these workspaces, at any time."""
    told = {it.id: it for it in window.reviews if _is_remark(it)}
    if not told:
        return []
    hunks = _written(window.hunks_of_all_time, {it.path or "" for it in told.values()})
    rows = [(it, told[it.review]) for it in matched(told.values(), hunks)]
    return [
        Reviewed(int(it.session), it.review, said)
        for it, review in sorted(rows, key=lambda row: (row[1].at or 0, row[1].id))
        if (said := _correction(review, it.seq)) is not None
    ]


def _is_remark(review: Review) -> bool:
    """Whether a person made it on lines, and answers nobody."""
    answer = review.source == GITHUB and review.thread is not None
    return not review.bot and not answer and bool(review.path) and bool(review.hunk)


def _written(hunks: Iterable[Stored], paths: set[str]) -> Iterator[Wrote]:
    """What was written into these files; others are not unpacked."""
    names = {it.rsplit("/", 1)[-1] for it in paths}
    for session, row in hunks:
        if row.path.replace("\\", "/").rsplit("/", 1)[-1] in names:
            yield Wrote(str(session), unpacked(row))


def _correction(review: Review, seq: int) -> Correction | None:
    """A remark in the sentence that says what is wanted; None where none does."""
    told = (_LABEL.sub("", it, 1) for it in sentences(own_words(review.text), _SENTENCES))
    said = next(filter(_wants_something, told), None)
    if said is None:
        return None
    return Correction(
        seq=seq,
        kind=Kind.CORRECTS,
        at=review.at,
        words=said,
        about=seq,
        about_tool=None,
        about_path=review.path,
        basis=Rule.REVIEW,
        strength=1,
        normal=normal_form(said),
        remark=said,
    )


def _wants_something(sentence: str) -> bool:
    if len(re.findall(r"\w+", sentence)) < _LEAST or _PRAISE.match(sentence):
        return False
    return not sentence.rstrip().endswith("?") or _ASKS_FOR.match(sentence) is not None
