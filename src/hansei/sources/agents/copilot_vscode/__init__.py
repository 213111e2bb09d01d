"""Copilot in VS Code: a chat as one object, or as the log of changes that lead to it.

Format evidence and every rule used here: docs/formats/copilot_vscode.md (checked 2026-11-16 against
the editor's and the extension's public source; there were no real chats to check on).

One idea carries it: a log is replayed, change by change, and a request is told when it is over. So
reading in pieces and reading whole go through the same states, and what is taken out of the chat
later stays told, since it was asked and answered.
"""

from __future__ import annotations

import sys
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
_PLACES = {
    "linux": ("XDG_CONFIG_HOME", (".config",)),
    "darwin": ("", ("Library", "Application Support")),
    "win32": ("APPDATA", ("AppData", "Roaming")),
}
"""Where programs keep what is a user's, by system: the variable for it, and the usual place."""
_SERVERS = (".vscode-server", ".vscode-server-insiders")

_CAPABILITIES = Capabilities(cache_tokens=False, exit_codes=True)


@dataclass(frozen=True)
class CopilotVscode:
    name: str = AGENT
    title: str = "Copilot in VS Code"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """This user's folder of the editor, others that are there, and those a person named."""
        return [*_user_folders(environment), *(Path(part).expanduser() for part in extra)]

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


def _user_folders(environment: Environment) -> list[Path]:
    """The usual editor's folder on this system; those of others and from afar if they are there."""
    named = {system: _programs(environment, system) for system in _PLACES}
    usual = named.get(sys.platform, named["linux"]) / _EDITORS[0] / "User"
    others = [place / editor / "User" for place in named.values() for editor in _EDITORS]
    others += [environment.home / name / "data" / "User" for name in _SERVERS]
    return list(dict.fromkeys([usual, *(place for place in others if place.is_dir())]))


def _programs(environment: Environment, system: str) -> Path:
    variable, usual = _PLACES[system]
    if variable and environment.variables.get(variable, "").strip():
        return environment.folder(variable)
    return environment.home.joinpath(*usual)


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
