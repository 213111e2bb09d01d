"""Where the text of an offer or a skill first appeared, and so whose it is.

A text is taken apart into what matters in it: commands, addresses, packages, sentences. Each is
looked for as a run of words in the texts of the sessions it comes from, and belongs to whoever
wrote it first: what an agent repeats after a web page stays the page's. Words told anew are not
recognised; a person has to look at those. The worst label of any part is the whole's.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hansei.instructions.block import fenced
from hansei.instructions.sentences import sentences
from hansei.learn.model import Evidence, Label
from hansei.projection.commands.parsing import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.learn.spans import Span
    from hansei.projection.commands.model import Command

SENTENCE_RUN = 8
"""Words that two texts share only if one was taken from the other."""
SHORTEST_SENTENCE = 5
COMMAND_RUN = 5
SHORTEST_COMMAND = 4
"""Words, one less where one is a path or a version; `npm run build` nobody took from anywhere."""
CODE_WORDS = 30
"""Words of a command beyond which it is a program, compared as sentences are."""

_WORD = re.compile(r"[\w@/.:+=%~#$-]+")
_NUMBERED = re.compile(r"^(?: *\d{1,7}(?:→|\t|\| |: )|[^\s:]+:\d{1,7}[:-])", re.MULTILINE)
"""What readers and searches put before a line."""
LOOK_ALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0261"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijshdqwgABEKMHOPCTXIJSoABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that nobody tells from Latin ones."""
_ESCAPED = re.compile(r"\\[nrt]")
_ADDRESS = re.compile(r"(?:https?|ftp|ssh|git)://[^\s'\"`)<>\]}|]+", re.IGNORECASE)
INLINE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
"""Code in a line of prose."""
_JOINS = re.compile(r"&&|\|\||[;|\n]|(?<![&>])&(?![&>])")
_PARTICULAR = re.compile(r"[/@:=\d]|\w\.\w")
_SLOT = re.compile(
    r"\{[^{}\s]*\}|<[\w -]+>|…"
    r"|\"(?:[A-Za-z]:[\\/]|[/~])[^\"]*\"|'(?:[A-Za-z]:[\\/]|[/~])[^']*'"
    r"|(?<!\S)(?:[A-Za-z]:[\\/]|[/~])\S*"
)
"""What is filled in: slots of a procedure, and whole paths, which are this machine's."""
_REMARK = re.compile(r"\s*#")

_INSTALLS: dict[str, frozenset[str]] = {
    "pip": frozenset(("install", "download")),
    "pip3": frozenset(("install", "download")),
    "uv": frozenset(("add", "pip install", "tool install", "tool run")),
    "poetry": frozenset(("add",)),
    "pdm": frozenset(("add",)),
    "pipx": frozenset(("install", "run")),
    "conda": frozenset(("install",)),
    "mamba": frozenset(("install",)),
    "npm": frozenset(("install", "i", "add", "exec", "x")),
    "pnpm": frozenset(("add", "install", "i", "dlx")),
    "yarn": frozenset(("add", "dlx", "global add")),
    "bun": frozenset(("add", "install", "i", "x")),
    "deno": frozenset(("add", "install")),
    "cargo": frozenset(("add", "install")),
    "go": frozenset(("get", "install")),
    "gem": frozenset(("install",)),
    "brew": frozenset(("install", "tap")),
    "apt": frozenset(("install",)),
    "apt-get": frozenset(("install",)),
    "dnf": frozenset(("install",)),
    "apk": frozenset(("add",)),
    "composer": frozenset(("require",)),
    "docker": frozenset(("pull", "run")),
    "claude": frozenset(("mcp add", "plugin install")),
}
_RUNNERS = frozenset(("npx", "bunx", "uvx", "pipx", "dlx"))
"""Wrappers that fetch the program they run."""
_VERSION = re.compile(r"(?:[=<>~!]=?.*|\[.*\]|(?<=.)@[\w.^~-]+|:[\w.-]+)$")


