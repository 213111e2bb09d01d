"""Which programs' words to look for in what a command printed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hansei.projection.commands import programs
from hansei.projection.failures.runners import compiled, javascript, python, tools

if TYPE_CHECKING:
    from hansei.projection.commands.model import Command
    from hansei.projection.failures.runner import Runner

RUNNERS = (*python.RUNNERS, *javascript.RUNNERS, *compiled.RUNNERS, *tools.RUNNERS)

SCRIPTED = frozenset(
    (
        "pytest", "unittest", "mypy", "pyright", "jest", "vitest", "mocha", "node_test",
        "playwright", "tsc", "eslint", "bundler", "go_test", "cargo_test", "gradle", "cmake",
        "rspec", "phpunit",
    )
)  # fmt: skip
"""Runners that scripts and make targets start; their words are their own enough to be known
among those of others."""
LAUNCHERS = frozenset(
    (
        "npm", "pnpm", "yarn", "bun", "make", "gmake", "just", "task", "tox", "nox", "bash", "sh",
        "zsh", "hatch", "turbo", "nx", "lerna", "composer", "rake", "docker", "podman",
        "docker-compose", "pre-commit", "uv", "poetry",
    )
)  # fmt: skip
"""Programs that run others by a name we cannot see through."""
_OWN_WORK = frozenset(
    ("install", "i", "ci", "add", "remove", "uninstall", "update", "sync", "lock", "pull", "ps")
)
"""Subcommands of launchers that start nothing of the project's own."""

_RUN_HOOKS = frozenset((("git", "commit"), ("git", "push"), ("git", "merge"), ("git", "rebase")))


def runners(command: Command) -> tuple[Runner, ...]:
    """Whose words a command may print, its own first."""
    flag = "--test" if "--test" in command.flags and command.program == "node" else ""
    return _runners(command.program, flag or command.subcommand or "", _is_file(command))


def is_launcher(command: Command) -> bool:
    """Whether a command runs something by a name that says nothing about the program."""
    hooks = (command.program, command.subcommand) in _RUN_HOOKS
    return command.program in LAUNCHERS or hooks or _is_file(command)


def _is_file(command: Command) -> bool:
    return command.program.endswith((".sh", ".ps1", ".py", ".js", ".mjs", ".ts", ".rb"))


@lru_cache(maxsize=512)
def _runners(program: str, subcommand: str, is_file: bool) -> tuple[Runner, ...]:
    table = _table()
    family = programs.SAME.get(program, program)
    found = [
        table[name]
        for name in (
            f"{program} {subcommand}",
            f"{program} {subcommand.partition(' ')[0]}",
            program,
            f"{family} {subcommand}",
            family,
        )
        if name in table
    ][:1]
    launches = program in LAUNCHERS and subcommand.partition(" ")[0] not in _OWN_WORK
    if is_file or launches or (program, subcommand) in _RUN_HOOKS:
        found += [runner for runner in RUNNERS if runner.name in SCRIPTED and runner not in found]
    return tuple(found)


@lru_cache(maxsize=1)
def _table() -> dict[str, Runner]:
    return {name: runner for runner in RUNNERS for name in runner.programs}
