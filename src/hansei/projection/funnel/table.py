"""The texts of a session while they are put together from the ledger and the transcript.

The same text is told under several names: a path from the top of the repository in the ledger, a
whole path in the transcript, a name in a list. Here they become one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Tool
from hansei.hook.places import INSTRUCTIONS, RULE, SERVER, SKILL
from hansei.projection.exposure import BELOW
from hansei.projection.funnel.listing import entries, last_name, skill_name
from hansei.store.evidence import TRANSCRIPT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.events.model import Notice, Prompt
    from hansei.projection.calls import Call
    from hansei.projection.exposure import Row
    from hansei.projection.funnel.model import Entry, Load
    from hansei.projection.funnel.record import Record

_NOT_IN_TOOL_NAMES = re.compile(r"[^\w-]")


class Piece(NamedTuple):
    """A part of a text that stood in the context."""

    bytes: int
    seq: int | None
    """Since when; None: from the start."""
    stays: bool
    """Whether agents give it again after a compaction."""


@dataclass
class Text:
    """One text in force."""

    key: str
    kind: str
    name: str
    path: str | None
    basis: str
    listed_seq: int | None
    said: str = ""
    text: str = ""
    below: str | None = None
    """The folder it waits in until the agent works there."""
    pieces: list[Piece] = field(default_factory=list)
    sized: bool = True
    """Whether `pieces` are all of it that stood in the context."""
    loads: list[Load] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    unsure: bool = False
    """Whether calls of which nobody knows the server may have been to it."""

    def carry(self, size: int, seq: int | None, *, stays: bool) -> None:
        """Take note that so much of it came into the context."""
        self.pieces.append(Piece(size, seq, stays))


class Table:
    """All texts of a session by what they are known by."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.texts: dict[str, Text] = {}
        self._skill_files: dict[str, Text] = {}
        self._bare_skills: dict[str, list[Text]] = {}
        self.unknown_server = False
        for kind, path, _, size, basis, reach in rows:
            if kind not in _NAMES or basis == TRANSCRIPT:
                continue  # the transcript is read itself, and tells more
            text = self._of_ledger(kind, path, basis)
            if reach == BELOW:
                text.below = _folder(path)
            if kind in (INSTRUCTIONS, RULE) and not text.pieces:
                text.carry(size, None, stays=True)

    def _of_ledger(self, kind: str, path: str, basis: str) -> Text:
        name = _NAMES[kind](path)
        key = _key(kind, path if kind in (INSTRUCTIONS, RULE) else name)
        return self.texts.get(key) or self._put(
            Text(key, kind, name, path, basis, None, sized=kind in (INSTRUCTIONS, RULE))
        )

    def _put(self, text: Text) -> Text:
        self.texts[text.key] = text
        if text.kind == SKILL:
            self._bare_skills.setdefault(_bare(text.name), []).append(text)
            if text.path:
                self._skill_files.setdefault(_slashed(text.path), text)
        return text

    def read(self, told: Record) -> None:
        """Take in what the transcript lists."""
        events: list[tuple[int, Notice | Prompt]] = [*told.notices, *told.injected]
        for seq, event in sorted(events, key=lambda it: it[0]):
            for entry in entries(event):
                self._take(seq, entry)

    def _take(self, seq: int, entry: Entry) -> None:
        text = self._known(entry)
        new = text is None or (text.basis != TRANSCRIPT and text.listed_seq is None)
        if text is None:
            text = self.add(entry.kind, entry.name, entry.path, seq)
        if new:
            text.listed_seq, text.below = seq, None
            text.path = text.path or entry.path
            _measure(text, entry, seq, whole=entry.text is not None)
        text.said = text.said or entry.said or ""
        text.text = text.text or entry.text or ""

    def _known(self, entry: Entry) -> Text | None:
        if entry.kind == SERVER:
            return self.server(entry.name)
        if entry.kind == SKILL:
            return self.skill(entry.name, entry.path)
        return self.file(entry.path or entry.name)

    def add(self, kind: str, name: str, path: str | None, seq: int) -> Text:
        """A text that only the transcript tells of."""
        key = _key(kind, path or name if kind in (INSTRUCTIONS, RULE) else name)
        return self._put(Text(key, kind, name, path, TRANSCRIPT, seq, sized=kind != SERVER))

    def of(self, kind: str) -> list[Text]:
        return [text for text in self.texts.values() if text.kind == kind]

    def names(self, kind: str) -> set[str]:
        return {text.name for text in self.of(kind)}

    def skill(self, name: str, path: str | None) -> Text | None:
        """A skill by where its file lies, by its name, or by its name within a plug-in."""
        there = self._skill_files.get(_slashed(path)) if path else None
        exact = there or self.texts.get(_key(SKILL, name))
        if exact is not None:
            return exact
        known = self._bare_skills.get(_bare(name), ())
        alike = [it for it in known if (":" in name) != (":" in it.name)]
        return alike[0] if len(alike) == 1 else None

    def file(self, path: str) -> Text | None:
        """The file whose path ends like this one, as far as possible."""
        wanted = _slashed(path)
        ends = [
            (len(known), text)
            for text in (*self.of(INSTRUCTIONS), *self.of(RULE))
            if (known := _slashed(text.path or text.name))
            and (f"/{wanted}".endswith(f"/{known}") or f"/{known}".endswith(f"/{wanted}"))
        ]
        return max(ends, key=lambda it: it[0])[1] if ends else None

    def server(self, name: str) -> Text | None:
        return self.texts.get(_key(SERVER, name))

    def server_of_tool(self, tool: str) -> Text | None:
        """The listed server whose name a tool's name begins with."""
        bare = tool.removeprefix("mcp_").lower()
        return next((it for it in self.of(SERVER) if bare.startswith(f"{it.name.lower()}_")), None)

    def in_force(self, calls: Sequence[Call]) -> list[Text]:
        """Texts in force; what waits in a folder once a call has been there."""
        found = []
        for text in self.texts.values():
            if text.below is not None:
                text.listed_seq = _first_there(calls, text.below)
            text.unsure = self.unknown_server
            used = text.loads or text.calls
            if text.below is None or text.listed_seq is not None or used:
                found.append(text)
        return found


