"""Which commands only show something, and leave everything as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.config import CommandClass as Class
from hansei.projection.commands.programs import SUBCOMMANDS

if TYPE_CHECKING:
    from hansei.projection.commands.model import Command

_PROGRAMS = frozenset(
    (
        "base64", "cal", "dig", "env", "finger", "free", "getent", "groups", "history", "host",
        "id", "jobs", "last", "lsblk", "lscpu", "lsof", "man", "netstat", "nproc", "nslookup",
        "pgrep", "printenv", "ps", "ss", "sw_vers", "systeminfo", "tasklist", "tty", "uname",
        "uptime", "ver", "vm_stat", "w", "who",
        "Get-Process", "Get-Service", "Get-Variable", "Get-Help", "Get-Module",
    )
)  # fmt: skip
_WORDS = frozenset(
    (
        "cat-file", "checks", "describe", "diff", "freeze", "help", "history", "images", "info",
        "inspect", "list", "log", "logs", "ls", "ls-files", "ls-remote", "ls-tree", "outdated",
        "ps", "search", "show", "status", "stats", "top", "tree", "version", "view", "whoami",
    )
)  # fmt: skip
"""What programs call the subcommands by which they only show something."""
_BEGINNINGS = ("list-", "show-", "describe-", "ls-")
_OF_GIT = frozenset(
    ("blame", "cat-file", "check-ignore", "count-objects", "describe", "grep", "merge-base",
     "name-rev", "reflog", "remote get-url", "rev-list", "rev-parse", "shortlog", "show-ref",
     "stash list", "stash show", "var", "whatchanged", "worktree list")
)  # fmt: skip
_OF_GIT_ALONE = frozenset(("branch", "remote", "tag"))
"""Subcommands of git that show what there is where they are given nothing."""
_RUNS_NAMES = frozenset(("make", "just", "task", "rake", "nox", "tox"))
"""Programs whose subcommands are names of the project's own."""
_DOES = frozenset(
    ("add", "close", "create", "delete", "install", "new", "open", "remove", "rm", "run", "set",
     "start", "stop", "update")
)  # fmt: skip
"""Subcommands whose next word is what they are done to."""
_ASKS = frozenset(("--help", "--version"))


def only_shows(command: Command) -> bool:
    """Whether a command changes nothing: it reads, searches, lists or helps."""
    if command.writes:
        return False
    if command.kind in (Class.READ, Class.SEARCH) or command.program in _PROGRAMS:
        return True
    if not _ASKS.isdisjoint(command.flags):
        return True
    subcommand = command.subcommand
    if subcommand is None or command.program in _RUNS_NAMES or subcommand.startswith("run"):
        return False
    if command.program == "git" and (subcommand in _OF_GIT or _lists(command)):
        return True
    word = subcommand.rpartition(" ")[2]
    if command.program not in SUBCOMMANDS and word not in _DOES and command.targets:
        # Of a program we do not know only one word is taken for its subcommand: `frob task list`.
        return word in _WORDS or command.targets[0] in _WORDS
    return word in _WORDS or word.startswith(_BEGINNINGS)


def _lists(command: Command) -> bool:
    return command.subcommand in _OF_GIT_ALONE and not (
        command.targets or {"-d", "-D", "-m", "-M", "--delete", "--move"} & set(command.flags)
    )
