"""Calls that only ask how an earlier one is going: what they tell is that one's result.

A command that runs for long is left in the background and asked for later. The answer belongs to
the command that was started, not to the question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from hansei.events.model import Basis, Status, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.events.model import ToolCall
    from hansei.projection.calls import Call

TYPING: Final = frozenset(("write_stdin",))
"""Tools that type into a running command, or only look at it."""
_LOOKING: Final = frozenset(("BashOutput", "TaskOutput", "AgentOutputTool"))
_STOPPING: Final = frozenset(("KillShell", "KillBash"))
_ASKING: Final = TYPING | _LOOKING | _STOPPING
_BEGUN = re.compile(r"running in (?:the )?background with ID: ?([\w-]+)")
_HEAD: Final = 400
"""Characters of an answer that say how it is going."""
_RECENT: Final = 10
"""Calls after which a command that still runs is no longer taken for the one that is meant, where
the transcript does not name it."""
_CODE = re.compile(r"<exit_code>(-?\d{1,9})</exit_code>")
_OUTPUT = re.compile(r"<(stdout|stderr|output)>\n?(.*?)\n?</\1>", re.DOTALL)


def followed(calls: Sequence[Call]) -> list[Call]:
    """The calls, where each that tells the end of an earlier command is told as that command.

    Other calls of that kind run nothing, so they have no script.
    """
    if not any(call.event.name in _ASKING for call in calls):
        return list(calls)
    begun: dict[str, Call | None] = {}
    running: list[tuple[int, Call]] = []
    found = []
    for index, call in enumerate(calls):
        if call.event.name in _ASKING:
            running = [it for it in running if index - it[0] <= _RECENT]
            found.append(_told(call, begun, running))
            continue
        found.append(call)
        result = call.result
        if result is None or call.script is None:
            continue
        named = _BEGUN.search(result.text[:_HEAD])
        if named is not None:
            begun[named[1]] = call
        elif result.status is Status.UNKNOWN and result.basis is Basis.NONE:
            running.append((index, call))
    return found


def _told(call: Call, begun: dict[str, Call | None], running: list[tuple[int, Call]]) -> Call:
    """A question with the command it asks for, where the answer says how that ended."""
    result = call.result
    start = _started(call, begun, running)
    if result is None or start is None or call.event.name in _STOPPING:
        return call._replace(script=None)
    text, code = result.text, result.exit_code
    if call.event.name in _LOOKING:
        told = _CODE.search(text[:_HEAD])
        code = int(told[1]) if told else code
        text = "\n".join(part for _, part in _OUTPUT.findall(text)) or text
    if code is None:
        return call._replace(script=None)
    # Who asks again is told the same again: that is no other end.
    _ended(start, begun)
    hidden = start.script is not None and start.script.masked
    status = Status.FAILED if code else Status.UNKNOWN if hidden else Status.OK
    basis = Basis.MASKED if status is Status.UNKNOWN else Basis.EXIT_CODE
    return call._replace(
        event=_like(call.event, start.event),
        result=msgspec.structs.replace(
            result, text=text, status=status, basis=basis, exit_code=code
        ),
        script=start.script,
    )


def _like(event: ToolCall, start: ToolCall) -> ToolCall:
    """A question as if it were the command itself."""
    return msgspec.structs.replace(
        event,
        tool=Tool.SHELL,
        name=start.name,
        text=start.text,
        arguments=start.arguments,
        cwd=start.cwd,
    )


def _ended(start: Call, begun: dict[str, Call | None]) -> None:
    begun.update(dict.fromkeys([key for key, it in begun.items() if it is start]))


def _started(
    call: Call, begun: dict[str, Call | None], running: list[tuple[int, Call]]
) -> Call | None:
    """The command a question is about; None where that cannot be told."""
    given = call.event.arguments
    name = next((given[it] for it in ("bash_id", "task_id", "session_id") if it in given), None)
    if name is None:
        return None
    key = str(name)
    if key not in begun and call.event.name in TYPING and running:
        first, last = running[0][0], running[-1][0]
        # Those that were started one after the other are asked for in that order.
        if last - first < len(running):
            begun[key] = running.pop(0)[1]
    return begun.get(key)
