"""The slow look at a repository when a session begins, in a process that no one waits for.

Whether tracked files differ from the commit, and the hash of every instruction file, rule, skill
and MCP server that the agent reads.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from hansei.hook import places
from hansei.hook.notation import fingerprint, measured
from hansei.hook.repository import head, top

MOST_SECONDS = 60
"""After this the process ends, whatever it hangs on."""
GIT_SECONDS = 20
MOST_FILES = 500
LONGEST_FILE = 4 * 1024 * 1024
HOOK = "look"
"""The name of what is seen here, among the agent's own hooks."""


def look(line: dict[str, Any]) -> dict[str, Any]:
    """The line for what is in force in the session that another line tells of."""
    signal.alarm(MOST_SECONDS)
    os.nice(10)
    kept = ("v", "agent", "session", "agent_id", "cwd")
    seen = {name: line[name] for name in kept if name in line}
    seen |= {"hook": HOOK, "at": int(time.time() * 1000)}
    folder = line.get("cwd")
    if folder is None:
        return seen
    root = top(folder)
    if root is not None:
        seen["commit"], seen["branch"] = head(folder)
        seen["dirty"] = dirty(root)
    seen["instructions"] = instructions(line["agent"], folder, root, Path.home())
    return {name: value for name, value in seen.items() if value is not None}


def dirty(root: str) -> bool | None:
    """Whether tracked files differ from the commit; None where git does not say."""
    said = _git(root, "status", "--porcelain=v1", "--untracked-files=no")
    return None if said is None else bool(said)


def instructions(agent: str, folder: str, root: str | None, home: Path) -> list[dict[str, Any]]:
    """Everything an agent in a folder has in force or may come upon, by path."""
    found: dict[str, dict[str, Any]] = {}
    for base in _upwards(folder, root):
        for kind, pattern in places.IN_REPOSITORY.get(agent, ()):
            for path in sorted(Path(base).glob(pattern)):
                _add(found, kind, path, _name(path, root, home))
    tracked = _git(root, "ls-files", "-z") if root else None
    for name in (tracked or b"").decode("utf-8", "surrogateescape").split("\0"):
        match = places.matched(agent, name)
        if root is not None and match is not None:
            _add(found, match[0], Path(root, name), name)
    for kind, pattern in places.AT_HOME.get(agent, ()):
        for path in sorted(home.glob(pattern)):
            _add(found, kind, path, _name(path, root, home))
    return [found[name] for name in sorted(found)][:MOST_FILES]


def _upwards(folder: str, root: str | None) -> list[str]:
    """The folders from the top of the repository to this one."""
    chain = [folder]
    while root is not None and chain[-1] != root and len(chain[-1]) > len(root):
        chain.append(os.path.dirname(chain[-1]))
    return chain[::-1]


def _name(path: Path, root: str | None, home: Path) -> str:
    for base, prefix in ((root, ""), (str(home), "~/")):
        if base is not None and path.is_relative_to(base):
            return prefix + path.relative_to(base).as_posix()
    return str(path)


def _add(found: dict[str, dict[str, Any]], kind: str, path: Path, name: str) -> None:
    if name in found or len(found) > MOST_FILES:
        return
    try:
        if not path.is_file() or path.stat().st_size > LONGEST_FILE:
            return
        data = path.read_bytes()
    except OSError:
        return
    if kind == places.SERVER:
        for server, entry in servers(data, name).items():
            path_of = f"{name}#{server}"
            found[path_of] = {"kind": kind, "path": path_of, **measured(entry)}
    else:
        found[name] = {"kind": kind, "path": name, **fingerprint(data)}


def servers(data: bytes, name: str) -> dict[str, Any]:
    """The MCP servers a settings file lists, by name; none where it cannot be read."""
    try:
        if name.endswith(".toml"):
            import tomllib

            settings: Any = tomllib.loads(data.decode("utf-8"))
        else:
            settings = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(settings, dict):
        return {}
    listed = next((settings[word] for word in places.SERVERS if word in settings), None)
    return listed if isinstance(listed, dict) else {}


def _git(root: str, *arguments: str) -> bytes | None:
    """What git prints; None if it fails. No lock is taken, no program of the repository run."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-C", root, *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=GIT_SECONDS,
            check=False,
            env=own,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
