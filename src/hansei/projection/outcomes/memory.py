"""What is remembered of a repository between two judgements, so that only news is looked at.

Commits with the files they changed, and each hunk's verdict with the files it depends on. It can be
thrown away at any time: the next judgement then looks at everything and finds the same.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from hansei.git.history import Commit
from hansei.projection.outcomes.judge import SETTLED_MS, Verdict
from hansei.projection.outcomes.model import DAY_MS, Fate

if TYPE_CHECKING:
    from collections.abc import Iterable

_FAST: Final = 1


class Known(NamedTuple):
    """The state of one repository as it is stored."""

    key: str
    """Changes when references or hunks do."""
    due: int | None
    """When some row changes by time alone; None if none will."""
    body: bytes

    def is_due(self, now: int) -> bool:
        return self.due is not None and self.due <= now


class Entry(NamedTuple):
    """A hunk that was judged."""

    session: int
    seq: int
    hunk: int
    at: int | None
    print: str
    """Changes when the hunk does."""
    place: str | None
    verdict: Verdict

    @property
    def due(self) -> int | None:
        """When its row changes by time alone."""
        row = self.verdict.outcome
        if row.fate is Fate.WAITING and self.at is not None:
            return self.at + SETTLED_MS
        if row.landed_at is None:
            return None
        survived = ((7, row.alive_7), (14, row.alive_14), (30, row.alive_30))
        days = (day for day, alive in survived if alive is None)
        return next((row.landed_at + day * DAY_MS for day in days), None)


class Memory(msgspec.Struct, frozen=True, array_like=True):
    complete_since: int | None = None
    commits: tuple[Commit, ...] = ()
    main: tuple[str, ...] = ()
    entries: tuple[Entry, ...] = ()


_DECODER: Final = msgspec.msgpack.Decoder(Memory)


def kept(key: str, memory: Memory) -> Known:
    """What is known, as it is stored."""
    due = min((it.due for it in memory.entries if it.due is not None), default=None)
    return Known(key, due, zlib.compress(msgspec.msgpack.encode(memory), _FAST))


def recalled(known: Known | None) -> Memory:
    """What is known; nothing where it was written by another version of hansei."""
    if known is None:
        return Memory()
    try:
        return _DECODER.decode(zlib.decompress(known.body))
    except (zlib.error, msgspec.MsgspecError):
        return Memory()


def storable(commits: Iterable[Commit]) -> list[Commit]:
    """Commits with what matters of their messages, and with paths that every table can hold."""
    return [_storable(commit) for commit in commits]


def _storable(commit: Commit) -> Commit:
    subject, *rest = commit.message.split("\n")
    says_so = [line for line in rest if "This reverts commit" in line]
    changes = commit.changes
    if not all(change.path.isascii() for change in changes):
        changes = tuple(it._replace(path=_valid(it.path)) for it in changes)
    return commit._replace(message="\n".join((_valid(subject), *says_so[:1])), changes=changes)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
