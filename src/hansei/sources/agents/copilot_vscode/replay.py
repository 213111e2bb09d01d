"""A log of changes, applied one by one to the object that they describe.

A line is `{"kind", "k", "v", "i"}`: 0 is the whole object, 1 sets what a path leads to, 2 cuts an
array at `i` and appends, 3 deletes. A change that leads nowhere is not applied, and is said so.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hansei.sources.agents.copilot_vscode.values import number

Path = list[str | int]
WHOLE, SET, PUSH, DELETE = range(4)
LARGEST_GAP = 64
"""Items of an array that may be missing, where the line is lost that told them."""


class Chat:
    """The object as it is after the changes so far."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}

    def apply(self, change: dict[str, Any]) -> bool:
        """Apply one change; False if it is none that could be."""
        kind, value = change.get("kind"), change.get("v")
        if kind == WHOLE:
            if isinstance(value, dict):
                self.value = _mended([], value)
            return isinstance(value, dict)
        path = path_of(change)
        if not path or kind not in (SET, PUSH, DELETE):
            return False
        return self._put(path, change, kind)

    def _put(self, path: Path, change: dict[str, Any], kind: int) -> bool:
        holder: Any = self.value
        for step, following in pairwise(path):
            holder = _below(holder, step, make=[] if isinstance(following, int) else {})
            if holder is None:
                return False
        last, value = path[-1], None if kind == DELETE else change.get("v")
        if kind == PUSH:
            sound = value if value is None else _mended(path, value)
            return isinstance(value, list | None) and _push(holder, last, sound, change.get("i"))
        return _set(holder, last, _mended(path, value))

    @property
    def requests(self) -> list[Any]:
        found = self.value.get("requests")
        return found if isinstance(found, list) else []


def path_of(change: dict[str, Any]) -> Path | None:
    """Where a change leads to; None if that is no path."""
    path = change.get("k")
    if not isinstance(path, list):
        return None
    sound = all(
        isinstance(step, str)
        or (isinstance(step, int) and not isinstance(step, bool) and step >= 0)
        for step in path
    )
    return path if sound else None


def _below(holder: Any, step: str | int, make: Any) -> Any:
    """What a step leads to, made if it is not there; None where the step cannot be taken."""
    if isinstance(step, int):
        if not isinstance(holder, list) or step > len(holder) + LARGEST_GAP:
            return None
        holder.extend(type(make)() for _ in range(step + 1 - len(holder)))
    elif not isinstance(holder, dict):
        return None
    elif step not in holder:
        holder[step] = make
    below = holder[step]
    if not isinstance(below, dict | list):
        below = holder[step] = make
    return below if isinstance(below, type(make)) else None


def _mended(path: Path, value: Any) -> Any:
    """A value with the requests in it as they must be for later changes to lead into them."""
    match path:
        case []:
            return {**value, "requests": _mended(["requests"], value.get("requests"))}
        case ["requests"]:
            items = value if isinstance(value, list) else []
            return [_mended(["requests", 0], item) for item in items]
        case ["requests", int()]:
            if not isinstance(value, dict):
                return {}
            return {**value, "response": _mended([*path, "response"], value.get("response"))}
        case ["requests", int(), "response"]:
            return value if isinstance(value, list) else []
        case _:
            return value


def _set(holder: Any, last: str | int, value: Any) -> bool:
    if isinstance(last, int):
        if not isinstance(holder, list) or last > len(holder):
            return False
        holder[last : last + 1] = [value]
        return True
    if isinstance(holder, dict):
        holder[last] = value
    return isinstance(holder, dict)


def _push(holder: Any, last: str | int, values: list[Any] | None, start: Any) -> bool:
    array = _below(holder, last, make=[])
    if array is None:
        return False
    if number(start) is not None:
        del array[start:]
    array.extend(values or [])
    return True
