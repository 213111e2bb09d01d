"""Env files, and the commands that print one: there a name need not sound like a secret.

What stands after `NAME=` in an env file is taken for a secret unless it plainly is not. A command
that names an env file is taken to show it unless its program only moves files about.
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

_SILENT = _words(
    """
    touch cp mv ln rm mkdir ls ll stat test [ [[ chmod chown find fd wc du file realpath readlink
    dirname basename cd pushd source . rsync scp install unlink shred trash copy-item move-item
    remove-item test-path new-item del copy move
    """
)
"""Programs that name a file without printing what is in it."""

_PASSING_ON = ("xargs", "-exec")
"""With one of these in the command, what a silent program finds is given to another one."""

_GIT_SHOWS = _words("diff show log grep blame cat-file stash apply format-patch")
"""What of git prints files."""

_PRINTERS = _words("echo printf write-output write-host")
"""Programs that print their own words: these show values only where they assign some."""

_INSIDE = _words("docker podman kubectl oc ssh sudo nerdctl docker-compose")
"""Programs whose last words may be another command."""

_SEPARATORS = re.compile(r"&&|\|\||[|;&\n()`]|\$\(")
_PREFIX = re.compile(
    r"""
    \A(?:\s*(?:
        (?:sudo|time|command|exec|then|do|if|elif|while|until|else|!|[A-Za-z_]\w*=\S*)\s
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
    | (?:docker|podman|nerdctl)(?:\s+|-)compose\b.*\sconfig\b
    | (?:docker|podman|nerdctl)\s+(?:container\s+)?inspect\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Commands that print all variables."""

_DOCUMENT = re.compile(
    r"\b(?:cat|tee)\b[^\n|]{0,400}?<<-?[ \t]{0,4}['\"\\]?(?P<end>\w{1,64})[^\n|]{0,400}\Z"
)
"""The line before a text that is written to a file or made an argument, and not run."""

_HINTS = re.compile("env|export|declare|typeset|vars|compose|inspect")
"""Without one of these there is nothing to look at more closely."""


def shows_env_file(path_or_command: str) -> bool:
    """Whether reading this path, or running this command, shows the values of an env file."""
    text = path_or_command
    if _HINTS.search(text) is None and text.strip() != "set":
        return False
    if _is_env_path(text):
        return True
    if "<<" in text:
        text = "\n".join(_without_documents(text))
    passed_on = any(word in text for word in _PASSING_ON)
    return any(_shows(command, passed_on=passed_on) for command in _SEPARATORS.split(text))


def _without_documents(command: str) -> Iterator[str]:
    """The lines of a command but for the texts it writes down."""
    end = ""
    for line in command.split("\n"):
        if not end:
            yield line
            found = _DOCUMENT.search(line)
            end = found["end"] if found else ""
        elif line.lstrip().startswith(end):
            yield line
            end = ""


_SPACE = re.compile(r"\s")
_WILDCARDS = re.compile(r"\.?[*?{}\[\],!]+")


def _is_env_path(path: str) -> bool:
    """Whether a path, or a pattern for paths such as `.env*`, is that of an env file."""
    name = re.split(r"[/\\]", path.strip())[-1]
    names = [name] if _SPACE.search(name) else [name, *_WILDCARDS.sub(" ", name).split()]
    return any(
        found is not None and _is_secret_ending(found) for found in map(_ENV_NAME.fullmatch, names)
    )


def names_env_file(text: str) -> bool:
    """Whether a text has the path of an env file in it."""
    return "env" in text and _shows_file(text)


def _is_secret_ending(found: re.Match[str]) -> bool:
    return _NOT_SECRET.isdisjoint(found["suffix"].lower().split("."))


def _shows(command: str, *, passed_on: bool) -> bool:
    """Whether one simple command shows an env file."""
    command = _PREFIX.sub("", command).strip(" \t\r\"'")
    words = command.split(maxsplit=1)
    if not words:
        return False
    program = re.split(r"[/\\]", words[0])[-1].lower()
    if program in _INSIDE and (command.split()[-1] in {"env", "printenv"} or _shows_file(command)):
        return True
    if _DUMP.match(command):
        return True
    if not _shows_file(command) or (program in _SILENT and not passed_on):
        return False
    if program == "git":
        return not _GIT_SHOWS.isdisjoint(command.split())
    return program not in _PRINTERS or "=" in command


def _shows_file(command: str) -> bool:
    return any(map(_is_secret_ending, _ENV_NAME.finditer(command)))


_LINE = re.compile(
    rb"""
    (?:^|(?<=[\0\r])|(?<=\\n)|(?<=tool:[ ]"))(?:<[a-z][a-z-]{0,40}>)?
    [ \t]{0,40}+(?:\d{1,6}[ \t]{0,8}(?:\xe2\x86\x92|[|:\t])[ \t]{0,40})?    # a line number
    (?:(?P<file>[^\s=:'"\\]{1,200})(?::(?:\d{1,6}:)?|-\d{1,6}-))?[+-]?[ \t]{0,40}+  # a diff mark
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
_ENTRY = re.compile(
    rb"""
    ^[ ]{2,40}(?P<setting>[A-Z][A-Z0-9_]{1,127}):[ ]{1,4}(?!["'|>\s])(?P<yaml>[^\n\r]{1,8192})
    | (?<![A-Za-z0-9_])(?P<field>[A-Z][A-Z0-9_]{1,127})\\?["']?[ ]{0,4}:[ ]{0,4}
      (?:\\?"(?P<double>[^"\\\n]{1,8192})\\?"|'(?P<single>[^'\\\n]{1,8192})')
    | ["'](?P<variable>[A-Za-z_][A-Za-z0-9_]{0,127})=(?P<item>[^"'\\\n]{1,8192})["']
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A variable as YAML, JSON, or a program that prints its variables writes it."""

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
        yield from _value_of_line(line)
    for entry in _ENTRY.finditer(text):
        group = entry.lastgroup or "item"
        name = entry["setting"] or entry["field"] or entry["variable"]
        if not _is_plain(name.decode(), entry[group].decode("utf-8", "replace")):
            yield entry.span(group)


def _value_of_line(line: re.Match[bytes]) -> Iterator[tuple[int, int]]:
    group = line.lastgroup or "bare"
    value = line[group]
    if group == "bare":
        value = _COMMENT.sub(b"", value).rstrip()
    if value and not _is_plain(line["name"].decode(), value.decode("utf-8", "replace")):
        start = line.start(group)
        yield start, start + len(value)


ENV_LITERALS = (".env", ".dev.vars")
"""What stands in the path of every env file."""

_LINE_REACH = 260
"""How far before its last part a path may begin."""

_TO_LINE_START = re.compile(rb"(?:.*(?:[\0\r\n]|\\n))?", re.DOTALL)


def env_line(text: bytes, position: int) -> tuple[int, int] | None:
    """Where the value is in a line that begins with an env file's path, as searches print it."""
    before = _TO_LINE_START.match(text, max(0, position - _LINE_REACH), position)
    line = _LINE.match(text, before.end()) if before else None
    if line is None or not line.start("file") <= position < line.end("file"):
        return None
    if not _is_env_path(line["file"].decode("utf-8", "replace")):
        return None
    return next(_value_of_line(line), None)


def _is_plain(name: str, value: str) -> bool:
    if name in _SETTINGS or name.startswith(("LC_", "XDG_")) or _WORDS.fullmatch(value):
        return True
    if "://" in value:
        return bool(_PLAIN_URL.match(value) or _LOCAL_URL.match(value))
    return is_harmless(value)
