"""An agent as the rig drives it: its settings, its command line, and its names for what we script.

What it cannot do, or not without a person at the keyboard, stands in `lacks` with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from rig.place import Place
    from rig.script import Call
    from rig.wire import Wire


@dataclass(frozen=True)
class Launch:
    """One run of an agent: a prompt, and how it goes on from an earlier session."""

    prompt: str
    session: str | None = None
    fork: bool = False
    compacting: bool = False
    """Whether the context is to be replaced by a summary before the prompt is answered."""
    hooked: bool = False
    """Whether hooks are to run."""


class Agent(Protocol):
    """One agent program."""

    name: str
    """As hansei calls it."""
    title: str
    package: str
    program: str
    wire: Wire
    instructions: str
    """The instruction file it reads in a repository."""
    skills: str
    """The folder of skills it reads in a repository."""
    hook_events: tuple[str, ...]
    """The hooks it calls, where it has hooks."""
    needs: ClassVar[tuple[str, ...]]
    """Packages it needs beside it, such as a newer Node.js than the machine has."""
    silent: ClassVar[frozenset[str]]
    """What it never tells: its `version` and the `driver` in transcripts, the `call` to a hook."""
    lacks: ClassVar[dict[str, str]]
    """Scenarios it cannot be played in, and why."""

    def settle(self, place: Place, url: str) -> None:
        """Write the settings that make it talk to our model."""

    def variables(self, place: Place, url: str) -> dict[str, str]:
        """What its environment needs beside the home."""

    def command(self, launch: Launch) -> list[str]:
        """The arguments of a run without a person."""

    def session(self, out: str) -> str | None:
        """The session that a run says it was."""

    def hook(self, place: Place, commands: dict[str, str], timeout: int) -> None:
        """Have it call a command for each event; only where it has hooks."""

    def shell(self, command: str) -> Call: ...

    def server(self, tool: str, arguments: dict[str, Any]) -> Call:
        """Ask hansei's server, as the agent names its tools."""

    def forbid(self, place: Place) -> Call:
        """Forbid something in its settings; the call that is then refused."""

    def spawn(self, prompt: str) -> Call:
        """Start a subagent."""

    def skill(self, name: str) -> Call | None:
        """Use a skill; None where the prompt names it instead."""

    def naming(self, skill: str) -> str:
        """How a prompt names a skill."""
