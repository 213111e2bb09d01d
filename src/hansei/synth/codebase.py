"""The made-up application the sessions are about, as files by path.

Its files are templates in `template/`; those with `__entity__` in the name are there once for each
thing the harbour keeps books on.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

ENTITIES = ("berth", "booking", "invoice", "member")
REMOTE = "https://git.berthline.example/harbour/berthline.git"
INSTRUCTIONS = "AGENTS.md"

RULE = "- Run tests with `uv run pytest`; plain `pytest` does not see the environment.\n"
"""The line whose effect the world knows."""

WEB_NOTE = """
## Front end

- Pages are plain functions that return elements. No framework.
- Texts for visitors live next to the page that shows them.
"""
"""A later change to the instruction file that has no effect on anything."""

_TEMPLATES = Path(__file__).parent / "template"


@cache
def starting_files() -> dict[str, str]:
    """The application at its first commit."""
    files: dict[str, str] = {}
    for template in sorted(_TEMPLATES.rglob("*.txt")):
        path = template.relative_to(_TEMPLATES).as_posix().removesuffix(".txt")
        text = template.read_text(encoding="utf-8")
        for entity in ENTITIES if "__entity__" in path else ("",):
            files[path.replace("__entity__", entity)] = text.replace("__entity__", entity).replace(
                "__Entity__", entity.capitalize()
            )
    return files


def service_path(entity: str, volume: int = 0) -> str:
    """Where the rules of a thing are; a full file is followed by another volume."""
    return f"src/berthline/services/{entity}{_suffix(volume)}.py"


def suite_path(entity: str, volume: int = 0) -> str:
    return f"tests/services/test_{entity}{_suffix(volume)}.py"


def page_path(entity: str) -> str:
    return f"web/src/pages/{entity}.ts"


def _suffix(volume: int) -> str:
    return f"_{volume + 1}" if volume else ""
