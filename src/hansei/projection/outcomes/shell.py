"""Shell commands that put files back as they were, or delete them.

Only the plain forms are known (`git restore`, `git checkout --`, `git reset --hard`, `git clean`,
`rm`): what is not understood takes nothing back.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from functools import lru_cache
from typing import Final, NamedTuple

_MAY: Final = re.compile(r"\b(?:rm|git\s+(?:-C\s+\S+\s+)?(?:restore|checkout|reset|clean))\b")
_BETWEEN: Final = re.compile(r"&&|\|\||[;\n|]")


class Covers(NamedTuple):
    """A file or folder that was put back, and which of its files that concerns."""

    path: str
    tracked: bool
    untracked: bool

    def covers(self, path: str, *, created: bool) -> bool:
        """Whether an edited file is in there; a file the session created is not tracked yet."""
        if not (self.untracked if created else self.tracked):
            return False
        here, there = self.path.rstrip("/"), path.replace("\\", "/")
        if here in ("", "."):
            return True
        if not here.startswith("/"):  # from a folder nobody told
            return f"/{there}".endswith(f"/{here}") or f"/{here}/" in f"/{there}"
        return there == here or there.startswith(f"{here}/")


@lru_cache(maxsize=4096)
def restores(command: str, cwd: str | None) -> tuple[Covers, ...]:
    """What a command puts back."""
    if _MAY.search(command) is None:
        return ()
    found: list[Covers] = []
    folder = (cwd or "").replace("\\", "/")
    for part in _BETWEEN.split(command):
        try:
            words = shlex.split(part)
        except ValueError:  # an open quote: the command was cut at a sign inside it
            continue
        if words[:1] == ["cd"] and len(words) == 2:
            folder = posixpath.normpath(posixpath.join(folder, words[1]))
        found += [it._replace(path=_from(folder, it.path)) for it in _part(words)]
    return tuple(found)


def _from(folder: str, path: str) -> str:
    """A path as it is from the root; the empty one stands for the whole repository."""
    return path and posixpath.normpath(posixpath.join(folder, path.replace("\\", "/")))


def _part(words: list[str]) -> list[Covers]:
    options = [word for word in words if word.startswith("-") and word != "--"]
    if words[:1] == ["rm"]:
        return [Covers(it, True, True) for it in words[1:] if not it.startswith("-")]
    if words[:1] != ["git"] or len(words) < 2:
        return []
    verb, names = words[1], [it for it in words[2:] if not it.startswith("-")]
    if verb == "restore" and not {"--staged", "-S"} & set(options):
        return [Covers(it, True, False) for it in names]
    if verb == "checkout" and ("--" in words or names == ["."]):
        after = words[words.index("--") + 1 :] if "--" in words else names
        return [Covers(it, True, False) for it in after]
    if verb == "reset" and "--hard" in options:
        return [Covers("", True, False)]
    if verb == "clean" and any("f" in it for it in options) and not _only_shown(options):
        return [Covers(it, False, True) for it in names or ["."]]
    return []


def _only_shown(options: list[str]) -> bool:
    return any(it == "--dry-run" or (it[:2] != "--" and "n" in it) for it in options)
