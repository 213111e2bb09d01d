"""Which files a session read and changed, by tools and by shell commands, and what it read twice.

`touches` is the fold over one session, `fan_out` counts its rows by turn and file; `crowded` tells
the searches that were answered with files nobody wrote.
"""

from hansei.projection.files.crowded import LISTERS, Crowded, crowded
from hansei.projection.files.fold import fan_out, left_at, touches
from hansei.projection.files.model import LOOKS, Again, By, Extent, FanOut, Touch, Verb

__all__ = [
    "LISTERS",
    "LOOKS",
    "Again",
    "By",
    "Crowded",
    "Extent",
    "FanOut",
    "Touch",
    "Verb",
    "crowded",
    "fan_out",
    "left_at",
    "touches",
]
