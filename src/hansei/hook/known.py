"""Failures that are known in a project, recognised without working out what they are.

`known/NAME.json` lists them, one file per folder, written whenever facts are brought up to date.
Each says which words the command has and which pieces follow one another in a line of the output:
what differs by chance lies between the pieces. That is a plain search for texts, so it costs a
fraction of what a signature costs.
"""

from __future__ import annotations

import os

from hansei.hook.notation import FAILURES, blake2b, parsed
from hansei.hook.repository import top

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

FOLDER = "known"
VERSION = 1
LONGEST_FILE = 256 * 1024
HEAD, TAIL = 8_000, 24_000
"""Characters of an output that are looked at, as where signatures are worked out."""
_BETWEEN = str.maketrans(dict.fromkeys("|&;()<>'\"`=,$", " "))


def place(folder: str) -> str:
    """The name of the file about a folder: of the repository around it, where there is one."""
    root = os.path.realpath(top(folder) or folder)
    name = blake2b(root.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    return f"{FOLDER}/{name}.json"


def known(home: str, folder: str) -> list[dict[str, Any]]:
    """What is known about failures in a folder; nothing where the file cannot be used."""
    try:
        handle = os.open(os.path.join(home, place(folder)), os.O_RDONLY)
    except (OSError, ValueError):
        return []
    try:
        if os.fstat(handle).st_size > LONGEST_FILE:
            return []
        said = parsed(os.read(handle, LONGEST_FILE))
    except (OSError, *FAILURES):
        return []
    finally:
        os.close(handle)
    listed = said.get("failures") if isinstance(said, dict) and said.get("v") == VERSION else None
    return [it for it in listed if _usable(it)] if isinstance(listed, list) else []


def _usable(it: Any) -> bool:
    return (
        isinstance(it, dict)
        and isinstance(it.get("id"), str)
        and all(
            isinstance(it.get(name), list) and all(isinstance(x, str) for x in it[name])
            for name in ("words", "pieces")
        )
        and bool(it["pieces"])
    )


def recognised(
    failures: list[dict[str, Any]], tool: str, command: str, output: str
) -> dict[str, Any] | None:
    """The known failure that an output shows; of several the one that says most."""
    words = {tool, *_words(command)}
    lines = _lines(output)
    whole = "\n".join(lines)
    best: dict[str, Any] | None = None
    for it in failures:
        better = best is None or _length(it) > _length(best)
        if better and words.issuperset(it["words"]) and all(x in whole for x in it["pieces"]):
            found = any(follow(line, it["pieces"]) for line in lines)
            best = it if found else best
    return best


def follow(line: str, pieces: list[str]) -> bool:
    """Whether the pieces stand in a line, one after the other."""
    at = 0
    for piece in pieces:
        at = line.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True


def _words(command: str) -> list[str]:
    """Words of a command, programs without their folder; also without the number of a version."""
    names = [word.rsplit("/", 1)[-1] for word in command.translate(_BETWEEN).split()]
    return [*names, *(name.rstrip("0123456789.") for name in names)]


def _lines(output: str) -> list[str]:
    if len(output) > HEAD + TAIL:
        output = output[:HEAD] + "\n" + output[-TAIL:]
    if "\x1b" in output:
        output = _colourless(output)
    return [" ".join(line.split()) for line in output.splitlines() if line.strip()]


def _colourless(text: str) -> str:
    first, *rest = text.split("\x1b[")
    return first + "".join(part.lstrip("0123456789;?")[1:] for part in rest)


def _length(it: dict[str, Any]) -> int:
    return sum(map(len, it["pieces"]))
