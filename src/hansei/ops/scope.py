"""What a question is about: which workspace, agent, driver and time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hansei.errors import NotFound, UsageError
from hansei.projection.spend import QUARTER_MS
from hansei.store import workspaces

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.store.database import Store

_SPANS = {"h": "hours", "d": "days", "w": "weeks"}

TOLD_BY_TRANSCRIPT = (
    "NOT (s.entrypoint IS 'history' AND EXISTS (SELECT 1 FROM sessions t"
    " WHERE t.agent = s.agent AND t.native = substr(s.native, length('history:') + 1)))"
)
"""Prompts from an agent's prompt history count only where the transcript itself is gone."""


WORKSPACE_NAME = (
    "CASE WHEN (SELECT count(*) FROM workspaces x WHERE x.name = w.name) > 1"
    " THEN w.name || ' (' || coalesce(w.folder, w.identity) || ')' ELSE w.name END"
)
"""What a workspace `w` is called: its name, with its folder where several have that name."""


@dataclass(frozen=True)
class Scope:
    """A filter over sessions; None means any. Times count to the quarter of an hour before."""

    workspace: int | None = None
    workspace_name: str | None = None
    agent: str | None = None
    driver: str | None = None
    since: int | None = None
    until: int | None = None

    def sessions(self) -> tuple[str, dict[str, object]]:
        """A condition on `sessions s`, by when they were active, and its parameters."""
        parts = [TOLD_BY_TRANSCRIPT, *self._parts()]
        if self.since is not None:
            parts.append("coalesce(s.ended_at, s.started_at) >= :since")
        if self.until is not None:
            parts.append("coalesce(s.started_at, s.ended_at) < :until")
        return " AND ".join(parts), self._values()

    def spend(self) -> tuple[str, dict[str, object]]:
        """A condition on `spend p JOIN sessions s`, by when requests were made."""
        parts = ["1", *self._parts()]
        if self.since is not None:
            parts.append(f"p.quarter >= :since / {QUARTER_MS}")
        if self.until is not None:
            parts.append(f"p.quarter < :until / {QUARTER_MS}")
        return " AND ".join(parts), self._values()

    def _parts(self) -> list[str]:
        wanted = {"workspace": self.workspace, "agent": self.agent, "driver": self.driver}
        return [f"s.{name} = :{name}" for name, value in wanted.items() if value is not None]

    def _values(self) -> dict[str, object]:
        return {
            "workspace": self.workspace,
            "agent": self.agent,
            "driver": self.driver,
            "since": _quarter(self.since),
            "until": _quarter(self.until),
        }


def _quarter(at: int | None) -> int | None:
    return None if at is None else at // QUARTER_MS * QUARTER_MS


def current_workspace(store: Store, folder: Path) -> tuple[int | None, str]:
    """The workspace a folder belongs to, and its name; None if no session was ever in it."""
    number = workspaces.find(store, str(folder))
    if number is None:
        return None, folder.name or str(folder)
    (name,) = store.db.execute("SELECT name FROM workspaces WHERE id = ?", (number,)).fetchone()
    return number, name


def named_workspace(store: Store, name: str) -> tuple[int, str]:
    """A workspace by its name, folder or remote; refuses what fits several."""
    rows = store.db.execute(
        "SELECT id, name, folder FROM workspaces"
        " WHERE name = :n OR folder = :n OR remote = :n OR identity = :n ORDER BY id",
        {"n": name},
    ).fetchall()
    if len(rows) == 1:
        return rows[0][0], rows[0][1]
    if not rows:
        raise NotFound(
            f"no workspace is named {name!r}", hint="`hansei summary --all --by repo` lists them."
        )
    folders = ", ".join(str(folder) for _, _, folder in rows)
    raise NotFound(f"{name!r} fits several workspaces", hint=f"Name one by its folder: {folders}")


def moment(text: str, now: int) -> int:
    """A point in time as people write it: `7d`, `12h`, `today`, `yesterday`, `2026-11-01`."""
    local = datetime.fromtimestamp(now / 1000, UTC).astimezone()
    try:
        return int(_written(text.strip(), local).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):  # the last two: years that no clock reaches
        raise UsageError(
            f"{text!r} is not a time we understand",
            hint="Write 7d, 12h, 2w, today, yesterday, or a date such as 2026-11-01.",
        ) from None


def _written(text: str, local: datetime) -> datetime:
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    word = text.lower()
    if word == "today":
        return midnight
    if word == "yesterday":
        return midnight - timedelta(days=1)
    span = re.fullmatch(r"(\d{1,5})\s*([hdw])", word)
    if span:
        return local - timedelta(**{_SPANS[span[2]]: int(span[1])})
    written = datetime.fromisoformat(text)
    return written if written.tzinfo else written.astimezone()


def stored_sessions(store: Store) -> int:
    """How many sessions there are to ask about, whatever the scope."""
    where, values = Scope().sessions()
    (count,) = store.db.execute(
        f"SELECT count(*) FROM sessions s WHERE {where} AND s.next_seq > 1", values
    ).fetchone()
    return int(count)
