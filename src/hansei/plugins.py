"""Peers found by name: built-in ones by reading a folder, others by entry point.

Three grains, so that start-up does not grow with what is installed: `names` imports nothing, `load`
imports one, and the caller decides whether a failure is an error or a warning.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from hansei.errors import PluginError


def builtin_names(package: str) -> list[str]:
    """The modules of a folder of peers, sorted, without importing any."""
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    modules = {path.stem for path in folder.glob("*.py")}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return sorted(name for name in modules | packages if not name.startswith("_"))


def installed_names(group: str, package: str) -> list[str]:
    """Built-in and third-party names together."""
    return sorted({*builtin_names(package), *foreign_names(group)})


def foreign_names(group: str) -> list[str]:
    """Names that other installed packages declare for a group."""
    if not any(_declares(folder, f"[{group}]".encode()) for folder in sys.path):
        return []
    # importlib.metadata costs 40 ms, so only those who have a plug-in pay for it.
    from importlib.metadata import entry_points

    return sorted({entry.name for entry in entry_points(group=group)})


def _declares(folder: str, heading: bytes) -> bool:
    """Whether a package installed in a folder has entry points under a heading."""
    try:
        with os.scandir(folder) as found:
            names = [
                entry.path for entry in found if entry.name.endswith(("dist-info", "egg-info"))
            ]
    except OSError:
        return False
    return any(heading in _read(Path(name, "entry_points.txt")) for name in names)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def load(name: str, *, group: str, package: str, attribute: str) -> Any:
    """Import one peer; raises PluginError with its name where that fails."""
    try:
        if name in builtin_names(package):
            return getattr(importlib.import_module(f"{package}.{name}"), attribute)
        from importlib.metadata import entry_points

        return next(iter(entry_points(group=group, name=name))).load()
    except StopIteration:
        raise PluginError(f"no {group} plug-in is named {name!r}") from None
    except Exception as problem:
        raise PluginError(
            f"plug-in {name!r} of {group} does not load: {problem}",
            hint="Update or remove the package that brings it.",
        ) from problem
