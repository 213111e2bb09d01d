"""Whether an agent is on this machine, and in which version, without starting it if possible.

A version is read from the package.json beside the program, from a folder that is named after it,
or from the newest session it left. Only where none of these tells is the program asked, and it has
two seconds to answer.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hansei.config import Environment
    from hansei.installation.contract import Agent

VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*(?:-[\w.]+)?")
HIGHEST = 4
"""A package.json is at most this many folders above its program."""
PATIENCE_SECONDS = 2


@dataclass(frozen=True)
class Found:
    """An agent on this machine."""

    version: str | None
    basis: str | None
    """How we know the version."""
    place: str
    """Its program, or else the folder of its settings."""


def find(agent: Agent, environment: Environment, sessions: Mapping[str, str]) -> Found | None:
    """The agent, or None where neither a program nor settings of it are here.

    `sessions` tells the version of the newest session of each agent.
    """
    program = _program(agent, environment)
    folder = agent.folder(environment)
    if program is None and not folder.is_dir():
        return None
    place = str(program or folder)
    for version, basis in _told(agent, environment, program, sessions):
        return Found(version, basis, place)
    answer = _asked(program) if program else None
    return Found(answer, f"{program} --version" if answer else None, place)


def _program(agent: Agent, environment: Environment) -> Path | None:
    search = environment.variables.get("PATH", "")
    for name in agent.programs:
        # An empty PATH must mean nowhere; shutil.which would take it for the default one.
        found = shutil.which(name, path=search) if search else None
        if found:
            return Path(found)
    return None


def _told(
    agent: Agent, environment: Environment, program: Path | None, sessions: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Versions that can be read, the most trustworthy first, each with how we know it."""
    if program is not None:
        target = program.resolve()
        for folder in list(target.parents)[:HIGHEST]:
            yield from _manifest(folder / "package.json")
        for part in reversed(target.parts):
            if VERSION.fullmatch(part):
                yield part, str(target)
                break
    for place in agent.manifests:
        named = place.replace("~", str(environment.home), 1) if place[0] == "~" else place
        yield from _manifest(Path(named))
    if agent.name in sessions:
        yield sessions[agent.name], "its newest session"


def _manifest(path: Path) -> Iterator[tuple[str, str]]:
    try:
        version = json.loads(path.read_bytes()).get("version")
    except (OSError, ValueError, AttributeError):
        return
    if isinstance(version, str) and VERSION.match(version):
        yield version, str(path)


def _asked(program: Path) -> str | None:
    try:
        answer = subprocess.run(
            [str(program), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = VERSION.search(answer.decode("utf-8", "replace"))
    return found[0] if found else None
