"""Waiting for files to change.

The system tells of changes below a folder until it cannot: watches run out, a folder may not be
looked into, a network file system keeps quiet about what others write. Wherever events do not
suffice, that is said, and the watcher looks by itself.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hansei.ops.watch import is_below

if TYPE_CHECKING:
    from collections.abc import Collection

    from watchfiles._rust_notify import RustNotify

STEP_MS = 200
"""How often the library asks whether anything was heard, and how long a file must keep still. Twice
this is the longest a change waits; half of it would double what an idle watcher costs."""
LONGEST_GATHERING_MS = 600
"""Files that never keep still are reported after this time."""

REMOTE = frozenset(
    ("9p", "afs", "ceph", "cifs", "davfs", "drvfs", "glusterfs", "ncpfs", "nfs", "nfs4", "prl_fs",
     "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs")
)  # fmt: skip
"""File systems on which others may write without our system hearing of it; so is most of FUSE."""

_MOUNTS = Path("/proc/self/mountinfo")
_LIMITS = {
    "limit": "no file watches are left (on Linux raise fs.inotify.max_user_watches)",
    "os error 28": "no file watches are left (raise fs.inotify.max_user_watches)",
    "os error 24": "too many programs watch files (raise fs.inotify.max_user_instances)",
}
"""What the library's words mean for a person, by a part of them."""
_NO_RIGHT = "part of it may not be looked into"


class Flag(Protocol):
    """Whether we were asked to stop."""

    def is_set(self) -> bool: ...


@dataclass
class FileEvents:
    """Events of the folders that are followed."""

    stop: Flag
    _notify: RustNotify | None = None
    _aliases: dict[str, str] = field(default_factory=dict)
    """Folders by the names the system may use for them, where those differ from ours."""

    def follow(self, folders: Collection[Path]) -> dict[Path, str]:
        """Wait for events in these folders and no others; returns where they do not suffice."""
        self.close()
        short = remote_folders(folders)
        heard = []
        for folder in folders:
            problem = _try(folder)
            if problem is None:
                heard.append(folder)
            else:
                short[folder] = problem
        if not heard:
            return short
        try:
            self._notify = _notifier(heard)
        except (OSError, RuntimeError) as problem:
            return dict.fromkeys(folders, _reason(problem))
        real = {os.path.realpath(folder): str(folder) for folder in heard}
        self._aliases = {name: folder for name, folder in real.items() if name != folder}
        return short

    def wait(self, seconds: float) -> set[str] | None:
        """Paths that changed, none after so many seconds, None where we lost track."""
        if self._notify is None:
            self._sleep(seconds)
            return set()
        milliseconds = max(1, round(seconds * 1000))
        try:
            heard = self._notify.watch(LONGEST_GATHERING_MS, STEP_MS, milliseconds, self.stop)
        except (OSError, RuntimeError):  # a name that is no text, or a limit met on the way
            self.close()
            return None
        return {self._ours(path) for _, path in heard} if isinstance(heard, set) else set()

    def close(self) -> None:
        """Let go of every watch."""
        if self._notify is not None:
            self._notify.close()
        self._notify = None

    def _sleep(self, seconds: float) -> None:
        """In steps, since a signal does not end a sleep."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and not self.stop.is_set():
            time.sleep(min(left, STEP_MS / 1000))

    def _ours(self, path: str) -> str:
        """A path under the name of the folder that we followed."""
        for name, folder in self._aliases.items():
            if is_below(path, name):
                return folder + path.removeprefix(name)
        return path


def _try(folder: Path) -> str | None:
    """Why a folder's events cannot be had, if so; it must not cost the other folders theirs."""
    try:
        _notifier([folder]).close()
    except (OSError, RuntimeError) as problem:
        return _reason(problem)
    return None


def _notifier(folders: Collection[Path]) -> RustNotify:
    # The public generator cannot wait for a time that differs from call to call.
    from watchfiles._rust_notify import RustNotify

    return RustNotify(
        [str(folder) for folder in folders],
        debug=False,
        force_polling=False,
        poll_delay_ms=1,
        recursive=True,
        ignore_permission_denied=False,
    )


def _reason(problem: Exception) -> str:
    if isinstance(problem, PermissionError):
        return _NO_RIGHT
    told = str(problem)
    return next((meaning for words, meaning in _LIMITS.items() if words in told), told)


def remote_folders(folders: Collection[Path], mounts: Path = _MOUNTS) -> dict[Path, str]:
    """Those on network file systems, with what to say of them."""
    kinds = _mounted(mounts)
    remote = {}
    for folder in folders:
        real = os.path.realpath(folder)
        places = [place for place in kinds if is_below(real, place)]
        kind = kinds[max(places, key=len)] if places else ""
        if kind in REMOTE or kind.startswith("fuse."):
            remote[folder] = f"{kind} does not tell of what other machines write"
    return remote


def _mounted(mounts: Path) -> dict[str, str]:
    """Kinds of file systems by the folder they are mounted on, where the system lists them."""
    if sys.platform != "linux":
        return {}
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    kinds = {}
    for line in lines:
        before, _, after = line.partition(" - ")
        if after and len(before.split()) > 4:
            kinds[_unescaped(before.split()[4])] = after.split()[0]
    return kinds


def _unescaped(text: str) -> str:
    """The list writes spaces and the like as \\040."""
    head, *rest = text.split("\\")
    return head + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)
