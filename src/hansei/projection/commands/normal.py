"""Two short forms of a command: one to show, one to match across sessions.

`shown` is what a person would call it: `go test`, `curl <url>`. `normal` keeps what makes one run
like another and drops what differs by chance: where a worktree lies, temporary names, numbers,
messages, the order of options. What it drops it names (`{n}`, `{text}`), in signs that mean
nothing to a shell, so that the normal form of a normal form is itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.commands import paths, programs
from hansei.projection.commands.bash import KEYWORDS
from hansei.projection.commands.roles import Role, roles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.commands.arguments import Arguments, Option
    from hansei.projection.commands.model import Command, Script
    from hansei.projection.commands.syntax import Word

_URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_SECRET = re.compile(r"\[secret:[^\]\s]*\]")
_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")
_TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm)(?:/.*)?"
    r"|[A-Z]:/(?:Users/[^/]+/AppData/Local/Temp|Windows/Temp|tmp|temp)(?:/.*)?"
    r"|\$env:(?:TEMP|TMP)\b.*|%(?:TEMP|TMP)%.*"
    r"|(?-i:\$\{?(?:TMPDIR|TEMP|TMP)\b).*",
    re.IGNORECASE | re.DOTALL,
)
"""A variable named `$tmp` is the script's own, and may be anything."""
_CONTROL = re.compile(r"[^\S ]|[\x00-\x1f\x7f]")
_FOLDER = re.compile(r"[\w.@+-]+(?:/[\w.@+-]+)*/")
_LONG_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_SPACED_PATH = re.compile(
    r"(?:[A-Za-z]:|~|\.{1,2})?[\\/][\w .,@()+\\/-]*\w[\\/]?"
    r"|[\w.@+-][\w .@+-]*(?:[\\/][\w .@+-]+)+\.\w{1,5}"
)
"""What is a path in spite of spaces in it."""
_HOME = re.compile(r"(?:/home/[^/]+|/Users/[^/]+|/root|[A-Z]:/Users/[^/]+)(?=/|$)")
_NUMBERS = re.compile(r"[+-]?\d[\d.,:;$+-]*(?:[a-zA-Z%]|p;?)?(?:\d[\d.,;$+-]*p?;?)*")
_DIGITS = re.compile(r"\d+(?:\.\d+)*")
_VERSION = re.compile(r"(?<=[=@:~^#])v?\d+(?:\.\d+)*(?:[.-][\w.]+)?(?=$|[,:/])")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_HASH = re.compile(r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}\b")
_BARE = re.compile(r"(?:[\w./:@%+,=~^-]|\{(?:n|text|tmp|url|hash|id|secret|value)\})+")
_VARIABLES = re.compile(r"(?:[\w./:@%+,=~-]|\$\w+|\$\{\w+\}|\{value\})+")
_CMDLETS = frozenset(programs.CMDLETS.values())
_PROGRAM = re.compile(r"[\w./+-]+")
_RUNS_FILES = frozenset(
    ("python", "node", "tsx", "ts-node", "deno", "bun", "ruby", "perl", "php", "bash", "sh", "zsh")
)


def shown(command: Command) -> str:
    """What a person would call it: program, subcommand, and that it speaks to a URL."""
    parts = [command.program, command.subcommand or ""]
    if any(_URL.match(target) for target in command.targets):
        parts.append("<url>")
    elif command.program in _RUNS_FILES and command.targets and not command.subcommand:
        name = command.targets[0].replace("\\", "/").rsplit("/", 1)[-1]
        parts.append(name if "." in name and not _SPACE.search(name) else "")
    return " ".join(" ".join(parts).split())


def shown_call(script: Script) -> str:
    """What a person would call the whole call."""
    return "" if script.main is None else shown(script.commands[script.main])


def normal_call(script: Script, roots: Sequence[str] = ()) -> str:
    """The normal forms of what the call is about, without `cd`, `echo` and filters."""
    telling = [
        command
        for command in script.commands
        if not command.inside
        and command.program not in programs.FILLERS
        and not (command.stage and command.program in programs.FILTERS)
    ]
    if not telling and script.main is not None:
        telling = [script.commands[script.main]]
    forms = dict.fromkeys(normal(command, roots) for command in telling)
    return " && ".join(forms)


def normal(command: Command, roots: Sequence[str] = ()) -> str:
    """The form by which the same command is known in another session.

    `roots` are folders that paths are told from, such as the session's worktree.
    """
    given = command.arguments
    head = [_name(given.program), given.subcommand or ""]
    family = programs.SAME.get(given.program, given.program)
    writer = _Writer(family, roots, roles(given))
    if _keeps_order(given, family):
        named = {id(word) for word in given.named}
        body = [writer.as_it_stands(word) for word in given.words[1:] if id(word) not in named]
        return " ".join(part for part in (*head, *body) if part)
    options = sorted({writer.option(option) for option in _telling(given, family)})
    before, after = given.targets[: given.rest], given.targets[given.rest :]
    words = [writer.word(word) for word in before]
    if after:
        words += ["--", *(writer.word(word) for word in after)]
    return " ".join(part for part in (*head, *options, *words) if part)


