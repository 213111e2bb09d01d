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
    from collections.abc import Iterator, Mapping, Sequence

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
class Run:
    """Neighbouring rows of one session whose bodies are neighbours too."""

    session: int
    held: list[Body] | pa.RecordBatch
    start: int
    heads: list[Head]


@dataclass
class Picked:
    """Rows on their way into sealed files.

    They are kept as runs because a slice of a batch costs nothing, while picking single rows out of
    many batches costs as much as compressing them.
    """

    runs: list[Run] = field(default_factory=list)
    changes: dict[int, dict[int, tuple[Head, Body]]] = field(default_factory=dict)
    """Other tellings of picked rows, by session and number."""

    def add(self, head: Head, bodies: Bodies, index: int) -> None:
        """Pick one more row."""
        place = bodies.start + index
        last = self.runs[-1] if self.runs else None
        if (
            last is None
            or last.session != head[0]
            or last.held is not bodies.held
            or last.start + len(last.heads) != place
        ):
            last = Run(head[0], bodies.held, place, [])
            self.runs.append(last)
        last.heads.append(head)

    def change(self, head: Head, body: Body) -> None:
        """Put another telling in the place of a picked row."""
        self.changes.setdefault(head[0], {})[head[1]] = (head, body)

    def tables(self, workspace_of: Mapping[int, int]) -> Iterator[tuple[int, pa.Table]]:
        """The rows of each workspace, in order of session and number."""
        by_workspace: dict[int, list[Run]] = {}
        for run in self.runs:
            by_workspace.setdefault(workspace_of[run.session], []).append(run)
        for workspace, runs in sorted(by_workspace.items()):
            # A session's rows are numbered as they come, so its runs never overlap.
            runs.sort(key=lambda run: run.heads[0][:2])
            yield workspace, _table([part for run in runs for part in self._parts(run)])

    def _parts(self, run: Run) -> Iterator[Run]:
        """The run, with its changed rows exchanged."""
        changes = self.changes.get(run.session, {})
        kept = 0
        for index, head in enumerate(run.heads if changes else ()):
            if head[1] in changes:
                if index > kept:
                    yield Run(run.session, run.held, run.start + kept, run.heads[kept:index])
                changed, body = changes[head[1]]
                yield Run(run.session, [body], 0, [changed])
                kept = index + 1
        if kept < len(run.heads):
            yield Run(run.session, run.held, run.start + kept, run.heads[kept:])


def _table(runs: Sequence[Run]) -> pa.Table:
    import pyarrow as pa

    lists = {id(run.held): run.held for run in runs if isinstance(run.held, list)}
    batches = {name: _batch(held) for name, held in lists.items()}
    slices = []
    for run in runs:
        batch = batches[id(run.held)] if isinstance(run.held, list) else run.held
        slices.append(batch.slice(run.start, len(run.heads)))
    heads = zip(*(head for run in runs for head in run.heads), strict=True)
    types = [pa.int64()] * (len(HEADS) - 1) + [pa.string()]
    columns = [pa.array(column, kind) for column, kind in zip(heads, types, strict=True)]
    texts = pa.Table.from_batches(slices)
    return pa.table([*columns, *texts.columns], names=list(COLUMNS)).combine_chunks()


def _batch(held: list[Body]) -> pa.RecordBatch:
    (run,) = packed([Bodies(held)])
    assert not isinstance(run.held, list)
    return run.held
