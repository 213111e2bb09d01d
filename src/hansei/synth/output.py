"""What tools print in this codebase."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from hansei.synth.dice import dice

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

ROOT = "/~berthline~"
"""Stands for the repository's folder in every text of a story; a writer puts the real one in."""

PROJECT = "/~project~"
"""Stands for the folder in which an agent keeps a repository's sessions."""

_POOL = 4000
"""Distinct log lines to draw windows from: enough that two long outputs hardly share a window."""


def particulars(rng: Random, entity: str, name: str) -> dict[str, str]:
    """The parts of an output that change from run to run."""
    count = rng.randrange(14, 64)
    return {
        "root": ROOT,
        "entity": entity,
        "Entity": entity.capitalize(),
        "name": name,
        "line": str(rng.randrange(8, 230)),
        "column": str(rng.randrange(4, 60)),
        "count": str(count),
        "dots": "." * count,
        "seconds": f"{rng.uniform(0.3, 9):.2f}",
        "millis": str(rng.randrange(12, 900)),
        "stamp": datetime.fromtimestamp(rng.randrange(1_700_000_000, 1_750_000_000), UTC).strftime(
            "%Y-%m-%dT%H_%M_%S_000Z"
        ),
    }


def found(files: Mapping[str, str], pattern: str, path: str, limit: int = 40) -> str:
    """Lines of the files under a path that hold a text, as search programs print them."""
    hits: list[str] = []
    for name in sorted(files):
        if name.startswith(path) and pattern in files[name]:
            hits += [
                f"{name}:{number}:{line}"
                for number, line in enumerate(files[name].split("\n"), 1)
                if pattern in line
            ]
    return "\n".join(hits[:limit])


def listing(files: Mapping[str, str], folder: str) -> str:
    return "\n".join(sorted(name for name in files if name.startswith(folder)))


def committed(branch: str, commit: str, subject: str, added: int, files: int) -> str:
    """What git says after a commit."""
    plural = "s" if files != 1 else ""
    return (
        f"[{branch} {commit[:7]}] {subject}\n {files} file{plural} changed, {added} insertions(+)"
    )


def chatter(rng: Random, lines: int) -> str:
    """Log lines of the running service; cheap however many there are."""
    pool = _pool()
    parts = []
    while lines > 0:
        take = min(lines, _POOL)
        begin = rng.randrange(_POOL - take + 1)
        parts += pool[begin : begin + take]
        lines -= take
    return "\n".join(parts)


@cache
def _pool() -> list[str]:
    rng = dice("log lines")
    levels = ("INFO", "INFO", "INFO", "DEBUG", "WARNING")
    verbs = ("opened", "priced", "checked", "moved", "closed", "mailed", "measured", "skipped")
    things = ("berth", "booking", "invoice", "member", "quay", "tariff", "crane slot")
    return [
        f"2025-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02} "
        f"{rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02},"
        f"{rng.randrange(1000):03} {rng.choice(levels)} berthline.{rng.choice(things)[:5].strip()} "
        f"{rng.choice(verbs)} {rng.choice(things)} {rng.randrange(10_000)} "
        f"in {rng.uniform(0.1, 90):.1f} ms"
        for _ in range(_POOL)
    ]
