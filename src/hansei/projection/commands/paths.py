"""Paths as commands spell them, put together without asking a disk.

A path stays relative to the folder the call began in unless it was told whole, so that a parsed
command means the same wherever it ran; `locate` joins it to that folder. The same file has one
spelling on Windows (`C:\\repo`, `/c/repo` of Git Bash) and in WSL (`/mnt/c/repo`).
"""

from __future__ import annotations

import re

_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/]|$)")
_MOUNTED = re.compile(r"/(?:mnt|cygdrive)/([A-Za-z])(?=/|$)")
_GIT_BASH = re.compile(r"/([A-Za-z])(?=/|$)")
_HOME = re.compile(r"(?:[A-Z]:)?/(?:home|Users)/[^/]+(?=/|$)|/root(?=/|$)")
_WSL_SHARE = re.compile(r"//wsl(?:\$|\.localhost)/[^/]+", re.IGNORECASE)
_PROVIDER = re.compile(r"(?:Microsoft\.PowerShell\.Core\\)?FileSystem::", re.IGNORECASE)


def is_absolute(path: str) -> bool:
    """Whether a path says by itself where it is; `~` counts."""
    return path.startswith(("/", "\\", "~")) or _DRIVE.match(path) is not None


def join(folder: str | None, path: str) -> str | None:
    """A path as seen from where `folder` is told from; None where the folder is unknown."""
    path = spelled(path)
    if is_absolute(path):
        return tidy(path)
    return None if folder is None else tidy(f"{folder}/{path}" if folder else path)


def locate(path: str, cwd: str | None) -> str:
    """A path of a command joined to the folder the call began in, in one spelling."""
    home = spelled(cwd) if cwd else None
    whole = spelled(path, windows=bool(home and _DRIVE.match(home)))
    if is_absolute(whole) or home is None:
        return tidy(whole)
    return tidy(f"{home}/{whole}")


def seen_from(folder: str | None, cwd: str | None) -> str | None:
    """Where a command ran, told from the folder its call began in; whole where that is elsewhere.

    `~` is told by its name where that folder lies in a home.
    """
    if not folder or not cwd:
        return folder
    top, whole = tidy(spelled(cwd)), locate(folder, cwd)
    home = None if _MOUNTED.match(cwd) else _HOME.match(top)
    if home and whole.startswith("~") and whole[1:2] in ("", "/"):
        whole = f"{home[0]}{whole[1:]}"
    if same(whole, top):
        return ""
    inside = same(whole[: len(top) + 1], f"{top}/")
    return whole[len(top) + 1 :] if inside else whole


def same(path: str, other: str) -> bool:
    """Whether two spellings are one file; on a drive of Windows case is none."""
    return path == other or (_DRIVE.match(path) is not None and path.lower() == other.lower())


def spelled(path: str, *, windows: bool = False) -> str:
    """The one spelling of a path: forward slashes, a capital drive, no share of WSL.

    `/c/repo` is a drive only where `windows` says that the call ran there.
    """
    if "\\" in path:
        path = _PROVIDER.sub("", path).replace("\\", "/")
    path = _WSL_SHARE.sub("", path) if path.startswith("//") else path
    found = _DRIVE.match(path) or _MOUNTED.match(path) or (windows and _GIT_BASH.match(path))
    return f"{found[1].upper()}:{path[found.end() :]}" if found else path


def tidy(path: str) -> str:
    """Without `.`, `..` and doubled slashes; `.` for nothing left."""
    drive = _DRIVE.match(path)
    head = drive[0] if drive else ""
    rooted = path[len(head) :].startswith("/")
    parts: list[str] = []
    for part in path[len(head) :].split("/"):
        if part == ".." and parts and parts[-1] not in ("..", "~"):
            parts.pop()
        elif part == ".." and rooted:
            continue
        elif part not in ("", "."):
            parts.append(part)
    start = head + ("/" if rooted or head else "")
    return start + "/".join(parts) or "."
