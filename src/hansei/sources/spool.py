"""Where hooks leave what they saw: lines of every agent in one spool, read like a transcript.

The spool belongs to no agent: what it tells is handed on by agent, in `Reading.others`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hansei.sources.catalogue import SPOOL
from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

FOLDER = "spool"


def spool_folder(environment: Environment) -> Path:
    """The one folder hooks write to, also for a repository's own store."""
    return environment.folder("HANSEI_HOME", ".hansei") / FOLDER


@dataclass(frozen=True)
class Spool:
    """Reads the lines that hooks leave in the user's own store."""

    name: str = SPOOL
    title: str = "Hooks"
    capabilities: Capabilities = field(default=Capabilities())

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        del extra
        return [spool_folder(environment)]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """The spool, and what was rotated away."""
        for seen in folders.files(self.roots(environment, extra), ".jsonl", frozenset()):
            yield Transcript(SPOOL, seen.path, fingerprint=seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        return sorted(transcripts, key=lambda transcript: transcript.id)

    def fingerprint(self, transcript: Transcript) -> str:
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # As with agents: only news pay for the parser.
        from hansei.sources.spool_lines import read

        return read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:
        del environment
        return None


SOURCE = Spool()
