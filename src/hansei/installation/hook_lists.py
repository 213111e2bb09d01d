"""Settings that list hooks by event: `{"hooks": {"Stop": [...]}}`, flat or in groups.

Two layouts exist. A group holds a matcher and several handlers (`{"hooks": [{"command": …}]}`); a
flat entry is the handler itself. Ours are known by their command, wherever they stand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.installation import jsonc
from hansei.installation.launcher import is_ours

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hansei.installation.jsonc import Node, Part


@dataclass(frozen=True)
class HookLists:
    """What a settings file should say: one entry of ours per event, and nothing else of ours."""

    entries: Mapping[str, Mapping[str, Any]]
    preface: Mapping[str, Any] = field(default_factory=dict)
    """Members that must stand beside `hooks`, added where they are missing."""

    def install(self, text: str | None) -> str | None:
        """The settings with our hooks, unchanged where they are there already."""
        if not self.entries:
            return text if text is None else self.uninstall(text)
        before = text if text and text.strip() else "{}\n"
        after = _strip(before, self.entries)
        for key, value in self.preface.items():
            root = _root(after)
            if root.member(key) is None:
                after = jsonc.append(after, root, value, key)
        for event, entry in self.entries.items():
            after = _with(after, event, entry)
        _unharmed(before, after, self.preface)
        return after

    def uninstall(self, text: str) -> str:
        """The settings without our hooks; what only held them goes too."""
        if not text.strip():
            return text
        after = _strip(text, {})
        _unharmed(text, after, {})
        return after

    def events(self, text: str) -> list[str]:
        """The events for which a hook of ours stands in the settings."""
        return sorted({handler.event for handler in _ours(_root(text))}) if text.strip() else []

    def is_empty(self, text: str) -> bool:
        """Whether nothing is left but what we put there ourselves."""
        return not text.strip() or foreign(_root(text).value) in ({}, dict(self.preface))


GROUPED = 3
"""The length of a handler's path where it stands in a group."""


class Handler(NamedTuple):
    """A handler of ours and what it stands in, from the outside in."""

    event: str
    path: tuple[tuple[Node, int], ...]
    """Containers and the index in each: hooks, the event's list, the group's list if any."""
    command: Node


def grouped(command: str, seconds: int) -> dict[str, Any]:
    """An entry in the layout with groups."""
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def flat(command: str, seconds: int) -> dict[str, Any]:
    """An entry in the flat layout."""
    return {"command": command, "timeout": seconds}


def _root(text: str) -> Node:
    root = jsonc.parse(text)
    if not isinstance(root.value, dict):
        raise jsonc.Malformed(text, root.start, "settings should be an object")
    hooks = root.member("hooks")
    if hooks is None:
        return root
    if not isinstance(hooks.node.value, dict):
        raise jsonc.Malformed(text, hooks.start, '"hooks" should be an object')
    for event in hooks.node.parts:
        known = isinstance(event.node.value, list)
        if not known and _mentions_us(event.node.value):
            raise jsonc.Malformed(text, event.start, f'"{event.key}" should be a list')
    return root


def _mentions_us(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_mentions_us, value.values()))
    if isinstance(value, list):
        return any(map(_mentions_us, value))
    return isinstance(value, str) and is_ours(value)


def _ours(root: Node) -> Iterator[Handler]:
    hooks = root.member("hooks")
    for index, event in enumerate(hooks.node.parts if hooks else ()):
        assert hooks is not None
        for place, entry in enumerate(event.node.parts):
            above = ((hooks.node, index), (event.node, place))
            inner = entry.node.member("hooks")
            if inner is None:
                yield from _handler(event, entry, above)
            for order, handler in enumerate(inner.node.parts if inner else ()):
                assert inner is not None
                yield from _handler(event, handler, (*above, (inner.node, order)))


def _handler(event: Part, part: Part, path: tuple[tuple[Node, int], ...]) -> Iterator[Handler]:
    command = part.node.member("command")
    if command is not None and isinstance(command.node.value, str) and is_ours(command.node.value):
        yield Handler(event.key or "", path, command.node)


