"""Which files hold instructions, and which of them a new item goes to.

The files are those that `hook.places` says an agent reads. By itself a new item goes to the file at
the top of the repository that is read in most sessions; where none is read in any, to a new one
that would be. Without sessions to count, the existing file that most agents read is taken, or a new
AGENTS.md. A file that is a link to another, or imports it (`@AGENTS.md`), counts for the other as
well.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.hook import places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

DEFAULT = "AGENTS.md"
SHARED = (
    DEFAULT,
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    ".github/copilot-instructions.md",
    "GEMINI.md",
    ".goosehints",
)
"""What a whole team reads, at the top of a repository. Personal files are nobody else's choice."""
RULE = ".mdc"
RULE_HEADER = "---\nalwaysApply: true\n---\n\n"
"""Without it a rule is only read where a person or the model asks for it."""
SKILL = "SKILL.md"
SKILL_FOLDERS = (".claude/skills", ".agents/skills")

_IMPORT = re.compile(r"(?:^|\s)@(?:\./)?([^\s`]+)")
_LONGEST_LOOKED_AT = 256 * 1024
"""Bytes in which imports are looked for; instruction files are a tenth of that."""


def kind_of(path: str) -> str | None:
    """What a file is to the agents that read it: instructions, rule or skill; None if nothing."""
    kinds = {found[0] for agent in places.IN_REPOSITORY if (found := places.matched(agent, path))}
    return min(kinds - {places.SERVER}, default=None)


def readers(path: str) -> frozenset[str]:
    """The agents that read a file by themselves."""
    found = {agent: places.matched(agent, path) for agent in places.IN_REPOSITORY}
    return frozenset(agent for agent, match in found.items() if match)


def header_of(path: str) -> str:
    """What a new file has to begin with."""
    return RULE_HEADER if path.endswith(RULE) else ""


def skill_path(folder: str, name: str) -> str:
    """Where a skill of that name is kept."""
    return f"{folder}/{name}/{SKILL}"


def default_target(repository: Path, sessions: Mapping[str, int] | None = None) -> str:
    """The file a new item goes to; `sessions` says how many each agent had here."""
    there = [path for path in SHARED if (repository / path).is_file()]
    counts = {agent: number for agent, number in (sessions or {}).items() if number > 0}
    reached = {path: reached_by(repository, path) for path in SHARED}

    def worth(path: str) -> tuple[int, int, int]:
        used = sum(counts.get(agent, 0) for agent in reached[path])
        return used, len(reached[path]), -SHARED.index(path)

    read = [path for path in there if not counts or worth(path)[0]]
    return max(read or SHARED, key=worth)


def reached_by(repository: Path, path: str) -> frozenset[str]:
    """The agents that read a file by themselves, through a link or through an import."""
    names = {it for it in SHARED if it != path and _leads(repository, it, path)}
    return readers(path).union(*map(readers, names))


def _leads(repository: Path, path: str, other: str) -> bool:
    """Whether whoever reads the one file reads the other too."""
    file = repository / path
    try:
        if file.samefile(repository / other):
            # Of two names the real one is written to.
            return file.is_symlink()
        text = file.read_bytes()[:_LONGEST_LOOKED_AT].decode("utf-8", "replace")
    except OSError:
        return False
    return any(
        _same(file.parent / found.rstrip(".,;:)"), repository / other)
        for found in _IMPORT.findall(text)
    )


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):
        return False
