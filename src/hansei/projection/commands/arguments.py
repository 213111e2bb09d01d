"""A program's words told apart: its subcommand, its options with what belongs to them, the rest."""

from __future__ import annotations

import re
from typing import NamedTuple

from hansei.projection.commands import programs
from hansei.projection.commands.syntax import Dialect, Word
from hansei.projection.commands.wrappers import program_name

_NUMBER_OPTION = re.compile(r"[-+]\d+")
_LONE = re.compile(r"[a-z][a-z0-9]*(?:[-_:][a-z0-9]+)*")
_CLOSES = {"[": "]", "[[": "]]"}
_NONE: frozenset[str] = frozenset()


class Option(NamedTuple):
    """An option and the word that belongs to it."""

    name: str
    value: Word | None = None


class Arguments(NamedTuple):
    """What a program was called with."""

    words: tuple[Word, ...]
    """All of them as they stood, the program first."""
    program: str
    subcommand: str | None
    named: tuple[Word, ...]
    """The words that are its subcommand."""
    options: tuple[Option, ...]
    targets: tuple[Word, ...]
    rest: int
    """How many targets stood before `--`; those after it are never options."""

    def value(self, *names: str) -> str | None:
        """What the first of these options was given."""
        for option in self.options:
            if option.name in names and option.value is not None:
                return option.value.text
        return None

    def has(self, *names: str) -> bool:
        return any(option.name in names for option in self.options)


def read(words: tuple[Word, ...], dialect: Dialect) -> Arguments:
    """Tell the words of one program apart."""
    name = program_name(words[0].text) if words else ""
    switch = programs.WINDOWS_SWITCHES.get(name.lower())
    if switch and any(switch.fullmatch(word.text) for word in words[1:]):
        return _switched(name.lower(), words, switch)
    if dialect is Dialect.POWERSHELL and (cmdlet := programs.CMDLETS.get(name.lower())):
        return _cmdlet(cmdlet, words)
    family = programs.SAME.get(name, name)
    valued = programs.VALUED.get(family, _NONE)
    closed = len(words) > 1 and words[-1].text == _CLOSES.get(name)
    inner = words[1:-1] if closed else words[1:]
    options, targets, rest = _split(inner, valued, family in programs.CLUSTERED)
    if name == "docker-compose":
        targets.insert(0, Word("compose"))
    taken = _subcommand_length(family, words, targets)
    subcommand = " ".join(word.text for word in targets[:taken]) or None
    return Arguments(
        words,
        name if family != "docker" else "docker",
        subcommand,
        tuple(targets[:taken]),
        tuple(options),
        tuple(targets[taken:]),
        max(rest - taken, 0),
    )


def _subcommand_length(family: str, words: tuple[Word, ...], targets: list[Word]) -> int:
    if not targets or not _is_name(targets[0]) or family in programs.PLAIN:
        return 0
    if family not in programs.SUBCOMMANDS:
        # Of a program we do not know: a lone small word right behind it says what to do.
        return 1 if words[1] is targets[0] and _LONE.fullmatch(words[1].text) else 0
    nested = targets[0].text in programs.NESTED.get(family, _NONE)
    return 2 if nested and len(targets) > 1 and _is_name(targets[1]) else 1


def _is_name(word: Word) -> bool:
    """Whether a word can be the name of a subcommand rather than a file or a text."""
    text = word.text
    return word.literal and text[:1].isalnum() and not any(mark in text for mark in " \n/\\\"'$*;")


def _split(
    words: tuple[Word, ...], valued: frozenset[str], clustered: bool
) -> tuple[list[Option], list[Word], int]:
    options: list[Option] = []
    targets: list[Word] = []
    at = 0
    while at < len(words):
        word, at = words[at], at + 1
        text = word.text
        if text == "--":
            return options, [*targets, *words[at:]], len(targets)
        if not text.startswith("-") or text == "-" or not text.strip("-="):
            targets.append(word)
            continue
        following = words[at] if at < len(words) else None
        found, takes = _option(word, following, valued, clustered)
        options += found
        at += takes
    return options, targets, len(targets)


def _option(
    word: Word, following: Word | None, valued: frozenset[str], clustered: bool
) -> tuple[list[Option], int]:
    """The options that a word stands for, and whether the next word belongs to the last."""
    text = word.text
    if following is not None and _is_option(following):
        following = None
    if text in valued:
        return [Option(text, following)], 1 if following is not None else 0
    name, equals, value = text.partition("=")
    if equals:
        return [Option(name, word._replace(text=value))], 0
    if _NUMBER_OPTION.fullmatch(text) or text.startswith("--") or not clustered:
        return [Option(text)], 0
    found: list[Option] = []
    for at, letter in enumerate(text[1:], 1):
        if f"-{letter}" in valued:
            if rest := text[at + 1 :]:
                return [*found, Option(f"-{letter}", word._replace(text=rest))], 0
            return [*found, Option(f"-{letter}", following)], 1 if following is not None else 0
        found.append(Option(f"-{letter}"))
    return found, 0


def _switched(name: str, words: tuple[Word, ...], switch: re.Pattern[str]) -> Arguments:
    """Programs of Windows: `/s`, `/c:text`, in any letter case."""
    valued = programs.VALUED.get(name, _NONE)
    options: list[Option] = []
    targets: list[Word] = []
    at = 1
    while at < len(words):
        word, at = words[at], at + 1
        if not switch.fullmatch(word.text):
            targets.append(word)
            continue
        told, colon, value = word.text.removeprefix("/").partition(":")
        told = f"/{told.removeprefix('/').lower()}"
        if colon:
            options.append(Option(told, word._replace(text=value)))
        elif told in valued and at < len(words) and not switch.fullmatch(words[at].text):
            options.append(Option(told, words[at]))
            at += 1
        else:
            options.append(Option(told))
    return Arguments(words, name, None, (), tuple(options), tuple(targets), len(targets))


def _cmdlet(name: str, words: tuple[Word, ...]) -> Arguments:
    """PowerShell's own commands: an option takes the next word unless it is a switch."""
    options: list[Option] = []
    targets: list[Word] = []
    at = 1
    while at < len(words):
        word, at = words[at], at + 1
        text = word.text.lower()
        if not text.startswith("-") or word.quoted or _NUMBER_OPTION.fullmatch(text):
            targets.append(word)
        elif text in programs.SWITCHES or at >= len(words) or _is_option(words[at]):
            options.append(Option(text))
        else:
            options.append(Option(text, words[at]))
            at += 1
    return Arguments(words, name, None, (), tuple(options), tuple(targets), len(targets))


def _is_option(word: Word) -> bool:
    return word.text.startswith("-") and not word.quoted and word.text[1:2].isalpha()
