"""In which order sessions are read: by when they began, which their first line tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from pathlib import Path

PEEK_BYTES = 16 * 1024
"""How much of a file is looked at to find its first time."""
_FIRST_TIME = re.compile(rb'"timestamp":\s*"([^"]{10,40})"')
_LAST = 2**63
"""Where a file without a time is put: behind all others."""


def began(path: Path) -> tuple[int, bool, str]:
    """A session's place: the time it began, then whether it is a copy, then its name."""
    try:
        with path.open("rb") as file:
            head = file.read(PEEK_BYTES)
    except OSError:
        head = b""
    found = _FIRST_TIME.search(head)
    first = instant(found[1].decode("utf-8", "replace")) if found else None
    copied = b'"parentSession"' in head or b'"branchedFrom"' in head
    return _LAST if first is None else first, copied, str(path)
