"""Which option makes a program say less, in one table.

Every entry keeps what a person looks for, errors and a summary, and drops progress and listings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass

if TYPE_CHECKING:
    from hansei.projection.facts.ran import Ran


class Quieter(NamedTuple):
    """What to write behind a command."""

    text: str
    options: tuple[str, ...]
    """Where one of these stands already, it is no news."""


_QUIET = Quieter("-q", ("-q", "--quiet", "-qq"))
_SILENT = Quieter("--silent", ("--silent", "-s"))
_DOT = Quieter("--reporter=dot", ("--reporter", "-R"))
_TAIL_OPTION = Quieter("--tail 50", ("--tail", "-n", "--since"))
TAIL: Final = Quieter("2>&1 | tail -n 40", ())
"""What ends with a summary is told by its last lines."""
HEAD: Final = Quieter("| head -n 50", ())
"""Lists are told by their first lines, and by asking for less."""

_PROGRAMS: Final[dict[tuple[str, str | None], Quieter]] = {
    ("pytest", None): _QUIET,
    ("pip", "install"): _QUIET,
    ("pip3", "install"): _QUIET,
    ("uv", "sync"): _QUIET,
    ("cargo", None): _QUIET,
    ("mvn", None): _QUIET,
    ("gradle", None): _QUIET,
    ("gradlew", None): _QUIET,
    ("apt-get", None): Quieter("-qq", ("-qq", "-q")),
    ("make", None): Quieter("-s", ("-s", "--silent", "--quiet")),
    ("npm", None): _SILENT,
    ("pnpm", None): _SILENT,
    ("yarn", None): _SILENT,
    ("jest", None): _SILENT,
    ("curl", None): Quieter("-s | head -n 50", ("-s", "-o")),
    ("eslint", None): Quieter("--quiet", ("--quiet",)),
    ("vitest", None): _DOT,
    ("mocha", None): _DOT,
    ("playwright", "test"): _DOT,
    ("git", "log"): Quieter("-n 10", ("-n", "--max-count")),
    ("git", "diff"): Quieter("--stat", ("--stat", "--name-only", "--shortstat")),
    ("git", "show"): Quieter("--stat", ("--stat", "--name-only", "--shortstat")),
    ("git", "status"): Quieter("--short", ("--short", "-s", "--porcelain")),
    ("docker", "logs"): _TAIL_OPTION,
    ("docker", "compose logs"): _TAIL_OPTION,
    ("kubectl", "logs"): _TAIL_OPTION,
    ("journalctl", None): Quieter("-n 50", ("-n", "--lines")),
    ("ps", None): HEAD,
    ("tree", None): Quieter("-L 2", ("-L",)),
    ("ls", None): HEAD,
    ("find", None): HEAD,
    ("grep", None): Quieter("-l", ("-l", "-c", "-m")),
    ("rg", None): Quieter("-l", ("-l", "-c", "-m", "--files-with-matches")),
    ("cat", None): TAIL,
}
_SUMMARIES: Final = frozenset(
    (
        CommandClass.TEST,
        CommandClass.BUILD,
        CommandClass.LINT,
        CommandClass.FORMAT,
        CommandClass.INSTALL,
    )
)
"""Kinds of commands whose last lines say what came of it."""


def quieter(run: Ran) -> Quieter | None:
    """What makes a command say less; None where nothing is known to."""
    known = _PROGRAMS.get((run.program, run.subcommand)) or _PROGRAMS.get((run.program, None))
    if known is not None and not set(known.options) & set(run.flags):
        return known
    return TAIL if run.kind in _SUMMARIES else None
