"""Sessions told in hansei's own format (docs/formats/hansei.md), line by line.

Every line has an id, so that a session which goes on in another process, or is told again because
its history is sent along with each request, is still told once.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hansei.hook.repository import head
from hansei.integrations.journal import Journal, short

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "hansei"


class Told:
    """One session of a program, and what has been said of it in this process."""

    def __init__(
        self, journal: Journal, session: str, agent: str, facts: Mapping[str, Any]
    ) -> None:
        self.journal = journal
        self.session = short(session)
        self.known: set[str] = set()
        """Ids of what was told."""
        folder = _folder()
        commit, branch = head(folder) if folder else (None, None)
        said = {"agent": agent, "cwd": folder, "branch": branch, "commit": commit, **facts}
        self.opening = {"hansei": 1, "type": "session", "id": self.session, "at": _now()} | {
            name: it for name, it in said.items() if it is not None
        }

    def tell(self, type_: str, id_: str, /, **told: Any) -> None:
        """Tell something once; what is None is not known and left out."""
        if (known := f"{type_} {id_}") in self.known:
            return
        self.known.add(known)
        name = "call" if type_ == "result" else "id"
        line = {"type": type_, "session": self.session, "at": _now(), name: short(id_)}
        self.journal.add(
            self.session, self.opening, [line | {k: it for k, it in told.items() if it is not None}]
        )

    def knows(self, type_: str, id_: str) -> bool:
        """Whether it was told in this process."""
        return f"{type_} {id_}" in self.known


def tokens(
    sent: int | None,
    cache_read: int | None = None,
    cache_write: int | None = None,
    output: int | None = None,
    reasoning: int | None = None,
) -> dict[str, int]:
    """What a request took, with the input as what no cache held.

    Frameworks count what the cache held as input. An input smaller than that leaves it out already.
    """
    held = (cache_read or 0) + (cache_write or 0)
    alone = sent - held if sent is not None and sent >= held else sent
    counts = {
        "input": alone,
        "cache_read": cache_read,
        "cache_write": cache_write,
        "output": output,
        "reasoning": reasoning,
    }
    return {name: it for name, it in counts.items() if it is not None}


def count(value: object) -> int | None:
    """A number of tokens; anything else is unknown."""
    return value if type(value) is int and value >= 0 else None


def _now() -> int:
    return time.time_ns() // 1_000_000


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it was deleted
        return None
