"""Env files, and the commands that print one: there a name need not sound like a secret.

What stands after `NAME=` in an env file is taken for a secret unless it plainly is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.redaction.values import is_harmless

if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ENV_NAME = re.compile(
    r"(?<![\w.-])(?!(?:process|meta|Deno|Bun|this|self|c|ctx|context|platform|runtime)\.env\b)"
    r"(?:[\w-]{0,64}\.env|\.envrc|\.dev\.vars)(?P<suffix>(?:\.[\w-]+)*)(?![\w.(\[/\\])"
)
_NOT_SECRET = _words(
    "example sample template tmpl dist default defaults schema md ts js mjs py d txt json yml yaml"
)
"""Endings of files that only look like env files, or that are made to be shared."""

_SHOWS = _words(
    """
    bat cat batcat cut diff egrep gc get-content git grep head hexdump less more nl od rg sed sort
    strings tac tail tee type vim xxd awk echo printf
    """
)
"""Programs that print a file, or write one from their own text."""

_INSIDE = _words("docker podman kubectl oc ssh sudo nerdctl docker-compose")
"""Programs whose last words may be another command."""

_SEPARATORS = re.compile(r"&&|\|\||[|;&\n()`]|\$\(")
_PREFIX = re.compile(
    r"""
    \A(?:\s*(?:
        (?:sudo|time|command|exec|then|do|[A-Za-z_]\w*=\S*)\s
      | (?:\S*/)?(?:bash|zsh|dash|fish|sh|pwsh|powershell)(?:\.exe)?(?:\s+-\w+)+\s+["']?
    ))*
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What may stand before the program in a simple command."""

_DUMP = re.compile(
    r"""
    printenv\b
    | env\s*(?:-0|--null)?\s*\Z
    | (?:export|declare|typeset)(?:\s+-[px]+)?\s*\Z
    | set\s*\Z
    | (?:gci|dir|ls|get-childitem)\s+env:
    | .*/proc/[^/\s]{1,20}/environ\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Commands that print all variables."""

_HINTS = ("env", "export", "declare", "typeset", "vars")
"""Without one of these there is nothing to look at more closely."""


def shows_env_file(path_or_command: str) -> bool:
    """Whether reading this path, or running this command, shows the values of an env file."""
    text = path_or_command
    if not any(word in text for word in _HINTS) and text.strip() != "set":
        return False
    if _is_env_path(text):
        return True
    return any(_shows(command) for command in _SEPARATORS.split(text))


def _is_env_path(path: str) -> bool:
    name = re.split(r"[/\\]", path.strip())[-1]
    found = _ENV_NAME.fullmatch(name)
    return found is not None and _is_secret_ending(found)


def _is_secret_ending(found: re.Match[str]) -> bool:
    return _NOT_SECRET.isdisjoint(found["suffix"].lower().split("."))


def _shows(command: str) -> bool:
    """Whether one simple command shows an env file."""
    command = _PREFIX.sub("", command).strip(" \t\r\"'")
    words = command.split(maxsplit=1)
    if not words:
        return False
    program = re.split(r"[/\\]", words[0])[-1].lower()
    if program in _INSIDE:
        return command.split()[-1] in {"env", "printenv"} or _shows_file(command)
    return bool(_DUMP.match(command)) or (program in _SHOWS and _shows_file(command))


def _shows_file(command: str) -> bool:
    return any(map(_is_secret_ending, _ENV_NAME.finditer(command)))


_LINE = re.compile(
    rb"""
    (?:^|(?<=[\0\r])|(?<=\\n))
    [ \t]{0,40}+(?:\d{1,6}[ \t]{0,8}(?:\xe2\x86\x92|[|:\t])[ \t]{0,40})?    # a line number
    (?:[^\s=:'"\\]{1,200}:(?:\d{1,6}:)?)?[+-]?[ \t]{0,40}+                # a file name, a diff mark
    (?:\#[ \t]{0,8})?(?:(?:export|set|declare[ ]-x|typeset[ ]-x)[ \t]{1,8})?
    (?P<name>[A-Za-z_][A-Za-z0-9_.]{0,127})[ \t]{0,8}=[ \t]{0,8}
    (?:
        "(?P<double>(?:[^"\\]{1,512}+|\\.){0,32}+)"
      | '(?P<single>[^']{0,8192}+)'
      | (?P<bare>(?:[^\n\r\0\\]+|\\(?!n))*+)
    )
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
_COMMENT = re.compile(rb"(?:\A# |[ \t]+#).*", re.DOTALL)

_SETTINGS = _words(
    """
    PATH HOME SHELL PWD OLDPWD LANG LANGUAGE TERM TERM_PROGRAM COLORTERM USER LOGNAME SHLVL HOSTNAME
    TMPDIR EDITOR VISUAL PAGER DISPLAY TZ NODE_ENV ENV ENVIRONMENT APP_ENV RAILS_ENV PORT HOST DEBUG
    LOG_LEVEL LOGLEVEL VIRTUAL_ENV PYTHONPATH NODE_PATH GOPATH JAVA_HOME LS_COLORS OSTYPE
    """
)
"""Names that never hold a secret."""

_WORDS = re.compile(
    r"""
    production|development|staging|testing|test|prod|dev|local|debug|info|warn|warning|error|trace
    |verbose|silent|json|text|enabled|disabled|localhost|memory|redis|postgres|postgresql|mysql|sqlite
    |mongodb|smtp|console|file|log|us-(?:east|west)-\d|eu-(?:west|central|north)-\d
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PLAIN_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[\w.-]+(?::\d+)?/?\Z", re.IGNORECASE)
_LOCAL_URL = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal)"
    r"(?::\d+)?(?:[/?][^@]*)?\Z",
    re.IGNORECASE,
)


def env_values(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the values are that the lines of an env file give, but for the plainly harmless."""
    for line in _LINE.finditer(text):
        group = line.lastgroup or "bare"
        value = line[group]
        if group == "bare":
            value = _COMMENT.sub(b"", value).rstrip()
        if value and not _is_plain(line["name"].decode(), value.decode("utf-8", "replace")):
            start = line.start(group)
            yield start, start + len(value)


def _is_plain(name: str, value: str) -> bool:
    if name in _SETTINGS or name.startswith(("LC_", "XDG_")) or _WORDS.fullmatch(value):
        return True
    if "://" in value:
        return bool(_PLAIN_URL.match(value) or _LOCAL_URL.match(value))
    return is_harmless(value)