class Kind(StrEnum):
    """What a part of a text is."""

    COMMAND = "command"
    ADDRESS = "address"
    PACKAGE = "package"
    SENTENCE = "sentence"


class Part(NamedTuple):
    """Something that matters in a text, and the runs of words it is recognised by."""

    kind: Kind
    text: str
    runs: tuple[str, ...]


class First(NamedTuple):
    """Where a part first appeared."""

    part: Part
    label: Label
    evidence: Evidence
    why: str


def plain(text: str) -> str:
    """Words of a text in one form, with a blank around each: for comparing, not for showing."""
    if not text.isascii():
        shown = (it for it in unicodedata.normalize("NFKC", text) if _is_shown(it))
        text = "".join(shown).translate(LOOK_ALIKES)
    words = _WORD.findall(_ESCAPED.sub(" ", _NUMBERED.sub("", text)).lower())
    kept = (word.rstrip(".:") or word for word in words)
    return f" {' '.join(kept)} "


def _is_shown(letter: str) -> bool:
    return unicodedata.category(letter) != "Cf"


# --- what matters in a text ---


def parts(description: str, body: str, commands: Iterable[str] = ()) -> list[Part]:
    """Commands, addresses, packages and sentences of an offer or a skill, each once."""
    typed = [*commands, *code_of(body), *code_of(description)]
    prose = [without_code(description), without_code(body)]
    found: dict[tuple[Kind, str], Part] = {}
    for part in (*_of_commands(typed), *_of_prose(prose)):
        if part.runs:
            found.setdefault((part.kind, part.text), part)
    return list(found.values())


class Line(NamedTuple):
    """A line of Markdown, from 1, and whether it is code in a fence."""

    number: int
    text: str
    code: bool


def lines(text: str) -> Iterator[Line]:
    """The lines of a Markdown text, without those that open or close a fence."""
    fence = ""
    for number, line in enumerate(text.split("\n"), 1):
        before = fence
        fence, quoted = fenced(line, fence)
        if not quoted or (before and fence):
            yield Line(number, line, quoted)


def code_of(text: str) -> list[str]:
    """Code in Markdown: every line of a fenced block, and what stands between backticks."""
    found = [
        code
        for line in lines(text)
        for code in ([line.text] if line.code else [it[2] for it in INLINE.finditer(line.text)])
    ]
    return [code.strip() for code in found if code.strip()]


def without_code(text: str) -> str:
    """The prose of a Markdown text, every line where it was."""
    prose = {line.number: INLINE.sub(" ", line.text) for line in lines(text) if not line.code}
    return "\n".join(prose.get(number, "") for number in range(1, text.count("\n") + 2))


def _of_commands(commands: Iterable[str]) -> Iterator[Part]:
    for text in dict.fromkeys(commands):
        for address in _ADDRESS.findall(text):
            yield _address(address)
        for command in parse(text).commands:
            for name in packages(command):
                yield Part(Kind.PACKAGE, name, (plain(name),))
        for piece in _JOINS.split(text):
            yield Part(Kind.COMMAND, " ".join(piece.split()), _command_runs(piece))


def _of_prose(texts: Iterable[str]) -> Iterator[Part]:
    for text in texts:
        for address in _ADDRESS.findall(text):
            yield _address(address)
        for said in sentences("", text):
            yield Part(Kind.SENTENCE, said.text, _sentence_runs(said.text))


def _address(text: str) -> Part:
    kept = text.rstrip(".,:;!?")
    run = plain(kept)
    return Part(Kind.ADDRESS, kept, (run,) if run.strip() else ())


def _command_runs(text: str) -> tuple[str, ...]:
    runs: list[str] = []
    for piece in () if _REMARK.match(text) else _SLOT.split(text):
        words = plain(piece).split()
        if len(words) > CODE_WORDS:
            runs += _windows(words, SENTENCE_RUN)
        elif len(words) >= SHORTEST_COMMAND - any(map(_PARTICULAR.search, words)):
            runs += _windows(words, COMMAND_RUN)
    return tuple(runs)


