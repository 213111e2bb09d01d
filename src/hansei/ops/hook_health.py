"""Whether hooks are installed, whether agents still load them, and whether they really run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from hansei.config import home_folder
from hansei.errors import UnusableSettings
from hansei.installation import catalogue, detection, files
from hansei.installation.journal import Journal
from hansei.installation.jsonc import Malformed
from hansei.installation.launcher import Launcher, fault, launcher
from hansei.ops.hooks import newest_versions

if TYPE_CHECKING:
    from hansei.config import Config
    from hansei.installation.contract import Agent, Target
    from hansei.store.database import Store

TAIL_BYTES = 1 << 20
"""How much of the spool's end is searched for the last call; some three thousand calls."""


@dataclass(frozen=True)
class AgentHooks:
    """One agent's hooks."""

    agent: str
    title: str
    version: str | None
    installed: list[str]
    """Events that have a hook of ours."""
    missing: list[str]
    """Events that this version knows and that have none."""
    files: list[str]
    faults: list[str]
    """Settings that cannot be read, or do not reach us."""
    to_do: str | None
    installed_at: int | None
    last_run: int | None
    """When a hook last told us something; None if never."""
    sessions_since: int
    """Sessions that began after the hooks were installed."""


@dataclass(frozen=True)
class Hooks:
    """The hooks of every agent on this machine."""

    launcher: str
    launcher_fault: str | None
    """None also where nothing names the launcher."""
    agents: list[AgentHooks]


def hook_health(store: Store, config: Config) -> Hooks:
    """Examine the hooks of every agent that is here."""
    tool = launcher(home_folder(config.environment).absolute())
    journal = Journal(tool.home)
    last = _last_runs(store, tool.home)
    versions = newest_versions(store)
    agents = []
    for agent in catalogue.load_all():
        found = detection.find(agent, config.environment, versions)
        examined = _agent(agent, found.version if found else None, config, tool)
        if found is not None or examined.installed:
            agents.append(_lived(examined, store, journal, last))
    wanted = any(agent.installed for agent in agents)
    return Hooks(str(tool.path), fault(tool) if wanted else None, agents)


def _agent(agent: Agent, version: str | None, config: Config, tool: Launcher) -> AgentHooks:
    """What the settings say, without what happened since."""
    known = agent.known_to(version) if version else tuple(event.name for event in agent.events)
    events: set[str] = set()
    paths, faults = [], []
    for target in agent.targets(config.environment, known, tool):
        try:
            there = _events(target)
        except UnusableSettings as problem:
            faults.append(problem.message)
            continue
        events |= there
        paths += [str(target.path)] if there else []
    off = agent.switched_off(config.environment) if events else None
    return AgentHooks(
        agent=agent.name,
        title=agent.title,
        version=version,
        installed=sorted(events),
        missing=[name for name in known if name not in events] if version else [],
        files=paths,
        faults=[*faults, *([f"it runs no hooks: {off}"] if off else [])],
        to_do=agent.to_do(config.environment) if events else None,
        installed_at=None,
        last_run=None,
        sessions_since=0,
    )


def _events(target: Target) -> set[str]:
    content = files.read(target.path)
    if content is None:
        return set()
    try:
        return set(target.edit.events(files.decoded(target.path, content)))
    except Malformed as problem:
        raise UnusableSettings(f"{target.path}, line {problem.line}: {problem}") from None


def _lived(
    examined: AgentHooks, store: Store, journal: Journal, last: dict[str, int]
) -> AgentHooks:
    """The same with when hooks ran, and how many sessions should have made them run."""
    noted = [journal.last(Path(path)) for path in examined.files]
    since = min((entry.at for entry in noted if entry is not None), default=None)
    (sessions,) = store.db.execute(
        "SELECT count(*) FROM sessions WHERE agent = ? AND started_at >= ?",
        (examined.agent, since if since is not None else 0),
    ).fetchone()
    return replace(
        examined,
        installed_at=since,
        last_run=last.get(examined.agent),
        sessions_since=sessions if examined.installed else 0,
    )


class _Line(msgspec.Struct):
    """As much of a line of the spool as is needed here."""

    agent: str
    at: int


def _last_runs(store: Store, home: Path) -> dict[str, int]:
    """When a hook of each agent last told us something, taken in or still waiting."""
    taken = store.db.execute(
        "SELECT s.agent, max(e.at) FROM events e JOIN sessions s ON s.id = e.session"
        " WHERE e.kind = 'observation' AND e.at IS NOT NULL GROUP BY 1"
    )
    last: dict[str, int] = dict(taken.fetchall())
    for line in _tail(home / "spool" / "hooks.jsonl").splitlines():
        try:
            seen = msgspec.json.decode(line, type=_Line)
        except msgspec.MsgspecError:
            continue
        last[seen.agent] = max(seen.at, last.get(seen.agent, 0))
    return last


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
            return stream.read()
    except OSError:
        return b""
