"""Failures that say that something does not exist here: what it is, and its name.

Only a program's own words count, in the forms in which programs say it of what they were told;
an import that is wrong in the code under work is not meant.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from hansei.projection.failures import Failure


class What(StrEnum):
    """What is not there, as a person would call it."""

    PROGRAM = "program"
    SCRIPT = "script"
    OPTION = "option"
    COMMAND = "subcommand"
    MODULE = "module"
    FILE = "file"


class Missing(NamedTuple):
    what: What
    name: str
    """As it was tried."""


_NAME: Final = r"[\"'`‘“]?(?P<name>[\w./:@+-]+?)[\"'`’”]?"
_FORMS: Final = (
    (What.PROGRAM, re.compile(rf"command not found: {_NAME}\s*$")),
    (What.PROGRAM, re.compile(r"'?(?P<name>[\w./+-]+)'? is not recognized as an internal")),
    (What.SCRIPT, re.compile(rf"Missing script:? {_NAME}\s*$")),
    (What.SCRIPT, re.compile(rf"No rule to make target {_NAME}(?:[,.]|\s|$)")),
    (What.SCRIPT, re.compile(rf"(?:Script|Task|Recipe) not found:? {_NAME}\s*$", re.IGNORECASE)),
    (
        What.OPTION,
        re.compile(
            r"(?:unknown|unrecogni[sz]ed|invalid|illegal|no such|unexpected)"
            r" (?:flag|option|argument|param|parameter)s?:?(?: --)? [\"'`]?(?P<name>--?[\w-]+)",
            re.IGNORECASE,
        ),
    ),
    (
        What.COMMAND,
        re.compile(
            rf"(?:unknown|unrecogni[sz]ed|invalid|no such) (?:sub)?command:? {_NAME}(?:\s|$)",
            re.IGNORECASE,
        ),
    ),
    (What.MODULE, re.compile(r"No module named '?(?P<name>[\w.]+)'?")),
    (What.MODULE, re.compile(r"Cannot find (?:module|package) '(?P<name>[@\w./-]+)'$")),
    (What.FILE, re.compile(r"File does not exist: '(?P<name>.+)'$")),
    (
        What.FILE,
        re.compile(
            r"(?:cannot (?:access|stat|open)|can't (?:read|open)|cd:)? ?'?(?P<name>[^':]+?)'?: "
            r"No such file or directory(?: \(os error 2\))?$",
            re.IGNORECASE,
        ),
    ),
    (What.FILE, re.compile(r"no such file or directory: (?P<name>\S.*)$")),
)
_NO_PATH: Final = re.compile(r"connect|socket|errno", re.IGNORECASE)
_SLASH_OPTION: Final = re.compile(r"/[A-Za-z]{1,2}")
"""What `dir /b` becomes in a shell that takes it for a path."""


def missing(failure: Failure) -> Missing | None:
    """What a failure says is not there; None where it says something else."""
    for what, form in _FORMS:
        found = form.search(failure.line)
        if found is None or (what is What.FILE and _NO_PATH.search(failure.line)):
            continue
        name = found["name"].strip()
        if what is What.FILE and _SLASH_OPTION.fullmatch(name):
            return Missing(What.OPTION, name.lower())
        return Missing(what, name) if name else None
    return None
