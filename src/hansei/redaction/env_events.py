"""Which events show an env file.

A file shows itself in many ways: a call and its result, a background task and whoever asks for its
output, a command that a person typed, a file the program attached. What announces an output and the
output itself are different events, often in different batches, so what was announced is remembered
until it came.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from hansei.events.model import (
    FileEdit,
    Notice,
    Origin,
    Prompt,
    SlashCommand,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.redaction.env_files import names_env_file, shows_env_file

if TYPE_CHECKING:
    from hansei.events.model import AnyEvent

_PATH_KEYS: Final = ("path", "file", "command", "cmd", "script", "glob", "include")
"""What the names of fields have in them that hold a path or a command."""

_CONTENT_KEYS: Final = ("text", "content")
"""How the names of fields end that hold what is in a file."""

_DEEPEST: Final = 4
"""Paths and commands stand near the top of a call's arguments."""

_TYPED_OUTPUT: Final = frozenset({"bash_output", "local_command_output"})
_TYPED_TAGS: Final = ("<bash-input>", "<user_shell_command>")
_HEAD: Final = 400
"""A text that the program adds about a file names the file within this many characters."""

_PEOPLE: Final = frozenset({Origin.HUMAN, Origin.QUEUED_HUMAN, Origin.PARENT_AGENT})
_READ_CALL: Final = "Called the "
_READ_RESULT: Final = "Result of calling the "
_TASK: Final = re.compile(r"(?:background with ID|running with session ID):? {0,2}([\w-]{1,64})")
_TELLING_TASK: Final = 6
"""From this many characters on, an id is recognised also as a part of a path."""


@dataclass(frozen=True, slots=True)
class EnvWatch:
    """What showed an env file and still waits for its output, the newest last."""

    pending: dict[str, None]
    _answered: set[str] = field(default_factory=set)

    def shows_env(self, event: AnyEvent) -> bool:
        """Whether the texts of an event may be those of an env file."""
        match event:
            case ToolCall():
                return self._call(event)
            case ToolResult():
                return self._result(event)
            case FileEdit():
                return shows_env_file(event.path)
            case SlashCommand(name="!"):
                return self._announced(_typed(event), shows=shows_env_file(event.text))
            case Notice():
                return self._notice(event)
            case Prompt():
                return self._prompt(event)
            case _:
                return False

    def forget_answered(self) -> None:
        """Drop what has its output. Not before the batch ends: a result may be told twice."""
        for name in self._answered:
            self.pending.pop(name, None)

    def _announced(self, name: str, *, shows: bool) -> bool:
        self._answered.discard(name)
        self.pending.pop(name, None)
        if shows:
            self.pending[name] = None
        return shows

    def _awaited(self, name: str) -> bool:
        if name not in self.pending:
            return False
        self._answered.add(name)
        return True

    def _call(self, call: ToolCall) -> bool:
        return self._announced(call.call, shows=_touches_env_file(call) or self._asks_task(call))

    def _asks_task(self, call: ToolCall) -> bool:
        """Whether a call is about a background task that shows an env file."""
        tasks = [name.removeprefix("task ") for name in self.pending if name.startswith("task ")]
        return any(
            task == word or (len(task) >= _TELLING_TASK and task in word)
            for task in tasks
            for word in map(str, call.arguments.values())
        )

    def _result(self, result: ToolResult) -> bool:
        if not self._awaited(result.call):
            return False
        task = _TASK.search(result.text)
        if task:
            self.pending[f"task {task[1]}"] = None
        return True

    def _notice(self, notice: Notice) -> bool:
        if notice.name in _TYPED_OUTPUT and self._awaited(_typed(notice)):
            return True
        return _names_env_file(notice.data)

    def _prompt(self, prompt: Prompt) -> bool:
        """Text that the program put into the user's place: a file it read, a command's output."""
        head = prompt.text[:_HEAD]
        is_typed = head.lstrip().startswith(_TYPED_TAGS)
        if prompt.origin in _PEOPLE and not is_typed:
            return False
        if _READ_RESULT in head and self._awaited(_typed(prompt)):
            return True
        shows = names_env_file(head)
        if is_typed or _READ_CALL in head:
            self._announced(_typed(prompt), shows=shows)
        return shows


def _typed(event: AnyEvent) -> str:
    """The name under which a session waits for what was not called by the agent."""
    return f"typed {event.session}"


def _touches_env_file(call: ToolCall) -> bool:
    """Whether a call reads, prints or writes an env file."""
    # The text of a search is its pattern: looking for `.env` shows no env file.
    if call.tool not in (Tool.SEARCH, Tool.WEB) and shows_env_file(call.text):
        return True
    return _names_env_file(call.arguments)


def _names_env_file(fields: dict[str, Any], depth: int = _DEEPEST) -> bool:
    """Whether a field that holds a path or a command has one that shows an env file."""
    for key, value in fields.items():
        if isinstance(value, dict):
            if depth and _names_env_file(value, depth - 1):
                return True
        elif isinstance(value, (str, list)) and _holds_path(str(key)):
            words = (
                [value] if isinstance(value, str) else [*map(str, value), " ".join(map(str, value))]
            )
            if any(map(shows_env_file, words)):
                return True
    return False


@lru_cache(maxsize=1024)
def _holds_path(key: str) -> bool:
    name = key.lower()
    return any(word in name for word in _PATH_KEYS) and not name.endswith(_CONTENT_KEYS)
