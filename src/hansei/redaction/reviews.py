"""The gate for reviews: like events, they are stored only as what comes out here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hansei.events.reviews import Review
    from hansei.redaction.redactor import Redactor

_SEAL: Final = object()


class CleanReview:
    """A review without secrets. Only `redact_review` makes one."""

    __slots__ = ("_review",)

    def __init__(self, review: Review, seal: object) -> None:
        if seal is not _SEAL:
            raise TypeError("only redact_review() makes clean reviews")
        self._review = review

    @property
    def review(self) -> Review:
        return self._review


def redact_review(review: Review, redactor: Redactor) -> CleanReview:
    """Take the secrets out of a review; ids stay, because they tie it to what is known."""
    scrub = redactor.scrub
    clean = review._replace(
        author=review.author and scrub(review.author),
        path=review.path and scrub(review.path),
        text=scrub(review.text),
        hunk=tuple(scrub("\n".join(review.hunk)).split("\n")) if review.hunk else (),
    )
    return CleanReview(clean, _SEAL)
