"""What every command needs: the clock, the settings, an open store that is up to date."""

from __future__ import annotations

import functools
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

import click

from hansei.cli.diagnostics import ProgressLine, note, warn
from hansei.cli.output import one_line, plural
from hansei.errors import StoreLocked, StoreUnwritable, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from hansei.config import Config, Environment
    from hansei.ops.ingest import IngestReport
    from hansei.ops.scope import Scope
    from hansei.ops.survey import Survey
    from hansei.store.database import Store

P = ParamSpec("P")
R = TypeVar("R")


class Place(NamedTuple):
    """A machine and the folder on it where the person stands."""

    environment: Environment
    folder: Path


_elsewhere: ContextVar[Place | None] = ContextVar("elsewhere", default=None)


@contextmanager
def elsewhere(place: Place) -> Iterator[None]:
    """Have every command believe it runs at another place."""
    token = _elsewhere.set(place)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def now() -> int:
    """Milliseconds since 1970: the one place where the clock is read."""
    return int(time.time() * 1000)


def environment() -> Environment:
    """The machine that commands are about."""
    from hansei.config import Environment

    place = _elsewhere.get()
    return place.environment if place else Environment.current()


def from_home(path: str | Path) -> str:
    """A path as people write it: what lies in the home folder begins with `~`."""
    home, text = str(environment().home), str(path)
    return f"~{text[len(home) :]}" if text.startswith((f"{home}/", f"{home}\\")) else text


def folder() -> Path:
    """Where the person stands."""
    from hansei.config import working_folder

    place = _elsewhere.get()
    return place.folder if place else working_folder(environment())


def config() -> Config:
    from hansei.config import load

    return load(environment(), folder())


@contextmanager
def opened(settings: Config, *, create: bool = True) -> Iterator[Store]:
    from hansei.store.database import complaints, open_store

    store = open_store(settings.store, now=now(), create=create)
    try:
        with complaints(settings.store):
            yield store
    finally:
        store.close()


@contextmanager
def up_to_date(settings: Config, *, ingest: bool) -> Iterator[Store]:
    """An open store that holds what agents have written up to now."""
    with opened(settings) as store:
        if ingest and store.writable:
            freshen(store, settings)
        elif ingest:
            note(f"{settings.store} is read-only: showing what is stored.")
        yield store


def freshen(store: Store, settings: Config) -> IngestReport | None:
    """Take in what is new, unless another hansei is doing just that."""
    from hansei.ops.survey import anything_to_do

    seen = anything_to_do(store, settings, now())
    if seen is None:
        return None
    try:
        return run_ingest(store, settings, wait_seconds=0, seen=seen)
    except StoreLocked:
        note("Another hansei is taking in transcripts: showing what is stored so far.")
        return None


def with_facts(store: Store, settings: Config, chosen: Scope) -> None:
    """Bring the facts of a scope's workspace up to date, unless another hansei is at it."""
    from hansei.ops.projecting import ready, refresh

    if not store.writable:
        if not ready(store, settings):
            raise StoreUnwritable(
                f"{settings.store} is read-only, and its facts are not worked out",
                hint="Set HANSEI_HOME to a folder you can write to.",
            )
        note(f"{settings.store} is read-only: showing what was worked out before.")
        return
    line = ProgressLine()
    try:
        refresh(store, settings, workspace=chosen.workspace, now=now(), progress=line.count)
    except StoreLocked:
        if not ready(store, settings):
            raise
        note("Another hansei is working out facts: showing what there is so far.")
    finally:
        line.close()


def run_ingest(
    store: Store, settings: Config, *, wait_seconds: float, seen: Survey | None = None
) -> IngestReport:
    """Take in what is new; `seen` is what a look at every agent's folders has just found."""
    from hansei.ops.ingest import ingest
    from hansei.ops.survey import survey

    line = ProgressLine()
    try:
        report = ingest(
            store,
            settings,
            now=now(),
            wait_seconds=wait_seconds,
            progress=line,
            look=survey if seen is None else lambda *_: seen,
        )
    finally:
        line.close()
    for text in report.warnings:
        warn(text)
    for path, reason in report.unreadable[:5]:
        warn(f"{path} was not read: {reason}")
    if len(report.unreadable) > 5:
        warn(f"{len(report.unreadable) - 5} more were not read; `hansei doctor` lists them.")
    return report


def json_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def ingest_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--no-ingest",
        "ingest",
        is_flag=True,
        flag_value=False,
        default=True,
        help="Read what is stored; do not look for new transcripts.",
    )(function)


def scope_options(function: Callable[..., R]) -> Callable[..., R]:
    """Options that choose sessions; the command receives them as one dict `wanted`."""
    options = [
        click.option("--all", "everywhere", is_flag=True, help="Every workspace, not only this."),
        click.option("--workspace", metavar="NAME", help="Another workspace, by name or folder."),
        click.option("--since", metavar="WHEN", help="7d, 12h, 2w, today, 2026-11-01 …"),
        click.option("--until", metavar="WHEN", help="Up to this time, written likewise."),
        click.option("--agent", metavar="AGENT", help="One agent, such as claude_code."),
        click.option(
            "--driver",
            type=click.Choice(["human", "subagent", "automated"]),
            help="Who drove the session.",
        ),
    ]

    @functools.wraps(function)
    def wrapped(*arguments: Any, **given: Any) -> R:
        names = ("everywhere", "workspace", "since", "until", "agent", "driver")
        wanted = {name: given.pop(name) for name in names}
        return function(*arguments, wanted=wanted, **given)

    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def scope(store: Store, wanted: dict[str, Any]) -> Scope:
    """The scope a person asked for. An unknown workspace is no error: it is empty."""
    from hansei.ops.scope import Scope, current_workspace, moment, named_workspace

    number: int | None = None
    name: str | None = None
    if wanted["workspace"] and wanted["everywhere"]:
        raise UsageError("--all and --workspace exclude each other")
    if wanted["workspace"]:
        number, name = named_workspace(store, wanted["workspace"])
    elif not wanted["everywhere"]:
        found, name = current_workspace(store, folder())
        number = -1 if found is None else found
    times = {key: moment(wanted[key], now()) if wanted[key] else None for key in ("since", "until")}
    return Scope(
        workspace=number,
        workspace_name=name,
        agent=wanted["agent"],
        driver=wanted["driver"],
        **times,
    )


def nothing_here(store: Store, chosen: Scope) -> str:
    """What to say where a scope holds nothing, and what would widen it."""
    from hansei.git.repository import NO_GIT, git_is_there
    from hansei.ops.scope import stored_sessions

    count = stored_sessions(store)
    if not count:
        return "No transcripts have been taken in yet. `hansei` shows where it looked."
    place = f"in {one_line(chosen.workspace_name)}" if chosen.workspace_name else "anywhere"
    widen = {
        "--all": chosen.workspace is not None,
        "a longer time": chosen.since is not None or chosen.until is not None,
        "without --agent": chosen.agent is not None,
        "without --driver": chosen.driver is not None,
    }
    tries = ", or ".join(words for words, would_help in widen.items() if would_help)
    blind = "" if git_is_there() else f" {NO_GIT}, so it is not known which repository this is."
    return (
        f"No sessions {place} that fit. The store holds {plural(count, 'session')}"
        f"{f': try {tries}' if tries else ''}.{blind}"
    )
