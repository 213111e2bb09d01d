"""Which agents we can install hooks for: the files in `agents`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from hansei import plugins
from hansei.errors import NotFound

if TYPE_CHECKING:
    from hansei.installation.contract import Agent

PACKAGE = "hansei.installation.agents"


def names() -> list[str]:
    return plugins.builtin_names(PACKAGE)


def load(name: str) -> Agent:
    """One agent by name."""
    if name not in names():
        raise NotFound(
            f"hansei knows no hooks of {name!r}", hint=f"It knows those of {', '.join(names())}."
        )
    return cast("Agent", import_module(f"{PACKAGE}.{name}").AGENT)


def load_all() -> list[Agent]:
    return [load(name) for name in names()]
