"""Which shell commands bring in text from elsewhere, and where they put it.

A command is judged by what it is told to do, not by what it printed: `curl` to this machine's own
server fetches nothing foreign, and `gh` always does. What is brought in may lie in a file until
somebody reads it, so the files are told too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.learn.labels import packages
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.commands.model import Command, Script

FETCHERS = frozenset(
    (
        "curl", "wget", "http", "https", "xh", "aria2c", "lynx", "w3m", "links", "elinks",
        "fetch", "nc", "ncat", "telnet", "ftp", "sftp", "gh", "glab", "hub", "ssh", "scp",
        "iwr", "irm", "Invoke-WebRequest", "Invoke-RestMethod", "yt-dlp", "trafilatura", "dig",
        "huggingface-cli", "kaggle", "gsutil", "rclone",
    )
)  # fmt: skip
"""Programs whose output is what somebody else wrote."""

_QUERIES: dict[str, frozenset[str]] = {
    "git": frozenset(("clone", "ls-remote", "fetch", "pull", "submodule", "remote show")),
    "npm": frozenset(("view", "info", "show", "v", "search", "s", "se", "docs", "repo", "audit")),
    "pnpm": frozenset(("view", "info", "show", "search", "audit")),
    "yarn": frozenset(("info", "npm", "audit")),
    "bun": frozenset(("info",)),
    "pip": frozenset(("download", "index", "search")),
    "pip3": frozenset(("download", "index", "search")),
    "uv": frozenset(("pip download",)),
    "cargo": frozenset(("search", "info")),
    "gem": frozenset(("search", "fetch", "specification")),
    "brew": frozenset(("info", "search", "home")),
    "apt": frozenset(("show", "search", "changelog")),
    "apt-cache": frozenset(("show", "search")),
    "docker": frozenset(("search", "pull")),
    "go": frozenset(("mod download",)),
    "composer": frozenset(("show", "search")),
    "aws": frozenset(("s3 cp", "s3 sync")),
}
"""Subcommands that print or bring what a registry or another repository holds.

Installing is not among them: what it brings lies in folders that count as foreign anyway.
"""

_INSTALLING: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"), frozenset(("", "install", "i", "ci", "add", "update"))
    ),
    **dict.fromkeys(("pip", "pip3", "pipx", "gem", "brew", "composer"), frozenset(("install",))),
    "poetry": frozenset(("install", "add", "update")),
    "uv": frozenset(("sync", "add", "pip install", "tool install")),
    "cargo": frozenset(("install", "add")),
    "apt": frozenset(("install",)),
    "apt-get": frozenset(("install",)),
}
"""Subcommands while which a package may print what it likes."""

_HERE = re.compile(
    r"(?:https?://)?(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal"
    r"|[\w-]+\.(?:local|test|localhost))(?::|/|$)",
    re.IGNORECASE,
)
_HOST = re.compile(r"^(?:https?|ftp|git|ssh)://|^[\w.-]+@[\w.-]+:|^[\w-]+(?:\.[\w-]+)+(?:[:/]|$)")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s'\"`)<>\]]+")
_INTERPRETERS = frozenset(
    ("python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "pwsh", "powershell")
)
_IN_CODE = re.compile(
    r"\brequests\.(?:get|post|request|Session)|\burllib\b|\burlopen\(|\bhttpx\.|\baiohttp\b"
    r"|\bhttp\.client\b|\bfetch\(\s*['\"`]https?:|\baxios\b|\bhttps?\.get\(|\bNet::HTTP\b"
    r"|\bLWP::|\bfile_get_contents\(\s*['\"]https?:"
)
_NAMED = re.compile(
    r"(?:^|[\s;&|(`$])(?:sudo\s+)?(curl|wget|gh|glab|ssh|scp|http|xh|lynx|w3m)(?=\s)"
)
_RUNS_PACKAGES = re.compile(
    r"\b(?:(?:npm|pnpm|yarn|bun) (?:exec|dlx|x)|uv tool run|uv run .*--with|deno run .*npm:)\b"
)
_TO_FILE = frozenset(("-o", "--output", "-O", "--output-document", "-OutFile"))


class Fetched(NamedTuple):
    """A command that brings in foreign text."""

    program: str
    files: tuple[str, ...]
    """Where it put it, besides what it printed."""


def fetched(script: Script, text: str) -> Fetched | None:
    """The first command of a call that brings in text from elsewhere; None if none does."""
    found = next((it for it in script.commands if fetches(it)), None)
    if found is not None:
        return Fetched(_said(found), tuple(_files(script)))
    if any(it.program in _INTERPRETERS for it in script.commands) and _IN_CODE.search(text):
        if all(map(_HERE.match, addresses := _ADDRESS.findall(text))) and addresses:
            return None
        program = next(it.program for it in script.commands if it.program in _INTERPRETERS)
        return Fetched(program, tuple(_files(script)))
    if not script.parsed and (named := _NAMED.search(text)):
        return Fetched(named[1], ())
    return None


def fetches(command: Command) -> bool:
    """Whether a command brings in text from another machine."""
    program, subcommand = command.program, command.subcommand or ""
    if program in _QUERIES:
        asked = _QUERIES[program]
        words = subcommand.split()
        return any(" ".join(words[:n]) in asked for n in (1, 2) if len(words) >= n)
    if program not in FETCHERS:
        return False
    hosts = [it for it in command.targets if _HOST.match(it) or _HERE.match(it)]
    return not (hosts and all(map(_HERE.match, hosts)))


def brings_code(text: str) -> bool:
    """Whether a command brings in what others wrote, a package or something at an address.

    Such a fix is right only where the name is: who repeats it should look at that first.
    """
    return (
        not all(map(_HERE.match, _ADDRESS.findall(text)))
        or _RUNS_PACKAGES.search(text) is not None
        or any(fetches(it) or packages(it) for it in parse(text).commands)
    )


def installs(command: Command) -> bool:
    """Whether a command lets packages speak: what they print while they are installed is theirs."""
    asked = _INSTALLING.get(command.program, frozenset())
    words = (command.subcommand or "").split()
    return any(" ".join(words[:n]) in asked for n in (1, 2) if len(words) >= n) or (
        not words and "" in asked and not command.targets
    )


def _said(command: Command) -> str:
    first = (command.subcommand or "").split()[:1]
    return " ".join((command.program, *first)) if command.program in _QUERIES else command.program


def _files(script: Script) -> Iterator[str]:
    """Files that a call with a fetching command may have filled."""
    for command in script.commands:
        yield from (write.path for write in command.writes)
        if not fetches(command):
            continue
        for option in command.arguments.options:
            if option.name in _TO_FILE and option.value is not None:
                yield option.value.text
        yield from _cloned(command)


def _cloned(command: Command) -> Iterator[str]:
    """The folder or file that a command makes of an address."""
    copies = (command.subcommand or "").split()[-1:] == ["clone"]
    named = command.program in ("curl", "wget") and {"-O", "--remote-name"} & set(command.flags)
    plain = command.program == "wget" and not {"-O", "--output-document"} & set(command.flags)
    if not (copies or named or plain) or not command.targets:
        return
    folder = f"{command.directory}/" if command.directory else ""
    if copies and len(command.targets) > 1:
        yield f"{folder}{command.targets[1]}"
    else:
        last = command.targets[0].rstrip("/").rpartition("/")[2]
        yield f"{folder}{last.removesuffix('.git')}"
