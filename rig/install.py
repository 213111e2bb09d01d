"""The agents themselves: fetched from npm into the scratch folder, in the versions we name."""

from __future__ import annotations

import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rig import processes

if TYPE_CHECKING:
    from rig.agent import Agent

_INSTALL_LIMIT_SECONDS = 900
_TRUSTED = ("NODE_EXTRA_CA_CERTS",)
"""Certificates that this machine trusts, which a Node.js of our own does not know."""


class NotInstalled(Exception):
    """npm could not fetch an agent."""


@dataclass(frozen=True)
class Installed:
    """A program, and the version npm put there."""

    program: Path
    version: str


def versions() -> dict[str, str]:
    """The pinned version of each package."""
    return tomllib.loads(Path(__file__).with_name("versions.toml").read_text(encoding="utf-8"))


def install(agent: Agent, scratch: Path, variables: dict[str, str]) -> Installed:
    """The agent's program, fetched once per version."""
    version = versions()[agent.package]
    folder = scratch / "agents" / agent.name / version
    program = folder / "node_modules" / ".bin" / agent.program
    done = folder / "installed"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text("{}\n", encoding="utf-8")
        # What it needs comes first: its own installation may already run on it.
        trusted = {name: os.environ[name] for name in _TRUSTED if name in os.environ}
        path = f"{program.parent}{os.pathsep}{variables['PATH']}"
        own = {**variables, **trusted, "PATH": path}
        for package in (*agent.needs, agent.package):
            _fetch(folder, f"{package}@{versions()[package]}", own)
        done.touch()
    return Installed(program, version)


def _fetch(folder: Path, package: str, variables: dict[str, str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not on the PATH; the rig needs Node.js 20 or newer")
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", package]
    finished = processes.run(
        command,
        cwd=folder,
        variables=variables,
        log=folder / "npm",
        limit=_INSTALL_LIMIT_SECONDS,
    )
    if finished.code != 0:
        raise NotInstalled(f"npm could not install {package}: {finished.err.strip()[-500:]}")
