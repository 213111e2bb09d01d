"""Every instruction file, rule, skill and MCP server in force in a folder, as it is on disk now.

What each agent reads is told by `hook.places`. A file that several agents read, or that is reached
through a link or an `@import`, is one text. Of a skill, and of a rule that is only read when it is
wanted, the description alone stands in every session. Nothing is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hansei.git.repository import git
from hansei.hook import places
from hansei.hook.look import LONGEST_FILE, servers
from hansei.instructions.sentences import HEADER, Part, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

DEEPEST = 5
"""How far imports in imported files are followed, as agents do."""
EVERYWHERE = ("**", "**/*", "*")

_FIELD = re.compile(r"^([A-Za-z_-]+):[ \t]*(.*)$")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_IMPORT = re.compile(r"(?:^|\s)@(~?[^\s`]+)")


@dataclass(frozen=True)
class Text:
    """One text in force."""

    kind: str
    path: str
    """From the top of the repository, or from the home folder with `~/`; servers with `#name`."""
    agents: tuple[str, ...]
    """Who reads it."""
    below: str | None
    """The folder in which an agent has to work to be given it; None: it is there from the start."""
    names: tuple[str, ...]
    """Its path and those of links to it."""
    content: str
    carried: tuple[Part, ...] | None
    """What of it stands in every session; None where nobody knows, as of a server's tools."""


@dataclass(frozen=True)
class _Found:
    kind: str
    name: str
    file: Path
    below: str | None


def census(
    root: Path,
    *,
    folder: Path | None = None,
    home: Path | None = None,
    agents: Iterable[str] = (),
    files: Iterable[str] | None = None,
) -> list[Text]:
    """The texts of a repository for an agent in a folder of it, by path.

    With `home`, those of the home folder too, for these agents only. `files` are those to look
    through where git is not to be asked.
    """
    root = root.resolve()
    place = (folder or root).resolve()
    known = tracked(root) if files is None else sorted(files)
    found: dict[str, Text] = {}
    for agent in places.IN_REPOSITORY:
        for it in _in_repository(agent, root, place, known):
            _take(found, agent, it, root, home)
    for agent in sorted(agents) if home is not None else ():
        for kind, pattern in places.AT_HOME.get(agent, ()):
            for file in sorted((home or root).glob(pattern)):
                _take(found, agent, _Found(kind, _name(file, root, home), file, None), root, home)
    return [found[path] for path in sorted(found)]


