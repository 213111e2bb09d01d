"""Results on disk: a run that was cut short goes on where it was, and the table is made from them.

A result counts as long as neither the agent's version nor a line of the rig or of hansei changed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from rig.perform import Result, State

ROOT = Path(__file__).resolve().parent.parent


def fingerprint() -> str:
    """A digest of all code a result depends on."""
    digest = hashlib.blake2b(digest_size=16)
    for folder in (ROOT / "rig", ROOT / "src" / "hansei"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0")
            digest.update(path.read_bytes())
    return digest.hexdigest()


def kept(folder: Path, scenario: str, agent: str, version: str, code: str) -> Result | None:
    """The result of an earlier run, if it is still good."""
    try:
        record = json.loads(_path(folder, scenario, agent).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if record.pop("code", None) != code or record.get("version") != version:
        return None
    lists = {name: tuple(record[name]) for name in ("outward", "unwritten")}
    return Result(**{**record, **lists, "state": State(record["state"])})


def keep(folder: Path, result: Result, code: str) -> None:
    path = _path(folder, result.scenario, result.agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    record: dict[str, Any] = {**result.record(), "code": code}
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _path(folder: Path, scenario: str, agent: str) -> Path:
    return folder / "results" / f"{agent}-{scenario}.json"
