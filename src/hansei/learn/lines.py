"""Commands as somebody would type them again: without what held only on that day.

Paths of the repository are told from its top, what only shortens the output is cut off, messages
become slots. What then still names a place of one machine, a secret or a passing file is not kept.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Tool, ToolCall
from hansei.learn.slots import Template, template
from hansei.learn.worth import destroys, is_of_one_machine
from hansei.projection.commands.parsing import parse
from hansei.projection.ways import spelled
from hansei.projection.wording import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.commands.model import Command
    from hansei.projection.window import Window

_LONGEST: Final = 200
"""Characters of a command that somebody would type again."""
_LOOKED_THROUGH: Final = 4000
"""Characters of a call above which it holds a document, and is not looked through."""
_SHORT: Final = 60
_LOOKED_UP: Final = 40
"""Runs of a command that are looked up as they were typed."""
_HEREDOC: Final = re.compile(
    r"\"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\n.*?\n\s*\1\s*\n?\s*\)\"", re.DOTALL
)
_MESSAGE: Final = re.compile(
    r"(?P<option>\s(?:-\w*m|--message|--title|--body|--summary|--reason)[ =])"
    r"(?P<text>\"(?:[^\"\\]|\\.)*\"|'[^']*')",
    re.DOTALL,
)
_TAIL: Final = re.compile(
    r"\s*(?:2>&1|2>\s*/dev/null|2>\s*nul|&?>\s*/dev/null|&"
    r"|\|\s*(?:cat|findstr|grep|head|jq|less|more|sort|tail|tee|wc|Select-Object|Select-String)\b"
    r"[^|&;]*|(?:\|\||&&|;)\s*(?:echo|true|printf)\b[^|&;]*)\s*$",
    re.IGNORECASE,
)
"""What a command's output is shortened or commented by."""
_MOVES: Final = re.compile(r"\b(?:cd|pushd|Set-Location)\s", re.IGNORECASE)
"""What changes the folder; an option that names one stands in the command itself."""
_STAYS: Final = re.compile(r"^cd (?:\.|\"\.\")\s*(?:&&|;)\s*")
_PASSING: Final = re.compile(r"<<|\[secret:|/tmp/|\\Temp\\|\$\(|`|2>&1|/dev/null", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[\w./:@%+,=~^*?#\\-]+")


class Line(NamedTuple):
    """A call as somebody would type it again."""

    text: str
    folder: str
    """Where it runs, from the top of the repository; empty there."""

    @property
    def whole(self) -> str:
        return placed(self.text, self.folder)


def typed(window: Window, texts: Texts, session: int, seq: int) -> Line | None:
    """A shell call as it was typed; None where it holds for that day only."""
    event = texts(session, seq)
    if not isinstance(event, ToolCall) or event.tool is not Tool.SHELL:
        return None
    if len(event.text) > _LOOKED_THROUGH:
        return None
    roots = window.roots.get(session, ())
    text = _MESSAGE.sub(_as_slot, _HEREDOC.sub('"<message>"', event.text.strip()))
    text = from_roots(text, roots)
    before = None
    while before != text:
        before, text = text, _TAIL.sub("", text)
    text = _STAYS.sub("", text).strip()
    if not text or "\n" in text or len(text) > _LONGEST or _PASSING.search(text):
        return None
    if is_of_one_machine(text) or destroys(text):
        return None
    return Line(text, _folder(event.cwd, roots))


def written(window: Window, texts: Texts, runs: Sequence[Step]) -> Template:
    """One command of many runs, with slots for what differed."""
    some = runs[:: max(len(runs) // _LOOKED_UP, 1)]
    lines = [_words(window, texts, run) for run in some]
    folders = Counter(_place(window, texts, run) for run in some)
    folder, times = min(folders.items(), key=lambda it: (-it[1], it[0]))
    made = template(lines)
    return Template(placed(made.text, folder if 2 * times > len(some) else ""), made.slots)


def placed(text: str, folder: str) -> str:
    """A command with the folder it has to run in."""
    if not folder or text.startswith("cd "):
        return text
    return f'cd "{folder}" && {text}' if " " in folder else f"cd {folder} && {text}"


def from_roots(text: str, roots: Sequence[str]) -> str:
    """A text in which paths of the repository are told from its top."""
    for root in sorted(roots, key=len, reverse=True):
        plain = root.rstrip("/\\")
        if len(plain) <= 1:
            continue
        whole = r"[/\\]+".join(re.escape(it) for it in re.split(r"[/\\]", plain))
        flags = re.IGNORECASE if ":" in plain[:2] else 0
        text = re.sub(rf"{whole}[/\\]+(?=[\w.\[({{@*-])", "", text, flags=flags)
        text = re.sub(rf"{whole}(?![\w.-])[/\\]*", ".", text, flags=flags)
    return text


def _as_slot(found: re.Match[str]) -> str:
    text = found["text"]
    if " " not in text.strip("\"'") and len(text) < _SHORT:
        return found[0]
    option = found["option"].strip(" =").lstrip("-")
    return f'{found["option"]}"<{"message" if option.endswith("m") else option}>"'


def _folder(cwd: str | None, roots: Sequence[str]) -> str:
    if not cwd:
        return ""
    told = from_roots(cwd, roots).replace("\\", "/")
    return "" if told == "." or re.match(r"/|[A-Za-z]:|~", told) else told


def _place(window: Window, texts: Texts, run: Step) -> str:
    """The folder that a step ran in, from the top of the repository."""
    event = texts(run.session, run.seq)
    cwd = event.cwd if isinstance(event, ToolCall) else None
    start = _folder(cwd, window.roots.get(run.session, ()))
    moved = isinstance(event, ToolCall) and _MOVES.search(event.text) is not None
    into = (run.ran.directory or "").replace("\\", "/") if moved or event is None else ""
    if is_of_one_machine(into) or into.startswith(("/", "..")):
        return ""
    return "/".join(it for it in (start, into) if it)


def _words(window: Window, texts: Texts, run: Step) -> list[str]:
    """The words of a step as they were typed; its normal form where nobody knows."""
    event = texts(run.session, run.seq)
    if not isinstance(event, ToolCall) or len(event.text) > _LOOKED_THROUGH:
        return words(spelled(run.ran))
    found = next((it for it in parse(event.text).commands if _is_same(it, run)), None)
    if found is None:
        return words(spelled(run.ran))
    roots = window.roots.get(run.session, ())
    before = [_set(event.text, name) for name in found.variables]
    own = [_word(from_roots(it.text, roots), it.literal) for it in found.arguments.words]
    program = re.sub(r"^\./(?=[^/]+/)", "", own[0])  # both say the same, so that runs are alike
    return [*before, *_wrapped(event.text, found), program, *own[1:]]


def _wrapped(text: str, command: Command) -> list[str]:
    """What stood before a program, with its own options: `npx --prefix web`."""
    if not command.wrappers:
        return []
    first, program = command.wrappers[0].split()[0], command.arguments.words[0].text
    stood = re.search(rf"(?<!\S){re.escape(first)}\s[^;&|\n]*?(?={re.escape(program)}(?!\S))", text)
    return stood[0].split() if stood else list(command.wrappers)


def _is_same(command: Command, run: Step) -> bool:
    ran = run.ran
    return (command.program, command.subcommand) == (ran.program, ran.subcommand) and (
        command.targets == ran.targets and not command.inside
    )


def _set(text: str, name: str) -> str:
    """A variable with what it was set to, where that is plain."""
    found = re.search(rf"\b{re.escape(name)}=(\S+)", text)
    value = found[1] if found else ""
    return f"{name}={value}" if _PLAIN.fullmatch(value) else f"{name}={{value}}"


def _word(text: str, literal: bool) -> str:
    if not literal:
        return "{value}"
    if _PLAIN.fullmatch(text):
        return text
    if re.search(r"\s", text) and not re.fullmatch(r"[\w .()@+-]*(?:[/\\][\w .()@+-]+)+", text):
        return "{text}"
    return f'"{text}"' if '"' not in text else f"'{text}'"
