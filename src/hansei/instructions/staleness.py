"""Paths, commands and packages that a text names, as far as a repository could tell of them.

Only names that could be checked are taken: no patterns, placeholders, addresses or places outside
the repository, and nothing of a sentence that tells itself that something is gone, was once, is to
be made, or is an example. Whether a name is stale is for `departures` to find. Everything here is
pure.
"""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.hook import places
from hansei.instructions.sentences import SILENT, parts, sentence_spans
from hansei.instructions.statements import own_text, read
from hansei.projection.commands.parsing import parse
from hansei.projection.commands.rivals import families

if TYPE_CHECKING:
    from collections.abc import Iterator


class Kind(StrEnum):
    """What is named."""

    PATH = "path"
    COMMAND = "command"
    PACKAGE = "package"


class Named(NamedTuple):
    """A name in a text."""

    kind: Kind
    name: str
    path: str
    line: int
    text: str
    """The sentence, or the line of code, it stands in."""
    runner: str = ""
    """Of a command: the program that looks it up, such as make or npm."""


_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_DENIED: Final = re.compile(r"\b(?:no|not|without|neither|nor)\s+(?:an? )?`[^`]*`", re.IGNORECASE)
"""What a sentence says is not there."""
_ELSEWHERE: Final = re.compile(r"\[[^\]]*\]\(<?[a-z]+://[^)]*\)", re.IGNORECASE)
"""A link out of the repository, and the name it is given."""
_LINK: Final = re.compile(r"\]\(<?([^)\s>#]+)[^)]*\)")
_BARE: Final = re.compile(r"(?<![\w/.:@~-])((?:\.?[\w-]+/)+[\w.-]*\.[A-Za-z]\w{0,5})(?![\w/(])")
_PATH: Final = re.compile(r"(?:\./)?(?:[\w.@+()\[\]-]+/)*[\w.@+()\[\]-]+/?")
_ENDING: Final = re.compile(r"\.[A-Za-z][\w]{0,9}$")
_LINE_NUMBER: Final = re.compile(r":\d+(?:-\d+)?$|#L\d+.*$")
_MADE_UP: Final = re.compile(
    r"(?:^|[/._-])(?:foo|bar|baz|qux|example|examples?|sample|your|my|some|xxx+|path|to|name|file"
    r"|yyyy|nnn+|dir|folder|module|feature|component)(?=$|[/._-])|\.\.\.|…|^\.\.?$",
    re.IGNORECASE,
)
_OTHER_TIME: Final = re.compile(
    r"\b(?:removed?|deleted?|legacy|deprecated|obsolete|renamed?|moved|replaced|formerly|was|were"
    r"|used to|migrated|old|archived?|created?|creates|creating|generated?|generates|example|e\.g"
    r"|such as|like|output|outputs|saved?|writes? to|written to|added|adds|adding|implemented"
    r"|new (?:file|folder|director|module|test)\w*"
    r"|fixed|updated|changed|introduced|refactored|modified|extracted|completed|instead of|gone"
    r"|if (?:present|it exists|exists|available)|when present|optional|future|planned|will be"
    r"|has been|have been|once|previously|originally|historical\w*|not exist|missing|no longer"
    r"|merged|branch|todo|cloned?|checked out|download\w*|symlink\w*"
    r"|delete|deleting|removes|removing|rename|outdated|ignored|gitignored)\b"
    r"|✅|❌|\[x\]|~~|\b20\d\d-\d\d",
    re.IGNORECASE,
)
"""What a sentence says of another time than now, or of what need not be there."""
_SHELL: Final = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?:bash|sh|shell|zsh|console|terminal|fish)?\s*$")
_PROMPT: Final = re.compile(r"^\s*(?:[$>%]\s+)?")
_COMMENT: Final = re.compile(r"\s+#\s.*$")
_AFTER_HASH: Final = re.compile(r"#.*")
_PACKAGE: Final = re.compile(r"(?:@[\w.-]+/)?[A-Za-z][\w.-]*")
_TARGET: Final = re.compile(r"[A-Za-z][\w.:-]*")
TARGET_RUNNERS: Final = frozenset(("make", "just", "task"))
_OWN_VERBS: Final = frozenset(
    [
        "install",
        "i",
        "ci",
        "add",
        "remove",
        "rm",
        "uninstall",
        "update",
        "upgrade",
        "up",
        "publish",
        "pack",
        "link",
        "unlink",
        "init",
        "create",
        "exec",
        "x",
        "dlx",
        "run",
        "run-script",
        "config",
        "cache",
        "why",
        "ls",
        "list",
        "info",
        "audit",
        "outdated",
        "login",
        "logout",
        "version",
        "whoami",
        "start",
        "stop",
        "restart",
        "test",
        "t",
        "pm",
        "workspace",
        "workspaces",
        "set",
        "import",
        "dedupe",
        "prune",
        "rebuild",
        "view",
        "help",
        "build",
    ]
)
"""What a package manager does itself, whatever the scripts are."""


