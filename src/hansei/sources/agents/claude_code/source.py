"""Where the transcripts are. What stands in them is read by `lines`."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders
from hansei.sources.families.clock import instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "claude_code"
SESSION = "session"
SUBAGENT = "subagent"
HISTORY = "history"
PEEK_BYTES = 64 * 1024
"""How much of a file is looked at to find its first time."""
_NO_TRANSCRIPTS = frozenset(("tool-results", "memory"))
_JOURNAL = "journal.jsonl"
_FIRST_TIME = re.compile(rb'"timestamp":\s*"([^"]{10,40})"')
_OWNER = re.compile(rb'"sessionId":\s*"([^"]{1,80})"')

_CAPABILITIES = Capabilities(
    reasoning_tokens=True,
    exit_codes=True,
    branch=True,
    added_context=True,
    deletes_after_days=30,
)


@dataclass(frozen=True)
class ClaudeCode:
    """Reads what Claude Code leaves in its configuration folder."""

    name: str = AGENT
    title: str = "Claude Code"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders of projects: of the configured places, else of both default ones."""
        named = environment.variables.get("CLAUDE_CONFIG_DIR", "")
        places = [Path(part.strip()).expanduser() for part in named.split(",") if part.strip()]
        if not places:
            configuration = environment.folder("XDG_CONFIG_HOME", ".config")
            places = [environment.home / ".claude", configuration / "claude"]
        roots = [place if place.name == "projects" else place / "projects" for place in places]
        return roots + [_projects(Path(part).expanduser()) for part in extra]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session and subagent file, and each list of typed prompts."""
        roots = self.roots(environment, extra)
        for seen in folders.files(roots, ".jsonl", _NO_TRANSCRIPTS):
            if seen.path.name != _JOURNAL:
                yield transcript_at(seen.path, seen.fingerprint)
        lists = (root.parent / "history.jsonl" for root in roots if root.name == "projects")
        for seen in folders.these_files(lists):
            yield Transcript(AGENT, seen.path, HISTORY, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By first time: a copy has its original's time, and comes after it."""
        return sorted(transcripts, key=_reading_place)

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser (30 ms).
        from hansei.sources.agents.claude_code.lines import read

        return read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:
        """What settings.json says, else the program's default."""
        for root in self.roots(environment, []):
            days = _cleanup_period(root.parent / "settings.json")
            if days is not None:
                return days
        return self.capabilities.deletes_after_days


def _cleanup_period(settings: Path) -> int | None:
    import json

    try:
        days = json.loads(settings.read_bytes())["cleanupPeriodDays"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return days if isinstance(days, int) else None


def _projects(place: Path) -> Path:
    """The projects of a configuration folder; any other folder is taken as it is."""
    below = place / "projects"
    configuration = below.is_dir() or (place / "history.jsonl").is_file()
    return below if configuration else place


def transcript_at(path: Path, fingerprint: str = "") -> Transcript:
    """The transcript in a file; subagents' files are told by their names."""
    variant = SUBAGENT if path.name.startswith("agent-") else SESSION
    return Transcript(AGENT, path, variant, fingerprint)


def _reading_place(transcript: Transcript) -> tuple[int, bool, int, str]:
    path = transcript.path
    try:
        with path.open("rb") as file:
            head = file.read(PEEK_BYTES)
            size = file.seek(0, 2)
    except OSError:
        head, size = b"", 0
    found = _FIRST_TIME.search(head)
    first = instant(found[1].decode("utf-8", "replace")) if found else None
    owner = _OWNER.search(head)
    copied = b'"forkedFrom"' in head or (owner is not None and owner[1] != os.fsencode(path.stem))
    return first if first is not None else 2**63, copied, size, str(path)


SOURCE = ClaudeCode()
