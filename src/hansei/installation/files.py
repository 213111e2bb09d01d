"""Other people's files, read and replaced so that nothing is ever half-written or lost.

A file that cannot be used as it is (read-only, half-written, not text, a link to nowhere) is left
alone, and the error says which file, which line and what to do.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from hansei.errors import UnusableSettings

BOM = b"\xef\xbb\xbf"
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


class ChangedMeanwhile(Exception):
    """Another program wrote the file between our reading and our writing."""


def read(path: Path) -> bytes | None:
    """What a file holds, through links; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        if path.is_symlink():
            raise UnusableSettings(
                f"{path} is a link to {path.readlink()}, which is not there",
                hint="Make that file or remove the link, then run `hansei init` again.",
            ) from None
        return None
    except (OSError, ValueError) as problem:
        raise UnusableSettings(
            f"{path} cannot be read: {getattr(problem, 'strerror', None) or problem}",
            hint="Make it readable for you, then run `hansei init` again.",
        ) from problem


def decoded(path: Path, content: bytes) -> str:
    """The text of a file, without the mark some editors put at its beginning."""
    try:
        return content.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise UnusableSettings(
            f"{path}, line {line}: it is not UTF-8 text",
            hint="Save it as UTF-8, then run `hansei init` again.",
        ) from problem


def encoded(text: str, like: bytes | None) -> bytes:
    """A text as bytes, with the mark at its beginning if there was one."""
    mark = BOM if like is not None and like.startswith(BOM) else b""
    return mark + text.encode("utf-8")


def must_be_writable(path: Path) -> None:
    """Refuse what a person made read-only, whoever runs us."""
    real = path.resolve()
    if real.exists():
        mode = stat.S_IMODE(real.stat().st_mode)
        if not mode & 0o200 or not os.access(real, os.W_OK):
            raise UnusableSettings(
                f"{_both(path, real)} is read-only",
                hint=f"Allow writing (`chmod u+w {real}`) or change it where it is made from.",
            )
    folder = next(parent for parent in real.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UnusableSettings(
            f"{folder} cannot be written to", hint="Allow writing, then run `hansei init` again."
        )


def _both(path: Path, real: Path) -> str:
    return str(path) if path == real else f"{path} (a link to {real})"


def make_folders(folder: Path) -> list[Path]:
    """Make a folder and those above it that are missing; returns what was made, outermost first."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()][::-1]
    for parent in missing:
        parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    return missing


def replace(path: Path, content: bytes, *, expected: bytes | None, mode: int | None = None) -> None:
    """Put new content in the place of what we read, all at once, keeping links and permissions."""
    real = path.resolve()
    kept = stat.S_IMODE(real.stat().st_mode) if real.exists() else PRIVATE_FILE
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.", suffix=".hansei")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(stream.fileno(), kept if mode is None else mode)
            if real.exists():  # the superuser replaces other people's files as well
                os.fchown(stream.fileno(), real.stat().st_uid, real.stat().st_gid)
            os.fsync(stream.fileno())
        if read(path) != expected:
            raise ChangedMeanwhile
        temporary.replace(real)
    finally:
        temporary.unlink(missing_ok=True)
    _keep_name(real.parent)


def remove(path: Path, folders: list[Path]) -> None:
    """Delete a file of ours and those of the folders we made for it that are empty now."""
    path.unlink(missing_ok=True)
    _keep_name(path.parent)
    for folder in sorted(folders, key=lambda path: -len(path.parts)):
        with suppress(OSError):  # something else is in it by now
            folder.rmdir()


def _keep_name(folder: Path) -> None:
    """Make a new or removed name survive a power cut."""
    with suppress(OSError):  # not every system lets a folder be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
