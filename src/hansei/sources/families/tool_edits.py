"""What a tool call is about, and which files it asks to change, whatever the tool is called.

Frameworks have no tools of their own, only those that people write. So the arguments decide: a path
beside an old and a new text is a replacement, a path beside a content is a file that is written,
and a patch is a patch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Tool
from hansei.events.tools import canonical_tool
from hansei.sources.families import edits, patches

if TYPE_CHECKING:
    from hansei.sources.families.patches import Operation

_ABOUT = (
    "command", "cmd", "script", "code", "path", "file_path", "filepath", "filename", "file",
    "query", "pattern", "regex", "url", "description", "prompt", "input", "patch", "patch_text",
    "text",
)  # fmt: skip
"""Arguments that say what a call is about, the telling ones first."""
_PATHS = ("path", "file_path", "filepath", "filename", "file", "target_file", "absolute_path")
_OLD = ("old_str", "old_string", "old_text", "old", "search")
_NEW = ("new_str", "new_string", "new_text", "new", "replace")
_CONTENTS = ("file_text", "content", "contents", "text")
_PATCHES = ("patch", "patch_text", "diff", "input")
_UNCHANGING = frozenset(("view", "undo_edit"))
"""What editors with several commands do besides changing."""
_CHANGING = frozenset((Tool.EDIT, Tool.WRITE))


class Edit(NamedTuple):
    """What a call does to one file."""

    path: str
    operation: Operation
    change: edits.Change | None
    moved_to: str | None = None


def about(arguments: dict[str, Any]) -> str:
    """What a call is about, on its own."""
    for name in _ABOUT:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
    return ""


def edits_of(name: str, arguments: dict[str, Any], folder: str | None) -> list[Edit]:
    """The files a call asks to change; none where its arguments do not say so."""
    patch = _text(arguments, _PATCHES)
    if patch and (found := patches.parse(patch)):
        return [_from_root(Edit(*part), folder) for part in found]
    path = _text(arguments, _PATHS)
    if not path or str(arguments.get("command")) in _UNCHANGING:
        return []
    old, new = _text(arguments, _OLD), _text(arguments, _NEW)
    if old is not None and new is not None:
        edit = Edit(path, "update" if old else "create", edits.replacement(old, new))
        return [_from_root(edit, folder)]
    content = _text(arguments, _CONTENTS)
    if content is None or canonical_tool(name) not in _CHANGING:
        return []
    created = canonical_tool(name) is Tool.WRITE or arguments.get("command") == "create"
    operation: Operation = "create" if created else "update"
    return [_from_root(Edit(path, operation, edits.replacement("", content, 1)), folder)]


def _from_root(edit: Edit, folder: str | None) -> Edit:
    return edit._replace(path=edits.from_root(edit.path, folder))


def _text(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    values = (arguments.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), None)
