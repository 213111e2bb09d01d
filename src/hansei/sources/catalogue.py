"""Which agents and logs we can read: what comes with hansei and what other packages bring.

Agents have folders that are looked through. Formats of logs have none: `hansei import` names files.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

from hansei import plugins
from hansei.errors import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hansei.sources.contract import Source
    from hansei.sources.log_format import LogFormat

GROUP = "hansei.sources"
PACKAGE = "hansei.sources.agents"
LOGS = "hansei.sources.logs"
LOGS_GROUP = "hansei.logs"
SPOOL = "hooks"
"""The name of what hooks tell: a source like the others, but of no agent."""
_SOURCE = (
    "name", "title", "capabilities", "roots", "discover", "reading_order", "fingerprint", "read",
    "deletes_after_days",
)  # fmt: skip


class Loaded(NamedTuple):
    """Every source that works, and a sentence for each that does not."""

    sources: list[Source]
    warnings: list[str]


def names() -> list[str]:
    """Every agent by name, built-in and third-party, without importing any."""
    return plugins.installed_names(GROUP, PACKAGE)


def formats() -> list[str]:
    """Every format of logs by name, built-in and third-party, without importing any."""
    return plugins.installed_names(LOGS_GROUP, LOGS)


@cache
def load_format(name: str) -> LogFormat:
    """One format of logs, asked for by name."""
    return cast("LogFormat", plugins.load(name, group=LOGS_GROUP, package=LOGS, attribute="SOURCE"))


def load_formats(wanted: Iterable[str]) -> list[Source]:
    """Those of the named sources that are formats of logs."""
    known = set(formats())
    return [cast("Source", load_format(name)) for name in sorted(wanted) if name in known]


@cache
def load(name: str) -> Source:
    """One source, asked for by name; raises PluginError if it is not there or does not load."""
    if name == SPOOL:
        from hansei.sources.spool import SOURCE

        return cast("Source", SOURCE)
    if name in formats():
        return cast("Source", load_format(name))
    loaded = plugins.load(name, group=GROUP, package=PACKAGE, attribute="SOURCE")
    if not all(hasattr(loaded, attribute) for attribute in _SOURCE):
        raise PluginError(
            f"plug-in {name!r} of {GROUP} is not a source",
            hint="Update or remove the package that brings it.",
        )
    return cast("Source", loaded)


def load_all() -> Loaded:
    """Every source. One of our own that does not load is a fault; a stranger's is a warning."""
    ours = set(plugins.builtin_names(PACKAGE))
    loaded = Loaded([], [])
    for name in names():
        try:
            loaded.sources.append(load(name))
        except PluginError as problem:
            if name in ours:
                raise
            loaded.warnings.append(problem.message)
    return loaded
