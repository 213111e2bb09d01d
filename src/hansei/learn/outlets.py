"""Where compiled skills go: which files of which agents, and which files a text is about.

Three kinds: a marked block in a file of the repository, files of our own, and folders of skills.
Agents that can be told "only for these files" are told so: by a header, or by the folder the file
lies in. Limits are the agents' own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from hansei.instructions.targets import RULE_HEADER
from hansei.learn import patterns
from hansei.learn.compile import joined, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hansei.learn.compile import Chosen

CODEX_BYTES = 32 * 1024
"""What Codex reads of all AGENTS.md files from the top down; the rest is cut off silently."""
CODEX_LIST = 8_000
"""Characters that Codex gives its list of skills where it does not know the context's size."""
CLAUDE_LIST = 16_000
"""Characters that Claude Code was seen to give its list of skills."""


class Sheet(NamedTuple):
    """A text and the file it goes to."""

    path: str
    text: str
    own: bool
    """Whether the whole file is ours, or a block in it."""


@dataclass(frozen=True)
class Outlet:
    """One place that agents read."""

    name: str
    file: str
    """What is in force everywhere goes here."""
    own: bool = False
    nested: bool = False
    """Whether the same file in a folder is in force for that folder."""
    rules: str = ""
    """Files for patterns, with `{}` for what tells them apart."""
    header: str = ""
    """What such a file begins with, with `{}` for the pattern."""
    limit: int | None = None
    """Bytes, over all files of its name."""
    limited: str = ""
    listing: int | None = None
    """Characters of a list of skills; None where the outlet is no folder of skills."""

    @property
    def scoped(self) -> bool:
        return bool(self.rules) or self.nested

    def owns(self, path: str) -> bool:
        """Whether a file that we wrote was written for this outlet."""
        if path == self.file or (self.nested and path.rpartition("/")[2] == self.file):
            return True
        start, _, end = self.rules.partition("{}")
        return bool(self.rules) and path.startswith(start) and path.endswith(end)


OUTLETS = {
    it.name: it
    for it in (
        Outlet(
            "CLAUDE.md",
            "CLAUDE.md",
            rules=".claude/rules/hansei-{}.md",
            header='---\npaths:\n  - "{}"\n---\n\n',
        ),
        Outlet(
            "AGENTS.md",
            "AGENTS.md",
            nested=True,
            limit=CODEX_BYTES,
            limited=f"Codex reads {CODEX_BYTES:,} bytes of AGENTS.md files",
        ),
        Outlet(
            ".cursor/rules",
            ".cursor/rules/hansei.mdc",
            own=True,
            rules=".cursor/rules/hansei-{}.mdc",
            header="---\nglobs: {}\nalwaysApply: false\n---\n\n",
        ),
        Outlet(
            ".github/copilot-instructions.md",
            ".github/copilot-instructions.md",
            rules=".github/instructions/hansei-{}.instructions.md",
            header='---\napplyTo: "{}"\n---\n\n',
        ),
        Outlet("GEMINI.md", "GEMINI.md", nested=True),
        Outlet(".goosehints", ".goosehints"),
        Outlet(
            ".claude/skills",
            ".claude/skills",
            listing=CLAUDE_LIST,
            limited=f"Claude Code lists {CLAUDE_LIST:,} characters of skills",
        ),
        Outlet(
            ".agents/skills",
            ".agents/skills",
            listing=CODEX_LIST,
            limited=f"Codex lists {CODEX_LIST:,} characters of skills",
        ),
    )
}
"""Every place that skills are compiled for, by the name people call it."""


def sheets(outlet: Outlet, chosen: Iterable[Chosen]) -> list[Sheet]:
    """The files of an outlet with their texts, by path."""
    groups: dict[str, list[str]] = {}
    for it in chosen:
        if it.taken:
            groups.setdefault(it.path, []).append(it.text)
    # Two patterns of one folder share its file.
    files: dict[str, list[tuple[str, list[str]]]] = {}
    for pattern in sorted(groups):
        files.setdefault(_file(outlet, pattern), []).append((pattern, groups[pattern]))
    return [_sheet(outlet, path, told) for path, told in sorted(files.items())]


def is_scoped(outlet: Outlet, pattern: str, exists: Callable[[str], bool]) -> bool:
    """Whether an outlet can say by itself which files a text is about."""
    if not pattern or not outlet.scoped or not patterns.PLAIN.fullmatch(pattern):
        return False
    if outlet.rules:
        return True
    return patterns.covers_folder(pattern) and exists(patterns.folder_of(pattern))


def _file(outlet: Outlet, pattern: str) -> str:
    if pattern and outlet.rules:
        return outlet.rules.format(_slug(pattern))
    return f"{patterns.folder_of(pattern)}/{outlet.file}" if pattern else outlet.file


def _sheet(outlet: Outlet, path: str, told: list[tuple[str, list[str]]]) -> Sheet:
    texts = [text for _, listed in told for text in listed]
    pattern = told[0][0]
    if pattern and outlet.rules:
        return Sheet(path, outlet.header.format(pattern) + wrapped(texts), own=True)
    if outlet.own:
        return Sheet(path, RULE_HEADER + wrapped(texts), own=True)
    return Sheet(path, joined(texts), own=False)


def _slug(pattern: str) -> str:
    """What a pattern's file is called: readable, and another one for every pattern."""
    mark = blake2b(pattern.encode(), digest_size=2).hexdigest()
    words = re.sub(r"[^a-z0-9]+", "-", pattern.lower()).strip("-")[:40].strip("-")
    return f"{words}-{mark}" if words else mark
