"""Gemini CLI: one file per session, a line for each message, and lines that change earlier ones.

Format evidence and every rule used here: docs/formats/gemini_cli.md (checked 2026-11-16 against the
program's source of August 2026 and 25 real session files in the older layout).

One idea carries it: a message has an id, and a line with an id that was there before tells the same
message again, with more in it. So every event hangs on its message's id, and what is rewound stays
told, since it was paid for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "gemini_cli"
LOG, WHOLE = "log", "whole"

_CHATS = "chats"
_NO_CHATS = frozenset(
    ("checkpoints", "logs", "tool-outputs", "tool_output", "plans", "shell_history", "bin",
     "images", "tasks", "tracker", "memory")
)  # fmt: skip
_UNITS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30}
"""What the letters of a retention time are in days."""

_CAPABILITIES = Capabilities(
    reasoning_tokens=True, exit_codes=True, added_context=True, deletes_after_days=30
)


@dataclass(frozen=True)
class GeminiCli:
    name: str = AGENT
    title: str = "Gemini CLI"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """The program's own folder of projects, and whichever others a person named."""
        home = environment.folder("GEMINI_CLI_HOME") / ".gemini" / "tmp"
        return [home, *(Path(part).expanduser() for part in extra)]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session and subagent once: the log rather than the object it was made from."""
        roots = self.roots(environment, extra)
        found = {
            seen.path: seen
            for seen in folders.files(roots, (".jsonl", ".json"), _NO_CHATS)
            if _is_chat(seen.path)
        }
        for path, seen in found.items():
            if path.suffix == ".jsonl":
                yield Transcript(AGENT, path, LOG, seen.fingerprint)
            elif path.with_suffix(".jsonl") not in found:
                yield Transcript(AGENT, path, WHOLE, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By name, which holds the time: sessions before their subagents, whose names are ids."""
        return sorted(transcripts, key=_reading_place)

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.gemini_cli import reading

        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:
        """What settings.json says of old sessions, else the program's default."""
        settings = environment.folder("GEMINI_CLI_HOME") / ".gemini" / "settings.json"
        try:
            retention = json.loads(settings.read_bytes())["general"]["sessionRetention"]
            if retention.get("enabled") is False:
                return None
            age = retention["maxAge"]
            return max(int(int(age[:-1]) * _UNITS[age[-1]]), 1)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError):
            return self.capabilities.deletes_after_days


def _is_chat(path: Path) -> bool:
    """A session's file lies in a folder of chats, a subagent's one folder deeper."""
    if path.name.startswith("session-"):
        return True
    return path.parent.parent.name == _CHATS and path.suffix == ".jsonl"


def _reading_place(transcript: Transcript) -> tuple[bool, str, str]:
    name = transcript.path.name
    return not name.startswith("session-"), name, str(transcript.path)


SOURCE = GeminiCli()
