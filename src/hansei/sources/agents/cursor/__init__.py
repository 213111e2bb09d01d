"""Cursor: chats in SQLite databases, and for some of them a transcript beside.

Format evidence and every rule used here: docs/formats/cursor.md (checked 2026-11-16).

One idea carries it: a chat has one id wherever it is told, and so has each of its messages in the
database. The database tells times, models and results, so it tells every turn it has; a transcript
tells the turns that no database near it has.

This file only finds them, since every command does that; what reads them is loaded when there is
something to read.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor as Place
    from hansei.sources.contract import Reading

AGENT = "cursor"
DATABASE, LINES, TEXT = "database", "lines", "text"
"""The three layouts: SQLite, a transcript of JSON lines, a transcript in plain text."""
STATE = "state.vscdb"
TRANSCRIPTS = "agent-transcripts"

_SUFFIXES = {".jsonl": LINES, ".txt": TEXT}
_NO_TRANSCRIPTS = frozenset(
    ("agent-tools", "assets", "canvases", "mcps", "terminals", "node_modules", ".git", "uploads")
)
_USER_FOLDERS = {
    "darwin": ("Library", "Application Support", "Cursor", "User"),
    "win32": ("AppData", "Roaming", "Cursor", "User"),
    "linux": (".config", "Cursor", "User"),
}
_WINDOWS_USERS = Path("/mnt/c/Users")
"""Where a Linux inside Windows sees the homes of Windows."""

_CAPABILITIES = Capabilities(tokens=False, cache_tokens=False, exit_codes=True, branch=True)


@dataclass(frozen=True)
class Cursor:
    name: str = AGENT
    title: str = "Cursor"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """The transcripts' folder, the editor's own one, and whichever others a person named."""
        named = [Path(part).expanduser() for part in extra]
        return [*_project_folders(environment), *_user_folders(environment), *named]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every database, and each chat's transcript once: of both forms the one with lines."""
        users = _user_folders(environment)
        for path in dict.fromkeys(path for user in users for path in _databases(user)):
            yield from _database(path)
        below = [*_project_folders(environment), *(Path(part).expanduser() for part in extra)]
        found: dict[Path, Transcript] = {}
        for seen in folders.files(below, (*_SUFFIXES, STATE), _NO_TRANSCRIPTS):
            path = seen.path
            if path.name == STATE:
                yield from _database(path)
            elif TRANSCRIPTS in path.parts and path.suffix in _SUFFIXES:
                item = Transcript(AGENT, path, _SUFFIXES[path.suffix], seen.fingerprint)
                known = found.get(path.with_suffix(""))
                if known is None or known.variant == TEXT:
                    found[path.with_suffix("")] = item
        yield from found.values()

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """Databases first: what they tell of a chat, its transcript need not."""
        return sorted(transcripts, key=lambda item: (item.variant != DATABASE, str(item.path)))

    def fingerprint(self, transcript: Transcript) -> str:
        """Of a database, with what is not yet in its main file."""
        if transcript.variant == DATABASE:
            return sqlite.fingerprint(transcript.path)
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Place, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        if transcript.variant == DATABASE:
            from hansei.sources.agents.cursor import chats

            return chats.read(transcript, since, limit)
        from hansei.sources.agents.cursor import transcripts

        return transcripts.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never by age, as far as is known."""
        return self.capabilities.deletes_after_days


def _database(path: Path) -> Iterator[Transcript]:
    try:
        yield Transcript(AGENT, path, DATABASE, sqlite.fingerprint(path))
    except OSError:  # gone since the folder was listed
        return


def _project_folders(environment: Environment) -> list[Path]:
    """Where transcripts are; a configuration folder of its own comes on top."""
    places = [environment.folder("CURSOR_CONFIG_DIR", ".cursor")]
    configuration = environment.variables.get("XDG_CONFIG_HOME", "").strip()
    if configuration:
        places.append(Path(configuration).expanduser() / AGENT)
    return [place / "projects" for place in places]


def _user_folders(environment: Environment) -> list[Path]:
    """Where databases are on this system, and where else there are some."""
    usual = _USER_FOLDERS.get(sys.platform, _USER_FOLDERS["linux"])
    places = [_user_folder(environment, usual)]
    for parts in _USER_FOLDERS.values():
        place = _user_folder(environment, parts)
        if place not in places and place.is_dir():
            places.append(place)
    if environment.variables.get("WSL_DISTRO_NAME"):
        places += windows_user_folders()
    return places


def _user_folder(environment: Environment, parts: tuple[str, ...]) -> Path:
    variable = {".config": "XDG_CONFIG_HOME", "AppData": "APPDATA"}.get(parts[0])
    if variable and environment.variables.get(variable, "").strip():
        return environment.folder(variable).joinpath(*parts[-2:])
    return environment.home.joinpath(*parts)


def user_folders_at(home: Path) -> list[Path]:
    """The editor's own folders below a home that are there."""
    places = [home.joinpath(*parts) for parts in _USER_FOLDERS.values()]
    return [place for place in places if place.is_dir()]


def windows_user_folders() -> list[Path]:
    """The editor's own folders of everybody on the Windows around this Linux."""
    try:
        homes = sorted(_WINDOWS_USERS.iterdir())
    except OSError:
        return []
    return [place for home in homes if _is_dir(place := home.joinpath(*_USER_FOLDERS["win32"]))]


def _is_dir(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # another person's home
        return False


def _databases(user: Path) -> Iterator[Path]:
    """The databases of the editor itself and of each workspace."""
    shared = user / "globalStorage" / STATE
    if shared.is_file():
        yield shared
    try:
        with os.scandir(user / "workspaceStorage") as entries:
            names = sorted(entry.path for entry in entries)
    except OSError:
        return
    for name in names:
        path = Path(name) / STATE
        if path.is_file():
            yield path


SOURCE = Cursor()
