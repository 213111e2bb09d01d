"""One agent on one scripted model in one place: where a scenario is played."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rig import processes

if TYPE_CHECKING:
    from collections.abc import Callable

    from rig.agent import Agent, Launch
    from rig.install import Installed
    from rig.place import Place
    from rig.processes import Finished
    from rig.server import Server

LIMIT_SECONDS = 150.0
"""A run takes seconds; this is for a machine that has much else to do."""


@dataclass(frozen=True)
class Run:
    """One run of the agent: what was asked, and how it ended."""

    launch: Launch
    finished: Finished
    session: str | None


@dataclass
class Stage:
    """Grows run by run."""

    agent: Agent
    installed: Installed
    place: Place
    server: Server
    runs: list[Run] = field(default_factory=list)

    def variables(self) -> dict[str, str]:
        ours = self.place.variables()
        return {
            **ours,
            "PATH": f"{self.installed.program.parent}{os.pathsep}{ours['PATH']}",
            # Whoever wants to go anywhere else is to come to us, and is refused.
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), self.server.url),
            "NO_PROXY": "127.0.0.1,localhost",
            **self.agent.variables(self.place, self.server.url),
        }

    def play(
        self,
        launch: Launch,
        *,
        through: tuple[str, ...] = (),
        interrupt: Callable[[], bool] | None = None,
    ) -> Run:
        """Run the agent once, to its end or until it is interrupted; `through` another program."""
        finished = processes.interrupted(
            [*through, str(self.installed.program), *self.agent.command(launch)],
            cwd=self.place.project,
            variables=self.variables(),
            log=self.place.folder / f"run-{len(self.runs) + 1}",
            limit=LIMIT_SECONDS,
            when=interrupt,
        )
        run = Run(launch, finished, self.agent.session(finished.out))
        self.runs.append(run)
        return run

    def fail(self, *, through: tuple[str, ...] = ()) -> int | None:
        """Have the agent refuse to start because of an option it does not know; its exit code."""
        return processes.run(
            [*through, str(self.installed.program), "--no-such-option"],
            cwd=self.place.project,
            variables=self.variables(),
            log=self.place.folder / "refused",
        ).code
