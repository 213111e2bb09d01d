"""Whether what a line of instructions tells was there to be told in past sessions, and was done.

Asked is what the line names and a machine can look for: commands, files, tools, and the moment of a
commit, a push or a pull request. A line applies in a session in which that came up. Everything is
told by session with its subagents; what a line leaves to judgement is not counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.config import CommandClass
from hansei.instructions.statements import meanings, statements
from hansei.learn.matching import avoided, follows, triggers
from hansei.learn.model import Predicates, Skill
from hansei.learn.patterns import PLAIN, expression
from hansei.learn.wordings import wording
from hansei.projection.commands import programs
from hansei.projection.commands.parsing import parse
from hansei.projection.files.model import LOOKS
from hansei.projection.snapshots.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from hansei.instructions.statements import Meaning, Statement
    from hansei.projection.window import Window

_CODE: Final = re.compile(r"`+([^`\n]+)`+")
_SLOT: Final = re.compile(r"<[^<>\n]+>|\[[a-z ]+\]|\.\.\.|…")
_FENCE: Final = re.compile(
    r"\s*(?:`{3,}|~{3,})\s*(\w*)[^\n]*\n(.*?)(?:\n\s*(?:`{3,}|~{3,})\s*)?\Z", re.DOTALL
)
NO_READER: Final = "was of an agent that reads it"
_THEN: Final = " && "
"""What makes a line without any marks a command: `make sure that it works` is none."""
_SHELLS: Final = frozenset(("", "bash", "sh", "shell", "zsh", "console"))
_LINES: Final = re.compile(r":\d+(?:-\d+)?$")
"""Behind a file: which lines of it."""
_MOMENTS: Final = {
    "git commit": re.compile(r"\bcommit(?:s|ting|ted)?\b", re.IGNORECASE),
    "git push": re.compile(r"\bpush(?:es|ing|ed)?\b", re.IGNORECASE),
    "gh pr create": re.compile(r"\bpull requests?\b|\bPRs?\b"),
}
"""Moments that words name, and what is run then."""
_KINDS: Final = {
    CommandClass.TEST: "ran tests",
    CommandClass.LINT: "ran a linter",
    CommandClass.BUILD: "built something",
    CommandClass.FORMAT: "ran a formatter",
    CommandClass.INSTALL: "installed something",
}
"""What one does in one way or another: a line names the way, and applies wherever it is done."""


@dataclass(frozen=True)
class Named:
    """What a line names that sessions can be asked about."""

    do: tuple[str, ...] = ()
    avoid: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """That it is about."""
    spared: tuple[str, ...] = ()
    """That are not to be changed."""
    tools: tuple[str, ...] = ()
    moments: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Named()


class Applied(NamedTuple):
    """In how many past sessions a line would have applied."""

    sessions: int
    missed: int | None
    """Those of them in which it was not done; None where the line does not say what to do in a form
    that can be looked for."""
    where: str
    """Which sessions those are: "ran tests", "touched src/api/**"."""


@dataclass
class _Found:
    do: list[str] = field(default_factory=list)
    avoid: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    spared: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)

    def named(self) -> Named:
        kept = {name: tuple(dict.fromkeys(told)) for name, told in vars(self).items()}
        return Named(**kept)


# --- what a line names ----------------------------------------------------------------------------


def named(text: str, tools: Collection[str] = ()) -> Named:
    """What a bullet, paragraph or code block names; `tools` are those that agents here have."""
    found = _Found()
    block = _FENCE.match(text)
    if block is not None:
        if block[1].lower() in _SHELLS:
            lines = (it.strip().removeprefix("$ ") for it in block[2].splitlines())
            found.do += [it for it in lines if it and it[0] != "#" and _is_command(it)]
        return found.named()
    if _THEN in text and "`" not in text and _is_command(text):
        found.do += [it.strip() for it in text.split(_THEN) if _is_command(it.strip())]
    for statement in statements("", text):
        _take(statement, found, tools)
    return found.named()


def _take(statement: Statement, found: _Found, tools: Collection[str]) -> None:
    spans = [_plain(it) for it in _CODE.findall(statement.text)]
    for span in spans:
        near = _clause_of(statement, span)
        forbids = near is not None and near.forbids
        if span in tools:
            found.tools.append(span)
        elif _is_file(span):
            (found.spared if forbids else found.files).append(span)
        elif _is_command(span, chosen=near is not None and near.chooses):
            (found.avoid if forbids else found.do).append(span)
    for meaning in statement.meanings:
        if meaning.chooses:
            bare = sorted(meaning.programs - {it for span in spans for it in span.split()})
            (found.avoid if meaning.forbids else found.do).extend(bare)
    if any(it.is_directive for it in statement.meanings):
        rest = _CODE.sub(" ", statement.text)
        found.moments += [run for run, words in _MOMENTS.items() if words.search(rest)]


def _plain(span: str) -> str:
    """Without what is left open, and which lines of a file are meant."""
    return _LINES.sub("", " ".join(_SLOT.sub(" ", span).split()))


def _clause_of(statement: Statement, span: str) -> Meaning | None:
    """The clause that names something: in "use this, not that" each stands in its own."""
    own = frozenset[str]().union(*(it.words for it in meanings(span)))

    def near(clause: Meaning) -> tuple[int, float]:
        common = len(clause.words & own)
        return common, common / max(len(clause.words), 1)

    return max(statement.meanings, key=near, default=None)


def _is_file(span: str) -> bool:
    """Whether it is a path or a file's name; `window.open` and `@scope/name` are neither."""
    if " " in span or span.startswith(("-", "@", "./")) or "//" in span:
        return False
    return PLAIN.fullmatch(span) is not None and ("/" in span or language_of(span) is not None)


