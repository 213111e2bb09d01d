"""Two kinds of hooks: hansei's own, installed as a person would, and one that behaves badly.

The second is the rig's: it keeps what it was told and then does what it is asked to.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from rig.seen import Failed, hansei

if TYPE_CHECKING:
    from pathlib import Path

    from rig.stage import Stage

TIMEOUT_SECONDS = 2
"""What agents are told to wait for it."""

_RECORD = """\
#!/bin/sh
cat > {told}/"$(date +%s%N)-$$-$1.json"
{then}
"""

EXIT_CODE = "echo 'the hook is broken' >&2; exit 1"
GARBAGE = "printf '\\377\\376{\"half\": \\n\\033[31mred\\000'; exit 0"
HANGING = "exec sleep 30"


def install(stage: Stage, then: str) -> None:
    """Have the agent call a hook for each event it knows; `then` is what the hook does."""
    place = stage.place
    script = place.folder / "hook"
    text = _RECORD.format(told=shlex.quote(str(place.told)), then=then)
    place.write(script, text, mode=0o700)
    commands = {event: f"{shlex.quote(str(script))} {event}" for event in stage.agent.hook_events}
    stage.agent.hook(place, commands, TIMEOUT_SECONDS)


def called(stage: Stage) -> set[str]:
    """For which events the hook was called; each time it was told an object."""
    paths = list(stage.place.told.glob("*.json"))
    told = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return {path.stem.rpartition("-")[2] for path, it in zip(paths, told, strict=True) if it}


def init(stage: Stage, *options: str) -> None:
    """`hansei init`: hansei's own hooks in the settings of the agents it finds."""
    ended = hansei(stage.place, stage.variables(), "init", "--yes", *options)
    if ended.code != 0:
        raise Failed(f"hansei init {' '.join(options)}: {(ended.err or ended.out).strip()[-300:]}")


def expose(stage: Stage, text: str) -> None:
    """Have every new session be given a text."""
    item = {"id": "rig", "text": text, "experiment": "rig", "salt": "rig", "share": 1.0}
    exposure = {"v": 1, "items": [{**item, "workspaces": None}]}
    stage.place.write(stage.place.store / "exposure.json", json.dumps(exposure))


def launcher(stage: Stage) -> Path:
    """The program that agents' settings name."""
    return stage.place.store / "bin" / "hansei-hook"


def settings(stage: Stage) -> dict[str, bytes]:
    """Every file in the home: hooks may be put anywhere in it."""
    home = stage.place.home
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
