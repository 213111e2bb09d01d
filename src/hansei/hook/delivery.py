"""Which texts a new session is given: those of the experiments that it falls into.

`exposure.json` says what is under test. Each session is in the treatment arm of an item or in its
control arm by a keyed hash of its id, so a resumed or compacted session stays where it was, and so
do its subagents.
"""

from __future__ import annotations

import os

from hansei.hook.notation import blake2b, parsed

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

FILE = "exposure.json"
NUDGES = "nudges"
"""Beside `items`: what is told not when a session begins but when it meets a known failure."""
MARKER = "<!-- hansei -->"
"""As in `hansei.events.model`. A text without it could be taken for a person's: it stays here."""
LONGEST_FILE = 1024 * 1024
TREATMENT, CONTROL = "treatment", "control"


def chosen(home: str, session: str, cwd: str | None) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The arm of this session for every item that concerns it, and the items it is to get."""
    arms: dict[str, str] = {}
    given = []
    for item in _listed(home, "items"):
        if _usable(item) and _concerns(item, cwd):
            arms[item["id"]] = arm(item["salt"], session, item["share"])
            if arms[item["id"]] == TREATMENT:
                given.append(item)
    return arms, given


def nudges(home: str, cwd: str | None) -> list[dict[str, Any]]:
    """The experiments that tell sessions of known fixes, as far as they concern a folder."""
    return [
        it for it in _listed(home, NUDGES) if _usable({"text": MARKER, **it}) and _concerns(it, cwd)
    ]


def arm(salt: str, session: str, share: float) -> str:
    """Where a session falls: the same answer for the same salt and id, on every machine."""
    data = (salt + session).encode("utf-8", "surrogatepass")
    place = int.from_bytes(blake2b(data, digest_size=8).digest(), "big") / 2**64
    return TREATMENT if place < share else CONTROL


def _listed(home: str, name: str) -> list[Any]:
    try:
        handle = os.open(os.path.join(home, FILE), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return []
    try:
        if os.fstat(handle).st_size > LONGEST_FILE:
            return []
        said = parsed(os.read(handle, LONGEST_FILE))
    finally:
        os.close(handle)
    known = isinstance(said, dict) and said.get("v") == 1
    return said[name] if known and isinstance(said.get(name), list) else []


def _usable(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and all(isinstance(item.get(name), str) for name in ("id", "text", "salt"))
        and MARKER in item["text"]
        and isinstance(item.get("share"), int | float)
    )


def _concerns(item: dict[str, Any], cwd: str | None) -> bool:
    folders = item.get("workspaces")
    if folders is None:
        return True
    if cwd is None or not isinstance(folders, list):
        return False
    here = os.path.realpath(cwd)
    roots = [os.path.realpath(folder) for folder in folders if isinstance(folder, str)]
    return any(here == root or here.startswith(root.rstrip("/") + "/") for root in roots)
