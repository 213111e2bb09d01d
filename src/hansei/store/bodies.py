"""What rows say, on its way into the store: as it is, or packed as Arrow columns.

Deciding whether an event is new takes its key, not its text. So a reading process packs the texts
of many rows into a few buffers, which go through the writing process and into Parquet without
becoming Python objects there again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from hansei.store.rows import COLUMNS, SHARED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from hansei.store.rows import Body

NAMES = (*SHARED, "detail")
HEADS = COLUMNS[: -len(NAMES)]
"""The columns of a stored row that are not in its body."""

Head = tuple[int, int, int, int | None, str]
"""The values of `HEADS`."""


@dataclass
class Bodies:
    """A run of bodies: those of a list, or rows `start` to `stop` of a batch."""

    held: list[Body] | pa.RecordBatch = field(default_factory=list)
    start: int = 0
    stop: int = 0
    _unpacked: list[Body] | None = None

    def __getitem__(self, index: int) -> Body:
        if isinstance(self.held, list):
            return self.held[self.start + index]
        if self._unpacked is None:
            rows = self.held.slice(self.start, self.stop - self.start)
            self._unpacked = list(
                zip(*(column.to_pylist() for column in rows.columns), strict=True)
            )
        return self._unpacked[index]


def packed(runs: Sequence[Bodies]) -> list[Bodies]:
    """The same runs, all in one batch."""
    import pyarrow as pa

    bodies: list[Body] = []
    ends = [0]
    for run in runs:
        assert isinstance(run.held, list)
        bodies += run.held
        ends.append(len(bodies))
    columns = list(zip(*bodies, strict=True)) if bodies else [()] * len(NAMES)
    arrays = [pa.array(column, type=pa.string()) for column in columns]
    batch = pa.record_batch(arrays, names=list(NAMES))
    return [Bodies(batch, start, stop) for start, stop in pairwise(ends)]


@dataclass
class Picked:
    """Rows on their way into sealed files: their numbers, and where their texts are."""

    heads: list[Head] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    _held: list[list[Body] | pa.RecordBatch] = field(default_factory=list)
    _offset: int = 0
    _length: int = 0

    def add(self, head: Head, bodies: Bodies, index: int) -> int:
        """Pick one more row; returns which one it is."""
        self.heads.append(head)
        self.places.append(self._place(bodies, index))
        return len(self.heads) - 1

    def change(self, number: int, head: Head, bodies: Bodies, index: int) -> None:
        """Put another telling in the place of a picked row."""
        self.heads[number] = head
        self.places[number] = self._place(bodies, index)

    def _place(self, bodies: Bodies, index: int) -> int:
        held = bodies.held
        if not self._held or self._held[-1] is not held:
            self._held.append(held)
            self._offset = self._length
            self._length += len(held) if isinstance(held, list) else held.num_rows
        return self._offset + bodies.start + index

    def table(self) -> pa.Table:
        """The rows picked, in the order in which they were."""
        import pyarrow as pa

        texts = pa.Table.from_batches([_batch(held) for held in self._held])
        chosen = texts.take(pa.array(self.places, type=pa.int64()))
        types = [pa.int64()] * (len(HEADS) - 1) + [pa.string()]
        columns = zip(*self.heads, strict=True)
        heads = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        return pa.table([*heads, *chosen.columns], names=list(COLUMNS))


def _batch(held: list[Body] | pa.RecordBatch) -> pa.RecordBatch:
    if isinstance(held, list):
        (run,) = packed([Bodies(held)])
        held = run.held
        assert not isinstance(held, list)
    return held
