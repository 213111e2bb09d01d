"""Names in instruction texts that were in the repository once and are gone now.

That something was there and left, with which commit and when, is a claim git can prove; what was
never seen here may be anything, and nothing is said of it. A name is there as long as anything of
it is: a file by any part of its path, a package in any manifest or lock file, a target in any
makefile. What git ignores is made by programs and comes and goes.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase, translate
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.git.repository import git, own_environment
from hansei.instructions.staleness import Kind, Named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

SECONDS: Final = 15.0
"""For one look through the history; nothing is told of a repository that takes longer."""
_START: Final = "\x01"
_FORMAT: Final = f"--format={_START}%H%x00%ct%x00%s"
_LARGEST: Final = 8 << 20
"""Bytes of a lock file that are read."""

_SCRIPTS: Final = ("package.json", "deno.json", "deno.jsonc", "composer.json")
_TARGETS: Final = {
    "make": ("Makefile", "makefile", "GNUmakefile", "*.mk"),
    "just": ("justfile", "Justfile", ".justfile", "*.just"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml"),
    "npm": _SCRIPTS,
}
_MANIFESTS: Final = (
    *("package.json", "pyproject.toml", "requirements*.txt", "go.mod", "Cargo.toml", "Gemfile"),
    *("setup.py", "setup.cfg", "Pipfile", "composer.json", "environment.yml"),
)
_LOCKS: Final = (
    *("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "uv.lock", "poetry.lock"),
    *("go.sum", "Cargo.lock", "Gemfile.lock", "Pipfile.lock", "requirements/*.txt"),
)
_DEFINES: Final = {
    "make": re.compile(r"^([\w.-]+(?:[ \t]+[\w.-]+)*)[ \t]*:(?![=:])"),
    "just": re.compile(r"^@?([\w-]+)(?:[ \t]+[^:=]*)?:(?!=)"),
    "task": re.compile(r"^[ \t]+[\"']?([\w:-]+)[\"']?:[ \t]*$"),
    "npm": re.compile(r"^[ \t]*\"([\w:.-]+)\"[ \t]*:[ \t]*\""),
}
_DEPENDS: Final = re.compile(
    r"""^[ \t]*(?:
      "(?P<json>(?:@[\w.-]+/)?[\w.-]+)"[ \t]*:[ \t]*"[\^~<>=*\d]   # a version, not a script
    | ["'](?P<listed>[\w.-]+)(?:\[[^\]]*\])?[ \t]*(?:[<>=~!;][^"']*)?["'],?[ \t]*$
    | (?P<table>[\w-]+)[ \t]*=[ \t]*(?:["'][\^~<>=*\d]|\{)
    | (?P<plain>[A-Za-z][\w.-]*)(?:\[[^\]]*\])?[ \t]*[<>=~!]=
    | (?:require[ \t]+)?(?P<module>[\w.-]+(?:/[\w.-]+)+)[ \t]+v\d
    )""",
    re.VERBOSE,
)


class Departure(NamedTuple):
    """The commit that took something away."""

    commit: str
    at: int
    """In seconds."""
    subject: str

    @property
    def day(self) -> str:
        """When it was committed, in UTC."""
        return datetime.fromtimestamp(self.at, UTC).date().isoformat()


@dataclass(frozen=True)
class Stale:
    """A name that leads nowhere now."""

    named: Named
    left: Departure
    moved_to: str = ""
    """Where a file went, if git knows."""

    @property
    def what(self) -> str:
        """What is no longer so, in words."""
        name = f"`{self.named.name}`"
        if self.named.kind is Kind.PACKAGE:
            return f"the package {name} is in no manifest any more"
        if self.named.kind is Kind.COMMAND:
            where = "package.json" if self.named.runner == "npm" else f"a {self.named.runner}file"
            return f"{name} is defined in no {where} any more"
        return f"{name} is no longer there" + (f", now `{self.moved_to}`" * bool(self.moved_to))


class Looked(NamedTuple):
    """What was found, and what could not be looked up because git took too long."""

    stale: list[Stale]
    untold: tuple[Kind, ...] = ()


def look(root: Path, names: Sequence[Named]) -> Looked:
    """Which of the names were here once and are not any more, in their order."""
    files = _files(root)
    if not files or not names:
        return Looked([])
    found: dict[Named, Stale] = {}
    untold: list[Kind] = []
    for kinds, departed in _LOOKS:
        try:
            found |= departed(root, [it for it in names if it.kind in kinds], files)
        except _TooLongError:
            untold += kinds
    return Looked([found[it] for it in names if it in found], tuple(untold))


class _TooLongError(Exception):
    """Git has not answered in time."""


def _files(root: Path) -> frozenset[str]:
    told = git(str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return frozenset((told or "").split("\0")) - {""}


# --- paths ----------------------------------------------------------------------------------------


def _departed_paths(
    root: Path, names: Sequence[Named], files: frozenset[str]
) -> dict[Named, Stale]:
    held = _held(files, {it.name for it in names})
    tried = {it: _tries(it) for it in names if it.name not in held}
    absent = {
        it: tries
        for it, tries in tried.items()
        if not any((root / path).exists() for path in tries)
    }
    asked = {path for it, tries in absent.items() for path in (it.path, *tries)}
    ignored = set(_ignored(root, sorted(asked)))
    wanted: dict[str, list[Named]] = defaultdict(list)
    for it, tries in absent.items():
        # Beside a text that is ignored itself everything is: there the path from the top tells.
        telling = tries[-1:] if it.path in ignored else tries
        for path in tries if ignored.isdisjoint(telling) else ():
            wanted[path].append(it)
    left = _deletions(root, sorted(wanted))
    found: dict[Named, Stale] = {}
    for path, departure in left.items():
        for it in wanted[path]:
            found.setdefault(it, Stale(it, departure, _destination(root, departure, path)))
    return found


def _tries(named: Named) -> list[str]:
    """A path from the top, and from the folders above the text that names it."""
    folder = posixpath.dirname(named.path)
    bases = [folder, *_parents(folder), ""]
    joined = (posixpath.normpath(posixpath.join(it, named.name)) for it in bases)
    return list(dict.fromkeys(it for it in joined if not it.startswith("..")))


def _parents(folder: str) -> Iterator[str]:
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def _held(files: Iterable[str], wanted: Collection[str]) -> set[str]:
    """Those that are a part of some path: people leave out where one begins or ends."""
    found: set[str] = set()
    for path in files:
        pieces = path.split("/")
        for start in range(len(pieces)):
            runs = ("/".join(pieces[start:end]) for end in range(start + 1, len(pieces) + 1))
            found.update(it for it in runs if it in wanted)
    return found


def _ignored(root: Path, paths: Sequence[str]) -> list[str]:
    if not paths:
        return []
    told = _ran(root, ["check-ignore", "--no-index", "-z", "--stdin"], "\0".join(paths))
    return [it for it in (told or "").split("\0") if it]


def _deletions(root: Path, paths: Sequence[str]) -> dict[str, Departure]:
    """The last commit that deleted each path, or something below it."""
    if not paths:
        return {}
    asked = [f":(literal){it}" for it in paths]
    told = _ran(
        root, ["log", "--diff-filter=D", "--no-renames", "--name-only", _FORMAT, "--", *asked]
    )
    found: dict[str, Departure] = {}
    wanted = set(paths)
    for departure, lines in _commits(told):
        for line in lines:
            for path in (line, *_parents(line)):
                if path in wanted:
                    found.setdefault(path, departure)
    return found


def _destination(root: Path, left: Departure, path: str) -> str:
    told = git(
        str(root), "show", "-M", "--diff-filter=R", "--name-status", "--format=", left.commit
    )
    for line in (told or "").splitlines():
        _, _, rest = line.partition("\t")
        before, _, after = rest.partition("\t")
        if before == path and (root / after).exists():
            return after
    return ""


# --- commands and packages ------------------------------------------------------------------------


def _departed_names(
    root: Path, names: Sequence[Named], files: frozenset[str]
) -> dict[Named, Stale]:
    texts = {runner: _texts(root, files, patterns) for runner, patterns in _TARGETS.items()}
    manifests = _texts(root, files, (*_MANIFESTS, *_LOCKS))
    absent = [it for it in names if not _is_defined(it, texts, manifests)]
    if not absent:
        return {}
    removed = _removals(root, files)
    found: dict[Named, Stale] = {}
    for it in absent:
        departure = removed.get((it.runner or it.kind, it.name.casefold()))
        if departure is not None:
            found[it] = Stale(it, departure)
    return found


def _matching(files: Iterable[str], patterns: Sequence[str]) -> list[str]:
    names = re.compile("|".join(translate(it) for it in patterns if "/" not in it))
    paths = re.compile("|".join(translate(f"*{it}") for it in patterns if "/" in it) or "(?!)")
    return sorted(it for it in files if names.match(posixpath.basename(it)) or paths.match(it))


def _texts(root: Path, files: frozenset[str], patterns: Sequence[str]) -> list[str]:
    found = []
    for path in _matching(files, patterns):
        try:
            if (root / path).stat().st_size <= _LARGEST:
                found.append((root / path).read_text("utf-8", "replace"))
        except OSError:
            continue
    return found


def _is_defined(named: Named, texts: Mapping[str, Sequence[str]], manifests: Sequence[str]) -> bool:
    """Whether anything here still knows the name; being too easy costs nothing but a find."""
    word = re.compile(rf"(?<![\w-]){re.escape(named.name)}(?![\w-])", re.IGNORECASE)
    if named.kind is Kind.PACKAGE:
        return any(word.search(it) for it in manifests)
    if named.runner == "make" and any(
        re.search(r"(?m)^[^\t#\n]*%[^\n]*:", it) for it in texts["make"]
    ):
        return True
    return any(word.search(it) for it in texts[named.runner])


def _removals(root: Path, files: frozenset[str]) -> dict[tuple[str, str], Departure]:
    """Names that some commit took out of a manifest or a makefile, by the last one that did."""
    every = (*_MANIFESTS, *(it for told in _TARGETS.values() for it in told))
    there = _matching(files, every)
    # By their names, because a pattern would have git open every folder of every commit.
    asked = [f":(literal){it}" for it in sorted({*there, *(it for it in every if "*" not in it)})]
    told = _ran(root, ["log", "-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff",
                       "--no-textconv", _FORMAT, "--", *asked])  # fmt: skip
    found: dict[tuple[str, str], Departure] = {}
    for departure, lines in _commits(told):
        name = ""
        for line in lines:
            if line.startswith("--- "):
                name = posixpath.basename(line[4:].strip('"'))
            elif line.startswith("-"):
                for key in _defined_by(name, line[1:]):
                    found.setdefault(key, departure)
    return found


def _defined_by(file: str, line: str) -> Iterator[tuple[str, str]]:
    for runner, patterns in _TARGETS.items():
        if any(fnmatchcase(file, it) for it in patterns):
            match = _DEFINES[runner].match(line)
            for name in match[1].split() if match else ():
                yield runner, name.casefold()
    if any(fnmatchcase(file, it) for it in _MANIFESTS):
        match = _DEPENDS.match(line)
        if match is not None:
            yield Kind.PACKAGE, next(it for it in match.groups() if it).casefold()


def _commits(told: str | None) -> Iterator[tuple[Departure, list[str]]]:
    for entry in (told or "").split(_START)[1:]:
        head, *lines = entry.split("\n")
        commit, at, subject = head.split("\0", 2)
        yield Departure(commit, int(at), subject), [it for it in lines if it]


def _ran(root: Path, arguments: Sequence[str], given: str = "") -> str | None:
    """What git prints; None if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            input=given.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env=own_environment(),
        )
    except subprocess.TimeoutExpired:
        raise _TooLongError from None
    except (OSError, ValueError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


_LOOKS: Final = (
    ((Kind.PATH,), _departed_paths),
    ((Kind.COMMAND, Kind.PACKAGE), _departed_names),
)
