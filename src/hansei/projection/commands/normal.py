"""Two short forms of a command: one to show, one to match across sessions.

`shown` is what a person would call it: `go test`, `curl <url>`. `normal` keeps what makes one run
like another and drops what differs by chance: where a worktree lies, temporary names, numbers,
messages, the order of options. What it drops it names (`{n}`, `{text}`), in signs that mean
nothing to a shell, so that the normal form of a normal form is itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.projection.commands import paths, programs
from hansei.projection.commands.bash import KEYWORDS

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
    r"|\$\{?(?:TMPDIR|TEMP|TMP)\b.*",
    re.IGNORECASE | re.DOTALL,
)
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
_VARIABLES = re.compile(r"(?:[\w./:@%+,=~-]|\$\w+|\$\{\w+\})+")
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
    pair = (given.program, given.subcommand or "")
    if family in programs.ORDERED or pair in programs.ORDERED_SUBCOMMANDS:
        body = [_word(word, roots) for word in given.words[1:] if word not in given.named]
        return " ".join(part for part in (*head, *body) if part)
    options = sorted({_option(option, family, roots) for option in _telling(given, family)})
    before, after = given.targets[: given.rest], given.targets[given.rest :]
    words = [_word(word, roots) for word in before]
    if after:
        words += ["--", *(_word(word, roots) for word in after)]
    return " ".join(part for part in (*head, *options, *words) if part)


def _telling(given: Arguments, family: str) -> Iterator[Option]:
    """Options but those that only say in which folder to work."""
    folders = programs.FOLDER_OPTIONS.get(family, frozenset())
    return (option for option in given.options if option.name not in folders)


def _option(option: Option, family: str, roots: Sequence[str]) -> str:
    name = option.name
    if family in ("head", "tail") and name[1:].isdigit():
        return "-n {n}"
    if not (family in programs.CLUSTERED and name[1:].isdigit()):
        name = _quoted(_spaceless(_DIGITS.sub("{n}", name) if name[1:].isdigit() else name))
    if option.value is None:
        return name
    joined = option.name.startswith("--") or option.name not in programs.VALUED.get(family, ())
    return f"{name}{'=' if joined else ' '}{_word(option.value, roots)}"


def _name(program: str) -> str:
    if _SPACE.search(program):
        return "'{text}'"
    if _PROGRAM.fullmatch(program) and program not in KEYWORDS:
        return program
    return _in_quotes(program)


def _word(word: Word, roots: Sequence[str]) -> str:
    text = _SECRET.sub("{secret}", word.text)
    if _URL.fullmatch(text):
        return "{url}"
    if _TEMPORARY.fullmatch(paths.spelled(text)):
        return "{tmp}"
    if "\n" in text or (_SPACE.search(text) and not _SPACED_PATH.fullmatch(text)):
        return "{text}"
    if not word.literal:
        return text if _VARIABLES.fullmatch(text) else "{value}"
    if _NUMBERS.fullmatch(text):
        return _quoted(_DIGITS.sub("{n}", text))
    text = _path(text, roots)
    if _SPACE.search(text) and not _SPACED_PATH.fullmatch(text):
        text = f"./{text}" if _SPACED_PATH.fullmatch(f"./{text}") else "{text}"
    text = _HASH.sub("{hash}", _ID.sub("{id}", text))
    return _quoted(_VERSION.sub("{n}", text))


def _path(text: str, roots: Sequence[str]) -> str:
    """A path from its root, from the home folder, or as it is."""
    if text.startswith("./") and len(text) > 2:
        bare = text[2:]
        return text if _SPACE.search(bare) and not _SPACED_PATH.fullmatch(bare) else bare
    if not paths.is_absolute(text):
        return text
    tops = [paths.spelled(root).rstrip("/") for root in roots]
    windows = any(top[1:2] == ":" for top in tops)
    whole = paths.spelled(text, windows=windows).rstrip("/") or "/"
    for top in tops:
        if whole == top:
            return "."
        if whole.startswith(f"{top}/"):
            return whole[len(top) + 1 :]
    home = _HOME.match(whole)
    return f"~{whole[home.end() :]}" if home else whole


def _spaceless(text: str) -> str:
    return "{text}" if _SPACE.search(text) else text


def _quoted(text: str) -> str:
    """As a shell would read it back."""
    return text if _BARE.fullmatch(text) else _in_quotes(text)


def _in_quotes(text: str) -> str:
    return "'" + text.replace("'", "'\"'\"'") + "'"
