"""What a format of logs is: how it is recognised, and what its records become.

A log belongs to no agent of ours and lies where its owner put it, so nothing discovers it: it comes
from the command line. In everything else it is a source like the others. It is read whole whenever
it changed; events are known by ids or by their words, so reading it again adds only what is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hansei.errors import UnreadableTranscript
from hansei.events.keys import digest
from hansei.sources.contract import SLICE_BYTES, Capabilities, Cursor, Reading
from hansei.sources.families import folders
from hansei.sources.families.telling import Telling
from hansei.sources.log_files import Form, open_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hansei.config import Environment
    from hansei.sources.contract import Transcript
    from hansei.sources.log_files import LogFile


@dataclass(frozen=True)
class LogFormat:
    """A format of logs, as a source without folders of its own."""

    name: str
    title: str
    looks_like: str
    """What a log of this format has, in words: shown where a file is not recognised."""
    recognises: Callable[[LogFile], bool]
    """Pure, and true of no log that another format recognises."""
    tell: Callable[[Telling, LogFile], None]
    capabilities: Capabilities = field(default=Capabilities())

    def roots(self, environment: Environment, extra: list[str]) -> list[Path]:
        """No folders: logs are named on the command line."""
        del environment, extra
        return []

    def discover(self, environment: Environment, extra: list[str]) -> Iterator[Transcript]:
        """Nothing: logs are named on the command line."""
        del environment, extra
        return iter(())

    def reading_order(self, transcripts: list[Transcript]) -> list[Transcript]:
        """As they are named."""
        return sorted(transcripts, key=lambda transcript: transcript.id)

    def fingerprint(self, transcript: Transcript) -> str:
        """From the file's size and time, and the folder it was said to have run in."""
        seen = folders.fingerprint(transcript.path.stat())
        return f"{seen}:{_mark(transcript.variant)}" if transcript.variant else seen

    def read(self, transcript: Transcript, since: Cursor, limit: int = SLICE_BYTES) -> Reading:
        """All of the log if it changed, nothing if it did not.

        The transcript's variant is the folder its owner says it ran in, for logs that do not.
        """
        del limit
        log, folder = open_log(transcript.path), transcript.variant
        check = f"{log.check}{_mark(folder)}" if folder else log.check
        if since.offset == log.size and since.check == check:
            return Reading(since)
        if log.form in (Form.BROKEN, Form.EMPTY):
            raise UnreadableTranscript(f"{transcript.path} holds {log.form}")
        told = self.told(log, folder, restarted=since.offset > 0)
        told.cursor = Cursor(offset=log.size, check=check)
        return told

    def told(self, log: LogFile, folder: str = "", *, restarted: bool = False) -> Reading:
        """What a log tells."""
        telling = Telling(self.name)
        self.tell(telling, log)
        for facts in telling.sessions.values():
            facts.cwd = facts.cwd or folder or None
        problems = sorted([*log.problems, *telling.problems], key=lambda it: (it.line, it.reason))
        return Reading(
            cursor=Cursor(offset=log.size, check=log.check),
            events=list(telling.events.values()),
            sessions=telling.sessions,
            problems=problems,
            records=len(log.records) + len(log.problems) or len(telling.events),
            taken=log.size,
            restarted=restarted,
        )

    def deletes_after_days(self, environment: Environment) -> int | None:
        """Never: the file is its owner's."""
        del environment
        return None


def _mark(folder: str) -> str:
    return digest(folder.encode("utf-8", "surrogateescape"))
