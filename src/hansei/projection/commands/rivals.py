"""Programs of which a project uses one: they do the same to the same files.

Nothing is listed here. Programs that run the scripts of one manifest (npm, pnpm, yarn, bun) are
rivals, and so are those that run a command in the environment they install (uv, poetry, pipenv).
"""

from __future__ import annotations

from functools import cache

from hansei.config import CommandClass
from hansei.projection.commands.classes import SCRIPT_RUNNERS
from hansei.projection.commands.parsing import parse
from hansei.projection.commands.wrappers import RUNNERS


@cache
def families() -> dict[str, str]:
    """Each program that has rivals, and a name that it shares with them."""
    scripts = {it.split()[0] for it in SCRIPT_RUNNERS}
    environments = {it[0] for it in RUNNERS if it[1:] == ("run",) and _installs(it[0])}
    groups = (sorted(scripts), sorted(environments))
    return {program: "|".join(group) for group in groups for program in group}


def _installs(program: str) -> bool:
    found = (parse(f"{program} {verb}") for verb in ("install", "sync"))
    return any(
        it.commands[it.main].kind is CommandClass.INSTALL for it in found if it.main is not None
    )
