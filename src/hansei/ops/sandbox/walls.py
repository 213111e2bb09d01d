"""What is open, shut and hidden in a sandbox, and how bubblewrap is told.

Everything is read-only but for what is named here. Where one named place lies in another the inner
one counts, so the order in which they are named never matters.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hansei.config import home_folder
from hansei.errors import UsageError
from hansei.git.repository import git
from hansei.ops.sandbox.homes import HOMES, places_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.config import Config, Environment
    from hansei.ops.sandbox.homes import Place


class Access(IntEnum):
    """What may be done in a place; where one is named twice, the higher number counts."""

    HIDDEN = 0  # as if it were empty
    PRIVATE = 1  # empty at first, writable, gone in the end
    SHOWN = 2  # read-only, though something around it is not
    WRITABLE = 3


SECRETS = (
    ".ssh",
    ".gnupg",
    ".password-store",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".kube",
    ".docker",
    ".terraform.d",
    ".config/gh",
    ".config/glab-cli",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/sops",
    ".config/rclone",
    ".local/share/keyrings",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".cargo/credentials.toml",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".psql_history",
)
"""Below the home folder: what lets someone act in your name, and what tells on you."""

SOCKETS = Path("/run")
"""Doors to services that act outside: the session bus, container engines, key agents."""
NEEDED_OF_RUN = (
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
    "/run/current-system",
    "/run/wrappers",
    "/run/opengl-driver",
)
"""How names are resolved, and where NixOS keeps its programs."""
OF_HOOKS = ("bin", "exposure.json")
"""What hansei's own hooks read in its store; the rest of it tells of other repositories."""
SPOOL = "spool"
"""What they write to."""


@dataclass(frozen=True)
class Walls:
    """A sandbox: where the program stands, and what it may do where."""

    folder: Path
    places: dict[Path, Access]
    """Absolute paths without links, of what is there."""
    links: tuple[tuple[Path, str], ...] = ()
    """Links in private folders, and what they say."""
    offline: bool = False


def arguments(walls: Walls) -> list[str]:
    """Bubblewrap's options: the same for the same walls."""
    options = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--as-pid-1"]
    options += ["--unshare-net"] if walls.offline else []
    options += ["--die-with-parent", "--cap-drop", "ALL"]
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    inner_last = sorted(walls.places.items(), key=lambda item: (len(item[0].parts), item[0]))
    for path, access in inner_last:
        options += _mount(path, access)
    for path, target in walls.links:
        options += ["--symlink", target, str(path)]
    for path, access in inner_last:
        if access is Access.HIDDEN and path.is_dir():
            options += ["--remount-ro", str(path)]
    return [*options, "--chdir", str(walls.folder)]


def _mount(path: Path, access: Access) -> list[str]:
    match access:
        case Access.WRITABLE:
            return ["--bind", str(path), str(path)]
        case Access.SHOWN:
            return ["--ro-bind", str(path), str(path)]
        case Access.HIDDEN if not path.is_dir():
            return ["--ro-bind", os.devnull, str(path)]
        case Access.HIDDEN | Access.PRIVATE:
            return ["--tmpfs", str(path)]


def around(
    config: Config,
    folder: Path,
    agent: str | None,
    *,
    own: Iterable[Path] = (),
    program: Iterable[Path] = (),
    offline: bool = False,
) -> Walls:
    """The sandbox for an agent in a folder.

    `own` is what hansei needs inside, and nobody may change; `program` is where the agent's program
    lies. State of the agent that is not there is made: it could not do so itself. A file is written
    by way of others beside it, so the folder around one is private, with all that lies in it shown.
    """
    environment = config.environment
    folder = folder.resolve()
    work = workspace(folder)
    _refuse_all_of_home(work, environment)
    state = list(_state(environment, agent))
    around_files = {path.parent.resolve() for place, path in state if place.content is not None}
    beside = [path for folder in around_files for path in sorted(folder.iterdir())]
    places = _there(
        {
            Access.HIDDEN: _hidden(environment, agent),
            Access.PRIVATE: [*_private(environment), *around_files],
            Access.WRITABLE: [*work, *_writable(config), *(path for _, path in state)],
        }
    )
    vanished = (Access.HIDDEN, Access.PRIVATE)
    there = [path for path in beside if not path.is_symlink()]
    shown = [*_shown(environment), *program, *there]
    shown = [path for path in shown if _in(places, path) in vanished]
    fixed = [path for path in own if _in(places, path) is not None]
    links = tuple((path, str(path.readlink())) for path in beside if path.is_symlink())
    return Walls(folder, _there({Access.SHOWN: [*shown, *fixed]}) | places, links, offline)


def _there(named: dict[Access, Iterable[Path]]) -> dict[Path, Access]:
    """Those that are there, without links."""
    places: dict[Path, Access] = {}
    for access, paths in named.items():
        for path in paths:
            if path.exists():
                real = path.resolve()
                places[real] = max(access, places.get(real, access))
    return places


def _in(places: dict[Path, Access], path: Path) -> Access | None:
    """What may be done where a path lies; None if nothing is said about it."""
    real = path.resolve()
    return next((places[it] for it in (real, *real.parents) if it in places), None)


def workspace(folder: Path) -> list[Path]:
    """What belongs to the work at hand: the worktree and what its git keeps, else the folder."""
    top = git(str(folder), "rev-parse", "--show-toplevel")
    common = git(str(folder), "rev-parse", "--path-format=absolute", "--git-common-dir")
    found = [Path(path).resolve() for path in (top, common) if path]
    return found or [folder]


def _refuse_all_of_home(work: list[Path], environment: Environment) -> None:
    home = environment.home.resolve()
    for path in work:
        if home.is_relative_to(path):
            raise UsageError(
                f"a sandbox in {path} would be no wall at all: your home folder lies in it",
                hint="Go to the folder of a project first.",
            )


def _hidden(environment: Environment, agent: str | None) -> Iterator[Path]:
    yield SOCKETS
    yield from (environment.home / name for name in SECRETS)
    yield home_folder(environment)
    for other in HOMES:
        if other != agent:
            yield from (path for _, path in places_of(other, environment))


def _private(environment: Environment) -> Iterator[Path]:
    named = environment.variables.get("TMPDIR", "").strip()
    for folder in ("/tmp", "/var/tmp", named or tempfile.gettempdir()):  # noqa: S108 - made private
        yield Path(folder)


def _shown(environment: Environment) -> Iterator[Path]:
    """What must not vanish because of what lies around it."""
    yield environment.home
    yield from (home_folder(environment) / name for name in OF_HOOKS)
    yield from map(Path, NEEDED_OF_RUN)


def _writable(config: Config) -> Iterator[Path]:
    home = config.environment.home
    yield home_folder(config.environment) / SPOOL
    for text in config.settings.sandbox_writable:
        yield home / text[2:] if text.startswith("~/") else Path(text)


def _state(environment: Environment, agent: str | None) -> Iterator[tuple[Place, Path]]:
    """Where the agent keeps its state, made if need be."""
    for place, path in places_of(agent, environment) if agent else ():
        if place.content is None:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        elif not path.exists():
            path.write_text(place.content, encoding="utf-8")
        yield place, path
