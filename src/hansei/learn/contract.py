"""What a detector is: a frozen value whose fields are its knobs, and one pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.learn.model import Offer
    from hansei.learn.steps import Texts
    from hansei.projection.window import Window


class Detector(Protocol):
    """One kind of thing worth keeping."""

    @property
    def name(self) -> str:
        """What it is called in offers, in settings and in the reference."""

    def find(self, window: Window, texts: Texts) -> Iterable[Offer]:
        """What it would offer from these sessions, the best first.

        `texts` gives what was typed where the facts hold only its normal form.
        """
