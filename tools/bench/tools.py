"""The programs that are compared: ours, and others that read the same transcripts.

Others are installed once into a folder of their own, outside the repository, at the versions named
here. One that cannot be installed is left out, and the report says why.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CCUSAGE = "20.0.24"
AGENTSVIEW = "0.46.1"
TOKENJAM = "0.7.0"
LONG_AGO = "2020-01-01"


@dataclass(frozen=True)
class Tool:
    """A program under test, with a home of its own that shares the transcripts."""

    name: str
    version: str
    home: Path
    take_in: list[str]
    """Reads everything new. For a program that keeps nothing this is its report."""
    report: list[str]
    """Tokens and cost per day or model, from what was taken in."""
    store: Path | None
    """What it keeps; None if nothing."""
    variables: Mapping[str, str] = field(default_factory=dict)
    looks_by_itself: bool = True
    """Whether its report takes in what is new."""

    @property
    def environment(self) -> dict[str, str]:
        path = os.environ["PATH"]
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", **self.variables}

    def forget(self) -> None:
        """Remove what it keeps, so that the next run is a first one."""
        if self.store is not None:
            shutil.rmtree(self.store, ignore_errors=True)
            self.store.unlink(missing_ok=True)


def all_tools(history: Path, scratch: Path) -> tuple[list[Tool], list[str]]:
    """Every program there is, ours first, and why others are missing."""
    found = [hansei(_home(history, scratch, "hansei"))]
    missing = []
    for make in (ccusage, agentsview, tokenjam):
        try:
            found.append(make(_home(history, scratch, make.__name__)))
        except (OSError, subprocess.SubprocessError) as problem:
            missing.append(f"{make.__name__} is left out: {problem}")
    return found, missing


def _home(history: Path, scratch: Path, name: str) -> Path:
    home = scratch / name
    home.mkdir(parents=True, exist_ok=True)
    link = home / ".claude"
    if not link.is_symlink():
        link.symlink_to(history / ".claude")
    return home


def hansei(home: Path) -> Tool:
    program = str(Path(sys.executable).with_name("hansei"))
    from hansei import __version__

    return Tool(
        name="hansei",
        version=__version__,
        home=home,
        take_in=[program, "ingest", "--json"],
        report=[program, "summary", "--all", "--json"],
        store=home / ".hansei",
    )


def ccusage(home: Path) -> Tool:
    folder = cache() / f"ccusage-{CCUSAGE}"
    program = folder / "node_modules" / ".bin" / "ccusage"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise OSError("there is no npm")
        folder.mkdir(parents=True, exist_ok=True)
        _quietly([npm, "install", "--prefix", str(folder), f"ccusage@{CCUSAGE}"])
    command = [str(program), "claude", "daily", "--offline", "--json"]
    return Tool("ccusage", CCUSAGE, home, command, command, None)


def agentsview(home: Path) -> Tool:
    program = _from_pypi("agentsview", AGENTSVIEW)
    return Tool(
        name="agentsview",
        version=AGENTSVIEW,
        home=home,
        take_in=[program, "sync"],
        report=[program, "usage", "daily", "--json", "--offline", "--since", LONG_AGO],
        store=home / ".agentsview",
        variables={"AGENTSVIEW_NO_DAEMON": "1"},
        looks_by_itself=False,
    )


def tokenjam(home: Path) -> Tool:
    program = _from_pypi("tokenjam", TOKENJAM)
    store = home / "tokenjam.db"
    return Tool(
        name="tokenjam",
        version=TOKENJAM,
        home=home,
        take_in=[program, "--db", str(store), "backfill", "claude-code", "--quiet"],
        report=[program, "--db", str(store), "--json", "cost", "--since", LONG_AGO],
        store=store,
        looks_by_itself=False,
    )


def _from_pypi(name: str, version: str) -> str:
    folder = cache() / f"{name}-{version}"
    program = folder / "bin" / name
    if not program.exists():
        _quietly([sys.executable, "-m", "venv", str(folder)])
        _quietly([str(folder / "bin" / "pip"), "install", f"{name}=={version}"])
    return str(program)


def cache() -> Path:
    """Where other programs are installed."""
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "hansei-bench"


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True)
