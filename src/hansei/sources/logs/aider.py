"""Aider's chat history: Markdown with a heading for each run, and a list of typed prompts.

Lines with `####` are the person's, lines with `>` the program's, the rest is the model's. A heading
of that depth inside an answer looks just like a prompt; it is taken for one only where a program's
line, the start of the run or an empty line stands before it and no answer is under way. Tokens are
rounded to hundreds, so they are not measured: they are kept as the program wrote them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hansei.events.model import FileEdit, Interruption, Origin, SlashCommand
from hansei.sources.contract import Capabilities
from hansei.sources.families.clock import instant
from hansei.sources.families.edits import from_root
from hansei.sources.families.telling import Conversation, made_up
from hansei.sources.log_files import Form
from hansei.sources.log_format import LogFormat

if TYPE_CHECKING:
    from hansei.sources.families.telling import Telling
    from hansei.sources.log_files import LogFile

_RUN = re.compile(r"^# aider chat started at (.+?)\s*$", re.MULTILINE)
_PROMPT, _SAID = "#### ", ">"
_TYPED = re.compile(r"^# (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\s*$")
_VERSION = re.compile(r"Aider v(\S+)")
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")
_FOLDER = re.compile(r"(?:Git working dir|Cur working dir): (.+)")
_APPLIED = re.compile(r"Applied edit to (.+)")
_CREATED = re.compile(r"Creating empty file (.+)")
_TOLD = ("Tokens: ", "Commit ", "Did not apply", "Skipping edits", "The LLM did not conform")
"""Lines of the program that say what came of an answer."""


def recognises(log: LogFile) -> bool:
    """Whether a run begins in it, or typed prompts do."""
    if log.form is not Form.TEXT:
        return False
    return bool(_RUN.search(log.text[:4000])) or _is_typed(log)


def _is_typed(log: LogFile) -> bool:
    first, _, rest = log.text.lstrip().partition("\n")
    return bool(_TYPED.match(first)) and rest.startswith("+")


def tell(telling: Telling, log: LogFile) -> None:
    """Tell every run of a history, or the prompts of a list."""
    if _is_typed(log):
        _tell_typed(telling, log)
        return
    marks = list(_RUN.finditer(log.text))
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        body = log.text[mark.end() : following.start() if following else None]
        _tell_run(telling, log, mark[1], body)


def _name(log: LogFile, began: str) -> str:
    """A run is its folder and when it began: the file is cut at its front now and then."""
    folder = log.path.absolute().parent.name or "aider"
    return made_up(folder, folder, began)


def _tell_run(telling: Telling, log: LogFile, began: str, body: str) -> None:
    session, at = _name(log, began), instant(began)
    facts = telling.session(session)
    for pattern, name in ((_VERSION, "version"), (_FOLDER, "cwd")):
        found = pattern.search(body)
        if found:
            setattr(facts, name, found[1].strip())
    model = _MODEL.search(body)
    telling.notice(session, began, "started", at=at)
    talk = Conversation(telling, session, folder=facts.cwd)
    told = model[1] if model else None
    for kind, lines in _pieces(body):
        text = "\n".join(lines).strip()
        if kind == _PROMPT:
            _tell_prompt(talk, text)
        elif kind == _SAID:
            _tell_program(talk, lines)
        else:
            talk.reply(text, model=told)


def _pieces(body: str) -> list[tuple[str, list[str]]]:
    """Runs of lines by who wrote them."""
    pieces: list[tuple[str, list[str]]] = []
    for line in body.splitlines():
        kind = _PROMPT if line.startswith(_PROMPT) else _SAID if line.startswith(_SAID) else ""
        if kind == _PROMPT and _answering(pieces):
            kind = ""
        content = line.removeprefix(kind).removesuffix("  ") if kind else line
        if pieces and pieces[-1][0] == kind:
            pieces[-1][1].append(content)
        elif kind or line.strip():
            pieces.append((kind, [content]))
    return pieces


def _answering(pieces: list[tuple[str, list[str]]]) -> bool:
    """Whether a model's answer is under way, so that a heading belongs to it."""
    return bool(pieces) and pieces[-1][0] == ""


def _tell_prompt(talk: Conversation, text: str) -> None:
    name, _, rest = text.removeprefix("/").partition(" ")
    if text.startswith("/") and name.isidentifier():
        key = talk.known_by("command", text)
        talk.telling.emit(SlashCommand(key=key, session=talk.session, name=f"/{name}", text=rest))
    else:
        talk.prompt(text, Origin.HUMAN)


def _tell_program(talk: Conversation, lines: list[str]) -> None:
    for line in (raw.strip() for raw in lines):
        applied, created = _APPLIED.match(line), _CREATED.match(line)
        found = applied or created
        if found:
            key = talk.known_by("edit", line)
            talk.telling.emit(
                FileEdit(
                    key=key,
                    session=talk.session,
                    call="",
                    path=from_root(found[1], talk.folder),
                    operation="create" if created else "update",
                    applied=True,
                )
            )
        elif line.endswith("KeyboardInterrupt"):
            key = talk.known_by("interruption", line)
            talk.telling.emit(Interruption(key=key, session=talk.session))
        elif line.startswith(_TOLD):
            name = line.split(":", 1)[0].split(" ", 1)[0].lower()
            known = str(talk.known_by("told", line))
            talk.telling.notice(talk.session, known, name, text=line)


def _tell_typed(telling: Telling, log: LogFile) -> None:
    """Prompts as they were typed, each with its time."""
    folder = log.path.absolute().parent.name or "aider"
    session = f"history:{folder}"
    facts = telling.session(session)
    facts.entrypoint = "history"
    talk = Conversation(telling, session)
    at, lines = None, list[str]()
    for line in [*log.text.splitlines(), "# "]:
        found = _TYPED.match(line)
        if found or line == "# ":
            if lines:
                _typed(talk, "\n".join(lines), at)
            at, lines = instant(found[1]) if found else None, []
        elif line.startswith("+"):
            lines.append(line[1:])


def _typed(talk: Conversation, text: str, at: int | None) -> None:
    talk.scope = str(at)
    talk.prompt(text, Origin.HUMAN, at=at)


SOURCE = LogFormat(
    name="aider",
    title="Aider",
    looks_like="Markdown with `# aider chat started at …`, or a list of typed prompts",
    recognises=recognises,
    tell=tell,
    capabilities=Capabilities(tokens=False, cache_tokens=False, tool_results=False, thoughts=False),
)
