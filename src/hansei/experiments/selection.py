"""A bet is made after a bad week, and the next one is better whatever you do.

So what made the bet may not be what it is compared with. Leaving out only the sessions in which the
target came up would turn the mistake around: what is left of that time looks too good. All of the
time that was looked at is left out, good and bad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.experiments.model import Observation


class Selected(NamedTuple):
    """What may be compared, and how much may not."""

    observations: tuple[Observation, ...]
    excluded: int


def selection_free(observations: Sequence[Observation], first_day: int, last_day: int) -> Selected:
    """Without the control sessions of the days that the bet was made from, both ends included."""
    kept = tuple(
        it for it in observations if it.arm == "treatment" or not first_day <= it.day <= last_day
    )
    return Selected(kept, len(observations) - len(kept))
