"""Made-up histories in which people change what agents wrote, judged as git would have it.

Everything lies in memory: versions of files as commits bring them, edits as sessions make them. So
what people did, where and why, is known line by line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hansei.config import DAY_MS
from hansei.git.history import Change, Commit, History
from hansei.projection.facts import folds
from hansei.projection.facts.tables import Found
from hansei.projection.outcomes import Stored, Written, packed
from hansei.projection.outcomes.judge import judge
from hansei.projection.outcomes.repository import Everyone
from hansei.projection.outcomes.texts import Texts
from hansei.projection.window import Session, Window

if TYPE_CHECKING:
    from collections.abc import Mapping

HOUR = DAY_MS // 24


@dataclass
class People:
    """A repository, the agents that write in it, and the people who commit."""

    now: int = 100 * DAY_MS
    files: dict[str, str] = field(default_factory=dict)
    blobs: dict[str, str] = field(default_factory=dict)
    commits: list[Commit] = field(default_factory=list)
    written: list[tuple[int, Written]] = field(default_factory=list)
    sessions: dict[int, Session] = field(default_factory=dict)

    def session(self, edits: Mapping[str, str], *, parent: int | None = None) -> int:
        """An agent adds text to files and commits; returns the session."""
        number = len(self.sessions) + 1
        driver = "human" if parent is None else "subagent"
        self.sessions[number] = Session(
            number, f"s{number}", "agent", driver, parent, 1, self.now, self.now, 3, 60_000
        )
        for seq, (path, text) in enumerate(edits.items(), 2):
            lines = tuple(text.splitlines())
            self.written.append(
                (number, Written(seq, f"c{number}-{seq}", 0, path, self.now, lines, (), len(lines)))
            )
        self.commit({path: self.files.get(path, "") + text for path, text in edits.items()})
        return number

    def commit(self, files: Mapping[str, str], message: str = "Work", after: int = HOUR) -> str:
        """Somebody brings files to the main line."""
        self.now += after
        name = f"{len(self.commits) + 1:040x}"
        changes = []
        for path, text in files.items():
            old, new = (f"{path} {len(self.commits) + at}" for at in (0, 1))
            before = self._blob(old, self.files[path]) if path in self.files else None
            self.files[path] = text
            changes.append(Change(path, (before,), self._blob(new, text)))
        parents = (self.commits[-1].id,) if self.commits else ()
        who = ("Ada", "ada@example.org")
        self.commits.append(
            Commit(name, parents, *who, self.now, self.now, message, tuple(changes))
        )
        return name

    def change(self, path: str, old: str, new: str, after: int = DAY_MS) -> str:
        """A person replaces some text of a file."""
        assert old in self.files[path]
        return self.commit({path: self.files[path].replace(old, new)}, "Correct", after)

    def _blob(self, name: str, text: str) -> str:
        known = next((it for it, held in self.blobs.items() if held == text), name)
        return self.blobs.setdefault(known, text) and known

    def window(self, later: int = 40 * DAY_MS, reviews: tuple[Any, ...] = ()) -> Window:
        """What is known of it all, some days after the last commit."""
        hunks = [Stored(session, packed(it)) for session, it in self.written]
        places = [it.path for _, it in self.written]
        history = History(tuple(self.commits), frozenset(it.id for it in self.commits), None)
        texts = Texts(lambda blob, _: self.blobs[blob].encode(), str)
        written = [it for _, it in self.written]
        now = self.now + later
        judged = judge(written, places, history, texts, now, Everyone(hunks, places))
        rows: dict[str, list[Any]] = {it.name: [] for it in (*folds.TABLES, folds.OUTCOMES)}
        rows[folds.HUNKS.name] = [Found(*it) for it in hunks]
        rows[folds.OUTCOMES.name] = [
            Found(session, it.outcome)
            for (session, _), it in zip(self.written, judged, strict=True)
        ]
        return Window(_NOWHERE, self.sessions, 0, now, rows)


_NOWHERE: Any = None
