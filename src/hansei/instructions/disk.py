"""Instruction files on disk: which may be written, and several replaced as if they were one.

What a person or program protects is left alone, and the error says which file and what to do.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from hansei.errors import UnusableInstructions
from hansei.installation import files

if TYPE_CHECKING:
    from collections.abc import Sequence

LARGEST = 4 * 1024 * 1024
"""Bytes. What is larger is no instructions, and agents cut it off far earlier."""
HEADER_LINES = 5
"""Where programs say that they made a file."""

_GENERATED = re.compile(
    r"@generated\b|<!--[^>]*\bdo not (?:edit|modify)\b"
    r"|\bgenerated\b[^\n]*\n?[^\n]*\bdo not (?:edit|modify)\b"
    r"|\bdo not (?:edit|modify)\b[^\n]*\n?[^\n]*\bgenerated\b",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """A file, or the place for one."""

    path: str
    """From the top of the repository, links followed."""
    file: Path
    content: bytes | None


@dataclass(frozen=True)
class Change:
    """What a file holds and what it should hold; None is no file."""

    file: Path
    before: bytes | None
    after: bytes | None
    folders: tuple[str, ...] = ()
    """Folders that are the file's own: made before it, removed after it if empty."""


def digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def find(repository: Path, path: str) -> Found:
    """A file of a repository as it is; raises where it cannot be one of ours to change."""
    root = repository.resolve()
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise UnusableInstructions(
            f"{path!r} names no file in {root}", hint="Name it from the top of the repository."
        )
    named = root.joinpath(*parts)
    try:
        real = named.resolve()
    except (OSError, RuntimeError):  # a link that leads to itself
        real = named
    if named.is_symlink() and not real.exists():
        raise UnusableInstructions(
            f"{path} is a link to {named.readlink()}, which is not there",
            hint="Make that file or remove the link, then try again.",
        )
    if not real.is_relative_to(root):
        raise UnusableInstructions(
            f"{path} leads to {real}, outside the repository {root}",
            hint="hansei writes only inside the repository. Change that file by hand.",
        )
    inside = real.relative_to(root)
    if inside.parts[0] == ".git":
        raise UnusableInstructions(f"{path} lies in git's own folder", hint="Choose another file.")
    return Found(inside.as_posix(), real, _content(path, real))


def _content(path: str, real: Path) -> bytes | None:
    try:
        status = real.stat()
        if stat.S_ISDIR(status.st_mode):
            raise UnusableInstructions(f"{path} is a folder", hint="Name a file in it.")
        if not stat.S_ISREG(status.st_mode):
            raise UnusableInstructions(
                f"{path} is not an ordinary file", hint="Choose another file."
            )
        if status.st_size > LARGEST:
            raise UnusableInstructions(
                f"{path} has {status.st_size:,} bytes, too many for instructions",
                hint="Choose another file.",
            )
        return real.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UnusableInstructions(
            f"{path} cannot be read: {problem.strerror}",
            hint="Make it readable for you, then try again.",
        ) from problem


def text_of(found: Found) -> str:
    """The text of a file, without the mark some editors put at its beginning; empty if none."""
    content = (found.content or b"").removeprefix(files.BOM)
    try:
        text = content.decode("utf-8")
        wrong = text.find("\0")
    except UnicodeDecodeError as problem:
        text, wrong = "", problem.start
    if wrong >= 0:
        line = content.count(b"\n", 0, wrong) + 1
        raise UnusableInstructions(
            f"{found.path}, line {line}: it is not UTF-8 text",
            hint="Save it as UTF-8, then try again.",
        )
    return text


def encoded(text: str, like: bytes | None) -> bytes:
    """A text as bytes, with the mark at its beginning if there was one."""
    return files.encoded(text, like)


def must_be_writable(found: Found) -> None:
    """Refuse what a person made read-only, whoever runs us."""
    if found.content is not None:
        mode = stat.S_IMODE(found.file.stat().st_mode)
        if not mode & 0o200 or not os.access(found.file, os.W_OK):
            raise UnusableInstructions(
                f"{found.path} is read-only",
                hint=f"Allow writing (`chmod u+w {found.path}`), or choose another file.",
            )
    folder = next(parent for parent in found.file.parents if parent.exists())
    if not folder.is_dir():
        raise UnusableInstructions(f"{folder} is not a folder", hint="Choose another file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UnusableInstructions(
            f"{folder} cannot be written to", hint="Allow writing, then try again."
        )


def must_be_by_hand(found: Found, text: str) -> None:
    """Refuse what a program makes: it would be made again, without our change."""
    header = "".join(text.splitlines(keepends=True)[:HEADER_LINES])
    if _GENERATED.search(header):
        raise UnusableInstructions(
            f"{found.path} says that it is generated",
            hint="Change what it is made from, or choose another file.",
        )


def missing_folders(found: Found) -> tuple[str, ...]:
    """Folders that a new file needs, outermost first."""
    missing = [str(parent) for parent in found.file.parents if not parent.exists()]
    return tuple(reversed(missing))


def write(changes: Sequence[Change]) -> None:
    """Make all changes, or none: what was written is put back where a later one fails."""
    for change in changes:
        _must_be_unchanged(change)
    made: list[Change] = []
    try:
        for change in changes:
            made.append(change)
            _make(change)
    except BaseException:
        for change in reversed(made):
            _restore(change)
        raise


def _restore(change: Change) -> None:
    """Put back what a change found, if the change was made and nobody has been there since."""
    if change.before is None:
        _remove_folders(change.folders)  # the file itself may not have been reached
    if _there(change.file) == change.after and change.before != change.after:
        _make(replace(change, before=change.after, after=change.before))


def _there(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise UnusableInstructions(
            f"{file} cannot be read: {problem.strerror}", hint="Nothing was written. Look at it."
        ) from problem


def _must_be_unchanged(change: Change) -> None:
    if _there(change.file) != change.before:
        raise _changed(change.file)


def _changed(file: Path) -> UnusableInstructions:
    return UnusableInstructions(
        f"{file} was changed while the difference was shown",
        hint="Nothing was written. Run the command again to see the difference as it is now.",
    )


def _make(change: Change) -> None:
    try:
        if change.after is None:
            _must_be_unchanged(change)
            files.remove(change.file, [Path(folder) for folder in change.folders])
        else:
            for folder in change.folders:
                Path(folder).mkdir(exist_ok=True)
            new = None if change.before is not None else 0o666 & ~_umask()
            files.replace(change.file, change.after, expected=change.before, mode=new)
    except files.ChangedMeanwhile:
        raise _changed(change.file) from None
    except OSError as problem:
        raise UnusableInstructions(
            f"{change.file} cannot be written: {problem.strerror}",
            hint="Nothing was changed. Make room or allow writing, then try again.",
        ) from problem


def _umask() -> int:
    """What the person takes away from the rights of new files; it can only be read by setting."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _remove_folders(folders: Sequence[str]) -> None:
    for folder in reversed(folders):
        with suppress(OSError):  # it was not made, or something else is in it
            Path(folder).rmdir()


def sweep(file: Path) -> None:
    """Remove what a crash left of our writing beside a file."""
    with suppress(OSError):
        for left in file.parent.glob(f".{file.name}.*.hansei"):
            left.unlink(missing_ok=True)