_RUNS: Final = re.compile(rf"\b(?:{'|'.join(sorted({*TARGET_RUNNERS, *families()}))})\b")
_FILLED_IN: Final = re.compile(r"[<{*…]|\.\.\.")


def named_in(path: str, content: str) -> list[Named]:
    """Everything that a text names and a repository may know, in its order, each once a line."""
    found: dict[Named, None] = {}
    heading = ""
    for part in parts(own_text(content)):
        if part.text.lstrip().startswith("#"):
            heading = part.text
        elif part.text.lstrip().startswith(("```", "~~~")):
            found |= dict.fromkeys(_in_code(path, part.line, part.text))
        elif not SILENT.match(part.text) and not _is_of_another_time(f"{heading} {part.text}"):
            for line, sentence in sentence_spans(part):
                found |= dict.fromkeys(_in_sentence(path, line, sentence))
    return list(found)


def _is_of_another_time(text: str) -> bool:
    return _OTHER_TIME.search(_CODE.sub(" ", text)) is not None


def _in_sentence(path: str, line: int, text: str) -> Iterator[Named]:
    here = _ELSEWHERE.sub(" ", text)
    spans = _CODE.findall(_DENIED.sub(" ", here))
    for span in spans:
        for it in _paths_in(span):
            yield Named(Kind.PATH, it, path, line, text)
        for runner, it in commands_in(span):
            yield Named(Kind.COMMAND, it, path, line, text, runner)
    bare = _CODE.sub(" ", here)
    for it in (*_LINK.findall(bare), *_BARE.findall(_LINK.sub(" ", bare))):
        if checkable(it):
            yield Named(Kind.PATH, tidy(it), path, line, text)
    packages = [it for it in spans if _PACKAGE.fullmatch(it) and not _ENDING.search(it)]
    told = read(text).meanings if packages else ()
    if any(it.is_directive for it in told) and not any(it.forbids for it in told):
        for it in packages:
            yield Named(Kind.PACKAGE, it, path, line, text)


def _in_code(path: str, line: int, text: str) -> Iterator[Named]:
    """Commands of a block of shell; a drawing of folders or another language holds none."""
    first, *lines = text.split("\n")
    if not _SHELL.match(first):
        return
    for number, raw in enumerate(lines, line + 1):
        plain = _COMMENT.sub("", _PROMPT.sub("", raw))
        if not _is_of_another_time("".join(_AFTER_HASH.findall(raw))):
            for runner, it in commands_in(plain):
                yield Named(Kind.COMMAND, it, path, number, raw.strip(), runner)


def _paths_in(span: str) -> Iterator[str]:
    words = span.split()
    if len(words) == 1:
        yield from (tidy(it) for it in words if checkable(it))
    elif words and re.fullmatch(r"[a-z][\w.-]*", words[0]):
        yield from (
            tidy(it) for it in words[1:] if "/" in it and _ENDING.search(it) and checkable(it)
        )


def tidy(path: str) -> str:
    """A path without `./`, a trailing slash or the number of a line."""
    return posixpath.normpath(_LINE_NUMBER.sub("", path)).removeprefix("./")


def checkable(path: str) -> bool:
    """Whether a word is the path of one file or folder that could be in the repository."""
    plain = _LINE_NUMBER.sub("", path)
    if _PATH.fullmatch(plain) is None or _MADE_UP.search(plain) or plain.startswith(("@", "-")):
        return False
    if "://" in path or plain.startswith(("http", "www.")) or plain.strip("./").isdigit():
        return False
    if plain.partition("/")[0] in places.AGENT_FOLDERS:
        return False
    return "/" in plain or _ENDING.search(plain) is not None


@lru_cache(maxsize=4096)
def commands_in(text: str) -> tuple[tuple[str, str], ...]:
    """Scripts, targets and recipes that a piece of code runs, each with who looks it up."""
    if _RUNS.search(text) is None or _FILLED_IN.search(text) is not None:
        return ()
    script = parse(text)
    if not script.parsed:
        return ()
    told = ((it.program, it.subcommand or "") for it in script.commands)
    return tuple(it for it in (_looked_up(*command) for command in told) if it is not None)


def _looked_up(program: str, subcommand: str) -> tuple[str, str] | None:
    first, _, second = subcommand.partition(" ")
    if program in TARGET_RUNNERS and first and _TARGET.fullmatch(first):
        return program, first
    if "npm" not in families().get(program, "").split("|"):
        return None
    name = second if first in ("run", "run-script") else "" if first in _OWN_VERBS else first
    return ("npm", name) if name and _TARGET.fullmatch(name) and "." not in name else None
