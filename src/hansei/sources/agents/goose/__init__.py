"""Goose: sessions and messages as rows of a database, or as one file per session at first.

Format evidence and every rule used here: docs/formats/goose.md (checked 2026-11-16 against the
program's public source of April 2026 and later, and one real database).

One idea carries it: rows are deleted and written again when a conversation is compacted, and
copied when a session is; their ids change on the way. So an event is known by what a copy keeps:
the second its message was made in, and what it says.

This file only finds transcripts, since every command does that; what reads them is loaded when
there is something to read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "goose"
EARLY, DATABASE = "early", "database"
DATABASE_NAME = "sessions.db"

_CAPABILITIES = Capabilities(cache_tokens=False, exit_codes=True, hooks=False)


@dataclass(frozen=True)
class Goose:
    name: str = AGENT
    title: str = "Goose"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders of sessions on every system, and whichever others a person named."""
        named = environment.variables.get("GOOSE_PATH_ROOT", "").strip()
        own = [Path(named).expanduser() / "data"] if named else _data_folders(environment)
        return [
            *(place / "sessions" for place in own),
            *(_sessions(Path(part).expanduser()) for part in extra),
        ]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every database, and every session that was kept as a file."""
        roots = self.roots(environment, extra)
        for seen in folders.files(roots, (DATABASE_NAME, ".jsonl"), frozenset()):
            if seen.path.name == DATABASE_NAME:
                yield Transcript(AGENT, seen.path, DATABASE)
            elif seen.path.suffix == ".jsonl":
                yield Transcript(AGENT, seen.path, EARLY, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """Files first, since a database has taken them over and is right about them."""
        return sorted(transcripts, key=lambda item: (item.variant == DATABASE, item.id))

    def fingerprint(self, transcript: Transcript) -> str:
        """Of a database, with what is not yet in its main file."""
        if transcript.variant == DATABASE:
            return sqlite.fingerprint(transcript.path)
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        if transcript.variant == DATABASE:
            from hansei.sources.agents.goose import database

            return database.read(transcript, since, limit)
        from hansei.sources.agents.goose import lines

        return lines.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never by itself."""
        return self.capabilities.deletes_after_days


def _data_folders(environment: Environment) -> list[Path]:
    shared = environment.folder("XDG_DATA_HOME", ".local", "share")
    mac = environment.home / "Library" / "Application Support"
    windows = environment.folder("APPDATA", "AppData", "Roaming")
    return [
        shared / "goose",
        shared / "Block" / "goose",
        mac / "goose",
        mac / "Block" / "goose" / "data",
        windows / "Block" / "goose" / "data",
    ]


def _sessions(place: Path) -> Path:
    """The sessions of the program's folder; any other folder is taken as it is."""
    below = place / "sessions"
    return below if below.is_dir() else place


SOURCE = Goose()
