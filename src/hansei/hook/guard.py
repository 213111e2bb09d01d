"""Whether a call is stopped: by a rule that a person promoted to a hook, and by nothing else.

`guards.json` says which calls may be stopped. Here only a quick look is taken: the folder, and a
word that every such call has. Where it is there, the thorough comparison is asked, in a process of
its own and for a short while: it is the same that counts calls of the past. Whatever goes wrong,
the call goes on.
"""

from __future__ import annotations

import os
import sys

from hansei.hook.notation import parsed, written
from hansei.hook.record import GUARDS

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
LONGEST_FILE = 1024 * 1024
LONGEST_TEXT = 64 * 1024
"""A command longer than this holds a document, and is not looked through."""
SECONDS = 4.0
"""Less than the five after which agents are told to give a hook up."""
STOPPED = "stopped"
_PATHS = ("file_path", "notebook_path")
_PROGRAM = "import sys; sys.path.insert(0, {!r}); from hansei.learn.judge import main; main()"


def refusal(home: str, said: dict[str, Any]) -> str | None:
    """Why a call is stopped; None where it goes on."""
    given = said.get("tool_input")
    cwd, tool = said.get("cwd"), said.get("tool_name")
    if not (isinstance(given, dict) and isinstance(cwd, str) and isinstance(tool, str)):
        return None
    text = given.get("command")
    path = next((given[it] for it in _PATHS if isinstance(given.get(it), str)), None)
    looked = text if isinstance(text, str) else path
    if looked is None or len(looked) > LONGEST_TEXT:
        return None
    call = {"tool": tool, "text": text, "path": path, "cwd": cwd}
    for rule in _rules(home):
        if _may_concern(rule, looked, cwd) and _asked({**call, **rule}) == STOPPED:
            reason: str = rule["reason"]
            return reason
    return None


def _rules(home: str) -> list[Any]:
    handle = os.open(os.path.join(home, GUARDS), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        if os.fstat(handle).st_size > LONGEST_FILE:
            return []
        told = parsed(os.read(handle, LONGEST_FILE))
    finally:
        os.close(handle)
    known = isinstance(told, dict) and told.get("v") == VERSION
    return told["guards"] if known and isinstance(told.get("guards"), list) else []


def _may_concern(rule: Any, looked: str, cwd: str) -> bool:
    if not (isinstance(rule, dict) and isinstance(rule.get("reason"), str)):
        return False
    root, words = rule.get("root"), rule.get("needles")
    if not (isinstance(root, str) and isinstance(words, list)):
        return False
    if not any(isinstance(it, str) and it in looked for it in words):
        return False
    here = os.path.realpath(cwd)
    return here == root or here.startswith(root.rstrip("/") + "/")


def _asked(call: dict[str, Any]) -> str:
    """What the thorough comparison says of a call."""
    import subprocess

    folder = os.path.abspath(__file__).rsplit(os.sep, 3)[0]
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PROGRAM.format(folder)],
        input=written(call).encode("ascii"),
        capture_output=True,
        timeout=SECONDS,
        check=True,
    )
    return str(done.stdout, "ascii").strip()
