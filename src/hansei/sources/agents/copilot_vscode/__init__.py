"""Copilot in VS Code: a chat as one object, or as the log of changes that lead to it.

Format evidence and every rule used here: docs/formats/copilot_vscode.md (checked 2026-11-16 against
the editor's and the extension's public source; there were no real chats to check on).

One idea carries it: a log is replayed, change by change, and a request is told when it is over. So
reading in pieces and reading whole go through the same states, and what is taken out of the chat
later stays told, since it was asked and answered.
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

AGENT = "copilot_vscode"
LOG, WHOLE = "log", "whole"

_CHATS = "chatSessions"
_WITHOUT_FOLDER = ("emptyWindowChatSessions", "transferredChatSessions")
_EDITORS = ("Code", "Code - Insiders", "VSCodium")
_PLACES = (
    (".config",),
    ("Library", "Application Support"),
    ("AppData", "Roaming"),
)
"""Where editors keep what is a user's, by system."""
_SERVERS = (".vscode-server", ".vscode-server-insiders")

_CAPABILITIES = Capabilities(cache_tokens=False, exit_codes=True)


@dataclass(frozen=True)
class CopilotVscode:
    name: str = AGENT
    title: str = "Copilot in VS Code"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Every editor's folder of its user, also on a machine worked on from afar."""
        home = environment.home
        places = [home.joinpath(*place, name) for place in _PLACES for name in _EDITORS]
        places += [home / name / "data" for name in _SERVERS]
        return [*(place / "User" for place in places), *(Path(it).expanduser() for it in extra)]

    def watched_folders(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Where chats are: editors keep much else beside them."""
        return [place for root in self.roots(environment, extra) for place in _chat_folders(root)]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every chat once: the log rather than the object it was made from."""
        places = self.watched_folders(environment, extra)
        found = {
            seen.path: seen
            for seen in folders.files(places, (".jsonl", ".json"), frozenset(("node_modules",)))
            if seen.path.parent.name in (_CHATS, *_WITHOUT_FOLDER)
        }
        for path, seen in found.items():
            if path.suffix == ".jsonl":
                yield Transcript(AGENT, path, LOG, seen.fingerprint)
            elif path.with_suffix(".jsonl") not in found:
                yield Transcript(AGENT, path, WHOLE, seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By path: chats share nothing."""
        return sorted(transcripts, key=lambda it: str(it.path))

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.copilot_vscode import reading

        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never by age, as far as is known."""
        return self.capabilities.deletes_after_days


def _chat_folders(root: Path) -> list[Path]:
    """The folders of chats below a user's folder; any other folder is searched as it is."""
    storage, shared = root / "workspaceStorage", root / "globalStorage"
    try:
        workspaces = sorted(storage.iterdir())
    except OSError:
        workspaces = []
    if not workspaces and not shared.is_dir():
        return [root]
    return [*(it / _CHATS for it in workspaces), *(shared / name for name in _WITHOUT_FOLDER)]


SOURCE = CopilotVscode()
