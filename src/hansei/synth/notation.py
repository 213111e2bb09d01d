"""Notation the writers share: moments, diffs, and files with real folders in them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hansei.synth.story import Change, Era, Session

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(at: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=at)


def iso(at: int) -> str:
    """A moment as agents write it: ISO 8601 to the millisecond, in UTC."""
    return moment(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def save(path: Path, lines: Sequence[dict[str, Any]], places: Mapping[str, Path]) -> None:
    """Write lines of JSON with real folders in them, at the time of the last; `.zst` is packed."""
    body = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    for name, folder in places.items():
        body = body.replace(name.encode(), msgspec.json.encode(str(folder))[1:-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_packed(body) if path.suffix == ".zst" else body)
    last = max((line["timestamp"] for line in lines if "timestamp" in line), default=None)
    if last is None:
        return
    seconds = datetime.fromisoformat(last).timestamp()
    os.utime(path, (seconds, seconds))


def _packed(body: bytes) -> bytes:
    # It takes 0.2 s to load, and few histories have packed files.
    import pyarrow as pa

    packed: bytes = pa.compress(body, codec="zstd", asbytes=True)
    return packed


def one_of(versions: Mapping[Era, tuple[str, ...]], session: Session) -> str:
    """The version of the agent that a session ran on."""
    fitting = versions[session.era]
    return fitting[int(session.key[:2], 16) % len(fitting)]


@dataclass(frozen=True)
class Hunk:
    """Lines with their marks, and the number of the first one in the old file."""

    start: int
    lines: list[str]

    @property
    def old_count(self) -> int:
        return sum(not line.startswith("+") for line in self.lines)

    @property
    def new_count(self) -> int:
        return sum(not line.startswith("-") for line in self.lines)


def hunk(change: Change) -> Hunk:
    """A change of whole lines as one hunk; what both texts begin with is context."""
    old, new = change.old.split("\n"), change.new.split("\n")
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    lines = [f" {line}" for line in old[:same]]
    lines += [f"-{line}" for line in old[same:]]
    lines += [f"+{line}" for line in new[same:]]
    before, found, _ = change.before.partition(change.old)
    return Hunk(before.count("\n") + 1 if found else 1, lines)
