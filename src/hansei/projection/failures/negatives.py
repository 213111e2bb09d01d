"""Programs that answer no by their exit code: nothing found, not equal, not there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.projection.commands.model import Class

if TYPE_CHECKING:
    from hansei.projection.commands.model import Command

_ONE = frozenset((1,))
_XARGS = 123
"""What xargs ends with when what it started ended with another code than 0."""
_NO: dict[str, frozenset[int]] = dict.fromkeys(
    (
        "grep", "egrep", "fgrep", "zgrep", "ggrep", "rg", "ripgrep", "ag", "ack", "findstr",
        "Select-String", "diff", "cmp", "colordiff", "Compare-Object", "test", "[", "[[",
        "which", "where", "whereis", "type", "hash", "command", "Get-Command", "Test-Path",
        "pgrep", "pidof", "pkill", "killall", "fuser", "lsof", "false", "expr", "nc",
        "git grep", "git check-ignore", "git show-ref", "git config", "git merge-base",
        "git rev-parse", "tmux has-session", "systemctl is-active", "systemctl is-enabled",
        "systemctl status", "docker inspect", "fd", "fdfind", "locate", "mdfind", "((",
    ),
    _ONE,
)  # fmt: skip
_NO |= {
    "systemctl is-active": frozenset((1, 3, 4)),
    "systemctl status": frozenset((3, 4)),
    "git ls-remote": frozenset((2,)),
    "git diff": _ONE,
    "jq": frozenset((1, 4)),
}
_HIDES = re.compile(r"2> ?(?:/dev/null|nul|\$null)\b|&> ?/dev/null|SilentlyContinue", re.IGNORECASE)
_NOTHING_TO_DO = re.compile(
    r"^(?:nothing to commit\b|No stash entries found|No local changes to save)", re.MULTILINE
)
_COMMITTING = frozenset(("commit", "stash", "stash pop", "stash push"))


def answers_no(command: Command, code: int | None) -> bool:
    """Whether a command that ended with this code may only mean no."""
    if code is None:
        code = 1
    if code == _XARGS and "xargs" in command.wrappers:
        code = 1
    known = _NO.get(f"{command.program} {command.subcommand}") or _NO.get(command.program)
    return known is not None and code in known


def only_asks(command: Command, text: str) -> bool:
    """Whether a command looks whether something is there, with its complaints thrown away."""
    return command.kind in (Class.SEARCH, Class.READ) and hides_complaints(text)


def hides_complaints(text: str) -> bool:
    """Whether a call throws away what programs say of their errors."""
    return _HIDES.search(text) is not None


def nothing_to_do(command: Command, output: str) -> bool:
    """Whether git says that all was done before."""
    return (
        command.program == "git"
        and command.subcommand in _COMMITTING
        and _NOTHING_TO_DO.search(output) is not None
    )
