"""What stands before the program that a command is really about.

`sudo`, `env X=1`, `timeout 60`, `uv run` and `python -m` are taken off and remembered; `bash -lc`
and its like hand over a text that is a script of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from hansei.projection.commands.syntax import Dialect, Word


class _Wrapper(NamedTuple):
    """How many words a wrapper takes before the program."""

    valued: frozenset[str] = frozenset()
    """Options that take the next word along."""
    skipped: int = 0
    """Words of its own before the program, such as a duration."""
    assigns: bool = False


class Script(NamedTuple):
    """A text that another shell is told to run."""

    text: str
    dialect: Dialect
    options: str
    """Letters given to the shell, such as `e` for stopping at the first failure."""


class Unwrapped(NamedTuple):
    """A program with its words, and what stood before it."""

    words: tuple[Word, ...]
    wrappers: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    directory: Word | None = None
    script: Script | None = None
    fed: bool = False
    """Whether more words come from its input, as with `xargs`."""


def _takes(*options: str, skipped: int = 0, assigns: bool = False) -> _Wrapper:
    return _Wrapper(frozenset(options), skipped, assigns)


_WRAPPERS = {
    "sudo": _takes("-u", "-g", "-p", "-C", "-h", "-D", assigns=True),
    "doas": _takes("-u", "-C"),
    "env": _takes("-u", "--unset", "-C", "--chdir", assigns=True),
    "timeout": _takes("-k", "--kill-after", "-s", "--signal", skipped=1),
    "gtimeout": _takes("-k", "--kill-after", "-s", "--signal", skipped=1),
    "nice": _takes("-n"),
    "ionice": _takes("-c", "-n"),
    "stdbuf": _takes("-i", "-o", "-e"),
    "time": _takes("-f", "-o"),
    "nohup": _takes(),
    "setsid": _takes(),
    "command": _takes(),
    "builtin": _takes(),
    "exec": _takes("-a"),
    "unbuffer": _takes(),
    "caffeinate": _takes("-t"),
    "xargs": _takes("-n", "-I", "-i", "-P", "-d", "-L", "-s", "-a", "-E"),
    "winpty": _takes(),
    "dotenv": _takes("-f", "-e"),
    "npx": _takes("-p", "--package", "-c", "--cache", "--prefix", "-w", "--workspace"),
    "bunx": _takes("-p", "--package"),
    "uvx": _takes("--from", "--with", "--python", "-p"),
    "pnpx": _takes(),
    "wsl": _takes("-d", "--distribution", "-u", "--user", "--cd"),
    "xvfb-run": _takes("-n", "-s"),
}
RUNNERS = {
    ("uv", "run"): _takes(
        "--with", "--python", "-p", "--extra", "--group", "--package", "--env-file", "--project",
        "--directory", "--with-requirements", "--no-group", "--only-group", "--index",
    ),
    ("uv", "tool", "run"): _takes("--from", "--with", "--python"),
    ("poetry", "run"): _takes(),
    ("pdm", "run"): _takes(),
    ("pipenv", "run"): _takes(),
    ("hatch", "run"): _takes(),
    ("rye", "run"): _takes(),
    ("pipx", "run"): _takes("--spec"),
    ("pixi", "run"): _takes("-e"),
    ("conda", "run"): _takes("-n", "-p", "--name", "--prefix"),
    ("micromamba", "run"): _takes("-n", "-p"),
    ("npm", "exec"): _takes("-p", "--package", "-w", "--workspace"),
    ("pnpm", "exec"): _takes(),
    ("pnpm", "dlx"): _takes("--package"),
    ("yarn", "exec"): _takes(),
    ("yarn", "dlx"): _takes("-p", "--package"),
    ("bun", "x"): _takes(),
    ("bundle", "exec"): _takes(),
    ("mise", "exec"): _takes(),
    ("mise", "x"): _takes(),
    ("direnv", "exec"): _takes(skipped=1),
    ("nix", "develop"): _takes(),
}  # fmt: skip
_RUNNING = frozenset(runner[0] for runner in RUNNERS)
_NEEDS_DASHES = frozenset((("mise", "exec"), ("mise", "x"), ("nix", "develop")))
"""These name the program only after `--` or `-c`."""
_ANYWHERE = frozenset(("-C", "--dir", "--prefix", "--filter", "-F", "-w", "--workspace", "--cwd"))
"""Options of package managers that stand before their subcommand and take a word along."""

SHELLS = frozenset(("bash", "sh", "zsh", "dash", "ksh", "ash", "fish"))
POWERSHELLS = frozenset(("powershell", "pwsh"))
_PYTHON = re.compile(r"(?:python|pypy|py)(?:\d+(?:\.\d+)*)?")
_ENDING = re.compile(r"(?<=.)(?:\.(?:exe|cmd|bat))+$", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_FOLDER_OPTIONS = frozenset(("-C", "--chdir", "--directory", "--cd"))
_MOST = 8
"""Nobody stacks more than a handful; a text that does is not worth following."""


def unwrap(words: tuple[Word, ...]) -> Unwrapped:
    """Take off everything that only changes how a program is run."""
    found = Unwrapped(words)
    for _ in range(_MOST):
        if not found.words:
            break
        inner = _one_off(found)
        if inner is None:
            break
        found = inner
        if found.script is not None:
            break
    return found


@lru_cache(maxsize=1024)
def program_name(text: str) -> str:
    """The name a program is known by: no folder, no `.exe`, no version of Python."""
    name = text.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or text
    name = _ENDING.sub("", name)
    return "python" if _PYTHON.fullmatch(name) else name


def _one_off(found: Unwrapped) -> Unwrapped | None:
    words = found.words
    name = program_name(words[0].text)
    if name in SHELLS or name in POWERSHELLS or name in ("cmd", "eval"):
        script = _script(name, words)
        return None if script is None else found._replace(script=script)
    if name == "python":
        return _module(found)
    if name in _WRAPPERS:
        return _after(found, _WRAPPERS[name], name, 1)
    if name in _RUNNING:
        for runner, wrapper in RUNNERS.items():
            if name == runner[0] and (at := _subcommand_at(words, runner)):
                return _after(found, wrapper, " ".join(runner), at)
    return None


def _subcommand_at(words: tuple[Word, ...], runner: tuple[str, ...]) -> int:
    """Where the words of a runner end, or 0 where it is not this one."""
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 2 if words[at].text in _ANYWHERE else 1
    end = at + len(runner) - 1
    if tuple(word.text for word in words[at:end]) != runner[1:]:
        return 0
    rest = {word.text for word in words[end:]}
    return 0 if runner in _NEEDS_DASHES and not rest & {"--", "-c"} else end


def _after(found: Unwrapped, wrapper: _Wrapper, name: str, at: int) -> Unwrapped | None:
    words, directory = found.words, found.directory
    variables = list(found.variables)
    told, skipped = [name], wrapper.skipped
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
            break
        if text == "-m" and name in ("uv run", "xargs"):  # `uv run -m pytest`
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            at += _option(wrapper, text)
            if text in _FOLDER_OPTIONS and at <= len(words):
                directory = words[at - 1]
        elif wrapper.assigns and _ASSIGNMENT.match(text):
            variables.append(text.partition("=")[0])
            at += 1
        elif skipped:
            told.append(text)
            skipped -= 1
            at += 1
        else:
            break
    if at >= len(words):
        return None
    return found._replace(
        words=words[at:],
        wrappers=(*found.wrappers, " ".join(told)),
        variables=tuple(variables),
        directory=directory,
        fed=found.fed or name == "xargs",
    )


def _option(wrapper: _Wrapper, text: str) -> int:
    return 2 if text in wrapper.valued else 1


def _module(found: Unwrapped) -> Unwrapped | None:
    """`python -m pytest` is pytest."""
    for at, word in enumerate(found.words[1:-1], 1):
        if word.text == "-m":
            return found._replace(
                words=found.words[at + 1 :], wrappers=(*found.wrappers, "python -m")
            )
        if not word.text.startswith("-") or word.text == "-c":
            return None
    return None


def _script(name: str, words: tuple[Word, ...]) -> Script | None:
    """The text a shell is told to run, if it is told one rather than a file."""
    if name == "eval":
        return _joined(words[1:], Dialect.BASH, "")
    options = ""
    for at, word in enumerate(words[1:], 1):
        text = word.text
        if name == "cmd":
            if text.lower() in ("/c", "/k"):
                return _joined(words[at + 1 :], Dialect.POWERSHELL, "")
        elif name in POWERSHELLS:
            if text.lower() in ("-command", "-c", "/c", "/command"):
                return _joined(words[at + 1 :], Dialect.POWERSHELL, "")
        elif not text.startswith(("-", "+")):
            if words[at - 1].text not in ("-o", "+o") and not words[at - 1].text.endswith("o"):
                return None
            options += text
        elif not text.startswith("--"):
            options += text[1:]
            if "c" in text and at + 1 < len(words):
                return Script(words[at + 1].text, Dialect.BASH, options)
    return None


def _joined(words: tuple[Word, ...], dialect: Dialect, options: str) -> Script | None:
    text = " ".join(word.text for word in words)
    return Script(text, dialect, options) if text not in ("", "-") else None
