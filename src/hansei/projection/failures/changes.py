"""What is different in the call that succeeded: words of a command, arguments of other tools.

Whole texts are compared, and a word that is still there is never told as gone. What is too long to
read is told by its name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from hansei.projection.failures.patches import is_patch, steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.calls import Call

Words = tuple[str, ...]

_MOST: Final = 40
"""Words on one side that a person still reads."""
_LONG: Final = 80
"""Characters of a word, or of an argument, that a person still reads."""
_REMARKS: Final = frozenset(
    ("description", "justification", "prompt", "explanation", "activeForm", "instruction",
     "max_output_tokens", "yield_time_ms")
)  # fmt: skip
"""Arguments that say why or how much to show, not what to do."""
_OF_SHELL: Final = frozenset(
    ("with_escalated_permissions", "sandbox_permissions", "dangerouslyDisableSandbox", "timeout",
     "timeout_ms", "tty", "run_in_background", "additional_permissions", "shell", "login")
)  # fmt: skip
"""Arguments of a shell that change how a command runs."""
_PLACES: Final = frozenset(("file_path", "path", "filePath", "absolute_path", "url", "workdir"))
"""Arguments that are told whole, however long they are."""
_NAMES: Final = {
    "old_string": "text to replace",
    "oldString": "text to replace",
    "old_str": "text to replace",
    "new_string": "new text",
    "newString": "new text",
    "new_str": "new text",
    "input": "patch",
    "edits": "list of edits",
    "todos": "list",
    "plan": "list",
    "code": "script",
}
_SPACES = re.compile(r"\s+")


def difference(failed: Call, later: Call) -> tuple[Words, Words]:
    """What went and what came, from a call that failed to one that did not."""
    if failed.script is not None and later.script is not None:
        removed, added = _of_commands(failed, later)
        return _with(removed, added, _arguments(failed, later, only=_OF_SHELL))
    if failed.script is None and later.script is None:
        removed, added = _arguments(failed, later)
        if failed.event.name != later.event.name:
            return (failed.event.name, *removed), (later.event.name, *added)
        return removed, added
    return _other_tool(failed), _other_tool(later)


def _of_commands(failed: Call, later: Call) -> tuple[Words, Words]:
    old, new = failed.event.text, later.event.text
    removed, added = _folders(failed, later)
    if old == new:
        return removed, added
    if is_patch(old) and is_patch(new):
        return _with(removed, added, _of_patches(old, new))
    if _SPACES.sub(" ", old).strip() == _SPACES.sub(" ", new).strip():
        return removed, (*added, "other white space")
    return _with(removed, added, _of_words(old.split(), new.split(), "another command"))


def _folders(failed: Call, later: Call) -> tuple[Words, Words]:
    """Where each ran, if not in the same folder."""
    here, there = failed.event.cwd, later.event.cwd
    if not here or not there or here == there:
        return (), ()
    return (f"in {here}",), (f"in {there}",)


def _of_words(old: Sequence[str], new: Sequence[str], name: str) -> tuple[Words, Words]:
    """Words that only one of two texts has; only their kind where those are too many to read."""
    removed, added = _missing(old, new), _missing(new, old)
    if not removed and not added:
        return (), ("another order of words",)
    if len(removed) > _MOST or len(added) > _MOST:
        return (), (name,)
    return tuple(map(_cut, removed)), tuple(map(_cut, added))


def _missing(words: Iterable[str], others: Iterable[str]) -> list[str]:
    """Words that are not among others, each once."""
    there = set(others)
    return [word for word in dict.fromkeys(words) if word not in there]


def _of_patches(old: str, new: str) -> tuple[Words, Words]:
    removed, added = _missing(steps(old), steps(new)), _missing(steps(new), steps(old))
    return tuple(removed), (*added, "another patch")


def _arguments(
    failed: Call, later: Call, only: frozenset[str] | None = None
) -> tuple[Words, Words]:
    """Arguments that are not the same, by name."""
    ours, theirs = failed.event.arguments, later.event.arguments
    removed: list[str] = []
    added: list[str] = []
    for name in sorted({*ours, *theirs}):
        one, other = ours.get(name), theirs.get(name)
        if one == other or name in _REMARKS or (only is not None and name not in only):
            continue
        if _is_long(name, one) or _is_long(name, other):
            removed += [] if name in theirs else [f"{name}"]
            added += (
                [f"another {_NAMES.get(name, name)}"] if name in ours and name in theirs else []
            )
            added += [] if name in ours else [f"{name}"]
            if (
                isinstance(one, str)
                and isinstance(other, str)
                and is_patch(one)
                and is_patch(other)
            ):
                gone, come = _of_patches(one, other)
                removed += gone
                added += come[:-1]
            continue
        removed += [_told(name, one)] if name in ours else []
        added += [_told(name, other)] if name in theirs else []
    return tuple(removed), tuple(added)


def _other_tool(call: Call) -> Words:
    if call.script is None:
        return (call.event.name,)
    words = call.event.text.split()
    return tuple(map(_cut, words)) if len(words) <= _MOST else ("a command",)


def _is_long(name: str, value: Any) -> bool:
    if isinstance(value, str):
        text = name not in _PLACES and len(value) > _LONG and " " in value
        return text or "\n" in value
    return isinstance(value, list | dict) and len(str(value)) > _LONG


def _told(name: str, value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{name}={text}"


def _cut(word: str) -> str:
    return word if len(word) <= _LONG else f"{word[: _LONG - 1]}…"


def _with(removed: Words, added: Words, more: tuple[Words, Words]) -> tuple[Words, Words]:
    return (*removed, *more[0]), (*added, *more[1])