def _sentence_runs(text: str) -> tuple[str, ...]:
    words = plain(text).split()
    return _windows(words, SENTENCE_RUN) if len(words) >= SHORTEST_SENTENCE else ()


def _windows(words: Sequence[str], length: int) -> tuple[str, ...]:
    starts = range(max(1, len(words) - length + 1))
    return tuple(f" {' '.join(words[start : start + length])} " for start in starts)


def packages(command: Command) -> list[str]:
    """What a command would fetch from a registry, without versions."""
    if any(it.split()[0] in _RUNNERS or it.endswith(" dlx") for it in command.wrappers if it):
        return [_VERSION.sub("", command.program)]
    words = (command.subcommand or "").split()
    asked = _INSTALLS.get(command.program, frozenset())
    if command.program in _RUNNERS:
        named = command.targets[:1] or tuple(words[:1])
    elif any(" ".join(words[:n]) in asked for n in (1, 2) if len(words) >= n):
        named = command.targets[:1] if command.program == "docker" else command.targets
    else:
        return []
    bare = (_VERSION.sub("", it.strip("'\"")) for it in named)
    return [it for it in bare if it and not it.startswith((".", "/", "~", "-", "$", "{", "<"))]


# --- where it was first ---


def firsts(wanted: Iterable[Part], sessions: Mapping[str, Sequence[Span]]) -> list[First]:
    """Where each part first appeared, those that appeared nowhere left out.

    Of several sessions the one counts in which a person typed it, else the worst.
    """
    texts = {name: _Texts(told) for name, told in sorted(sessions.items())}
    found: list[First] = []
    for part in wanted:
        runs = [first for run in part.runs if (first := _first(part, run, texts)) is not None]
        if runs:
            found.append(max(runs, key=lambda it: rank(it.label)))
    return found


def repeated(wanted: Iterable[Part], sessions: Mapping[str, Sequence[Span]]) -> list[First]:
    """Parts that stand as a whole in some session; the name of a package alone says too little.

    Between sessions that need not know of one another a few words in common are chance.
    """
    texts = {name: _Texts(told) for name, told in sorted(sessions.items())}
    found: list[First] = []
    for part in wanted:
        for name, told in texts.items() if part.kind is not Kind.PACKAGE else ():
            spans = [told.first(run) for run in part.runs]
            whole = [it for it in spans if it is not None]
            if whole and len(whole) == len(spans):
                worst_of = max(whole, key=lambda it: rank(it.label))
                place = Evidence(worst_of.session or name, worst_of.event)
                found.append(First(part, worst_of.label, place, worst_of.why))
                break
    return found


def deciding(found: Iterable[First]) -> First | None:
    """The part that decides; the first of several alike."""
    return max(found, key=lambda it: rank(it.label), default=None)


def worst(labels: Iterable[Label]) -> Label:
    """The one to be trusted least: what is merged, split or edited keeps it."""
    return max(labels, key=rank)


def rank(label: Label) -> int:
    """How little a label is to be trusted."""
    return _RANKS[label]


_RANKS = {label: number for number, label in enumerate(Label)}


def _first(part: Part, run: str, texts: Mapping[str, _Texts]) -> First | None:
    found = [
        First(part, span.label, Evidence(span.session or name, span.event), span.why)
        for name, told in texts.items()
        if (span := told.first(run)) is not None
    ]
    typed = next((it for it in found if it.label is Label.TYPED), None)
    return typed or max(found, key=lambda it: rank(it.label), default=None)


class _Texts:
    """The spans of a session, put into one form when first asked for."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._plain: dict[int, str] = {}

    def first(self, run: str) -> Span | None:
        for number, span in enumerate(self._spans):
            if number not in self._plain:
                self._plain[number] = plain(span.text)
            if run in self._plain[number]:
                return span
        return None