def _strip(text: str, keep: Mapping[str, Any]) -> str:
    """Take out ours one by one, but the first of each event to keep."""
    while True:
        kept: set[str] = set()
        surplus = None
        root = _root(text)
        for handler in _ours(root):
            if handler.event in kept or handler.event not in keep:
                surplus = handler
                break
            kept.add(handler.event)
        if surplus is None:
            return text
        text = _removed(text, root, surplus)


def _removed(text: str, root: Node, handler: Handler) -> str:
    """Remove a handler, or the outermost thing that holds nothing else."""
    whole = tuple((root, index) for index, part in enumerate(root.parts) if part.key == "hooks")
    path = (*whole[-1:], *handler.path)
    outermost = len(path) - 1
    if len(handler.path) == GROUPED and len(path[outermost][0].parts) == 1:
        outermost -= 1  # a group that held only ours is ours with all that is in it
    while outermost > 0 and _nothing_else(text, path[outermost - 1], path[outermost][0]):
        outermost -= 1
    return jsonc.remove(text, *path[outermost])


def _nothing_else(text: str, above: tuple[Node, int], container: Node) -> bool:
    """Whether a container has one part, and neither it nor its name comes with a comment."""
    if len(container.parts) != 1:
        return False
    (part,) = container.parts
    around = text[container.start + 1 : part.start] + text[part.end : container.end - 1]
    name = text[above[0].parts[above[1]].start : container.start]
    return not around.replace(",", "").strip() and "//" not in name and "/*" not in name


def _with(text: str, event: str, entry: Mapping[str, Any]) -> str:
    """The settings with one entry of ours for an event; a person's changes to it are kept."""
    root = _root(text)
    command = command_of(entry)
    for handler in _ours(root):
        if handler.event == event:
            same = handler.command.value == command
            return text if same else jsonc.replace(text, handler.command, command)
    hooks = root.member("hooks")
    if hooks is None:
        return _with(jsonc.append(text, root, {}, "hooks"), event, entry)
    there = hooks.node.member(event)
    if there is None:
        return jsonc.append(text, hooks.node, [entry], event)
    if not isinstance(there.node.value, list):
        raise jsonc.Malformed(text, there.start, f'"{event}" should be a list')
    return jsonc.append(text, there.node, entry)


def _unharmed(before: str, after: str, preface: Mapping[str, Any]) -> None:
    """Refuse an edit that would change anything but our own entries."""
    old, new = foreign(jsonc.parse(before).value), foreign(jsonc.parse(after).value)
    if {**preface, **old} != new and old != new:
        raise jsonc.Malformed(before, 0, "it cannot be changed without changing more than our part")


def foreign(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they would be had we never touched them, empty lists left out."""
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return dict(settings)
    left = {event: _foreign_entries(entries) for event, entries in hooks.items()}
    left = {event: entries for event, entries in left.items() if entries != []}
    return {**rest, "hooks": left} if left else rest


def _foreign_entries(entries: Any) -> Any:
    if not isinstance(entries, list):
        return entries
    left = []
    for entry in entries:
        inner = entry.get("hooks") if isinstance(entry, dict) else None
        if isinstance(inner, list):
            others = [handler for handler in inner if not is_ours(command_of(handler))]
            if others or not inner:
                left.append({**entry, "hooks": others})
        elif not is_ours(command_of(entry)):
            left.append(entry)
    return left


def handlers(hooks: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every handler under `hooks` with its event, in groups or not."""
    for event, entries in hooks.items():
        for entry in entries if isinstance(entries, list) else ():
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            yield from (
                (event, handler) for handler in (inner if isinstance(inner, list) else [entry])
            )


def command_of(entry: Any) -> str:
    """The command of a handler, or of the first one in a group; empty where there is none."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    handler = inner[0] if isinstance(inner, list) and inner else entry
    command = handler.get("command") if isinstance(handler, dict) else None
    return command if isinstance(command, str) else ""
