"""Installing hooks into the agents of this machine, and taking them out again.

Every answer is a plan: what was found, what would change, what cannot. Carrying it out makes the
same plan file by file, so what was shown and what is done cannot drift apart.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from hansei.config import home_folder
from hansei.errors import UnusableSettings, UsageError
from hansei.installation import catalogue, changes, detection
from hansei.installation.contract import OwnFile, Target, numbers
from hansei.installation.files import ChangedMeanwhile
from hansei.installation.journal import Journal
from hansei.installation.launcher import Launcher, launcher
from hansei.sources import catalogue as sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hansei.config import Config, Environment
    from hansei.installation.changes import Change
    from hansei.installation.contract import Agent
    from hansei.installation.detection import Found
    from hansei.store.database import Store

OURSELVES = "hansei"
"""Whose file the launcher is, in the journal."""
LAUNCHER_MODE = 0o700

State = Literal["not found", "version unknown", "too old", "ready"]


@dataclass(frozen=True)
class FilePlan:
    """A file that changes."""

    path: str
    change: Literal["make", "edit", "restore", "delete"]
    diff: str


@dataclass(frozen=True)
class Refusal:
    """A file that is left alone, why, and what to do."""

    message: str
    hint: str | None


@dataclass(frozen=True)
class AgentPlan:
    """One agent: what was found, and what changes."""

    agent: str
    title: str
    state: State
    version: str | None
    basis: str | None
    """How the version is known."""
    place: str | None
    first: str
    """The first version with hooks that hansei can use."""
    events: list[str]
    left_out: list[str]
    """Events that this version does not know yet."""
    files: list[FilePlan]
    refused: list[Refusal]
    to_do: str | None
    switched_off: str | None
    package: Literal["no", "yes", "too old", "unknown"] = "no"
    """Whether it gets a server to ask and skills; unknown is an agent that we have none for."""
    package_since: str | None = None


@dataclass(frozen=True)
class HookPlan:
    """What happens to the hooks of every agent asked for."""

    launcher: FilePlan | None
    agents: list[AgentPlan]
    server: FilePlan | None = None
    """The program that agents start to ask us."""
    without: list[str] = field(default_factory=list)
    """Agents that were found and have no hooks: their transcripts are all there is."""

    @property
    def files(self) -> int:
        """How many files of agents change."""
        return sum(len(agent.files) for agent in self.agents)

    @property
    def changes(self) -> int:
        """How many files change, the programs of ours among them."""
        return self.files + (self.launcher is not None) + (self.server is not None)

    @property
    def refused(self) -> int:
        return sum(len(agent.refused) for agent in self.agents)


class Wanted(NamedTuple):
    """An agent a person named, and the version to assume."""

    agent: str
    version: str | None


def wanted(text: str) -> Wanted:
    """An agent as written on the command line: its name, and `@` with a version if need be."""
    name, _, version = text.partition("@")
    return Wanted(catalogue.load(name).name, version or None)


def newest_versions(store: Store | None) -> dict[str, str]:
    """The version in the newest session of each agent."""
    if store is None:
        return {}
    rows = store.db.execute(
        "SELECT agent, version FROM sessions WHERE version IS NOT NULL"
        " ORDER BY coalesce(ended_at, started_at, 0), id"
    )
    return dict(rows.fetchall())


def plan(
    config: Config,
    only: list[Wanted],
    versions: Mapping[str, str],
    *,
    package: bool = False,
    status_line: bool = False,
    now: int | None = None,
) -> HookPlan:
    """What installing would change; with the clock given, change it.

    With `package` agents also get a server to ask and skills, with `status_line` our words in it.
    """
    if os.name == "nt":
        raise UsageError(
            "hooks cannot be installed on Windows: their launcher is a shell script",
            hint="Transcripts are read all the same: run `hansei`.",
        )
    home = home_folder(config.environment).absolute()
    tool = launcher(home, package=package, status_line=status_line)
    journal = Journal(tool.home)
    prepared = [
        _prepared(agent, config.environment, found, tool)
        for agent, found in _found(config.environment, only, versions)
    ]
    own = None
    if any(targets for shown, targets in prepared if shown.state == "ready"):
        own = _settled(_own(tool), OURSELVES, journal, now, LAUNCHER_MODE)[0]
    server = None
    if package or tool.server.exists():
        server = _settled(_server(tool), OURSELVES, journal, now, LAUNCHER_MODE)[0]
    done = []
    for shown, targets in prepared:
        files, refused = [], []
        for target in targets:
            file, refusal = _settled(target, shown.agent, journal, now)
            files += [file] if file else []
            refused += [refusal] if refusal else []
        agent = catalogue.load(shown.agent)
        done.append(_told(shown, agent, config.environment, files, refused))
    return HookPlan(own, done, server, [] if only else _without_hooks(config))


def _without_hooks(config: Config) -> list[str]:
    """Agents that left transcripts here and have no hooks, by their titles."""
    return [
        source.title
        for source in sources.load_all().sources
        if not source.capabilities.hooks
        and any(
            root.is_dir()
            for root in source.roots(
                config.environment, config.settings.sources.get(source.name, [])
            )
        )
    ]


def removal(config: Config, only: list[Wanted], *, now: int | None = None) -> HookPlan:
    """What uninstalling would change; with the clock given, change it."""
    tool = launcher(home_folder(config.environment).absolute())
    journal = Journal(tool.home)
    done = []
    for agent in _chosen(only):
        files, refused = [], []
        # Backwards: the folders were made for the first of an agent's files.
        for target in reversed(list(_places(agent, config.environment, tool, journal))):
            file, refusal = _undone(target, agent.name, journal, now)
            files += [file] if file else []
            refused += [refusal] if refusal else []
        if files or refused:
            shown = _shown(agent, None, ())
            done.append(_told(shown, agent, config.environment, files, refused))
    others = any(entry.agent != OURSELVES for entry in journal.changed())
    own = server = None
    if not only or not others:
        # The launcher last: the folder was made for it.
        server = _undone(_server(tool), OURSELVES, journal, now)[0]
        own = _undone(_own(tool), OURSELVES, journal, now)[0]
    return HookPlan(own, done, server)


def _own(tool: Launcher) -> Target:
    return Target(tool.path, OwnFile(tool.script()))


def _server(tool: Launcher) -> Target:
    return Target(tool.server, OwnFile(tool.server_script()))


def _chosen(only: list[Wanted]) -> list[Agent]:
    return [catalogue.load(want.agent) for want in only] or catalogue.load_all()


def _found(
    environment: Environment, only: list[Wanted], versions: Mapping[str, str]
) -> Iterator[tuple[Agent, Found | None]]:
    assumed = {want.agent: want.version for want in only if want.version}
    for agent in _chosen(only):
        if agent.name in assumed:
            place = str(agent.folder(environment))
            yield agent, detection.Found(assumed[agent.name], "you", place)
        else:
            yield agent, detection.find(agent, environment, versions)


def _prepared(
    agent: Agent, environment: Environment, found: Found | None, tool: Launcher
) -> tuple[AgentPlan, tuple[Target, ...]]:
    """What is to be said of an agent so far, and the files to look at.

    A version without hooks gets ours taken out: it may not bear them.
    """
    events = agent.known_to(found.version) if found and found.version else ()
    shown = _shown(agent, found, events)
    if tool.package:
        shown = replace(shown, package=_package(agent, shown), package_since=agent.package_since)
    if shown.state in ("not found", "version unknown"):
        return shown, ()
    return shown, agent.targets(environment, events, replace(tool, package=shown.package == "yes"))


def _package(agent: Agent, shown: AgentPlan) -> Literal["no", "yes", "too old", "unknown"]:
    if shown.state != "ready" or shown.version is None:
        return "no"
    if agent.package_since is None:
        return "unknown"
    return "yes" if numbers(shown.version) >= numbers(agent.package_since) else "too old"


def _shown(agent: Agent, found: Found | None, events: tuple[str, ...]) -> AgentPlan:
    state: State = "ready"
    if found is None:
        state = "not found"
    elif found.version is None:
        state = "version unknown"
    elif not events:
        state = "too old"
    return AgentPlan(
        agent=agent.name,
        title=agent.title,
        state=state,
        version=found.version if found else None,
        basis=found.basis if found else None,
        place=found.place if found else None,
        first=agent.first,
        events=list(events),
        left_out=[event.name for event in agent.events if event.name not in events],
        files=[],
        refused=[],
        to_do=None,
        switched_off=None,
    )


def _told(
    shown: AgentPlan,
    agent: Agent,
    environment: Environment,
    files: list[FilePlan],
    refused: list[Refusal],
) -> AgentPlan:
    ready = shown.state == "ready" and not refused
    return replace(
        shown,
        files=files,
        refused=refused,
        to_do=agent.to_do(environment) if ready else None,
        switched_off=agent.switched_off(environment) if ready else None,
    )


def _places(
    agent: Agent, environment: Environment, tool: Launcher, journal: Journal
) -> Iterator[Target]:
    """Where our hooks may be: where they would go today, and wherever we once put them."""
    today = agent.targets(environment, (), tool)
    yield from today
    known = {target.path for target in today}
    for entry in journal.changed():
        path = Path(entry.path)
        alike = [target.edit for target in today if target.path.name == path.name]
        if entry.agent == agent.name and path not in known and alike:
            yield Target(path, alike[0])


def _settled(
    target: Target, agent: str, journal: Journal, now: int | None, mode: int | None = None
) -> tuple[FilePlan | None, Refusal | None]:
    return _carried_out(
        lambda: changes.installing(agent, target, mode),
        lambda change, at: changes.make(change, target.edit, journal, now=at),
        now,
    )


def _undone(
    target: Target, agent: str, journal: Journal, now: int | None
) -> tuple[FilePlan | None, Refusal | None]:
    return _carried_out(
        lambda: changes.uninstalling(agent, target, journal),
        lambda change, at: changes.unmake(change, journal, now=at),
        now,
    )


def _carried_out(
    look: Callable[[], Change], make: Callable[[Change, int], None], now: int | None
) -> tuple[FilePlan | None, Refusal | None]:
    """Look at a file and, with the clock given, change it; start over if it changes meanwhile."""
    try:
        for _ in range(changes.ATTEMPTS):
            change = look()
            if not change.needed:
                return None, None
            try:
                if now is not None:
                    make(change, now)
            except ChangedMeanwhile:
                continue
            return FilePlan(str(change.path), _kind(change), change.diff()), None
    except UnusableSettings as problem:
        return None, Refusal(problem.message, problem.hint)
    return None, Refusal(
        f"{change.path} is being written by another program",
        "Close the agent, then run the same command again.",
    )


def _kind(change: Change) -> Literal["make", "edit", "restore", "delete"]:
    if change.before is None:
        return "make"
    if change.after is None:
        return "delete"
    return "restore" if change.exact else "edit"
