"""Reading a setting of an agent where it can be read; no answer where it cannot."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hansei.errors import UnusableSettings
from hansei.installation import files, jsonc, toml_lines

if TYPE_CHECKING:
    from pathlib import Path


def load(path: Path) -> dict[str, Any]:
    """The settings in a file, JSON or TOML; nothing where it is absent or damaged."""
    try:
        content = files.read(path)
        if content is None:
            return {}
        text = files.decoded(path, content)
        value = toml_lines.parse(text) if path.suffix == ".toml" else jsonc.parse(text).value
    except (UnusableSettings, jsonc.Malformed):
        return {}
    return value if isinstance(value, dict) else {}


def not_plain(path: Path) -> str | None:
    """Why a program that takes plain JSON only ignores a file that we can read."""
    try:
        content = files.read(path)
        text = "{}" if content is None else files.decoded(path, content)
        if text.strip():
            json.loads(text)
    except UnusableSettings:
        return None
    except json.JSONDecodeError as problem:
        return (
            f"it takes neither comments nor trailing commas and ignores all of {path},"
            f" see line {problem.lineno}"
        )
    except RecursionError:
        return None
    return None


def is_set(path: Path, *keys: str, to: bool = True) -> bool:
    """Whether a setting is there and is exactly true (or false)."""
    value: Any = load(path)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value is to
