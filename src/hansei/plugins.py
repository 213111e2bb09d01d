"""Peers found by name: built-in ones by reading a folder, others by entry point.

Three grains, so that start-up does not grow with what is installed: `names` imports nothing, `load`
imports one, and the caller decides whether a failure is an error or a warning.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hansei.errors import PluginError


def builtin_names(package: str) -> list[str]:
    """The modules of a folder of peers, sorted, without importing any."""
    folder = Path(__file__).parent.joinpath(*package.split(".")[1:])
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def installed_names(group: str, package: str) -> list[str]:
    """Built-in and third-party names together."""
    # importlib.metadata costs 30 ms, so only those who ask for strangers pay for it.
    from importlib.metadata import entry_points

    return sorted({*builtin_names(package), *(entry.name for entry in entry_points(group=group))})


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
