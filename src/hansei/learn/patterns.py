"""Patterns of paths as agents understand them: `*` in one name, `**` over folders, `{a,b}`."""

from __future__ import annotations

import re
from functools import cache

PLAIN = re.compile(r"[\w./*?{},@+ ()\[\]-]{1,200}")
"""Patterns that may stand in a header: nothing that YAML or a shell would take for its own."""
_SIGN = re.compile(r"\*\*/?|\*|\?|\{[^{}]*\}|.", re.DOTALL)


@cache
def expression(pattern: str) -> re.Pattern[str]:
    """What a pattern means; one without a slash means a name anywhere, a folder all in it."""
    bare = pattern.removeprefix("./")
    if bare.endswith("/"):
        bare += "**"
    if "/" not in bare:
        bare = f"**/{bare}"
    return re.compile("".join(map(_told, _SIGN.findall(bare))), re.DOTALL)


def _told(sign: str) -> str:
    if sign == "**/":
        return "(?:.*/)?"
    if sign == "**":
        return ".*"
    if sign == "*":
        return "[^/]*"
    if sign == "?":
        return "[^/]"
    if len(sign) > 1 and sign[0] == "{":
        choices = sign[1:-1].split(",")
        return f"(?:{'|'.join(''.join(map(_told, _SIGN.findall(it))) for it in choices)})"
    return re.escape(sign)


def folder_of(pattern: str) -> str:
    """The folder that everything a pattern means lies in; empty is the top."""
    parts = pattern.removeprefix("./").split("/")
    plain = []
    for part in parts[:-1]:
        if re.search(r"[*?{\[]", part):
            break
        plain.append(part)
    return "/".join(plain)


def covers_folder(pattern: str) -> bool:
    """Whether a pattern means everything in its folder, so that the folder says the same."""
    return pattern.removeprefix("./") in (f"{(folder := folder_of(pattern))}/**", f"{folder}/**/*")


def is_path(text: str) -> bool:
    """Whether what a skill names is a file or folder and no command."""
    return "/" in text and PLAIN.fullmatch(text) is not None and " " not in text


def below(path: str) -> str:
    """A pattern for a folder and everything in it."""
    return path if any(it in path for it in "*?{") else f"{path.rstrip('/')}/**"
