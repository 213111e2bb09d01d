"""The rig's own hook: it keeps what it was told, and behaves as badly as it is asked to."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rig.stage import Stage

TIMEOUT_SECONDS = 2
"""What agents are told to wait for it."""

_RECORD = """\
#!/bin/sh
cat > {told}/"$(date +%s%N)-$$-$1.json"
{then}
"""

GOOD = "exit 0"
EXIT_CODE = "echo 'the hook is broken' >&2; exit 1"
GARBAGE = "printf '\\377\\376{\"half\": \\n\\033[31mred\\000'; exit 0"
HANGING = "exec sleep 30"


def deliver(text: str) -> str:
    """Give the model this text when a session starts."""
    answer = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": text}}
    return f"""[ "$1" = SessionStart ] && printf '%s' {shlex.quote(json.dumps(answer))}; exit 0"""


def install(stage: Stage, then: str) -> None:
    """Have the agent call a hook for each event it knows; `then` is what the hook does."""
    place = stage.place
    script = place.folder / "hook"
    text = _RECORD.format(told=shlex.quote(str(place.told)), then=then)
    place.write(script, text, mode=0o700)
    commands = {event: f"{shlex.quote(str(script))} {event}" for event in stage.agent.hook_events}
    stage.agent.hook(place, commands, TIMEOUT_SECONDS)


def told(stage: Stage) -> list[dict[str, Any]]:
    """What the hook was told, in order."""
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(stage.place.told.glob("*.json"))
    ]
