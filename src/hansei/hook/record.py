"""One call of one hook: a line on the spool, and on stdout what the agent is told, if anything.

The line holds ids, words, sizes and hashes. No text of a prompt, an input or an output gets here.
"""

from __future__ import annotations

import os
import time

from hansei.hook import words
from hansei.hook.notation import FAILURES, measured, parsed, written
from hansei.hook.repository import head

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

SPOOL, LINES = "spool", "hooks.jsonl"
MOST_BYTES = 32 * 1024 * 1024
"""A spool this large is full: some eighty thousand calls that no `hansei ingest` has taken in."""
LONGEST_INPUT = 64 * 1024 * 1024
"""What is beyond is read, so that the agent can write it, and dropped."""
SILENCE_SECONDS = 5.0
"""An agent that has not closed its end is waited for so long: a busy machine makes it slow."""
PAUSE_SECONDS = 0.3
"""Once what it said looks whole, so long is enough."""
LONGEST_ID, LONGEST_PATH, LONGEST_WORD = 256, 4096, 64
LINE_VERSION = 1
GUARDS = "guards.json"
"""Without it no call is looked at."""
STATUS_LINE = "statusline"
"""Not a hook: what the agent asks for a line to show."""
EXPOSURE = "exposure.json"
"""As in `delivery`, which is imported only where it is there."""
RESUMED = "resume"
"""Why a session begins, in the word of Claude Code, Codex and Gemini CLI."""

_IDS = ("session", "call", "turn", "agent_id")
_WORDS = ("source", "reason", "trigger", "agent_type", "version", "model")
_TEXTS = ("prompt", "input", "output")


def main(arguments: list[str]) -> None:
    """Record one call of one hook."""
    home, agent, event, *more = (*arguments, "", "", "")
    data = read_input()
    if event == STATUS_LINE:
        _print(_status(home, data, more))
        return
    at = int(time.time() * 1000)
    line = observed(agent, event, data, at)
    begins = line["hook"] in words.STARTS.get(line["agent"], ()) and "session" in line
    answer = None
    if line["hook"] == words.BEFORE_CALLS.get(line["agent"]):
        answer = _stop(home, line, data)
    elif line["agent"] == agent and "session" in line:
        answer = _deliver(home, line) if begins else _nudged(home, line, data)
    if append(home, line):
        if answer is not None:
            _print(answer.encode("ascii"))
        if begins and "agent_id" not in line:  # a subagent stands where its parent does
            _look_later(home, line)


def observed(agent: str, event: str, data: bytes, at: int) -> dict[str, Any]:
    """The line for one call: ids, words, sizes and hashes; never a text."""
    try:
        said = parsed(data)
    except FAILURES:
        said = None
    if not isinstance(said, dict):
        return {"v": LINE_VERSION, "agent": agent, "hook": event, "at": at, "unread": len(data)}
    agent = words.really(agent, said)
    names = words.words(agent)
    found = {name: words.find(said, places) for name, places in names.items()}
    line: dict[str, Any] = {"v": LINE_VERSION, "agent": agent, "at": at}
    line["hook"] = _short(event, LONGEST_WORD) or _short(found["hook"], LONGEST_WORD) or "unknown"
    line |= {name: _short(found.get(name), LONGEST_ID) for name in (*_IDS, "tool")}
    line |= {name: _word(found.get(name)) for name in _WORDS}
    line |= {name: measured(found[name]) for name in _TEXTS if found[name] is not None}
    line["transcript"] = _short(found["transcript"], LONGEST_PATH)
    line["cwd"] = _short(found["cwd"], LONGEST_PATH)
    if line["cwd"]:
        line["commit"], line["branch"] = head(line["cwd"])
    counts = {name: said.get(field) for name, field in words.TOKENS.get(agent, {}).items()}
    line["tokens"] = {name: n for name, n in counts.items() if type(n) is int} or None
    return {name: value for name, value in line.items() if value is not None}


