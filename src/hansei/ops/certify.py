"""Whether this program, as it is installed, counts right: every case of the certificate end to end.

A case is taken in four times, each time into a store of its own: whole; file by file; file by file
backwards; and each file in two pieces, cut wherever its middle is. The totals must be the true ones
each time, since nobody knows in which order transcripts are met and how far they are written then.
"""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hansei.certificate import CASES, TOKENS, Share, Totals, cases
from hansei.config import Config, Environment, Settings
from hansei.ops.ingest import ingest
from hansei.sources import catalogue
from hansei.store.database import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.certificate import Case
    from hansei.store.database import Store

CLOCK = 1_772_928_000_000
"""When the cases are read: 8 March 2026, the week in which they happened."""

AT_ONCE = 4
"""Cases under examination at the same time: most of it is waiting for the disk."""

Verdict = Literal["ok", "differs", "not read"]


@dataclass(frozen=True)
class Row:
    """How one case went."""

    case: str
    agent: str
    verdict: Verdict
    tokens: int
    """True total."""
    counted: int | None
    """What this program makes of the case read whole; None if it cannot read that agent."""
    naive: int
    """What adding up every usage in the files makes of it."""
    expected: Totals
    got: Totals | None
    differences: list[str]
    """Every figure that is not the true one, and in which reading."""


@dataclass(frozen=True)
class Certificate:
    """How all cases went."""

    cases: int
    exact: int
    rows: list[Row]


class Counted(NamedTuple):
    """What one reading of a case has brought."""

    totals: Totals
    sessions: dict[str, Share]
    unreadable: list[str]


def certify(folder: Path = CASES) -> Certificate:
    """Count every case and compare with its true totals."""
    known = set(catalogue.names())
    with tempfile.TemporaryDirectory(prefix="hansei-certificate-") as scratch:
        empty = _empty_store(Path(scratch) / "empty")

        def row(case: Case) -> Row:
            return _examine(case, empty) if known.issuperset(case.agents) else _not_read(case)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = list(pool.map(row, cases(folder)))
    exact = sum(row.verdict == "ok" for row in rows)
    return Certificate(cases=len(rows), exact=exact, rows=rows)


def _examine(case: Case, empty: Path) -> Row:
    readings = {name: _read(case, empty, READINGS[name]) for name in _readings(case)}
    differences = [
        f"{name}: {difference}"
        for name, counted in readings.items()
        for difference in _differences(case, counted)
    ]
    whole = readings[WHOLE]
    if case.expected.sessions not in (None, whole.sessions):
        differences.append(f"{WHOLE}: shares of the sessions {_shares(whole.sessions)}")
    return _row(case, "differs" if differences else "ok", whole.totals, differences)


def _not_read(case: Case) -> Row:
    return _row(case, "not read", None, [])


def _row(case: Case, verdict: Verdict, got: Totals | None, differences: list[str]) -> Row:
    expected = case.expected
    return Row(
        case=expected.case,
        agent=expected.agent,
        verdict=verdict,
        tokens=expected.totals.tokens,
        counted=None if got is None else got.tokens,
        naive=expected.naive_total,
        expected=expected.totals,
        got=got,
        differences=differences,
    )


def _differences(case: Case, counted: Counted) -> Iterator[str]:
    yield from counted.unreadable
    for name in Totals.__struct_fields__:
        true, got = getattr(case.expected.totals, name), getattr(counted.totals, name)
        if got != true:
            yield f"{name} {got}, not {true}"


def _shares(sessions: dict[str, Share]) -> str:
    return ", ".join(f"{name} {share.tokens}" for name, share in sorted(sessions.items()))


# --- four ways to read a case ---------------------------------------------------------------------


def _whole(source: Path, home: Path) -> Iterator[None]:
    """Everything is there."""
    shutil.copytree(source, home)
    yield


def _file_by_file(source: Path, home: Path, *, backwards: bool = False) -> Iterator[None]:
    """One file more each time."""
    paths = _begin(source, home)
    for path in reversed(paths) if backwards else paths:
        _put(home / path, (source / path).read_bytes())
        yield


def _in_pieces(source: Path, home: Path) -> Iterator[None]:
    """Every file has been written half, most likely up to the middle of a line."""
    paths = _begin(source, home)
    for path in paths:
        data = (source / path).read_bytes()
        _put(home / path, data[: len(data) // 2])
    yield
    for path in paths:
        _put(home / path, (source / path).read_bytes())
    yield


WHOLE, FORWARDS, BACKWARDS, PIECES = "whole", "file by file", "backwards", "in pieces"
READINGS: dict[str, Callable[[Path, Path], Iterator[None]]] = {
    WHOLE: _whole,
    FORWARDS: _file_by_file,
    BACKWARDS: partial(_file_by_file, backwards=True),
    PIECES: _in_pieces,
}


def _readings(case: Case) -> list[str]:
    """The ways that are different for a case: a single file has no order."""
    several = len(_transcripts(case.home)) > 1
    return list(READINGS) if several else [WHOLE, PIECES]


def _begin(source: Path, home: Path) -> list[Path]:
    """Put in place what is no transcript; return the transcripts."""
    transcripts = _transcripts(source)
    for path in source.rglob("*"):
        if path.is_file() and path.relative_to(source) not in transcripts:
            _put(home / path.relative_to(source), path.read_bytes())
    return transcripts


def _transcripts(home: Path) -> list[Path]:
    return sorted(path.relative_to(home) for path in home.rglob("*.jsonl"))


def _put(path: Path, data: bytes) -> None:
    """Write a file, or write on in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(data[file.tell() :])


# --- counting -------------------------------------------------------------------------------------


def _empty_store(folder: Path) -> Path:
    """A store to begin with. Copying one is much faster than making one."""
    config = _config(folder, folder)
    with _opened(config) as store:
        ingest(store, config, now=CLOCK)
    return folder


def _read(case: Case, empty: Path, reading: Callable[[Path, Path], Iterator[None]]) -> Counted:
    with tempfile.TemporaryDirectory(dir=empty.parent) as scratch:
        config = _config(Path(scratch) / "store", Path(scratch) / "home")
        shutil.copytree(empty, config.store)
        unreadable = []
        with _opened(config) as store:
            for _ in reading(case.home, config.environment.home):
                report = ingest(store, config, now=CLOCK)
                unreadable += [f"{Path(path).name}: {why}" for path, why in report.unreadable]
            return Counted(_totals(store), _sessions(store), unreadable)


def _config(store: Path, home: Path) -> Config:
    return Config(store, Settings(), Environment(home, {}))


def _opened(config: Config) -> closing[Store]:
    return closing(open_store(config.store, now=CLOCK))


_MEASURED = "(input IS NOT NULL OR output IS NOT NULL)"


def _totals(store: Store) -> Totals:
    sums = ", ".join(f"coalesce(sum({name}), 0)" for name in TOKENS)
    row = store.db.execute(
        f"SELECT {sums}, sum(reasoning), coalesce(sum({_MEASURED}), 0),"
        f" coalesce(sum(NOT {_MEASURED}), 0), coalesce(sum(web_searches), 0) FROM requests"
    ).fetchone()
    return Totals(*row)


def _sessions(store: Store) -> dict[str, Share]:
    tokens = " + ".join(f"coalesce({name}, 0)" for name in TOKENS)
    rows = store.db.execute(
        f"SELECT s.native, sum({tokens}), count(*) FROM requests r"
        f" JOIN sessions s ON s.id = r.session WHERE {_MEASURED} GROUP BY s.id"
    )
    return {native: Share(tokens, requests) for native, tokens, requests in rows}