def tracked(root: Path) -> list[str]:
    """What git knows or would add: what it ignores is nobody else's."""
    told = git(str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return sorted(set((told or "").split("\0")) - {""})


def _in_repository(agent: str, root: Path, place: Path, known: list[str]) -> Iterator[_Found]:
    chain = [place, *place.parents] if place.is_relative_to(root) else [root]
    for base in reversed([it for it in chain if it.is_relative_to(root)]):
        for kind, pattern in places.IN_REPOSITORY[agent]:
            for file in sorted(base.glob(pattern)):
                yield _Found(kind, file.relative_to(root).as_posix(), file, None)
    inside = place.relative_to(root).as_posix() if place.is_relative_to(root) else ""
    for name in known:
        match = places.matched(agent, name)
        # Nobody works in a hidden folder: what lies there is for the agent whose folder it is.
        hidden = match is not None and f"/{match[1]}".find("/.") >= 0
        if (
            match is not None
            and not hidden
            and not places.governs(match[1], "" if inside == "." else inside)
        ):
            yield _Found(match[0], name, root / name, match[1])


def _take(
    found: dict[str, Text], agent: str, it: _Found, root: Path, home: Path | None, depth: int = 0
) -> None:
    instead = places.OVERRIDES.get(it.file.name)
    if instead and places.matched(agent, instead) and it.file.with_name(instead).is_file():
        return
    data = _data(it.file)
    if data is None:
        return
    if it.kind == places.SERVER:
        for server in sorted(servers(data, it.name)):
            _put(found, agent, _server(it, server))
        return
    content = data.decode("utf-8", "replace")
    name = _name(it.file.resolve(), root, home)
    carried = tuple(_carried(it.kind, name, content))
    names = tuple(sorted({name, it.name}))
    _put(found, agent, Text(it.kind, name, (), it.below, names, content, carried))
    if agent in places.IMPORTING and it.kind == places.INSTRUCTIONS and depth < DEEPEST:
        for file in _imported(it.file, content, root, home):
            other = _Found(it.kind, _name(file, root, home), file, it.below)
            _take(found, agent, other, root, home, depth + 1)


def _server(it: _Found, name: str) -> Text:
    path = f"{it.name}#{name}"
    return Text(it.kind, path, (), it.below, (path,), "", None)


def _put(found: dict[str, Text], agent: str, text: Text) -> None:
    known = found.get(text.path, text)
    agents = tuple(sorted({*known.agents, agent}))
    below = None if known.below is None or text.below is None else known.below
    names = tuple(sorted({*known.names, *text.names}))
    found[text.path] = replace(known, agents=agents, below=below, names=names)


def _data(file: Path) -> bytes | None:
    try:
        if not file.is_file() or file.stat().st_size > LONGEST_FILE:
            return None
        return file.read_bytes()
    except OSError:
        return None


def _name(file: Path, root: Path, home: Path | None) -> str:
    if file.is_relative_to(root):
        return file.relative_to(root).as_posix()
    if home is not None and file.is_relative_to(home):
        return f"~/{file.relative_to(home).as_posix()}"
    return str(file)


def imports(content: str) -> list[str]:
    """The files that a text has put in its place, as it names them."""
    return [it.rstrip(".,;:)") for it in _IMPORT.findall(_CODE.sub("", content))]


def _imported(file: Path, content: str, root: Path, home: Path | None) -> Iterator[Path]:
    for plain in imports(content):
        if plain.startswith("~/"):
            other = None if home is None else home / plain[2:]
        else:
            other = file.parent / plain
        try:
            real = None if other is None else other.resolve()
        except (OSError, RuntimeError, ValueError):
            continue
        known = real is not None and any(
            real.is_relative_to(it) for it in (root, home) if it is not None
        )
        if real is not None and known and _data(real) is not None:
            yield real


def _carried(kind: str, name: str, content: str) -> Iterator[Part]:
    """What of a text stands in every session."""
    header = HEADER.match(content)
    told = _fields(header[1]) if header else {}
    body = header.end() if header else 0
    if kind == places.SKILL or (kind == places.RULE and _waits(name, told)):
        line, said = told.get("description", (1, ""))
        title = told.get("name", (1, name.split("/")[-2] if kind == places.SKILL else name))[1]
        if kind == places.SKILL or said:
            yield Part(line, f"{title}: {said}" if said else title)
        return
    yield from parts(content[body:], content.count("\n", 0, body) + 1)


def waiting(text: Text) -> list[Part]:
    """What of a text comes only when it is wanted: all of a skill but its description."""
    header = HEADER.match(text.content)
    told = _fields(header[1]) if header else {}
    body = header.end() if header else 0
    on_demand = text.kind == places.SKILL or (text.kind == places.RULE and _waits(text.path, told))
    if not on_demand:
        return []
    return parts(text.content[body:], text.content.count("\n", 0, body) + 1)


def _waits(name: str, told: dict[str, tuple[int, str]]) -> bool:
    """Whether a rule is given to the agent only for some files, or when it asks."""
    always = told.get("alwaysApply", (0, ""))[1].lower() == "true"
    if name.endswith(".mdc"):
        return not always
    for field in ("paths", "applyTo", "globs"):
        if field in told:
            return told[field][1].strip("\"'") not in EVERYWHERE
    return False


def files_of(content: str) -> str:
    """The pattern of files that a rule is for; empty: for all."""
    header = HEADER.match(content)
    told = _fields(header[1]) if header else {}
    found = (told[it][1].strip("\"'") for it in ("paths", "applyTo", "globs") if it in told)
    pattern = next(found, "")
    return "" if pattern in EVERYWHERE else pattern


def _fields(header: str) -> dict[str, tuple[int, str]]:
    """The fields of a text's header with their lines; values may go on in indented lines."""
    found: dict[str, tuple[int, str]] = {}
    last = ""
    for number, line in enumerate(header.splitlines(), 2):
        match = _FIELD.match(line)
        if match:
            last = match[1]
            value = match[2].strip()
            found[last] = (number, "" if value in ("|", ">", ">-", "|-") else value.strip("\"'"))
        elif last and line[:1] in (" ", "\t"):
            first, said = found[last]
            found[last] = (first, f"{said} {line.strip()}".strip())
    return found
