"""A way in which a project does something: four commands of its own that go well, one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rig.script import Call
    from rig.stage import Stage

COMMANDS = (
    "make configure",
    "./scripts/compile.sh --for=harbour",
    "make package",
    "./scripts/announce.sh --to=pilots",
)
TELLING = "./scripts/compile.sh"
"""What stands in every text about it, and in none about anything else."""


def lay_out(stage: Stage) -> tuple[Call, ...]:
    """The files it needs; the calls that do it."""
    place = stage.place
    place.write(place.project / "Makefile", "configure package:\n\t@echo done\n")
    for name in ("compile", "announce"):
        place.write(
            place.project / "scripts" / f"{name}.sh", f"#!/bin/sh\necho {name}d\n", mode=0o755
        )
    return tuple(stage.agent.shell(command) for command in COMMANDS)
