"""Text in the user's place: who wrote it?

The program puts instructions, the state of the environment, skills and notifications there too.
Later versions say of each part what it is; before that, a part's beginning tells. A text counts as
a person's only where nothing says otherwise.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import MARKER, Origin
from hansei.sources.families import tagged

if TYPE_CHECKING:
    from hansei.sources.agents.codex.records import Passthrough

SHELL_COMMAND = "user_shell_command"
"""The tag around a command that a person ran with `!`, and its output."""
ENVIRONMENT = "environment_context"

_PROGRAM_TAGS = frozenset(
    (
        ENVIRONMENT, SHELL_COMMAND, "user_instructions", "INSTRUCTIONS", "turn_aborted", "skill",
        "subagent_notification", "goal_context", "codex_internal_context", "recommended_plugins",
        "user_action", "permissions", "model_switch", "collaboration_mode", "multi_agent_mode",
        "multi_agent_role", "skills_instructions", "plugins_instructions", "apps_instructions",
        "environments_instructions", "startup_context", "token_budget", "rollout_budget",
        "context_window", "current_time_reminder", "personality_spec", "realtime_conversation",
    )
)  # fmt: skip
_HOOK_TAG = "hook_prompt"
_EXTERNAL = "external_"
"""How tags begin in which a client hands in its own context."""
_PROGRAM_STARTS = (
    "# AGENTS.md instructions",
    "Warning: apply_patch was requested via ",
    "Warning: The maximum number of unified exec processes",
    "Warning: Your account was flagged",
    "Another language model started to solve this problem",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
)
_INSTRUCTIONS_END = "</INSTRUCTIONS>"
_REQUEST = "## My request for Codex:"
"""What an editor puts between its own context and what the person typed."""
_IMAGE_LABEL = re.compile(r"\s*(?:<(?:image|audio)(?: [^>]*)?>|</(?:image|audio)>)\s*")


class Said(NamedTuple):
    """A piece of a message, and who wrote it; None is whoever speaks in this session."""

    text: str
    origin: Origin | None


def pieces(text: str) -> list[Said]:
    """A text split into what the program put in and what is left."""
    if _IMAGE_LABEL.fullmatch(text):
        return []
    written_by = _beginning(text.lstrip())
    if written_by is not None:
        end = _end(text)
        rest = text[end:].strip() if end else ""
        said = Said(text[:end].strip() if rest else text, written_by)
        return [said, *pieces(rest)] if rest else [said]
    head, asked, request = text.partition(_REQUEST)
    if asked and head.endswith("\n") and head.strip():
        return [Said(head.strip(), Origin.HARNESS), Said(request.strip(), None)]
    return [Said(text, None)]


def _beginning(head: str) -> Origin | None:
    """Who wrote a text that begins so, if not a person."""
    if head.startswith(_PROGRAM_STARTS):
        return Origin.HARNESS
    tag = tagged.leading(head)
    if tag == _HOOK_TAG:
        return Origin.HOOK
    return Origin.HARNESS if tag in _PROGRAM_TAGS or tag.startswith(_EXTERNAL) else None


def _end(text: str) -> int:
    """Where the program's part of a text ends; 0 if it has no end of its own."""
    head = text.lstrip()
    tag = tagged.leading(head)
    closing = f"</{tag}>" if tag else _INSTRUCTIONS_END if head.startswith("# AGENTS.md") else ""
    place = text.rfind(closing) if closing else -1
    return place + len(closing) if place >= 0 else 0


def noted_origin(notes: Passthrough | None, number: int) -> Origin | None:
    """Who wrote a part, where the program says that it was no person."""
    if notes is None:
        return None
    metadata, kinds = notes.content_item_metadata, notes.content_item_kinds
    provenance = metadata[number].provenance if metadata and number < len(metadata) else None
    if provenance is not None and provenance.hook:
        return Origin.HOOK
    kind = kinds[number] if kinds and number < len(kinds) else "unknown"
    return None if kind == "unknown" or kind.startswith("user.") else Origin.HARNESS


def ours(text: str, origin: Origin) -> Origin:
    """The origin of a text; ours, whoever it came from, if it carries our marker."""
    return Origin.HANSEI if MARKER in text else origin
