"""The instruction texts of a commit, without checking it out.

The few files that agents read, what those import and what links lead to are laid out in a passing
folder, where the census reads them as it reads a repository. Nothing else of the commit is written,
no filter or hook runs, and the work tree is not touched.
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.history import reading, words
from hansei.git.objects import Objects
from hansei.hook.look import LONGEST_FILE
from hansei.hook.places import read_by_any, tail
from hansei.instructions.census import census, imports, tracked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hansei.instructions.census import Text

_LINK: Final = "120000"
_FILES: Final = ("100644", "100755", "100664")


class _File(NamedTuple):
    mode: str
    id: str


def texts_of(repository: Path, commit: str) -> list[Text]:
    """The instruction texts of a commit, by path."""
    files = dict(_listed(repository, commit))
    with TemporaryDirectory(prefix="hansei-") as place, Objects(str(repository)) as objects:
        root = Path(place).resolve()
        laid = _laid_out(files, objects, root)
        return census(root, files=laid)


def texts_on_disk(repository: Path) -> list[Text]:
    """Those of the files as they are, but for what git ignores: no commit will have it."""
    known = set(tracked(repository))
    return [it for it in census(repository) if it.path.partition("#")[0] in known]


def _listed(repository: Path, commit: str) -> Iterator[tuple[str, _File]]:
    command = ["git", "-C", str(repository), "ls-tree", "-r", "-z", "--full-tree", commit, "--"]
    with reading(command) as told:
        for word in words(told) if told is not None else ():
            head, _, path = word.partition(b"\t")
            mode, _, rest = head.decode("ascii", "replace").partition(" ")
            if mode == _LINK or mode in _FILES:
                file = _File(mode, rest.rpartition(" ")[2])
                yield path.decode("utf-8", "surrogateescape"), file


def _laid_out(files: Mapping[str, _File], objects: Objects, root: Path) -> list[str]:
    """Write what agents read of a commit into a folder; returns the paths."""
    waiting = [path for path in files if read_by_any(path)]
    waiting += [path for path, file in files.items() if file.mode == _LINK and tail(path)]
    done: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in done or path not in files or _is_behind_link(files, path):
            continue
        done.add(path)
        data = objects.blob(files[path].id, LONGEST_FILE)
        if data is None:
            continue
        if files[path].mode == _LINK:
            waiting += _linked(files, path, data, root)
        else:
            _write(root / path, data)
            waiting += [_beside(path, it) for it in imports(data.decode("utf-8", "replace"))]
    return sorted(it for it in done if (root / it).is_file())


def _is_behind_link(files: Mapping[str, _File], path: str) -> bool:
    """Whether a folder of a path is a link: only a made-up commit has that, to lead us away."""
    folder = posixpath.dirname(path)
    while folder:
        if folder in files:
            return True
        folder = posixpath.dirname(folder)
    return False


def _beside(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def _linked(files: Mapping[str, _File], path: str, data: bytes, root: Path) -> Iterator[str]:
    """Lay a link out, and what agents read of where it leads; nothing outside of the commit."""
    target = data.decode("utf-8", "surrogateescape")
    real = _beside(path, target)
    below = f"{real}/"
    inside = {it for it in files if it.startswith(below) and read_by_any(path + it[len(real) :])}
    leads = (real in files and read_by_any(path)) or bool(inside)
    if target.startswith("/") or real.startswith("..") or not leads:
        return
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    with suppress(OSError):  # a system without links
        # Spelled anew: behind another link `..` would lead elsewhere.
        place.symlink_to(posixpath.relpath(real, posixpath.dirname(path) or "."))
    yield from ({real} & files.keys()) | inside


def _write(place: Path, data: bytes) -> None:
    with suppress(OSError):  # a name that this system cannot have
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