def _short(value: Any, longest: int) -> str | None:
    """A text that can be what it is said to be; anything else is as if it were not there."""
    return value if isinstance(value, str) and 0 < len(value) <= longest else None


def _word(value: Any) -> str | None:
    """One word. An agent that puts sentences here is not quoted."""
    text = _short(value, LONGEST_WORD)
    return text if text is not None and len(text.split()) == 1 else None


def read_input() -> bytes:
    """Everything on stdin, or as much as comes before a long silence."""
    pieces: list[bytes] = []
    size = 0
    try:
        while _ready(pieces) and (piece := os.read(0, 1 << 20)):
            size += len(piece)
            if size <= LONGEST_INPUT:
                pieces.append(piece)
    except OSError:  # closed, or not readable: there is no input
        pass
    return b"".join(pieces)


def _ready(pieces: list[bytes]) -> bool:
    whole = bool(pieces) and pieces[-1].rstrip().endswith(b"}")
    try:
        import select

        return bool(select.select([0], [], [], PAUSE_SECONDS if whole else SILENCE_SECONDS)[0])
    except (ImportError, OSError, ValueError):  # not where stdin is no socket on Windows
        return True


def append(home: str, line: dict[str, Any]) -> bool:
    """Add a line to the spool, if there is room; the newline before it ends one that was torn."""
    data = f"\n{written(line)}\n".encode("ascii")
    handle = _open(os.path.join(home, SPOOL))
    try:
        if os.fstat(handle).st_size >= MOST_BYTES:
            return False
        return os.write(handle, data) == len(data)
    finally:
        os.close(handle)


def _open(folder: str) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    try:
        return os.open(os.path.join(folder, LINES), flags, 0o600)
    except FileNotFoundError:
        try:  # noqa: SIM105 - contextlib takes longer to import than this file
            os.mkdir(folder, 0o700)
        except FileExistsError:  # another hook was faster
            pass
        return os.open(os.path.join(folder, LINES), flags, 0o600)


def _deliver(home: str, line: dict[str, Any]) -> str | None:
    """Note in the line what this session is given, and return what to print for it."""
    from hansei.hook.delivery import chosen

    try:
        arms, items = chosen(home, line["session"], line.get("cwd"))
    except (OSError, *FAILURES):
        return None
    if arms:
        line["arms"] = arms
    text = "\n\n".join(item["text"] for item in items).strip()
    # A resumed session has the text in its history, or is older than the experiment.
    kept = line.get("source") == RESUMED and line["agent"] not in words.FORGETS
    new = bool(items) and not kept
    answer = words.context(line["agent"], line["hook"], text) if new else None
    if answer is None:
        return None
    line["delivered"] = [item["id"] for item in items]
    line["context"] = measured(text)
    return written(answer)


def _stop(home: str, line: dict[str, Any], data: bytes) -> str | None:
    """What to print where a call is stopped; nothing where there is no rule, or anything fails."""
    if not os.path.exists(os.path.join(home, GUARDS)):
        return None
    from hansei.hook.guard import refusal

    try:
        reason = refusal(home, parsed(data))
    except Exception:  # noqa: BLE001 - whatever it was, the call goes on
        return None
    return None if reason is None else written(words.denial(line["agent"], line["hook"], reason))


def _nudged(home: str, line: dict[str, Any], data: bytes) -> str | None:
    """What to print for a session that has just met a failure, where that is tried."""
    failed = line["hook"] in words.FAILED.get(line["agent"], ())
    if not failed or not os.path.exists(os.path.join(home, EXPOSURE)):
        return None
    from hansei.hook.nudge import nudge

    return nudge(home, line, data)


def _status(home: str, data: bytes, more: list[str]) -> bytes:
    from hansei.hook.statusline import status

    return status(home, data, more[0] or None)


def _print(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _look_later(home: str, line: dict[str, Any]) -> None:
    """Have the repository looked at by a process of its own, which no one waits for."""
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):
        os.dup2(nowhere, handle)
    os.closerange(3, 256)

    from hansei.hook.look import look

    append(home, look(line))
