"""Codex: one rollout per thread, a line of JSON for each thing that happened.

Format evidence and every rule used here: docs/formats/codex.md (checked 2026-11-16 against versions
0.20 to 0.166 at work, and real rollouts of versions 0.34 to 0.128).

One idea carries it: a thread's beginning may be copied from another one, with new times and new
item ids. So an event is known by what a copy keeps: its turn, its call, its words, the running
total.

This file only finds transcripts, since every command does that; what reads them is loaded when
there is something to read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.sources.contract import SLICE_BYTES, Capabilities, Transcript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.config import Environment
    from hansei.sources.contract import Cursor, Reading

AGENT = "codex"
ROLLOUT, HISTORY, INDEX = "rollout", "history", "index"

_PACKED = ".zst"
_SUFFIXES = (".jsonl", ".jsonl.zst")
_LISTS = {"history.jsonl": HISTORY, "session_index.jsonl": INDEX}
_NO_ROLLOUTS = frozenset(("skills", "log", "memories", "packages", "prompts", "rules"))
_NAME = re.compile(
    r"rollout-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-"
    r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_[0-9a-f-]{36})?\.jsonl"
)
_CAPABILITIES = Capabilities(
    reasoning_tokens=True, exit_codes=True, branch=True, commit=True, added_context=True
)


def thread_of(name: str) -> str | None:
    """The thread that a file's name tells. A thread that was reverted has a file for each try."""
    found = _NAME.match(name)
    return found[2] if found else None


@dataclass(frozen=True)
class Codex:
    name: str = AGENT
    title: str = "Codex"
    capabilities: Capabilities = field(default=_CAPABILITIES)

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """The program's own folder, and whichever others a person named."""
        home = environment.folder("CODEX_HOME", ".codex")
        return [home, *(Path(part).expanduser() for part in extra)]

    def watched_folders(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Where rollouts are: logs, databases and plug-ins lie beside them."""
        return [place for root in self.roots(environment, extra) for place in _places(root)]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every rollout once, plain rather than packed, active rather than archived; two lists."""
        for root in self.roots(environment, extra):
            places = _places(root)
            found: dict[str, folders.Seen] = {}
            for place in places:
                for seen in folders.files([place], _SUFFIXES, _NO_ROLLOUTS):
                    if seen.path.name not in _LISTS:
                        _keep_better(found, seen)
            for seen in found.values():
                yield Transcript(AGENT, seen.path, ROLLOUT, seen.fingerprint)
            for seen in folders.these_files(root / name for name in _LISTS):
                yield Transcript(AGENT, seen.path, _LISTS[seen.path.name], seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By the time a thread began: what another was copied from is older than the copy."""
        return sorted(transcripts, key=_reading_place)

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.agents.codex import reading

        return reading.read(transcript, since, limit)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never: old rollouts are packed, not deleted."""
        return self.capabilities.deletes_after_days


def _places(root: Path) -> list[Path]:
    """The folders of rollouts; one without these names is a folder of rollouts itself."""
    places = [root / "sessions", root / "archived_sessions"]
    return places if any(place.is_dir() for place in places) else [root]


def _keep_better(found: dict[str, folders.Seen], seen: folders.Seen) -> None:
    """Keep one file per name. Folders come best first; a plain file is the one being written."""
    name = seen.path.name
    plain = name.removesuffix(_PACKED)
    identity = plain if thread_of(name) else str(seen.path).removesuffix(_PACKED)
    known = found.get(identity)
    if known is None or (name == plain and known.path.parent == seen.path.parent):
        found[identity] = seen


def _reading_place(transcript: Transcript) -> tuple[int, int, str, str]:
    """Rollouts by the time in their id; those of before ids had one by their name; lists last."""
    name = transcript.path.name
    found = _NAME.match(name)
    if transcript.variant != ROLLOUT or found is None:
        return 2, 0, name, str(transcript.path)
    thread = found[2]
    if thread[14] == "7":
        return 1, int(thread[:8] + thread[9:13], 16), name, str(transcript.path)
    return 0, 0, name, str(transcript.path)


SOURCE = Codex()