def _keeps_order(given: Arguments, family: str) -> bool:
    """Whether words may mean something else in another order.

    An option nobody taught us may hold the word that follows it.
    """
    pair = (given.program, given.subcommand or "")
    if family in programs.ORDERED or pair in programs.ORDERED_SUBCOMMANDS:
        return True
    if not given.targets or not given.options:
        return False
    if given.program in programs.WINDOWS_SWITCHES or given.program in _CMDLETS:
        return False
    if family not in programs.VALUED and family not in programs.CLUSTERED:
        return True
    targets = {id(word) for word in given.targets[: given.rest]}
    return any(
        word.text.startswith("--") and id(following) in targets and _may_hold(word.text)
        for word, following in pairwise(given.words)
    )


def _may_hold(option: str) -> bool:
    return "=" not in option and option not in programs.SWITCHED and option[:5] != "--no-"


def _telling(given: Arguments, family: str) -> Iterator[Option]:
    """Options but those that only say in which folder to work."""
    folders = programs.FOLDER_OPTIONS.get(family, frozenset())
    return (option for option in given.options if option.name not in folders)


class _Writer(NamedTuple):
    """How the words of one command are written."""

    family: str
    roots: Sequence[str]
    roles: dict[int, Role]

    def word(self, word: Word) -> str:
        return _word(word, self.roots, self.roles.get(id(word), Role.OTHER), self.family)

    def as_it_stands(self, word: Word) -> str:
        """A word in its place, an option with its value."""
        name, equals, value = word.text.partition("=")
        if equals and _LONG_OPTION.fullmatch(name):
            return f"{name}={self.word(word._replace(text=value))}"
        return self.word(word)

    def option(self, option: Option) -> str:
        name, family = option.name, self.family
        if family in ("head", "tail") and name[1:].isdigit():
            return "-n {n}"
        if not (family in programs.CLUSTERED and name[1:].isdigit()):
            name = _quoted(_spaceless(_DIGITS.sub("{n}", name) if name[1:].isdigit() else name))
        if option.value is None:
            return name
        return f"{name}{self._joint(option)}{self.word(option.value)}"

    def _joint(self, option: Option) -> str:
        if option.name.startswith("/"):
            return " " if option.name in programs.VALUED.get(self.family, ()) else ":"
        joined = option.name.startswith("--") or option.name not in programs.VALUED.get(
            self.family, ()
        )
        return " " if self.family in _CMDLETS or not joined else "="


def _name(program: str) -> str:
    if _SPACE.search(program):
        return "'{text}'"
    if _PROGRAM.fullmatch(program) and program not in KEYWORDS:
        return program
    return _in_quotes(program)


def _word(word: Word, roots: Sequence[str], role: Role, family: str) -> str:
    text = _SECRET.sub("{secret}", word.text)
    pattern = role is Role.PATTERN
    if not pattern:
        if _URL.fullmatch(text):
            return "{url}"
        if _TEMPORARY.fullmatch(paths.spelled(text)):
            return "{tmp}"
    if _is_text(text, role):
        return "{text}"
    if not word.literal:
        return text if _VARIABLES.fullmatch(text) else "{value}"
    if _NUMBERS.fullmatch(text):
        return _quoted(_DIGITS.sub("{n}", text))
    if not pattern:
        text = _path(text, roots, role, family)
    if _is_text(text, role):
        text = f"./{text}" if _SPACED_PATH.fullmatch(f"./{text}") else "{text}"
    text = _HASH.sub("{hash}", _ID.sub("{id}", text))
    return _quoted(_VERSION.sub("{n}", text))


def _is_text(text: str, role: Role) -> bool:
    """Whether a word is prose rather than a name."""
    if not _SPACE.search(text):
        return False
    if role is Role.FILE:
        return _CONTROL.search(text) is not None
    return _CONTROL.search(text) is not None or not _SPACED_PATH.fullmatch(text)


def _path(text: str, roots: Sequence[str], role: Role, family: str) -> str:
    """A path from its root, from the home folder, or as it is."""
    tops = _tops(tuple(roots))
    windows = any(top[1:2] == ":" for top in tops)
    if role is Role.FILE and windows and "\\" in text:
        text = paths.spelled(text)
    # A lone backslash in front begins an expression more often than the path of a drive.
    if not paths.is_absolute(text) or (text[:1] == "\\" and text[:2] != "\\\\"):
        return _relative(text, role, family)
    whole = paths.spelled(text, windows=windows).rstrip("/") or "/"
    for top in tops:
        if paths.same(whole, top):
            return "."
        if paths.same(whole[: len(top) + 1], f"{top}/"):
            return whole[len(top) + 1 :]
    home = _HOME.match(whole)
    return f"~{whole[home.end() :]}" if home else whole


@lru_cache(maxsize=64)
def _tops(roots: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(paths.tidy(paths.spelled(root)) for root in roots)


def _relative(text: str, role: Role, family: str) -> str:
    """Without the `./` before it and the `/` behind it, which say nothing."""
    if role is Role.NAME:
        return text
    bare = text.removeprefix("./")
    if bare[:1] in ("", "-", "~", "/", "\\") or (_is_text(bare, role) and bare != text):
        bare = text
    ends = role is Role.FILE or _FOLDER.fullmatch(bare)
    if bare.endswith("/") and ends and family not in programs.MINDS_SLASHES:
        bare = bare.rstrip("/")
    return bare


def _spaceless(text: str) -> str:
    return "{text}" if _SPACE.search(text) else text


def _quoted(text: str) -> str:
    """As a shell would read it back."""
    return text if _BARE.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"
