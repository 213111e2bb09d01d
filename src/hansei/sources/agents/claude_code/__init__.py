"""Claude Code: one line of JSON per record under `~/.claude/projects`.

Format evidence and every rule used here: docs/formats/claude_code.md (checked 2026-11-16 against
versions 1.0.0 to 2.1.170, and descriptions of later ones).

One idea carries it: an event is known by the ids that the provider and the agent wrote, never by
the file it stands in. So a streamed line, a forked file and a subagent's line inside its parent all
tell of the same event, and it counts once.
"""

from hansei.sources.agents.claude_code.source import SOURCE

__all__ = ["SOURCE"]
