"""What we changed in other people's files, so that all of it can be undone.

`backups/journal.jsonl` in hansei's home gets a line before every change; the bytes that stood there
lie beside it, named by their hash and the file's own name. The last line about a file tells how to
restore it: `original` is what it held before we first wrote to it, `after` what we left. A crash
between line and change does no harm: the file then still holds `original`, so nothing is to undo.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from hansei.installation.files import PRIVATE_FILE, PRIVATE_FOLDER, read, replace

NAME_LENGTH = 16
"""As much of a hash as names a backup; its whole content is checked against the whole hash."""


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change of one file. A hash of None means that there is no file."""

    at: int
    agent: str
    path: str
    before: str | None
    """What the change found."""
    after: str | None
    """What it left; equal to `original` once the file is ours no more."""
    original: str | None
    """What to restore."""
    folders: list[str] = []
    """Folders that were made for the file."""


class Journal:
    """The journal of one home, read once and then added to."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "backups"
        self._file = self.folder / "journal.jsonl"
        self._last: dict[str, Entry] = {}
        for line in self._lines():
            try:
                entry = msgspec.json.decode(line, type=Entry)
            except msgspec.MsgspecError:
                continue  # cut short by a crash: its change was never made
            self._last[entry.path] = entry

    def _lines(self) -> list[bytes]:
        try:
            return self._file.read_bytes().splitlines()
        except OSError:
            return []

    def last(self, path: Path) -> Entry | None:
        """The last change of a file, if it still holds something of ours."""
        entry = self._last.get(str(path))
        return None if entry is None or entry.after == entry.original else entry

    def changed(self) -> list[Entry]:
        """Every file that holds something of ours, as far as we know."""
        return [entry for path in sorted(self._last) if (entry := self.last(Path(path)))]

    def keep(self, path: Path, content: bytes | None) -> str | None:
        """Lay the bytes of a file aside; returns their hash."""
        name = digest(content)
        if name is not None and content is not None and self.kept(path, name) is None:
            self.folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            place = self._place(path, name)
            replace(place, content, expected=read(place), mode=PRIVATE_FILE)
        return name

    def kept(self, path: Path, name: str) -> bytes | None:
        """Bytes laid aside earlier; None if they are gone or no longer what they were."""
        try:
            content = self._place(path, name).read_bytes()
        except OSError:
            return None
        return content if digest(content) == name else None

    def _place(self, path: Path, name: str) -> Path:
        return self.folder / f"{name[:NAME_LENGTH]}-{path.name}"

    def note(self, entry: Entry) -> None:
        """Write down a change that is about to be made."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        with os.fdopen(handle, "ab") as stream:
            # The newline ahead ends a line that a crash cut short.
            stream.write(b"\n" + msgspec.json.encode(entry) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        self._last[entry.path] = entry


def digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
