"""OpenClaw: a tree of entries per session, kept by a gateway that people talk to over channels.

Format evidence and every rule used here: docs/formats/openclaw.md (checked 2026-11-16 on 60 real
session files of February and March 2026).

How such files are read is in `families/tree`. What OpenClaw adds is who speaks: a message of a
person, of a schedule and of another session all stand in the user's place.

This file only finds transcripts, since every command does that; what reads them is loaded when
there is something to read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "openclaw"
SESSION, INDEX, DATABASE = "session", "index", "database"
INDEX_NAME = "sessions.json"
DATABASE_NAME = "openclaw-agent.sqlite"

_HOMES = (".openclaw", ".clawdbot", ".moltbot", ".moldbot", ".kimi_openclaw")
"""The program's folder under its name and its earlier ones."""
_ENDINGS = (".jsonl", "Z", ".bak", INDEX_NAME, DATABASE_NAME)
_FILE = re.compile(r".+\.jsonl(?:\.(?:deleted|reset|bak)\.[0-9TZ.:-]+|\.full\.bak)?$")
"""A session, or one that was put away: its file is renamed and stays."""
_NO_SESSIONS = frozenset(("workspace", "node_modules", "logs", "media", "browser", ".git"))
_RETENTION_DAYS = 30
_TURNS = {SESSION: 0, INDEX: 1, DATABASE: 2}


@dataclass(frozen=True)
class OpenClaw:
    name: str = AGENT
    title: str = "OpenClaw"
    capabilities: Capabilities = field(
        default=Capabilities(exit_codes=True, deletes_after_days=_RETENTION_DAYS)
    )

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders of agents, and whichever others a person named."""
        named = environment.variables.get("OPENCLAW_STATE_DIR", "").strip()
        places = [Path(named).expanduser()] if named else [environment.home / it for it in _HOMES]
        return [
            *(place / "agents" for place in places),
            *(_agents(Path(part).expanduser()) for part in extra),
        ]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session file, put away or not, and each list of sessions."""
        for seen in folders.files(self.roots(environment, extra), _ENDINGS, _NO_SESSIONS):
            if seen.path.name == DATABASE_NAME:
                yield Transcript(AGENT, seen.path, DATABASE)
            elif seen.path.name == INDEX_NAME:
                yield Transcript(AGENT, seen.path, INDEX, seen.fingerprint)
            elif _FILE.match(seen.path.name):
                yield Transcript(AGENT, seen.path, SESSION, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By the time a session began, its live file before what was put away.

        Then lists, and databases last: they have taken the files over and are right about them.
        """
        from hansei.sources.families.tree.order import began

        return sorted(transcripts, key=lambda item: (_TURNS[item.variant], *began(item.path)))

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder; a database has more beside it."""
        if transcript.variant == DATABASE:
            return sqlite.fingerprint(transcript.path)
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.openclaw import reading

        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """What the program's documentation says; a person may have set another number."""
        return self.capabilities.deletes_after_days


def _agents(place: Path) -> Path:
    """The agents of the program's folder; any other folder is taken as it is."""
    below = place / "agents"
    return below if below.is_dir() else place


SOURCE = OpenClaw()
