"""Running an agent with the terminal, and finding the sessions that came of it."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.errors import NoSuchCommand, NotStarted
from hansei.ops import attend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hansei.config import Config
    from hansei.store.database import Store


def run(command: list[str]) -> int:
    """Run an agent to its end as if it had been typed; its exit code as a shell tells it."""
    return _ended(command, lambda: attend.attend(command))


def run_sandboxed(
    config: Config, folder: Path, command: list[str], agent: str | None, *, offline: bool
) -> int:
    """The same, within walls. Nothing runs where they cannot be made."""
    from hansei.ops.sandbox.keep import attend_inside, bubblewrap, own_places
    from hansei.ops.sandbox.walls import around

    program = bubblewrap()
    found = shutil.which(command[0])
    if found is None:
        raise _not_found(command[0])
    beside = {Path(found).absolute().parent, Path(found).resolve().parent}
    walls = around(config, folder, agent, own=own_places(), program=sorted(beside), offline=offline)
    return _ended(command, lambda: attend_inside(program, walls, command))


def _ended(command: list[str], attended: Callable[[], int]) -> int:
    if sys.platform == "win32":
        raise NotStarted(
            "`hansei run` needs the terminals and signals of Unix",
            hint="Run the agent as usual, then `hansei learn`.",
        )
    with _terminal_kept() as restore:
        try:
            status = attended()
        except FileNotFoundError as problem:
            raise _not_found(command[0]) from problem
        except OSError as problem:
            raise NotStarted(
                f"{command[0]!r} cannot be started: {problem.strerror}",
                hint="Is it a program, and may you run it?",
            ) from problem
        code = attend.exit_code(status)
        if code > attend.BY_SIGNAL:  # bubblewrap, too, tells of a signal by this
            restore()
    return code


def _not_found(name: str) -> NoSuchCommand:
    if shutil.which(name):
        return NoSuchCommand(
            f"{name!r} cannot be started: what its first line names to run it is missing",
            hint=f"`head -1 {shutil.which(name)}` shows it.",
        )
    where = "" if os.sep in name else " on the PATH"
    return NoSuchCommand(
        f"there is no program {name!r}{where}",
        hint="Write the agent as you would without hansei: `hansei run -- claude`.",
    )


@contextmanager
def _terminal_kept() -> Iterator[Callable[[], None]]:
    """A way to put the terminal's settings back: a program that was killed could not do so."""
    import termios

    try:
        before = termios.tcgetattr(0)
    except termios.error:
        yield lambda: None
        return

    def restore() -> None:
        if attend.in_foreground():
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, before)

    yield restore


def written_since(
    store: Store, folder: Path, agent: str | None, started: int, ended: int
) -> list[str]:
    """Sessions of a folder's workspace that began or grew meanwhile, the first first.

    Subagents are part of the session that started them. Of an agent that is known only its own
    sessions count: others may be at work in the same repository.
    """
    # The agent waits for whatever is imported above.
    from hansei.ops.scope import TOLD_BY_TRANSCRIPT, current_workspace
    from hansei.sources.spool_lines import READ_AS

    source = READ_AS.get(agent, agent) if agent else None
    number, _ = current_workspace(store, folder)
    rows = store.db.execute(
        f"SELECT s.native FROM sessions s WHERE {TOLD_BY_TRANSCRIPT}"
        " AND s.workspace = :workspace AND (:agent IS NULL OR s.agent = :agent)"
        " AND s.next_seq > 1 AND s.driver IS NOT 'subagent'"
        " AND coalesce(s.ended_at, s.started_at) >= :started"
        " AND coalesce(s.started_at, s.ended_at) <= :ended"
        " ORDER BY s.started_at, s.id",
        {"workspace": number, "agent": source, "started": started, "ended": ended},
    ).fetchall()
    return [native for (native,) in rows]
