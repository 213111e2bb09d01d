"""The program that agents' settings name: a shell script that never fails.

It stands in the store, so that settings stay right when hansei is upgraded, moved or removed. It
runs the hook program of the hansei that wrote it, if that is still there, and ends with 0 in any
case. Where it is not there the input is still read to its end, because an agent that cannot write
it would report a failed hook.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NAME = "hansei-hook"
SERVER_NAME = "hansei-mcp"
SERVER = re.compile(rf"""(?:^|[/\\])bin[/\\]{SERVER_NAME}$""")
OURS = re.compile(rf"""(?:^|[/\\"'\s])bin[/\\]{NAME}["']?(?:\s|$)""")
PATIENCE_SECONDS = 10
"""How long a check of the launcher waits; a hook itself takes a fraction of a second."""


@dataclass(frozen=True)
class Launcher:
    """Where the launcher is, and what it runs."""

    home: Path
    python: str
    program: Path
    package: bool = False
    """Whether agents are to get more than hooks: a server to ask, and skills."""
    status_line: bool = False
    """Whether agents that have a status line are to show ours in it."""

    @property
    def path(self) -> Path:
        return self.home / "bin" / NAME

    @property
    def server(self) -> Path:
        """The program that agents start to ask us."""
        return self.home / "bin" / SERVER_NAME

    def command(self, agent: str, event: str) -> str:
        """What an agent's settings say, safe for a shell whatever the path contains."""
        return shlex.join([str(self.path), agent, event])

    def script(self) -> str:
        python, program, home = (
            shlex.quote(str(x)) for x in (self.python, self.program, self.home)
        )
        return (
            "#!/bin/sh\n"
            "# Written by `hansei init`, removed by `hansei init --uninstall`.\n"
            "# Coding agents run it; it notes what happened and never fails.\n"
            f"if [ -x {python} ] && [ -r {program} ]; then\n"
            f'    {python} -I -S {program} {home} "$@" 2>/dev/null\n'
            "else\n"
            "    cat >/dev/null\n"
            "fi\n"
            "exit 0\n"
        )

    def server_script(self) -> str:
        """What agents start: this very hansei, on this very store."""
        python, home = (shlex.quote(str(x)) for x in (self.python, self.home))
        return (
            "#!/bin/sh\n"
            "# Written by `hansei init --plugin`, removed by `hansei init --uninstall`.\n"
            # Only another home is named: naming one would hide a repository's own store.
            f'[ {home} = "$HOME/.hansei" ] || export HANSEI_HOME={home}\n'
            f"exec {python} -m hansei mcp\n"
        )


def launcher(home: Path, *, package: bool = False, status_line: bool = False) -> Launcher:
    """The launcher for a store, running the hook program of this very hansei."""
    import hansei

    program = Path(hansei.__file__).parent / "hook" / "run.py"
    return Launcher(home, sys.executable or "python3", program, package, status_line)


def is_ours(command: str) -> bool:
    """Whether a command in settings is ours, of this store or of an earlier one."""
    return OURS.search(command) is not None


def is_our_server(command: str) -> bool:
    """Whether a program that settings name as a server is ours, of this store or another."""
    return SERVER.search(command) is not None


def fault(launcher: Launcher) -> str | None:
    """What is wrong with the launcher, found by running what it runs on a store of its own.

    The answer goes behind its name: "is not there".
    """
    try:
        script = launcher.path.read_text(encoding="utf-8")
    except OSError:
        return "is not there"
    if not launcher.path.stat().st_mode & 0o100:
        return "may not be executed"
    named = _named(script)
    if named is None:
        return "was changed by hand"
    python, program = named
    for path in named:
        if not Path(path).is_file():
            return f"runs {path}, which is not there"
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run(
                [python, "-I", "-S", program, folder, "check", "check"],
                input=b'{"session_id": "check"}',
                capture_output=True,
                check=False,
                timeout=PATIENCE_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return f"does not run: {problem}"
        wrote = any(path.is_file() for path in Path(folder).rglob("*"))
    return None if wrote else "runs, but notes nothing"


def _named(script: str) -> tuple[str, str] | None:
    """The interpreter and the program that a launcher runs."""
    found = re.search(r"^    (.+) 2>/dev/null$", script, re.MULTILINE)
    try:
        words = shlex.split(found[1]) if found else []
    except ValueError:
        return None
    return (words[0], words[3]) if len(words) >= 5 and words[1:3] == ["-I", "-S"] else None
