"""What is worth keeping of the commands that were run, and what must never be.

A skill is read by an agent that knows git, npm and the shell by heart. What it cannot know is what
this project needs: its own scripts, folders, variables, options and tools. Looking around makes no
skill, what destroys makes none, and what holds only on one machine or on one day makes none either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.config import CommandClass
from hansei.learn.harm import cautions, harms, is_rash
from hansei.projection.commands.programs import FILLERS, FILTERS, PLAIN, SUBCOMMANDS

if TYPE_CHECKING:
    from hansei.projection.facts.ran import Ran

_HOUSEKEEPING: Final = frozenset(
    (
        "apply_patch", "attrib", "chgrp", "chmod", "chown", "code", "copy", "cp", "del", "diff",
        "file", "kill", "killall", "less", "ln", "md", "mkdir", "mktemp", "more", "move", "mv",
        "nano", "nohup", "open", "patch", "pkill", "ren", "rm", "rmdir", "start", "taskkill", "tee",
        "time", "timeout", "touch", "truncate", "unlink", "vi", "vim", "xargs", "xdg-open",
        "Copy-Item", "Move-Item", "New-Item", "Remove-Item", "Set-Content", "Start-Process",
        "Stop-Process", "for", "if", "while", "do", "then", "case",
    )
)  # fmt: skip
"""Programs that move things about: what they are needed for is never in themselves."""
_EVERYDAY: Final = frozenset(("build", "dev", "install", "lint", "start", "test", "serve", "check"))
"""Scripts that every project calls so: nobody has to be told."""
_RUNNERS: Final = frozenset(("bun", "make", "just", "npm", "pnpm", "rake", "task", "yarn"))
_WRAPPERS: Final = frozenset(("bunx", "command", "env", "exec", "nohup", "npx", "sudo", "time"))
"""Words before a program that say nothing about the project."""
QUIET: Final = frozenset(
    (
        "--color", "--help", "--no-color", "--progress", "--quiet", "--silent", "--verbose",
        "--version", "--yes", "--pretty", "--tb", "--reporter", "--no-pager", "--oneline", "--stat",
    )
)  # fmt: skip
"""Options that change what is printed, and nothing else."""
_CHECKS: Final = frozenset(
    (
        CommandClass.TEST,
        CommandClass.BUILD,
        CommandClass.LINT,
        CommandClass.FORMAT,
        CommandClass.INSTALL,
    )
)
_USUAL: Final = frozenset(
    (
        "--all", "--all-targets", "--check", "--ci", "--coverage", "--fix", "--frozen-lockfile",
        "--locked", "--noEmit", "--prod", "--release", "--run", "--save-dev", "--watch", "--write",
    )
)  # fmt: skip
"""Options that checks are run with everywhere."""
_INTERPRETERS: Final = frozenset(
    (
        "awk", "bash", "bun", "cmd", "deno", "eval", "expect", "mongosh", "mysql", "node",
        "osascript", "perl", "php", "powershell", "psql", "pwsh", "python", "redis-cli", "ruby",
        "sh", "sqlite3", "ssh", "tmux", "zsh", "curl", "wget",
    )
)  # fmt: skip
_PLACES: Final = re.compile(r"\{(?:tmp|secret|value|hash|id)\}|\[secret:|\$\{?\w|`|\$\(")
_HOME: Final = re.compile(
    r"(?:^|[\s=:'\"@(])(?:~[/\\]|/(?:home|Users|root|tmp|var/folders)/|[A-Za-z]:[/\\])"
)
"""A path that is of one machine."""
_MADE_UP: Final = re.compile(
    r"\b[A-Za-z]+-(?:\w+-)*(?=[a-z0-9]*[0-9])(?=[a-z0-9]*[a-z])[a-z0-9]{3,6}\b"
    r"|\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b\d{4}-\d\d-\d\d"
)
"""Names that machines make up: letters and digits in one short word, hashes, dates."""
_SCRIPT: Final = re.compile(r"[\w./-]+\.(?:sh|py|js|mjs|cjs|ts|mts|rb|pl|ps1|bat|cmd|exs?)")
_SEVERAL: Final = 2
_LONGEST: Final = 200
"""Characters of a command that somebody would type again."""


def is_trivial(ran: Ran) -> bool:
    """Whether a command never makes a skill: it looks around, fills in or moves things about."""
    return (
        ran.kind in (CommandClass.READ, CommandClass.SEARCH)
        or (is_git(ran) and ran.shows)
        or ran.program in FILLERS
        or ran.program in FILTERS
        or ran.program in _HOUSEKEEPING
        or not ran.parsed
    )


def is_step(ran: Ran) -> bool:
    """Whether a command does something: it is neither trivial nor does it only show something."""
    return not ran.shows and not is_trivial(ran)


def destroys(text: str) -> bool:
    """Whether a command takes something away, or switches off what protects."""
    return is_rash(text) or bool(harms(text))


def is_repeatable(ran: Ran, *, asked: bool = False) -> bool:
    """Whether somebody could run it again elsewhere: no code written into it, no passing place.

    What may overwrite work is learned only from a person who `asked` for it.
    """
    form = ran.form
    inline = ran.program in _INTERPRETERS and ("{text}" in form or "{value}" in form)
    heredoc = ran.program in _INTERPRETERS and not ran.targets and not ran.subcommand
    return not (
        inline
        or heredoc
        or len(form) > _LONGEST
        or _PLACES.search(form)
        or is_of_one_machine(form)
        or destroys(form)
        or (cautions(form) and not asked)
    )


def is_of_one_machine(text: str) -> bool:
    """Whether a text names a place that only one machine has, or a secret that was taken out."""
    return "[secret:" in text or _HOME.search(text) is not None


def is_of_one_day(text: str) -> bool:
    """Whether a command names something that was made that day: a ticket, a run, a container."""
    return _MADE_UP.search(text) is not None


def is_git(ran: Ran) -> bool:
    return ran.kind is CommandClass.GIT


def is_own(ran: Ran) -> bool:
    """Whether a command is of this project: its script, its folder, its tool, what it needs."""
    return is_told(ran) or _is_own_program(ran)


def is_told(ran: Ran) -> bool:
    """Whether the words of a command hold something that nobody would guess."""
    return not is_git(ran) and (_is_peculiar(ran) or bool(_options(ran)))


def is_check(ran: Ran) -> bool:
    """Whether any agent runs it unaided, in the folder that it works in: checks, builds, installs.

    Where it needs a variable, a script or an option of its own, it has to be told.
    """
    options = [it for it in ran.flags if it.startswith("--") and it not in QUIET | _USUAL]
    return ran.kind in _CHECKS and not options and not _is_peculiar(ran._replace(directory=None))


def is_habit(ran: Ran) -> bool:
    """Whether a command alone is worth keeping: one option may be found in its help."""
    if is_git(ran) or is_check(ran):
        return False
    return _is_peculiar(ran) or len(_options(ran)) >= _SEVERAL


def _is_peculiar(ran: Ran) -> bool:
    """Whether it needs a variable, a wrapper, a folder or a script of the project."""
    if any(it not in _WRAPPERS for it in ran.before) or ran.directory not in (None, "", "."):
        return True
    if ran.before and ran.kind is CommandClass.OTHER and "sudo" not in ran.before:
        return True
    if _SCRIPT.search(ran.form) and ran.kind not in (CommandClass.TEST, CommandClass.LINT):
        return True
    name = (ran.subcommand or "").removeprefix("run ").strip()
    return ran.program in _RUNNERS and bool(name) and name not in _EVERYDAY and ":" in name


def _options(ran: Ran) -> list[str]:
    return [it for it in ran.flags if it.startswith("--") and it not in QUIET]


def _is_own_program(ran: Ran) -> bool:
    known = ran.program in PLAIN or ran.program in SUBCOMMANDS or ran.program in _INTERPRETERS
    return ran.kind is CommandClass.OTHER and not known and ran.subcommand is not None
