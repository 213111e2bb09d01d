"""One line about the session that is going on: what it cost, how full its context is, what fails.

All of it is read from what the agent says and from the end of the transcript. What is not known is
left out. A person's own status line is run as it is, and ours stands beside it.
"""

from __future__ import annotations

import os

from hansei.hook.known import known, recognised
from hansei.hook.notation import FAILURES, parsed
from hansei.hook.words import find

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

TAIL_BYTES = 128 * 1024
"""Of the transcript: some dozens of calls. What failed before them is no news."""
OWN_SECONDS = 5.0
"""A person's own command that takes longer is left out; agents give up sooner."""
LONGEST_OWN = 64 * 1024
AGAIN = 2
"""From the second time on a failure is one that repeats."""
LONGEST_WORDS = 40
NEVER_RAN = ("The user doesn't want", "[Request interrupted", "Permission to use")
"""What stands in the place of an output where nothing was run."""
BETWEEN = " · "


def status(home: str, data: bytes, own: str | None = None) -> bytes:
    """What to show; `own` is the command of the person's own status line."""
    running = _start(own, data) if own else None
    try:
        ours = BETWEEN.join(_parts(home, parsed(data))).encode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - a status line is not worth an error
        ours = b""
    theirs = _ended(running).rstrip(b"\r\n") if running else b""
    if not theirs or not ours:
        return theirs or ours
    return theirs + BETWEEN.encode() + ours


def _parts(home: str, said: Any) -> list[str]:
    cost = find(said, ("cost.total_cost_usd",))
    calls, carried = _tail(find(said, ("transcript_path",)))
    folder = find(said, ("workspace.current_dir", "cwd"))
    found = [
        f"${cost:.2f}" if _is_number(cost) else "",
        _context(said, carried),
        _warning(calls, known(home, folder) if isinstance(folder, str) else []),
    ]
    return [it for it in found if it]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _context(said: Any, carried: int | None) -> str:
    """How full the context is: a share where the agent tells one, else tokens."""
    share = find(said, ("context_window.used_percentage",))
    if _is_number(share):
        return f"context {share:.0f}%"
    if carried is None:
        return ""
    return f"context {carried / 1000:.0f}k" if carried >= 1000 else f"context {carried}"


def _tail(path: Any) -> tuple[list[tuple[str, str, str | None]], int | None]:
    """Tool, command and, where it failed, output of the last calls; and the last request's size."""
    calls: dict[str, list[Any]] = {}
    carried = None
    for line in _last_lines(path):
        if b'"tool_' not in line and b'"usage"' not in line:
            continue
        try:
            record = parsed(line)
        except FAILURES:
            continue
        usage = find(record, ("message.usage",))
        if isinstance(usage, dict) and not find(record, ("isSidechain",)):
            carried = _input(usage) or carried  # an answer that no model gave tells nothing but 0
        content = find(record, ("message.content",))
        for part in content if isinstance(content, list) else ():
            _note(calls, part)
    return [(it[0], it[1], it[2]) for it in calls.values() if len(it) > 2], carried


def _input(usage: dict[str, Any]) -> int | None:
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    counts = [usage[name] for name in names if type(usage.get(name)) is int]
    return sum(counts) if counts else None


def _note(calls: dict[str, list[Any]], part: Any) -> None:
    """Keep a call, or how one ended."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "tool_use":
        told = find(part, ("input.command", "input.file_path"))
        command = told if isinstance(told, str) else ""
        calls[str(part.get("id"))] = [str(part.get("name")), command]
    elif kind == "tool_result" and str(part.get("tool_use_id")) in calls:
        text = find(part, ("content", "content.0.text"))
        output = text if isinstance(text, str) else str(find(part, ("content.0.text",)) or "")
        call = calls.pop(str(part["tool_use_id"]))
        if not output.startswith(NEVER_RAN):
            # At the end again: the order that counts is that of results.
            calls[str(part["tool_use_id"])] = [*call, output if part.get("is_error") else None]


def _last_lines(path: Any) -> list[bytes]:
    if not isinstance(path, str):
        return []
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return []
    try:
        size = os.fstat(handle).st_size
        start = max(0, size - TAIL_BYTES)
        os.lseek(handle, start, os.SEEK_SET)
        lines = os.read(handle, TAIL_BYTES).split(b"\n")
    except OSError:
        return []
    finally:
        os.close(handle)
    return lines[1:] if start else lines


def _warning(calls: list[tuple[str, str, str | None]], failures: list[dict[str, Any]]) -> str:
    """The last thing that fails again and again, or is known, and has not succeeded since."""
    failing: dict[tuple[str, str], list[str]] = {}
    for tool, command, output in calls:
        if output is None:
            failing.pop((tool, command), None)
        else:
            failing[tool, command] = [*failing.pop((tool, command), []), output]
    for (tool, command), outputs in reversed(failing.items()):
        met = recognised(failures, tool, command, outputs[-1])
        fix = met.get("fix") if met else None
        if len(outputs) < AGAIN and met is None:
            continue
        times = f" {len(outputs)}×" if len(outputs) >= AGAIN else ""
        hint = f", before: {_short(fix)}" if isinstance(fix, str) and fix else ""
        return f"⚠ {_short(command or tool)} failed{times}{hint}"
    return ""


def _short(text: str) -> str:
    """The beginning of a text, without anything that a terminal would obey."""
    line = " ".join("".join(it if it.isprintable() else " " for it in text).split())
    return line if len(line) <= LONGEST_WORDS else line[: LONGEST_WORDS - 1] + "…"


# --- the person's own -----------------------------------------------------------------------------


def _start(command: str, data: bytes) -> tuple[int, int] | None:
    """Run a command with the same input; its process, and where its output can be read."""
    try:
        said, hearing = os.pipe()
        reading, writing = os.pipe()
        actions = [
            (os.POSIX_SPAWN_DUP2, said, 0),
            (os.POSIX_SPAWN_DUP2, writing, 1),
            *((os.POSIX_SPAWN_CLOSE, it) for it in (said, hearing, reading, writing)),
        ]
        child = os.posix_spawn(
            "/bin/sh", ["sh", "-c", command], dict(os.environ), file_actions=actions
        )
    except OSError:
        return None
    os.close(said)
    os.close(writing)
    try:
        os.set_blocking(hearing, False)
        os.write(hearing, data)  # a pipe holds far more than an agent says here
    except OSError:  # it does not want to know
        pass
    os.close(hearing)
    return child, reading


def _ended(running: tuple[int, int]) -> bytes:
    """What it printed; nothing where it takes too long."""
    import select
    import time

    child, reading = running
    pieces: list[bytes] = []
    deadline = time.monotonic() + OWN_SECONDS
    while (left := deadline - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        piece = os.read(reading, LONGEST_OWN)
        if not piece:
            return b"".join(pieces)[:LONGEST_OWN]
        pieces.append(piece)
    os.kill(child, 9)
    return b""
