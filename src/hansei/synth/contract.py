"""What an agent's writer is: how that agent counts, and how it puts a story on disk."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hansei.synth.story import Compaction, Interruption, Prompt

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.synth.story import Action, Call, Driver, Episode, Session


@dataclass(frozen=True)
class Traits:
    """What an agent's transcripts can and cannot show."""

    model: str
    small_model: str
    """What subagents run on."""
    base_tokens: int
    """Tokens of the system prompt and the tools, before any text of the session."""
    tells_cache_writes: bool
    tells_reasoning: bool
    records_commands: bool
    """Whether slash commands are written down."""
    records_queue: bool
    """Whether a prompt typed while the agent works can be told from another."""
    subagents_inherit: bool
    """Whether a subagent may begin with the parent's context, replayed in its file."""
    spills_outputs: bool = False
    """Whether new versions move long outputs to a file."""
    cache_block: int = 1
    """Cache reads come in multiples of this."""
    long_cache: bool = True
    """Whether cache writes that last an hour are told apart from those of five minutes."""
    delegates: bool = True
    """Whether it has subagents."""
    records_driver: bool = True
    """Whether it can be seen that no person drove a session."""
    records_interruptions: bool = True
    """Whether it can be seen that a person stopped the agent."""
    replays_forks: bool = True
    """Whether a fork begins with a copy of what it was forked from."""
    tells_requests: bool = True
    """Whether it can be seen that a model was asked, and what that took."""
    records_compactions: bool = True
    schedules: bool = False
    """Whether automated sessions are asked by a schedule of the program itself."""

    def driver_of(self, session: Session) -> Driver:
        """Who drove a session, as far as it can be seen."""
        known = self.records_driver or session.driver == "subagent"
        return session.driver if known else "human"

    def prompts_of(self, session: Session) -> dict[str, int]:
        """How many prompts each kind of author wrote, as far as it can be seen."""
        scheduled = self.schedules and session.driver == "automated"
        prompts = [step for step in session.steps if isinstance(step, Prompt)]
        return dict(Counter("harness" if scheduled else prompt.origin for prompt in prompts))

    def interruptions_of(self, session: Session) -> int:
        """How often a person stopped the agent, as far as it can be seen."""
        stops = [step for step in session.steps if isinstance(step, Interruption)]
        return len(stops) if self.records_interruptions else 0

    def compactions_of(self, session: Session) -> int:
        """How often the context was summed up, as far as it can be seen."""
        found = [step for step in session.steps if isinstance(step, Compaction)]
        return len(found) if self.records_compactions else 0

    def model_of(self, session: Session) -> str:
        return self.small_model if session.relation == "subagent" else self.model


@dataclass
class Written:
    """What one episode became on disk."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """Session key to its files, relative to the home folder; copies not among them."""
    copies: list[str] = field(default_factory=list)
    """Files that hold nothing that is not in another file."""
    naive: dict[str, int] = field(default_factory=dict)
    """Session key to the sum of all usages on all lines of its files, repeats and copies too."""
    spills: dict[str, str] = field(default_factory=dict)
    """Call key to the file that its output was moved to."""
    inline: set[str] = field(default_factory=set)
    """Sessions without a file of their own."""


class Writer(Protocol):
    """An agent whose transcripts can be made."""

    name: str
    traits: Traits

    def session_id(self, session: Session) -> str:
        """The session's id as this agent writes it."""
        ...

    def call_id(self, call_key: str) -> str: ...

    def version(self, session: Session) -> str: ...

    def tool(self, action: Action) -> str:
        """The kind of tool this agent uses for an action: shell, read, edit, write and so on."""
        ...

    def result_text(self, call: Call, session: Session) -> str:
        """The text the model gets back from a call."""
        ...

    def arguments_text(self, call: Call, session: Session) -> str:
        """What the model wrote to make the call."""
        ...

    def write(self, home: Path, root: Path, episode: Episode) -> Written:
        """Put an episode on disk under the home folder; `root` is the repository's."""
        ...
