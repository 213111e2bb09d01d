"""Text in the user's place: who wrote it?

The program puts its own text around what a person typed, and marks the person's part. A text counts
as a person's only where nothing says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.events.model import MARKER, Origin
from hansei.sources.families import tagged
from hansei.sources.families.records import rescue

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERY = "user_query"
"""The tag around what a person typed."""
_PROGRAM_TAGS = frozenset(
    (
        "user_info", "open_and_recently_viewed_files", "attached_files", "additional_data", "rules",
        "agent_skills", "available_skills", "manually_attached_skills", "mcp_instructions",
        "mcp_file_system", "git_status", "project_layout", "system_reminder", "system-reminder",
        "agent_transcripts", "code_selection", "image_files", "timestamp", "agent_skill",
        "always_applied_workspace_rules", "user_rules", "cursor_commands", "external_links",
        "terminal_files_information", "task_notification", "system_notification",
    )
)  # fmt: skip
_WORKSPACE = re.compile(r"^Workspace Path: (.+?)\s*$", re.MULTILINE)
IMAGE = re.compile(r"^\[Image\]\s*$\n?", re.MULTILINE)
"""What stands for an image in a transcript of plain text."""


class Said(NamedTuple):
    """A piece of a message, and who wrote it; None is whoever speaks in this chat."""

    text: str
    origin: Origin | None


def pieces(text: str) -> list[Said]:
    """A message split into what the program put in and what is left."""
    opened, closed = text.find(f"<{QUERY}>"), text.rfind(f"</{QUERY}>")
    if 0 <= opened < closed:
        asked = text[opened + len(QUERY) + 2 : closed].strip()
        around = (text[:opened], text[closed + len(QUERY) + 3 :])
        added = [Said(part.strip(), Origin.HARNESS) for part in around if part.strip()]
        return [*added, Said(asked, None)] if asked else added
    stripped = text.strip()
    if not stripped:
        return []
    is_program = tagged.leading(stripped) in _PROGRAM_TAGS
    return [Said(stripped, Origin.HARNESS if is_program else None)]


def ours(text: str, origin: Origin) -> Origin:
    """The origin of a text; ours, whoever it came from, if it carries our marker."""
    return Origin.HANSEI if MARKER in text else origin


def workspace_in(text: str) -> str | None:
    """The folder that the program tells the model it works in."""
    found = _WORKSPACE.search(text) if "Workspace Path: " in text else None
    return found[1] if found else None


def typed_in(rich: str) -> str:
    """The text in the state of the editor's input box."""
    if not rich.lstrip().startswith("{"):
        return rich
    state = rescue(rich.encode("utf-8", "surrogatepass")).value or {}
    root = state.get("root")
    lines = root.get("children") if isinstance(root, dict) else None
    lines = lines if isinstance(lines, list) else []
    return "\n".join("".join(_texts(line)) for line in lines)


def _texts(node: Any) -> Iterator[str]:
    if not isinstance(node, dict):
        return
    text, children = node.get("text"), node.get("children")
    if isinstance(text, str):
        yield text
    elif node.get("type") == "linebreak":
        yield "\n"
    for child in children if isinstance(children, list) else ():
        yield from _texts(child)
