"""A text made fit to stand in an instruction file as one item.

Words of a transcript may be part of it, so whatever an agent or an editor would obey is taken out:
line breaks, characters that nobody sees, and `@name`, which some agents read as "put that file
here".
"""

from __future__ import annotations

import re

from hansei.instructions.edits import HIDDEN

_CODE = re.compile(r"(`+[^`]*`+)")
_MENTION = re.compile(r"(?<![\w@/.])@(?:[\w~./-]*\w)")
_BULLET = "- "


def as_item(text: str) -> str:
    """One bullet on one line."""
    line = " ".join(HIDDEN.sub(" ", text).split())
    parts = _CODE.split(line)
    quoted = "".join(
        part if place % 2 else _MENTION.sub(r"`\g<0>`", part) for place, part in enumerate(parts)
    )
    return quoted if not quoted or quoted.startswith(_BULLET) else _BULLET + quoted
