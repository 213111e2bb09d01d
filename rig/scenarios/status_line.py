"""The status line, beside a person's own: the real transcript, the input as it is documented.

Without a terminal the program runs no status line, which is checked too; so the installed command
is run as the program would.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from rig import hooks
from rig.agent import Launch
from rig.scenario import Finding, same, true
from rig.script import Say, Script

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rig.seen import Seen
    from rig.stage import Stage

_FAILING = "ls no-such-berth"
_SETTINGS = ".claude/settings.json"


class StatusLine:
    title = "The status line"

    def __init__(self) -> None:
        self.settings = ""

    def script(self, stage: Stage) -> Script:
        own = f"touch {stage.place.folder}/shown; echo mine"
        self.settings = json.dumps({"statusLine": {"type": "command", "command": own}})
        stage.place.write(stage.place.home / _SETTINGS, self.settings)
        hooks.init(stage, "--statusline")
        shell = stage.agent.shell
        return {"main": (shell(_FAILING), shell(_FAILING), Say("It is not there."))}

    def play(self, stage: Stage) -> None:
        stage.play(Launch("Please follow cue:main to its end.", hooked=True))

    def check(self, stage: Stage, seen: Seen) -> Iterator[Finding]:
        mark = stage.place.folder / "shown"
        yield true("no status line is run without a terminal", not mark.exists())
        path = stage.place.home / _SETTINGS
        command = json.loads(path.read_text(encoding="utf-8"))["statusLine"]["command"]
        (transcript, *_) = stage.place.home.rglob(f"{stage.runs[0].session}.jsonl")
        said = {
            "session_id": stage.runs[0].session,
            "transcript_path": str(transcript),
            "cwd": str(stage.place.project),
            "workspace": {"current_dir": str(stage.place.project)},
            "cost": {"total_cost_usd": 0.25},
            "context_window": {"used_percentage": 12, "context_window_size": 200_000},
        }
        done = subprocess.run(
            command,
            shell=True,
            input=json.dumps(said),
            env=stage.variables(),
            check=False,
            capture_output=True,
            text=True,
        )
        wanted = f"mine · $0.25 · context 12% · ⚠ {_FAILING} failed 2×"
        yield same("what it shows", (0, wanted, ""), (done.returncode, done.stdout, done.stderr))
        yield true("the person's own command was run", mark.exists())
        hooks.init(stage, "--uninstall")
        yield same("and uninstall puts it back", self.settings, path.read_text(encoding="utf-8"))


SCENARIO = StatusLine()