def _measure(text: Text, entry: Entry, seq: int, *, whole: bool) -> None:
    if entry.bytes is None:
        text.sized = False
    elif text.kind in (SKILL, SERVER):
        text.sized = True
        text.carry(entry.bytes, seq, stays=True)
    elif not (whole and text.pieces):
        text.pieces = []
        text.carry(entry.bytes, seq, stays=True)


def _key(kind: str, name: str) -> str:
    told = _NOT_IN_TOOL_NAMES.sub("_", name) if kind == SERVER else name
    return f"{kind} {_slashed(told)}"


def _slashed(path: str) -> str:
    return path.replace("\\", "/").lower().rstrip("/")


def _bare(name: str) -> str:
    return name.rpartition(":")[2].lower()


def _folder(path: str) -> str:
    """The folder a file speaks for: where it lies, or what its hidden folder lies in."""
    parts = path.split("/")[:-1]
    hidden = next((n for n, part in enumerate(parts) if part.startswith(".")), len(parts))
    return "/".join(parts[:hidden])


def _first_there(calls: Sequence[Call], folder: str) -> int | None:
    wanted = f"/{folder}/"
    for call in calls:
        paths = [edit.event.path for edit in call.edits]
        if call.event.tool in (Tool.READ, Tool.EDIT, Tool.WRITE):
            paths.append(call.event.text)
        if any(wanted in f"/{path}".replace("\\", "/") for path in paths):
            return call.seq
    return None


def _server_name(path: str) -> str:
    return path.rpartition("#")[2]


_NAMES = {
    INSTRUCTIONS: last_name,
    RULE: last_name,
    SKILL: skill_name,
    SERVER: _server_name,
}
