"""OpenCode: sessions, messages and parts of messages, as rows of a database or as files.

Format evidence and every rule used here: docs/formats/opencode.md (checked 2026-11-16 against the
versions 1.1.65, 1.2.27 and 1.18.33 at work, and real files of version 1.0.107).

One idea carries it: a fork copies messages under new ids and changes nothing else in them. So an
event is known by what a copy keeps: the time its message was made, and what it says.

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

AGENT = "opencode"
EARLY, STORAGE, DATABASE = "early", "storage", "database"
"""The layouts, oldest first: files by project, files by session, a database."""

_DATABASES = "opencode*.db"
_CAPABILITIES = Capabilities(reasoning_tokens=True, exit_codes=True)


@dataclass(frozen=True)
class OpenCode:
    name: str = AGENT
    title: str = "OpenCode"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """The program's own folder, a database elsewhere, and whichever others a person named."""
        home = environment.folder("XDG_DATA_HOME", ".local", "share") / AGENT
        named = environment.variables.get("OPENCODE_DB", "").strip()
        elsewhere = [home / named] if named and named != ":memory:" else []
        return [home, *elsewhere, *(Path(part).expanduser() for part in extra)]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every database, and every session that was kept as files."""
        found: dict[Path, Transcript] = {}
        for root in self.roots(environment, extra):
            for path in [root] if root.is_file() else sorted(root.glob(_DATABASES)):
                found.setdefault(path, Transcript(AGENT, path, DATABASE))
            for path in sorted(root.glob("storage/session/*/*.json")):
                found.setdefault(path, Transcript(AGENT, path, STORAGE))
            for path in sorted(root.glob("project/*/storage/session/info/*.json")):
                found.setdefault(path, Transcript(AGENT, path, EARLY))
        yield from found.values()

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """Oldest layout first, since a later one has the same sessions and is right about them.

        A session's id counts down with time, so the names of files say which began first.
        """
        layouts = {EARLY: 0, STORAGE: 1, DATABASE: 2}
        oldest_first = sorted(transcripts, key=lambda item: (item.path.name, item.id), reverse=True)
        return sorted(oldest_first, key=lambda item: layouts[item.variant])

    def fingerprint(self, transcript: Transcript) -> str:
        """Of a database, with what is not yet in its main file; of files, without their parts."""
        if transcript.variant == DATABASE:
            return sqlite.fingerprint(transcript.path)
        own = folders.fingerprint(transcript.path.stat())
        # A message's file is added or the session's rewritten whenever anything happens.
        return f"{own}+{_time(messages_of(transcript))}"

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.opencode import reading

        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never by itself; going on after a revert deletes what was reverted."""
        return self.capabilities.deletes_after_days


def messages_of(transcript: Transcript) -> Path:
    """The folder with the messages of a session that is kept as files."""
    path = transcript.path
    above = path.parents[1] if transcript.variant == EARLY else path.parents[2]
    return above / "message" / path.stem


def _time(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


SOURCE = OpenCode()
