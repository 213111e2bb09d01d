"""Where things are and what the person has set. Nothing else reads the environment.

Settings live in `config.toml` in the store; every one has a default, so the file need not exist.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from hansei.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_MS = 86_400_000
Days = Annotated[int, msgspec.Meta(ge=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
LOCAL_STORES = "local-stores"
"""Beside the user's own store: the repositories whose own store this person made."""


@dataclass(frozen=True)
class Environment:
    """The machine as a source sees it: the home folder and the variables, nothing more."""

    home: Path
    variables: Mapping[str, str]

    @classmethod
    def current(cls) -> Environment:
        home = os.environ.get("HOME") or str(Path.home())
        return cls(home=Path(home), variables=dict(os.environ))

    def folder(self, variable: str, *default: str) -> Path:
        """The folder a variable names, else one below the home folder."""
        named = self.variables.get(variable, "").strip()
        return Path(named).expanduser() if named else self.home.joinpath(*default)


class PriceOverride(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What you pay for a model, in dollars per million tokens."""

    input: float
    output: float
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None


class CommandClass(StrEnum):
    """What a shell command is for."""

    TEST = "test"
    BUILD = "build"
    LINT = "lint"
    FORMAT = "format"
    INSTALL = "install"
    RUN = "run"
    GIT = "git"
    SEARCH = "search"
    READ = "read"
    OTHER = "other"


CommandPattern = Annotated[str, msgspec.Meta(pattern=r"^\s*[^-\s]")]
"""Words of a command; the first is its program."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything `config.toml` may say."""

    seal_after_days: Days = 7
    """Days after which events move from SQLite to Parquet."""
    retention_days: Days | None = None
    """`hansei gc` removes sessions that ended longer ago. Unset: nothing is removed by age."""
    workers: Count | None = None
    """Processes that read transcripts side by side. Unset: one per core, at most eight."""
    sources: dict[str, list[str]] = msgspec.field(default_factory=dict)
    """More folders to look in, by agent: `sources.claude_code = ["/mnt/old/.claude"]`."""
    prices: dict[str, PriceOverride] = msgspec.field(default_factory=dict)
    """Your own prices, by model name."""
    commands: dict[CommandPattern, CommandClass] = msgspec.field(default_factory=dict)
    """What your own commands are for (test, build, lint, format, install, run, git, search, read,
    other): `"just verify*" = "test"`. `*` is anything within a word; words with a dash must be
    among the options."""
    learn_after_run: bool = True
    """Whether `hansei run` offers what was learned once the agent has ended."""
    check_budget: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """Tokens that a change may add to every session before `hansei check` ends with 1."""
    sandbox_writable: list[str] = msgspec.field(default_factory=list)
    """More folders an agent may write to under `hansei run --sandbox`: `["~/.cache/uv"]`."""


@dataclass(frozen=True)
class Config:
    """One store and the settings in it."""

    store: Path
    settings: Settings
    environment: Environment

    @property
    def file(self) -> Path:
        return self.store / "config.toml"


def store_folder(environment: Environment, start: Path) -> Path:
    """The store to use: `$HANSEI_HOME`, a repository's own `.hansei`, else `~/.hansei`."""
    default = home_folder(environment)
    if environment.variables.get("HANSEI_HOME", "").strip():
        return default
    known = local_stores(environment)
    for folder in (start, *start.parents) if known else ():
        local = folder / ".hansei"
        if str(local) in known and (local / "hansei.db").is_file():
            return local
    return default


def home_folder(environment: Environment) -> Path:
    """Where hansei keeps what is the user's rather than one repository's."""
    return environment.folder("HANSEI_HOME", ".hansei")


def local_stores(environment: Environment) -> set[str]:
    """Stores inside repositories that this person made; one that came with a clone is not used."""
    try:
        listed = (environment.home / ".hansei" / LOCAL_STORES).read_text(encoding="utf-8")
    except OSError:
        return set()
    return set(listed.splitlines())


def remember_local_store(environment: Environment, store: Path) -> None:
    """From now on use a repository's own store inside it."""
    known = local_stores(environment) | {str(store)}
    folder = environment.home / ".hansei"
    folder.mkdir(exist_ok=True, mode=0o700)
    (folder / LOCAL_STORES).write_text("\n".join(sorted(known)) + "\n", encoding="utf-8")


def load(environment: Environment | None = None, start: Path | None = None) -> Config:
    """Find the store and read its settings."""
    environment = environment or Environment.current()
    store = store_folder(environment, start or working_folder(environment))
    return Config(store=store, settings=read_settings(store), environment=environment)


def working_folder(environment: Environment) -> Path:
    """The current folder, or the home folder where the current one has been deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return environment.home


def read_settings(store: Path) -> Settings:
    """Settings of a store; a missing file means all defaults."""
    path = store / "config.toml"
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Settings()
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read: {problem.strerror}") from problem
    return parse_settings(data, path)


def parse_settings(data: bytes, path: Path) -> Settings:
    # tomllib costs 10 ms; most people have no config.toml.
    import tomllib

    try:
        table: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
        return msgspec.convert(table, Settings)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as problem:
        raise ConfigError(
            f"{path}: {problem}", hint="`hansei config` lists every setting and its default."
        ) from problem
