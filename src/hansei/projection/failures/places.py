"""Files told by whole paths, so that one file is known however it is spelled."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_HOME = re.compile(r"(?:/home/[^/]+|/users/[^/]+|/root|[a-z]:/users/[^/]+)(?=/|$)")
_MOUNTED = re.compile(r"/(?:mnt/|cygdrive/)?([a-z])(?=/)")
_DRIVE = re.compile(r"[a-z]:")
_EVERYWHERE = re.compile(
    r"(?:index|page|route|routes|layout|main|__init__|mod|lib|readme|skill|package|settings|config"
    r"|state|types?|utils|claude|agents|changelog|license|makefile|dockerfile|spec|plan|tasks|test"
    r"|tests|data|app|server|client|styles?|requirements|schema|models?|constants|helpers|api|info"
    r"|notes|todo|template|src|docs|scripts|build|dist|public|bin|\.?env|\.git|\.gitignore)"
    r"(?:\.\w+)*"
)
"""Names that many folders have one of."""
_LOOKED_AT: Final = 2000
_PATHS = re.compile(
    r"[\"']([^\"'\n]*[\\/][^\"'\n]*)|(?:[A-Za-z]:|~|\.{1,2})?[\\/][^\s'\"`|;&<>]+|[\w.@-]+\.\w{1,5}\b"
)


@lru_cache(maxsize=2048)
def whole(path: str, folder: str | None) -> str:
    """A path from the root, in lower case and with one kind of slashes.

    Two files whose names differ by case alone are one; most people have no such files.
    """
    text = _slashes(path)
    base = _slashes(folder or "")
    if text == "~" or text.startswith("~/"):
        home = _HOME.match(base)
        text = (home[0] if home else "~") + text[1:]
    mounted = _MOUNTED.match(text) if _DRIVE.match(base) else None
    if mounted is not None:
        text = f"{mounted[1]}:{text[mounted.end() :]}"
    if not text.startswith(("/", "~")) and not _DRIVE.match(text):
        text = f"{base}/{text}"
    return _resolved(text)


def _slashes(path: str) -> str:
    return path.strip("'\" ").replace("\\", "/").split("::", 1)[0].lower()


def _resolved(text: str) -> str:
    root = "/" if text.startswith("/") else ""
    parts: list[str] = []
    for part in text.split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return root + "/".join(parts)


def found_elsewhere(missing: str, found: str, folder: str | None) -> bool:
    """Whether a file that was not where it was looked for may be this one.

    It has the same name. Where many folders have one of that name it must lie in the same project,
    on the way that was named or further down.
    """
    if missing.rsplit("/", 1)[-1] != found.rsplit("/", 1)[-1]:
        return False
    if not is_everywhere(found.rsplit("/", 1)[-1]):
        return True
    top = whole("", folder) + "/"
    if not folder or not (missing.startswith(top) and found.startswith(top)):
        return False
    one, other = (path[len(top) :].split("/") for path in (missing, found))
    return _within(one, other) or _within(other, one)


def is_everywhere(name: str) -> bool:
    """Whether many folders have something of that name."""
    return _EVERYWHERE.fullmatch(name) is not None


def _within(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(part in rest for part in few)


def named_in(text: str, folder: str | None) -> frozenset[str]:
    """What looks like paths in a text that no shell could read."""
    found = (it[1] or it[0] for it in _PATHS.finditer(text[:_LOOKED_AT]))
    return frozenset(whole(path.rstrip("\\/,.)"), folder) for path in found)
