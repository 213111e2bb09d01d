"""Reading a setting of an agent where it can be read; no answer where it cannot."""

from __future__ import annotations

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


def is_set(path: Path, *keys: str, to: bool = True) -> bool:
    """Whether a setting is there and is exactly true (or false)."""
    value: Any = load(path)
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value is to
