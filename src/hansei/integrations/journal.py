"""Lines of JSON that a running program adds to files below the hansei home, as things happen.

A session has a file of its own in each process, so no two processes ever write to one file. Every
write opens, appends and closes: nothing is lost when the program is killed, a forked child simply
begins another file, and there is no handle to run out of. What cannot be written is dropped and
said once in the program's log: a program never fails because somebody watches it.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import threading
import time
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec
from weakref import WeakSet

from hansei.integrations import LIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LARGEST: Final = 4 * 1024 * 1024
"""A file this large is continued in another one: one that grew is read again, and whole."""
LONGEST_ID: Final = 200
"""Longer ids are replaced by their digest: the format takes no longer ones."""

_BEGUN: Final = f"{time.time_ns() // 1_000_000:x}"
_LOG: Final = logging.getLogger("hansei.integrations")
P = ParamSpec("P")


def home_folder() -> Path:
    """The folder hansei keeps its things in, as `hansei` itself finds it."""
    named = os.environ.get("HANSEI_HOME", "").strip()
    return Path(named or "~/.hansei").expanduser()


def short(told: object) -> str:
    """An id as the format takes it."""
    text = str(told)
    return text if 0 < len(text) <= LONGEST_ID else mark(text)


def mark(*parts: str) -> str:
    """A short digest of some texts."""
    joined = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return blake2b(joined, digest_size=8).hexdigest()


def quietly(method: Callable[P, None]) -> Callable[P, None]:
    """The same, but whatever goes wrong in it is logged once and goes no further."""
    told = False

    @functools.wraps(method)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        nonlocal told
        try:
            method(*args, **kwargs)
        except Exception:  # noqa: BLE001 - the program must go on, whatever it was
            if not told:
                told = True
                _LOG.warning("hansei could not record what happened", exc_info=True)

    return guarded


_JOURNALS: WeakSet[Journal] = WeakSet()


def _renew_locks() -> None:
    """In a forked child: a thread that held a lock is not there to let go of it."""
    for it in _JOURNALS:
        it.lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew_locks)


class Journal:
    """The files that one handler writes."""

    def __init__(
        self, form: str, home: str | os.PathLike[str] | None = None, *, largest: int | None = None
    ) -> None:
        self._largest = largest or LARGEST
        self.folder = (Path(home) if home else home_folder()) / LIVE / form
        self.lock = threading.RLock()
        """For the handler's own values too."""
        _JOURNALS.add(self)

    def add(self, session: str, opening: dict[str, Any], lines: Iterable[dict[str, Any]]) -> None:
        """Add lines of a session; a file that is new begins with `opening`."""
        added = [_line(it) for it in lines]
        with self.lock:
            handle = self._open(session)
            try:
                if os.fstat(handle).st_size == 0 and added[:1] != [first := _line(opening)]:
                    added.insert(0, first)
                data = b"".join(added)
                while data:
                    data = data[os.write(handle, data) :]
            finally:
                os.close(handle)

    def _open(self, session: str) -> int:
        part = 0
        while True:
            name = f"{mark(session)}-{_BEGUN}-{os.getpid()}-{part}.jsonl"
            handle = opened(self.folder / name)
            if os.fstat(handle).st_size < self._largest:
                return handle
            os.close(handle)
            part += 1


def opened(path: Path) -> int:
    """A file to append to, which only its owner can read; its folders are made where needed."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        for folder in (path.parents[2], path.parents[1], path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(path, flags, 0o600)


def _line(value: dict[str, Any]) -> bytes:
    """One line. What is no JSON is told by its text; ASCII, so that no text can break a line."""
    return json.dumps(value, default=str, skipkeys=True).encode("ascii") + b"\n"
