"""Pi: a tree of entries per session, one line of JSON each.

Format evidence and every rule used here: docs/formats/pi.md (checked 2026-11-16 against the
program's public source of March 2026 and three files of other projects' tests).

How such files are read is in `families/tree`; here is only where they are, and what Pi puts into a
person's prompt.
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
    from hansei.sources.families.tree.reader import Said
    from hansei.sources.families.tree.records import Message

AGENT = "pi"
_HOMES = (".pi", ".omp", ".prime")
"""Folders of the program and of those that were made from it and kept its layout."""
_SKILL = re.compile(r"<skill name=\"[^\"\n]{1,200}\" location=.*?</skill>\s*", re.DOTALL)
"""A skill's text, which the program puts in the place of the command that called for it."""


@dataclass(frozen=True)
class Pi:
    name: str = AGENT
    title: str = "Pi"
    capabilities: Capabilities = field(default=Capabilities(exit_codes=True, hooks=False))

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """Folders of sessions, and whichever others a person named."""
        named = environment.variables.get("PI_CODING_AGENT_DIR", "").strip()
        own = [Path(named).expanduser()] if named else []
        places = own or [environment.home / home / "agent" for home in _HOMES]
        return [
            *(place / "sessions" for place in places),
            *(_sessions(Path(part).expanduser()) for part in extra),
        ]

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Every session file."""
        for seen in folders.files(self.roots(environment, extra), ".jsonl", frozenset()):
            yield Transcript(AGENT, seen.path, fingerprint=seen.fingerprint)

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """By the time a session began: what a fork was copied from is older."""
        from hansei.sources.families.tree.order import began

        return sorted(transcripts, key=lambda item: began(item.path))

    def fingerprint(self, transcript: Transcript) -> str:
        """Size, time and file, from one look at the folder."""
        return folders.fingerprint(transcript.path.stat())

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """What is new since the cursor."""
        # Every command looks for transcripts; only one with news pays for the parser.
        from hansei.sources.families.tree.lines import read
        from hansei.sources.families.tree.reader import Dialect

        return read(Dialect(AGENT, pieces), transcript, since, limit, None)

    def deletes_after_days(self, environment: Environment) -> int | None:  # noqa: ARG002
        """Never by itself."""
        return self.capabilities.deletes_after_days


def _sessions(place: Path) -> Path:
    """The sessions of the program's folder; any other folder is taken as it is."""
    below = place / "sessions"
    return below if below.is_dir() else place


def pieces(text: str, _: Message) -> list[Said]:
    """A prompt without the skill that was put before it."""
    from hansei.events.model import Origin
    from hansei.sources.families.tree.reader import Said

    found = _SKILL.match(text)
    if found is None:
        return [Said(text, Origin.HUMAN)]
    rest = text[found.end() :]
    typed = [Said(rest, Origin.HUMAN)] if rest else []
    return [Said(found[0], Origin.HARNESS), *typed]


SOURCE = Pi()
