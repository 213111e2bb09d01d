"""Copilot CLI: one file of events per session, and the tokens told only when a run ends.

Format evidence and every rule used here: docs/formats/copilot_cli.md (checked 2026-11-16 against
the published types of the events, August 2026, two real sessions and two of the oldest layout).

One idea carries it: every event has an id and stands alone, but what a request took is told in two
places, the answer's own output with the answer, everything else as a sum at the end of the run. The
sum counts for what the answers did not tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "copilot_cli"
EVENTS, TIMELINE = "events", "timeline"

_STATE, _HISTORY = "session-state", "history-session-state"
_LOG = "events.jsonl"
_NO_SESSIONS = frozenset(
    (
        "checkpoints",
        "files",
        "research",
        "rewind-snapshots",
        "logs",
        "pkg",
        "otel",
        "hooks",
        "skills",
    )
)
_CAPABILITIES = Capabilities(reasoning_tokens=True, exit_codes=True, branch=True, commit=True)


@dataclass(frozen=True)
class CopilotCli:
    name: str = AGENT
    title: str = "Copilot CLI"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """The program's own folder, and whichever others a person named."""
        home = environment.folder("COPILOT_HOME", ".copilot")
        return [home, *(Path(part).expanduser() for part in extra)]

    def watched_folders(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Where sessions are: packages and logs lie beside them."""
        names = (_STATE, _HISTORY)
        return [root / name for root in self.roots(environment, extra) for name in names]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session once: the one in a folder rather than the file of the layout before."""
        found: dict[tuple[Path, str], tuple[str, folders.Seen]] = {}
        roots = self.roots(environment, extra)
        for seen in folders.files(roots, (".jsonl", ".json"), _NO_SESSIONS):
            place = _place(seen.path)
            if place is None:
                continue
            variant, state, session = place
            if seen.path.name == _LOG or (state, session) not in found:
                found[state, session] = (variant, seen)
        for variant, seen in found.values():
            yield Transcript(AGENT, seen.path, variant, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By path: sessions share nothing."""
        return sorted(transcripts, key=lambda it: str(it.path))

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.copilot_cli import reading, timeline

        if transcript.variant == TIMELINE:
            return timeline.read(transcript, since)
        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never: sessions stay until a person deletes them."""
        return self.capabilities.deletes_after_days


def _place(path: Path) -> tuple[str, Path, str] | None:
    """The layout of a session's file, the folder of sessions, and its name; None for others."""
    folder = path.parent
    if path.name == _LOG and folder.parent.name == _STATE:
        return EVENTS, folder.parent, folder.name
    if folder.name == _STATE and path.suffix == ".jsonl":
        return EVENTS, folder, path.stem
    if folder.name == _HISTORY and path.suffix == ".json":
        return TIMELINE, folder, path.stem
    return None


def name_of(path: Path) -> str:
    """The session that a file's place tells."""
    return path.parent.name if path.name == _LOG else path.stem


SOURCE = CopilotCli()
