"""The formats that books are exchanged in, by name and by what their files look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.learn.formats import agent_skills, json_book, kayba, playbook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.learn.exchange import Format

NAMES: Final = ("agent-skills", "json", "kayba-0.7", "kayba-0.9", "kayba-0.13", "playbook")
"""Every format; those of one family stand in one file of `formats`."""


def of_name(name: str) -> Format:
    """A format by its name."""
    if name.startswith("kayba-"):
        return kayba.Kayba(name.removeprefix("kayba-"))
    known: dict[str, Format] = {
        "agent-skills": agent_skills.FORMAT,
        "json": json_book.FORMAT,
        "playbook": playbook.FORMAT,
    }
    return known[name]


def recognised(files: Mapping[str, bytes]) -> str | None:
    """The format that some files are written in, told by their content."""
    if any(path.rpartition("/")[2] == "SKILL.md" for path in files):
        return "agent-skills"
    content = next(iter(files.values()), b"")
    if json_book.recognises(content):
        return "json"
    version = kayba.version_of(content)
    if version is not None:
        return f"kayba-{version}"
    return "playbook" if playbook.recognises(content) else None