def _is_command(span: str, *, chosen: bool = False) -> bool:
    """Whether it is what somebody types: a known program, and not just a word that is one too.

    `chosen`: the clause says to use it, so that one word is enough.
    """
    script = parse(span)
    if not span or not script.parsed or script.main is None:
        return False
    command = script.commands[script.main]
    if " " not in span and not chosen and not span.startswith("./"):
        return command.program in programs.SUBCOMMANDS or command.kind in _KINDS
    known = command.program in programs.SUBCOMMANDS or command.program in programs.PLAIN
    return known or command.kind in _KINDS or span.startswith("./")


# --- where it applies -----------------------------------------------------------------------------


def applied(window: Window, told: Named, *, within: str = "") -> Applied | None:
    """Where a line would have applied; None where it names nothing that can be counted.

    `within` is the pattern of files that its text is for.
    """
    if not told:
        return None
    if not window.sessions:
        return Applied(0, None, NO_READER)
    sessions, where = _where(window, told)
    if within:
        sessions &= _tasks(window, triggers(window, _line(path=within)))
        where = f"{where} and worked on `{within}`"
    return Applied(len(sessions), _missed(window, told, sessions), where)


def _where(window: Window, told: Named) -> tuple[set[int], str]:
    """The sessions in which it came up, by the most telling of what the line names."""
    files = told.files + told.spared
    if told.avoid and told.do:
        commands = (*told.avoid, *told.do)
        return _running(window, commands), f"ran {_listed(commands)}"
    if told.avoid:
        stems = tuple(dict.fromkeys(map(_stem, told.avoid)))
        return _running(window, stems), f"ran {_listed(stems)}"
    if files:
        touched = [triggers(window, _line(path=_pattern(it))) for it in files]
        return set().union(*(_tasks(window, it) for it in touched)), f"touched {_listed(files)}"
    if told.moments:
        return _running(window, told.moments), f"ran {_listed(told.moments)}"
    kinds = [kind for kind in _KINDS if kind in {parse(it).commands[-1].kind for it in told.do}]
    if kinds:
        rows = [(s, it.seq) for s, it in window.commands if it.kind in kinds and not it.inside]
        return _tasks(window, rows), " or ".join(_KINDS[it] for it in kinds)
    if told.do:
        return _running(window, told.do), f"ran {_listed(told.do)}"
    used = [triggers(window, _line(tool=it)) for it in told.tools]
    return set().union(*(_tasks(window, it) for it in used)), f"used {_listed(told.tools)}"


def _missed(window: Window, told: Named, sessions: set[int]) -> int | None:
    if told.avoid:
        return len(sessions & _tasks(window, avoided(window, _line(do=told.do, avoid=told.avoid))))
    if told.spared:
        patterns = [expression(_pattern(it)) for it in told.spared]
        changed = [
            (session, row.seq)
            for session, row in window.touches
            if row.verb not in LOOKS and any(it.fullmatch(row.path) for it in patterns)
        ]
        return len(sessions & _tasks(window, changed))
    # A command that applies only where it was run was done everywhere: that says nothing.
    elsewhere = told.files or told.moments or any(_kind(it) in _KINDS for it in told.do)
    if told.do and elsewhere:
        return len(sessions - _running(window, told.do))
    return None


def _kind(command: str) -> CommandClass:
    return parse(command).commands[-1].kind


def _running(window: Window, commands: Iterable[str]) -> set[int]:
    done = (follows(window, _line(do=(it,))) for it in commands)
    return set().union(*(_tasks(window, ((it.session, it.seq) for it in rows)) for rows in done))


def _tasks(window: Window, calls: Iterable[tuple[int, int]]) -> set[int]:
    return {window.task(session) for session, _ in calls}


def _pattern(name: str) -> str:
    """What a file or folder that a line names means as a pattern."""
    bare = name.strip("/").removeprefix("./")
    last = bare.rpartition("/")[2]
    is_folder = "." not in last.lstrip(".") and not any(it in last for it in "*?{")
    if not is_folder:
        return bare
    return f"{bare}/**" if "/" in bare else f"**/{bare}/**"


def _stem(command: str) -> str:
    """A command by its program and what it is told to do, without options."""
    words = wording(command).words
    return " ".join(words[: 2 if words[:1] and words[0] in programs.SUBCOMMANDS else 1])


def _line(**told: str | tuple[str, ...]) -> Skill:
    return Skill("line", "", "", predicates=Predicates(**told))  # type: ignore[arg-type] # by field


def _listed(names: Iterable[str]) -> str:
    return " or ".join(f"`{it}`" for it in names)
