"""What would be offered from some sessions: the finds of every detector, ranked and thinned out.

What several sessions show stands before what one does, and takes the place of what says the same.
Of one session every detector may offer one thing, so five at most.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Final

from hansei.learn.detectors import DETECTORS
from hansei.learn.instructed import is_instructed
from hansei.learn.writing import name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from hansei.learn.contract import Detector
    from hansei.learn.model import Offer
    from hansei.learn.steps import Texts
    from hansei.projection.window import Window


_ORDER: Final = (
    "explicit-instruction",
    "error-recovery",
    "multi-step",
    "user-correction",
    "repeated-action",
)
"""Which detector's offer stands first: what was asked for, then what saves a failure."""
_SHARE: Final = 0.1
"""Offers for each session of a window, at most: a person reads them all."""
_DOING: Final = frozenset(("multi-step", "repeated-action"))
"""Detectors whose offers say how something is done."""


def offers(
    window: Window,
    texts: Texts,
    detectors: Sequence[Detector] = DETECTORS,
    *,
    of: Collection[int] = (),
) -> list[Offer]:
    """Everything worth offering from these sessions, the best first.

    `of` chooses sessions: then it is what they show alone, or are one more example of.
    """
    found = [it for detector in detectors for it in detector.find(window, texts)]
    names = {window.sessions[it].name for it in of}
    chosen = (
        it
        for it in _one_each(_unknown(window, _thinned(sorted(found, key=_rank))))
        if not of or names & {place.session for place in it.evidence}
    )
    most = max(len(_ORDER), ceil((len(of) or len(window.sessions)) * _SHARE))
    return list(_told_apart(islice(chosen, most)))


def _rank(offer: Offer) -> tuple[bool, bool, int]:
    """What a person asked for, then what several sessions show, then what one does."""
    place = _ORDER.index(offer.detector)
    return place > 0, offer.sessions == 1, place


def _thinned(ranked: Iterable[Offer]) -> Iterator[Offer]:
    """Without what a better offer says already: the same thing, or most of its commands.

    Fixes and corrections say what a procedure does not, so only their own commands count there.
    """
    keys: set[str] = set()
    whole: list[set[str]] = []
    heads: set[str] = set()
    for offer in ranked:
        own = {part for it in offer.commands for part in it.split(" && ") if part[:3] != "cd "}
        if offer.key in keys or (own and any(own <= other for other in whole)):
            continue
        mine = {_head(it) for it in own}
        if offer.sessions == 1 and offer.detector in _DOING and 2 * len(mine & heads) >= len(mine):
            continue
        keys.add(offer.key)
        whole.append(own)
        if offer.detector in _DOING and offer.sessions > 1:
            heads |= mine
        yield offer


def _head(command: str) -> str:
    """What a command is known by: its program and the word after it, wherever it runs."""
    words = re.sub(r"^cd (?:\"[^\"]*\"|\S+) && ", "", command).split()
    return " ".join(it.rsplit("/", 1)[-1] for it in words[:2])


def _unknown(window: Window, ranked: Iterable[Offer]) -> Iterator[Offer]:
    """Without what sessions did because they were told to, word by word."""
    return (it for it in ranked if it.detector not in _DOING or not is_instructed(window, it))


def _one_each(ranked: Iterable[Offer]) -> Iterator[Offer]:
    """One of each detector for a session; what many sessions show is counted for none."""
    made: Counter[tuple[str, str]] = Counter()
    for offer in ranked:
        if offer.sessions > 1:
            yield offer
            continue
        place = (offer.detector, offer.evidence[0].session)
        made[place] += 1
        if made[place] == 1:
            yield offer


def _told_apart(ranked: Iterable[Offer]) -> Iterator[Offer]:
    """No two with one name: the later ones are told apart by what they do, then by a number."""
    names: set[str] = set()
    for offer in ranked:
        longer = name_of("", offer.name, offer.action)
        tries = [offer.name, longer, *(name_of("", longer[:60], str(n)) for n in range(2, 999))]
        name = next(it for it in tries if it not in names)
        names.add(name)
        heading = f"## {offer.name}\n"
        yield replace(offer, name=name, body=offer.body.replace(heading, f"## {name}\n", 1))
