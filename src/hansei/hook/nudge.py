"""What got past a failure before, told to a session that has just met it: once, and by a coin.

Only while an experiment says so. Both arms are noted when the failure is met, which is before
anything is told, so that sessions that met one can be compared with one another.
"""

from __future__ import annotations

import os

from hansei.hook import words
from hansei.hook.delivery import MARKER, TREATMENT, arm, nudges
from hansei.hook.known import known, recognised
from hansei.hook.notation import FAILURES, blake2b, measured, parsed, written

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

TOLD = "told"
"""The folder in the spool with an empty file for everything that a session was told."""
LONGEST_TEXT = 2_000


def nudge(home: str, line: dict[str, Any], data: bytes) -> str | None:
    """Note in the line which arm this session is in, and return what to print for it."""
    try:
        running = nudges(home, line.get("cwd"))
        # A subagent's words stand in a transcript of its own, where nobody would look for them.
        if not running or "agent_id" in line or "cwd" not in line:
            return None
        met = _met(home, line, parsed(data))
    except (OSError, *FAILURES):
        return None
    if met is None:
        return None
    session, text = line["session"], met["text"]
    line["arms"] = {it["id"]: arm(it["salt"], session, it["share"]) for it in running}
    given = [name for name, where in line["arms"].items() if where == TREATMENT]
    answer = words.context(line["agent"], line["hook"], text) if given else None
    if answer is None or not _first(home, session, met["id"]):
        return None
    line["delivered"] = given
    line["context"] = measured(text)
    return written(answer)


def _met(home: str, line: dict[str, Any], said: Any) -> dict[str, Any] | None:
    """The known failure that was met, if a fix is known that may be told."""
    names = words.words(line["agent"])
    given, output = words.find(said, names["input"]), words.find(said, names["output"])
    if not isinstance(output, str):
        return None
    command = given.get("command") if isinstance(given, dict) else None
    failures = [it for it in known(home, line["cwd"]) if _tellable(it.get("text"))]
    return recognised(failures, line.get("tool", ""), command or "", output)


def _tellable(text: Any) -> bool:
    return isinstance(text, str) and MARKER in text and len(text) <= LONGEST_TEXT


def _first(home: str, session: str, failure: str) -> bool:
    """Whether this session has not been told of this failure yet; it has been from now on."""
    name = blake2b(f"{session} {failure}".encode("utf-8", "surrogatepass"), digest_size=16)
    folder = os.path.join(home, "spool", TOLD)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        path = os.path.join(folder, name.hexdigest())
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError:
        return False
    return True
