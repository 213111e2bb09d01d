"""Changes to files.

An edit is told three times: as a patch in the call, by the answer (did it apply?) and in later
versions as a diff with line numbers. All three are one event. The patch is not kept between two
readings; if it is needed again, its line is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from hansei.events.model import FileEdit, Tool
from hansei.sources.agents.codex import tools
from hansei.sources.agents.codex.thread import call_key, key_of
from hansei.sources.families import patches
from hansei.sources.families.edits import from_root
from hansei.sources.families.records import value_of
from hansei.sources.families.streams import short

if TYPE_CHECKING:
    from hansei.sources.agents.codex.thread import Reader


def planned(
    reader: Reader, call: str, tool: Tool, arguments: dict[str, Any], text: str
) -> list[FileEdit]:
    """The files a call is to change."""
    patch, folder = text, reader.cwd
    if tool is not Tool.EDIT:
        inside = patches.in_command(text)
        if inside is None:
            return []
        patch, workdir = inside.patch, arguments.get("workdir")
        folder = from_root(workdir, folder) if isinstance(workdir, str) else folder
        folder = from_root(inside.folder, folder) if inside.folder else folder
    return [
        FileEdit(
            key=call_key(reader, f"edit{number}", call),
            call=call,
            path=from_root(part.path, folder),
            operation=part.operation,
            moved_to=from_root(part.moved_to, folder) if part.moved_to else None,
            **(part.change._asdict() if part.change else {}),
            **reader.where,
        )
        for number, part in enumerate(patches.parse(patch))
    ]


def _planned_before(reader: Reader, call: str) -> list[FileEdit]:
    """The edits of an earlier call."""
    found = reader.edits.get(call)
    if found is None:
        known = reader.state.calls.get(short(call))
        if known is None or known.offset is None:
            return []
        payload = reader.payload_at(known.offset)
        arguments, tool = tools.given(payload), tools.tool_of(tools.name_of(payload) or "")
        found = planned(reader, call, tool, arguments, tools.about(arguments))
        reader.edits[call] = found
    return found


def settle(reader: Reader, call: str, applied: bool | None) -> None:
    """Say of a call's edits whether they were made, once that is known."""
    if applied is None:
        return
    found = _planned_before(reader, call)
    for number, edit in enumerate(found):
        found[number] = msgspec.structs.replace(edit, applied=applied, at=reader.where["at"])
        reader.emit(found[number])


class _Change(msgspec.Struct):
    type: Literal["add", "delete", "update"]
    content: str = ""
    unified_diff: str = ""
    move_path: str | None = None


def told(reader: Reader, call: str, changes: msgspec.Raw, applied: bool | None) -> None:
    """Take the changes of a call from the program's own account of them."""
    account = value_of(changes)
    by_path = {path: _change(value) for path, value in account.items()} if account else {}
    found = _planned_before(reader, call)
    if not found:
        found = reader.edits[call] = [_unplanned(reader, call, path) for path in by_path]
    known = reader.state.calls.get(short(call))
    if known is not None:
        known.offset = None  # the answer has nothing to add
    for number, edit in enumerate(found):
        path = next((path for path in by_path if _same_file(path, edit.path)), None)
        change = by_path.pop(path) if path is not None else None
        values = _values(change) if change else {}
        values |= {"applied": applied, "at": reader.where["at"]}
        found[number] = msgspec.structs.replace(edit, **values)
        reader.emit(found[number])


def _unplanned(reader: Reader, call: str, path: str) -> FileEdit:
    """A change of which there was no patch."""
    key = key_of("edited", str(call_key(reader, "call", call)), path)
    return FileEdit(key=key, call=call, path=path, operation="update", **reader.where)


def _change(value: Any) -> _Change | None:
    try:
        return msgspec.convert(value, _Change)
    except msgspec.ValidationError:
        return None


def _same_file(told_path: str, path: str) -> bool:
    told_path, path = (name.replace("\\", "/") for name in (told_path, path))
    return told_path == path or told_path.endswith(f"/{path.removeprefix('./')}")


def _values(change: _Change) -> dict[str, Any]:
    if change.type == "add":
        return {"operation": "create", **patches.created(change.content)._asdict()}
    if change.type == "delete":
        return {"operation": "delete", **patches.deleted(change.content)._asdict()}
    values = patches.from_unified(change.unified_diff)._asdict()
    if change.move_path:
        return {"operation": "rename", "moved_to": change.move_path, **values}
    return {"operation": "update", **values}
