"""Sessions told in a few words, as detectors see them: the window, and what was typed in it."""

from __future__ import annotations

from collections.abc import Iterable

from hansei.events.model import AnyEvent
from hansei.learn.contract import Detector
from hansei.learn.model import Offer
from hansei.learn.offers import offers
from hansei.learn.steps import Texts
from retro_window import Telling, window
from told import numbered


def texts(tellings: Iterable[Telling]) -> Texts:
    """The events of the sessions, as `window` numbers them."""
    told = {
        number: dict(numbered(telling.events)) for number, telling in enumerate(tellings, start=1)
    }

    def text(session: int, seq: int) -> AnyEvent | None:
        return told[session].get(seq)

    return text


def found(detector: Detector, *tellings: Telling) -> list[Offer]:
    """What one detector offers from these sessions."""
    return list(detector.find(window(tellings), texts(tellings)))


def offered(*tellings: Telling) -> list[Offer]:
    """What is offered from these sessions."""
    return offers(window(tellings), texts(tellings))
