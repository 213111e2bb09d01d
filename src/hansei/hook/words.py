"""What each agent calls things in the input of its hooks, and how it takes context back.

One table per agent, with only what its documentation or a real run shows; docs/concepts/hooks.md
names the evidence. A name with dots leads into objects and lists. The first name that is there
counts.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the real one costs the import of typing, on every call of every hook
if TYPE_CHECKING:
    from typing import Any

COMMON: dict[str, tuple[str, ...]] = {
    "hook": ("hook_event_name",),
    "session": ("session_id",),
    "call": ("tool_use_id",),
    "tool": ("tool_name",),
    "cwd": ("cwd",),
    "prompt": ("prompt",),
    "input": ("tool_input",),
    "output": ("tool_response",),
    "transcript": ("transcript_path",),
    "source": ("source",),
    "reason": ("reason",),
    "trigger": ("trigger",),
    "agent_id": ("agent_id",),
    "agent_type": ("agent_type",),
    "model": ("model",),
}
"""What several agents share; the names of an agent's own table replace these."""

OWN: dict[str, dict[str, tuple[str, ...]]] = {
    "claude_code": {"turn": ("prompt_id",), "output": ("tool_response", "error")},
    "codex": {"turn": ("turn_id",)},
    "gemini": {},
    "cursor": {
        "session": ("conversation_id", "session_id"),
        "turn": ("generation_id",),
        "cwd": ("cwd", "workspace_roots.0"),
        "version": ("cursor_version",),
        "input": ("tool_input", "command"),
        "output": ("tool_output", "output", "result_json"),
        "reason": ("reason", "status"),
    },
    "copilot": {
        "session": ("sessionId", "session_id"),
        "tool": ("toolName", "tool_name"),
        "input": ("toolArgs", "tool_input"),
        "output": ("toolResult", "tool_result"),
        "prompt": ("prompt", "initialPrompt"),
        "transcript": ("transcriptPath", "transcript_path"),
        "reason": ("reason", "stopReason"),
    },
    "opencode": {
        "session": ("sessionID",),
        "call": ("callID",),
        "tool": ("tool",),
        "cwd": ("directory",),
        "input": ("args",),
        "output": ("output",),
    },
    "openclaw": {
        "session": ("sessionId", "context.sessionId"),
        "cwd": ("workspaceDir", "context.workspaceDir"),
    },
}

TOKENS: dict[str, dict[str, str]] = {
    "cursor": {
        "input": "input_tokens",
        "output": "output_tokens",
        "cache_read": "cache_read_tokens",
        "cache_write": "cache_write_tokens",
    },
}
"""Counts that only the hook tells. Its input includes what was read from and written to a cache."""

STARTS: dict[str, tuple[str, ...]] = {
    "claude_code": ("SessionStart", "SubagentStart"),
    "codex": ("SessionStart", "SubagentStart"),
    "gemini": ("SessionStart",),
    "cursor": ("sessionStart",),
    "copilot": ("sessionStart", "SessionStart"),
    "opencode": ("session.created",),
    "openclaw": ("agent:bootstrap",),
}
"""Hooks that begin a session: there the repository is looked at, and a text may be delivered."""

FAILED: dict[str, tuple[str, ...]] = {"claude_code": ("PostToolUseFailure",)}
"""Hooks that tell of a call that failed and take a text back, as a real run showed."""

SUBAGENT_SESSION: dict[str, str] = {
    "claude_code": "{session}/agent-{agent}",
    "codex": "{agent}",
}
"""The id of a subagent's session as its transcript has it; elsewhere its parent's id stands."""

BEFORE_CALLS: dict[str, str] = {
    "claude_code": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
}
"""Hooks that run before a call and may stop it, of agents that are known to heed a refusal."""

FORGETS = frozenset(("gemini",))
"""Agents that leave out what a hook had added when a session is resumed, as a real run showed."""
_DECIDING = frozenset(("gemini",))
"""Agents that take a refusal as a decision of the hook, not as one on a permission."""
_WRAPPED = ("claude_code", "codex", "gemini")
"""Agents that take added context inside `hookSpecificOutput`."""
_BARE = "cursor"
"""The one that takes it as it is."""
_CURSOR_ONLY = "cursor_version"
"""Cursor runs the hooks of Claude Code's settings too; this field tells that it was Cursor."""


def really(agent: str, said: dict[str, Any]) -> str:
    """The agent that called, which need not be the one whose settings name the hook."""
    return "cursor" if _CURSOR_ONLY in said else agent


def words(agent: str) -> dict[str, tuple[str, ...]]:
    """Where an agent's hook input holds what; an agent without a table has the common one."""
    return {**COMMON, **OWN.get(agent, {})}


def find(said: Any, names: tuple[str, ...]) -> Any:
    """The value under the first of the names that is there; None if none is."""
    for name in names:
        value = said
        for part in name.split("."):
            if isinstance(value, dict):
                value = value.get(part)
            elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
                value = value[int(part)]
            else:
                value = None
        if value is not None:
            return value
    return None


def context(agent: str, hook: str, text: str) -> dict[str, Any] | None:
    """What to print so that the agent adds a text to the context; None where it takes none."""
    if agent in _WRAPPED:
        return {"hookSpecificOutput": {"hookEventName": hook, "additionalContext": text}}
    return {"additional_context": text} if agent == _BARE else None


def denial(agent: str, hook: str, text: str) -> dict[str, Any]:
    """What to print so that an agent does not make the call it is about to make."""
    if agent in _DECIDING:
        return {"decision": "deny", "reason": text}
    decided = {"permissionDecision": "deny", "permissionDecisionReason": text}
    return {"hookSpecificOutput": {"hookEventName": hook, **decided}}


def takes_text(agent: str) -> bool:
    """Whether an agent adds what a hook prints to the context."""
    return agent in _WRAPPED or agent == _BARE
