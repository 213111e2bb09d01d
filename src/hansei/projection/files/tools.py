"""What tools show of files and do to them, by what they were given and what came of it.

Tools that do the same are given the same under a few names. Which lines a read brought is told by
the numbers before them in its result; what was asked for counts only where there are none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import Tool
from hansei.projection.commands.paths import is_absolute
from hansei.projection.files.model import Extent, Verb
from hansei.projection.files.seen import Places, Seen, as_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import FileEdit, Hunk, ToolCall, ToolResult
    from hansei.projection.calls import Call
    from hansei.projection.places import Place

_PATHS = (
    "file_path", "filePath", "notebook_path", "target_file", "targetFile", "path",
    "relativeWorkspacePath", "relative_workspace_path", "target_notebook",
)  # fmt: skip
_FOLDERS = (
    "path", "target_directory", "targetDirectory", "directoryPath", "relative_workspace_path",
    "relativeWorkspacePath", "dir_path",
)  # fmt: skip
_FIRST = ("offset", "start_line_one_indexed", "startLineOneIndexed", "start_line", "startLine")
_LAST = (
    "end_line_one_indexed_inclusive", "endLineOneIndexedInclusive", "end_line", "endLine",
)  # fmt: skip
_PATTERNS = ("pattern", "glob_pattern", "globPattern")
_LISTS = re.compile(r"glob|ls|list|file_?search", re.IGNORECASE)
_NO_FILES = re.compile(r"tool_?search|go_to_definition|lsp", re.IGNORECASE)
_NO_MATCH = ("No matches", "No files")
_NAMES_ONLY = ("files_with_matches", "count")

EDGE = 4_000
"""Characters at either end of a result that are looked at."""
_NUMBERED = re.compile(r"^ *0*(\d{1,7})(?:→|\t|\| |: )", re.MULTILINE)
_UNCHANGED = re.compile(r"(?:<[\w-]+>)?(?:Wasted call.{0,9})?file (?:is )?unchanged", re.IGNORECASE)
_CREATED = re.compile(r"(?:New )?file created|Successfully created", re.IGNORECASE)
_TOO_SHORT = "exists but is shorter than"
_CUT = ("Truncated: PARTIAL", "(File has more lines", "File truncated at line")
_ADDED = "\n<system-reminder>"
"""Begins what an agent adds below a result."""
_MOST_LINES = 2_000
"""A read that brings so many lines and was not told how many may have been cut there."""


def of_tool(call: Call, places: Places, cwd: str | None) -> Iterator[Seen]:
    """The files that a call of a tool other than a shell looks at or names."""
    event = call.event
    if event.tool is Tool.SEARCH:
        yield from _searched(event, call.result, places, cwd)
        return
    path = _text(event.arguments, _PATHS)
    if path is None:
        return
    if event.tool is Tool.READ:
        yield _read(event, call.result, places.of(path, cwd))
    elif event.tool is Tool.EDIT:
        yield Seen(places.of(path, cwd), Verb.EDIT, Extent.UNKNOWN)
    elif event.tool is Tool.WRITE:
        new = call.result is not None and _CREATED.match(call.result.text)
        yield Seen(places.of(path, cwd), Verb.CREATE if new else Verb.WRITE)


def of_edit(edit: FileEdit, tool: Tool, places: Places) -> Iterator[Seen]:
    """A change as it was recorded; a moved file has both its names."""
    found = places.of(edit.path, edit.cwd)
    if edit.operation == "create":
        yield Seen(found, Verb.CREATE)
    elif edit.operation == "delete":
        yield Seen(found, Verb.DELETE)
    elif edit.operation == "rename" or edit.moved_to:
        yield Seen(found, Verb.RENAME)
        if edit.moved_to:
            lines = _lines(edit.hunks)
            yield Seen(places.of(edit.moved_to, edit.cwd), Verb.RENAME, *lines)
    elif tool is Tool.WRITE:
        yield Seen(found, Verb.WRITE)
    else:
        yield Seen(found, Verb.EDIT, *_lines(edit.hunks))


def says_unchanged(result: ToolResult | None) -> bool:
    """Whether the agent answered that the file is as it was, instead of showing it again."""
    return result is not None and _UNCHANGED.match(result.text) is not None


class _Range(NamedTuple):
    extent: Extent
    first: int | None = None
    last: int | None = None


def _lines(hunks: list[Hunk]) -> _Range:
    """From the first changed line to the last, in the new file."""
    starts = [(hunk.start, hunk.new.count("\n")) for hunk in hunks]
    known = [(start, max(start, start + size - 1)) for start, size in starts if start]
    if not known or len(known) < len(starts):
        return _Range(Extent.UNKNOWN)
    return _Range(Extent.LINES, min(it[0] for it in known), max(it[1] for it in known))


# --- reads ---


def _read(event: ToolCall, result: ToolResult | None, found: Place) -> Seen:
    first, last, limit = _asked(event.arguments)
    text = result.text if result is not None else ""
    if says_unchanged(result) or _TOO_SHORT in text[:EDGE]:
        return Seen(found, Verb.READ, Extent.NOTHING, first, last)
    shown = _shown(text)
    if shown is None:
        some = first or last
        asked = _Range(Extent.LINES, first, last) if some else _Range(Extent.WHOLE)
        return Seen(found, Verb.READ, *asked, alone=bool(text))
    begins, ends = shown
    most = limit or (_MOST_LINES if last is None else last - begins + 1)
    complete = begins <= 1 and ends - begins + 1 < most
    complete = complete and not any(sign in text[:EDGE] or sign in text[-EDGE:] for sign in _CUT)
    extent = Extent.WHOLE if complete else Extent.LINES
    return Seen(found, Verb.READ, extent, begins, ends, alone=True)


def _asked(arguments: dict[str, Any]) -> tuple[int | None, int | None, int | None]:
    first, last = _number(arguments, _FIRST), _number(arguments, _LAST)
    limit = _number(arguments, ("limit",))
    if arguments.get("should_read_entire_file") is True:
        return None, None, None
    if last is None and limit is not None:
        last = max(first or 1, 1) + limit - 1
    if first is not None:
        return max(first, 1), last, limit
    return (1 if last is not None else None), last, limit


def _shown(text: str) -> tuple[int, int] | None:
    """The first and the last number before the lines of a result."""
    begin = _NUMBERED.search(text, 0, EDGE)
    if begin is None or (begin.start() > 0 and not text.startswith("<")):
        return None
    first, body = int(begin[1]), without_added(text).rstrip("\n")
    ends = _NUMBERED.match(body, body.rfind("\n") + 1)
    numbers = [ends[1]] if ends is not None else _NUMBERED.findall(body[-EDGE:])
    if not numbers:
        return None
    # A read that is asked to begin at 0 numbers from 0.
    shift = 1 if first == 0 else 0
    return first + shift, max(first, int(numbers[-1])) + shift


def without_added(text: str) -> str:
    """A result without what the agent added below it."""
    added = text.rfind(_ADDED, max(0, len(text) - EDGE))
    return text[:added] if added >= 0 else text


# --- searches ---


def _searched(
    event: ToolCall, result: ToolResult | None, places: Places, cwd: str | None
) -> Iterator[Seen]:
    if _NO_FILES.search(event.name):
        return
    where, pattern = _text(event.arguments, _FOLDERS), _text(event.arguments, _PATTERNS)
    if _LISTS.match(event.name):
        folder = _folder_of(where, pattern)
        found = places.of(folder, cwd)
        named = found if found.path.endswith("/") else found._replace(path=f"{found.path}/")
        yield Seen(named, Verb.LIST, Extent.NOTHING)
        return
    text = result.text if result is not None else ""
    mode = event.arguments.get("output_mode")
    names_only = mode in _NAMES_ONLY or (mode is None and text.startswith("Found "))
    names_only = names_only or text.startswith(_NO_MATCH)
    extent = Extent.NOTHING if names_only else Extent.PART
    found = as_folder(places.of(where or ".", cwd))
    yield Seen(found, Verb.SEARCH, extent, alone=bool(text))


def _folder_of(where: str | None, pattern: str | None) -> str:
    """Where names were looked for: a pattern that begins with folders looks only there."""
    parts = re.split(r"[\\/]", pattern or "")[:-1]
    plain = []
    for part in parts:
        if re.search(r"[*?{\[]", part):
            break
        plain.append(part)
    below = "/".join(plain) or ("/" if pattern and pattern.startswith("/") else "")
    if not where or is_absolute(below):
        return below or "."
    return f"{where}/{below}" if below else where


def _text(arguments: dict[str, Any], names: tuple[str, ...]) -> str | None:
    """The first line of the first argument there is: transcripts in plain text run on."""
    values = (arguments.get(name) for name in names)
    found = next((value for value in values if isinstance(value, str) and value), None)
    return found.partition("\n")[0] if found else None


def _number(arguments: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
