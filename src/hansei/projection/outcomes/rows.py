"""Hunks as rows of a table: what is asked for is plain, their lines are one packed text.

As plain texts the lines of all hunks would add a quarter to the store, packed half of that; only
those that git has news for are unpacked again.
"""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hansei.projection.outcomes.model import TakenBack, Written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class WrittenRow(NamedTuple):
    """One hunk of an edit."""

    seq: int
    call: str
    hunk: int
    path: str
    at: int | None
    lines: int
    """All lines it added."""
    telling: int
    """Those of them that can be looked for."""
    taken_back: int
    """Those of the latter that the session itself took back."""
    digest: str
    """The same for the same lines."""
    body: str


class Stored(NamedTuple):
    """A hunk and the number of the session that wrote it."""

    session: int
    row: WrittenRow


class _Body(NamedTuple):
    added: tuple[str, ...]
    removed: tuple[str, ...]
    taken_back: tuple[TakenBack, ...]
    created: bool


LEAST_PACKED = 300
_FAST = 1
_PACKED = "z:"
_DECODER = msgspec.json.Decoder(_Body)


def packed(hunk: Written) -> WrittenRow:
    """A hunk as a row."""
    body = msgspec.json.encode(_Body(hunk.added, hunk.removed, hunk.taken_back, hunk.created))
    lines = "\n".join((*hunk.added, "", *hunk.removed))
    return WrittenRow(
        hunk.seq,
        hunk.call,
        hunk.hunk,
        hunk.path,
        hunk.at,
        hunk.lines,
        len(hunk.added),
        len(hunk.taken_back),
        blake2b(lines.encode("utf-8", "replace"), digest_size=8).hexdigest(),
        _packed(body),
    )


def unpacked(row: WrittenRow) -> Written:
    """The hunk of a row."""
    body = _DECODER.decode(_body(row.body))
    return Written(
        row.seq,
        row.call,
        row.hunk,
        row.path,
        row.at,
        body.added,
        body.removed,
        row.lines,
        body.taken_back,
        body.created,
    )


def _packed(body: bytes) -> str:
    """A short body stays as it is: packing it would make it longer and take its time."""
    if len(body) < LEAST_PACKED:
        return body.decode("utf-8")
    return _PACKED + b64encode(zlib.compress(body, _FAST)).decode("ascii")


def _body(text: str) -> bytes:
    if not text.startswith(_PACKED):
        return text.encode("utf-8")
    return zlib.decompress(b64decode(text[len(_PACKED) :]))


def told_once(hunks: Iterable[Stored]) -> list[Stored]:
    """Hunks without those that a fork or resume told again: the same lines of the same call.

    The path does not count, because a fork may stand in another worktree.
    """
    first: dict[tuple[str, int, str], Stored] = {}
    for hunk in hunks:
        first.setdefault((hunk.row.call, hunk.row.hunk, hunk.row.digest), hunk)
    return list(first.values())


def fingerprint(hunks: Sequence[Stored]) -> str:
    """The same for the same rows."""
    state = blake2b(digest_size=16)
    for hunk in hunks:
        state.update(repr(tuple(hunk)).encode("utf-8", "replace"))
    return state.hexdigest()
