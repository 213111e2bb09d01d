"""Which files and lines a command shows.

First each program by itself, then what the rest of its pipe leaves of it: `nl f | sed -n 5,9p`
shows five lines, `cat f | wc -l` none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.projection.commands import programs
from hansei.projection.commands.model import How, Read
from hansei.projection.commands.syntax import Word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hansei.projection.commands.arguments import Arguments


class Range(NamedTuple):
    """Lines of a text, both ends included; below 0 counted from the end."""

    first: int | None = None
    last: int | None = None


WHOLE = Range()
_DEFAULT_LINES = 10
"""What `head` and `tail` show unless told otherwise."""
_SED_RANGE = re.compile(r"(\d+)?(?:,(\d+|\$|\+\d+))?p")
_SED_QUIT = re.compile(r"(\d+)q")
_AWK_FROM = re.compile(r"NR\s*>(=?)\s*(\d+)")
_AWK_TO = re.compile(r"NR\s*<(=?)\s*(\d+)")
_AWK_AT = re.compile(r"NR\s*==\s*(\d+)(?:\s*,\s*NR\s*==\s*(\d+))?")
_INDEX = re.compile(r"(\d+)\.\.(\d+)")
_BAT_RANGE = re.compile(r"(\d+)?:(\+?\d+)?")
_REVISION = re.compile(r"([^\s:]*):(.+)")
_EVERYTHING = frozenset(("", "^", ".", ".*", "$"))
"""Patterns that agents give to `grep -n` in order to number the lines."""
_QUIET = ("-l", "-L", "-c", "-q", "--files-with-matches", "--count", "--quiet", "--files")
_SHOWN_WHOLE = frozenset(("cat", "nl", "less", "more", "tac", "expand", "zcat", "view"))
_SHOWN_IN_PART = frozenset(
    (
        "sort", "uniq", "cut", "column", "diff", "strings", "xxd", "od", "hexdump", "fold", "fmt",
        "base64", "json.tool", "rev", "iconv",
    )
)  # fmt: skip
"""Programs that show a file, but not its lines as they are: chosen, rearranged or encoded."""
_NOT_SHOWN = frozenset(("wc", "md5sum", "sha1sum", "sha256sum", "shasum", "file"))
_PASSES = frozenset(
    ("cat", "nl", "less", "more", "tee", "bat", "tac", "expand", "Out-String", "Out-Host", "batcat")
)
_SHORTENS = frozenset(
    ("jq", "yq", "tr", "Select-String", "Where-Object", "Sort-Object", "findstr", "grep", "rg")
)
_SCRIPTED = frozenset(("python", "node", "perl", "ruby", "php", "deno", "bun"))
_SCRIPT = re.compile(r"-[a-z]*[cepr]|--eval|--print")
"""An option that gives a program its script; without one the input itself is run."""


class Shown(NamedTuple):
    """What a program shows of the files it names, or of its input."""

    paths: tuple[Word, ...] = ()
    ranges: tuple[Range, ...] = (WHOLE,)
    how: How = How.LINES
    revision: str | None = None
    assumed: bool = False
    """Whether it looks in its folder because no place was named; later in a pipe it does not."""


def shown(arguments: Arguments) -> Shown | None:
    """What one program shows; None for programs that are not known to show files."""
    family = programs.SAME.get(arguments.program, arguments.program)
    if family in _SHOWN_WHOLE or arguments.program in _SHOWN_WHOLE:
        return Shown(arguments.targets)
    if family in _SHOWN_IN_PART:
        return Shown(arguments.targets, how=How.PART)
    if family in _NOT_SHOWN:
        return Shown(arguments.targets, how=How.HIDDEN)
    reader = _READERS.get(family)
    return None if reader is None else reader(arguments)


def narrowed(reads: Sequence[Read], later: Arguments | None) -> tuple[Read, ...]:
    """What a later program in the pipe leaves of them; None for one that is no program."""
    if not reads:
        return ()
    if later is None:
        return hidden(reads)
    if later.program in _PASSES and not later.has("--line-range", "-r"):
        return tuple(reads)
    found = shown(later)
    if found is None:
        left = How.PART if _shows_some(later) else How.HIDDEN
        return tuple(_weakened(read, left) for read in reads)
    if found.how is How.LINES and len(found.ranges) == 1:
        if found.ranges[0] == WHOLE:
            return tuple(reads)
        if len(reads) == 1 and reads[0].how is How.LINES:
            return (_cut(reads[0], found.ranges[0]),)
    if found.how is How.LINES and len(reads) == 1 and reads[0].how is How.LINES:
        return tuple(_cut(reads[0], part) for part in found.ranges)
    left = found.how if found.how is not How.LINES else How.PART
    return tuple(_weakened(read, left) for read in reads)


def _shows_some(later: Arguments) -> bool:
    """Whether a program prints of its input what it is told to: as a filter, or by a script."""
    if later.program in _SCRIPTED:
        return any(_SCRIPT.fullmatch(it.name) for it in later.options)
    return later.program in _SHORTENS


def hidden(reads: Sequence[Read]) -> tuple[Read, ...]:
    """The same files, none of them shown."""
    return tuple(_weakened(read, How.HIDDEN) for read in reads)


def _weakened(read: Read, how: How) -> Read:
    if how is How.HIDDEN or read.how is How.HIDDEN:
        return read._replace(how=How.HIDDEN)
    return read._replace(how=how)


def _cut(read: Read, part: Range) -> Read:
    """Lines of lines, where both are counted from the same end."""
    start, end = read.first, read.last
    if start is None and end is None:
        return read._replace(first=part.first, last=part.last)
    first, last = part
    if (start or 1) < 0 or (end or 1) < 0 or (first or 1) < 0 or (last or 1) < 0:
        return _weakened(read, How.PART)
    offset = (start or 1) - 1
    new_last = end if last is None else offset + last
    if end is not None and new_last is not None:
        new_last = min(end, new_last)
    return read._replace(first=offset + (first or 1), last=new_last)


# --- programs that choose lines ---


def _number(text: str | None) -> int | None:
    return int(text) if text and text.lstrip("+-").isdigit() else None


def _count(arguments: Arguments, *names: str) -> tuple[int, str]:
    """The number given to `-n`, or as `-20`, and its sign."""
    text = arguments.value(*names)
    if text is None:
        text = next((it.name[1:] for it in arguments.options if it.name[1:].isdigit()), None)
    number = _number(text)
    if text is None or number is None:
        return _DEFAULT_LINES, ""
    return abs(number), text[0] if text[0] in "+-" else ""


def _head(arguments: Arguments) -> Shown:
    if arguments.has("-c", "--bytes"):
        return Shown(arguments.targets, how=How.PART)
    count, sign = _count(arguments, "-n", "--lines")
    part = Range(1, -count - 1) if sign == "-" else Range(1, count)
    return Shown(arguments.targets, (part,))


def _tail(arguments: Arguments) -> Shown:
    if arguments.has("-c", "--bytes"):
        return Shown(arguments.targets, how=How.PART)
    count, sign = _count(arguments, "-n", "--lines")
    targets = arguments.targets
    if targets and re.fullmatch(r"\+\d+", targets[0].text):  # the old `tail +5 file`
        count, sign, targets = int(targets[0].text), "+", targets[1:]
    part = Range(count, None) if sign == "+" else Range(-count, None)
    return Shown(targets, (part,))


def _sed(arguments: Arguments) -> Shown:
    scripts = [
        it.value.text for it in arguments.options if it.name in ("-e", "--expression") and it.value
    ]
    targets = arguments.targets
    if not scripts and not arguments.has("-f", "--file") and targets:
        scripts, targets = [targets[0].text], targets[1:]
    if arguments.has("-i", "--in-place") or any(
        it.name.startswith("-i") for it in arguments.options
    ):
        return Shown((), how=How.HIDDEN)
    pieces = [piece.strip() for script in scripts for piece in re.split(r"[;\n]", script)]
    pieces = [piece for piece in pieces if piece]
    if arguments.has("-n", "--quiet", "--silent"):
        found = [
            _SED_RANGE.fullmatch(piece.replace(" ", ""))
            for piece in pieces
            if not _SED_QUIT.fullmatch(piece)
        ]
        if found and all(it and it[1] for it in found):
            return Shown(targets, tuple(_sed_range(it[1], it[2]) for it in found if it))
        return Shown(targets, how=How.PART)
    quits = [_SED_QUIT.fullmatch(piece) for piece in pieces]
    if len(quits) == 1 and quits[0]:
        return Shown(targets, (Range(1, int(quits[0][1])),))
    return Shown(targets)


def _sed_range(first: str, last: str | None) -> Range:
    start = int(first)
    if last is None:
        return Range(start, start)
    if last == "$":
        return Range(start, None)
    return Range(start, start + int(last) if last.startswith("+") else int(last))


def _awk(arguments: Arguments) -> Shown:
    targets = arguments.targets
    script = ""
    if not arguments.has("-f") and targets:
        script, targets = targets[0].text, targets[1:]
    at, after, until = _AWK_AT.search(script), _AWK_FROM.search(script), _AWK_TO.search(script)
    if at:
        return Shown(targets, (Range(int(at[1]), int(at[2] or at[1])),))
    if after or until:
        first = int(after[2]) + (not after[1]) if after else None
        last = int(until[2]) - (not until[1]) if until else None
        return Shown(targets, (Range(first, last),))
    return Shown(targets, how=How.PART)


def _bat(arguments: Arguments) -> Shown:
    told = _BAT_RANGE.fullmatch(arguments.value("-r", "--line-range") or "")
    if not told:
        return Shown(arguments.targets)
    first, last = _number(told[1]), _number(told[2])
    if told[2] and told[2].startswith("+") and first and last:
        last += first
    return Shown(arguments.targets, (Range(first, last),))


# --- programs that look for something ---


def _grep(arguments: Arguments) -> Shown | None:
    targets, pattern = arguments.targets, arguments.value("-e", "--regexp")
    if arguments.has("--files", "--type-list", "--version", "--help"):
        return None
    if pattern is None and not arguments.has("-f", "--file"):
        pattern, targets = (targets[0].text if targets else None), targets[1:]
    assumed = not targets and _looks_in_folder(arguments)
    if assumed:
        targets = _here()
    if arguments.has(*_QUIET):
        return Shown(targets, how=How.HIDDEN, assumed=assumed)
    if pattern in _EVERYTHING and len(targets) == 1 and not arguments.has("-r", "-R"):
        return Shown(targets)
    return Shown(targets, how=How.PART, assumed=assumed)


def _looks_in_folder(arguments: Arguments) -> bool:
    searches = arguments.program in ("rg", "ag", "ack", "ast-grep", "sg")
    return searches or arguments.has("-r", "-R", "--recursive", "--dereference-recursive")


def _here() -> tuple[Word, ...]:
    return (Word("."),)


def _jq(arguments: Arguments) -> Shown:
    return Shown(arguments.targets if arguments.has("-f") else arguments.targets[1:], how=How.PART)


def _git(arguments: Arguments) -> Shown | None:
    if arguments.subcommand == "show":
        named = [_REVISION.fullmatch(word.text) for word in arguments.targets if word.literal]
        if len(named) == 1 and named[0]:
            word = arguments.targets[0]._replace(text=named[0][2])
            return Shown((word,), revision=named[0][1] or "index")
    elif arguments.subcommand == "blame" and arguments.targets:
        told = re.fullmatch(r"(\d+),(\+?\d+)", arguments.value("-L") or "")
        part = _sed_range(told[1], told[2]) if told else WHOLE
        return Shown(arguments.targets[-1:], (part,))
    elif arguments.subcommand == "grep":
        return Shown(arguments.targets[1:] or _here(), how=How.PART)
    return None


# --- PowerShell ---


def _paths(arguments: Arguments, position: int) -> tuple[Word, ...]:
    """The files a PowerShell command names, by option or by position."""
    given = [
        it.value for it in arguments.options if it.name in ("-path", "-literalpath") and it.value
    ]
    words = given or arguments.targets[position : position + 1]
    return tuple(
        word._replace(text=part.strip().strip("'\""))
        for word in words
        for part in (word.text.split(",") if "," in word.text else (word.text,))
    )


def _get_content(arguments: Arguments) -> Shown:
    first = _number(arguments.value("-totalcount", "-head", "-first"))
    last = _number(arguments.value("-tail", "-last"))
    part = Range(1, first) if first else Range(-last, None) if last else WHOLE
    return Shown(_paths(arguments, 0), (part,))


def _select_object(arguments: Arguments) -> Shown | None:
    first, last = _number(arguments.value("-first")), _number(arguments.value("-last"))
    skip = _number(arguments.value("-skip"))
    index = _INDEX.search(arguments.value("-index") or "")
    if index:
        return Shown(ranges=(Range(int(index[1]) + 1, int(index[2]) + 1),))
    if first:
        return Shown(ranges=(Range((skip or 0) + 1, (skip or 0) + first),))
    if last:
        return Shown(ranges=(Range(-last, None),))
    return Shown(ranges=(Range(skip + 1, None),)) if skip else Shown(how=How.PART)


def _select_string(arguments: Arguments) -> Shown:
    position = 0 if arguments.has("-pattern") else 1
    how = How.HIDDEN if arguments.has("-quiet", "-list") else How.PART
    return Shown(_paths(arguments, position), how=how)


def _findstr(arguments: Arguments) -> Shown:
    plain = [word for word in arguments.targets if not word.text.startswith("/")]
    return Shown(tuple(plain[1:]), how=How.PART)


_READERS: dict[str, Callable[[Arguments], Shown | None]] = {
    "head": _head,
    "tail": _tail,
    "sed": _sed,
    "awk": _awk,
    "bat": _bat,
    "grep": _grep,
    "rg": _grep,
    "ag": _grep,
    "ack": _grep,
    "jq": _jq,
    "yq": _jq,
    "git": _git,
    "Get-Content": _get_content,
    "Select-Object": _select_object,
    "Select-String": _select_string,
    "findstr": _findstr,
}
