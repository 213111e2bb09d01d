"""What happened, whoever the agent was.

A session is a flat list of steps in the order of time. Nothing here knows how an agent writes a
transcript: calls say what was done (`Read`, `Change`, `Run`), and a writer decides which tool of
its agent that is. What was planted stands beside the steps in `plants`, never in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Origin: TypeAlias = Literal["human", "queued_human", "parent_agent"]
Driver: TypeAlias = Literal["human", "subagent", "automated"]
Relation: TypeAlias = Literal["subagent", "fork"]
State: TypeAlias = Literal["ok", "failed", "declined", "interrupted"]
Era: TypeAlias = Literal["old", "middle", "new"]
"""How recent the agent's own version is; a writer picks its layout by it."""
Fate: TypeAlias = Literal[
    "landed",
    "squashed",
    "reformatted",
    "reverted",
    "reworked",
    "abandoned",
    "discarded",
    "replaced",
]
"""What became of an edit. Discarded ones were undone within their own session, replaced ones were
written over in it."""

Manner: TypeAlias = Literal["said", "repeated", "interrupted"]
"""How a correction is made: in words, by asking again, or by stopping the agent first."""

CHILD_DELAY = 200
"""Milliseconds from the call that starts a subagent to the start of its session."""


# --- what an agent can do -------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    command: str


@dataclass(frozen=True)
class Read:
    path: str
    start: int = 1
    lines: int | None = None
    """How many lines; None for the whole file."""


@dataclass(frozen=True)
class Change:
    path: str
    old: str
    new: str
    before: str
    """The whole file as it was."""


@dataclass(frozen=True)
class Create:
    path: str
    content: str


@dataclass(frozen=True)
class Search:
    pattern: str
    path: str


@dataclass(frozen=True)
class ListFiles:
    glob: str


@dataclass(frozen=True)
class Plan:
    items: tuple[tuple[str, str], ...]
    """Task and state: pending, in_progress or completed."""


@dataclass(frozen=True)
class Fetch:
    url: str
    question: str


@dataclass(frozen=True)
class Consult:
    """A tool of an MCP server."""

    server: str
    tool: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Delegate:
    role: str
    title: str
    prompt: str
    child: str
    """Key of the session that does the work."""


Action: TypeAlias = (
    Run | Read | Change | Create | Search | ListFiles | Plan | Fetch | Consult | Delegate
)


@dataclass(frozen=True)
class Outcome:
    text: str
    at: int
    state: State = "ok"
    exit_code: int | None = None
    """As the shell reported it; a pipe may hide the real one."""
    spilled: bool = False
    """Whether it is too long for the transcript, where an agent moves such outputs to a file."""


@dataclass(frozen=True)
class Call:
    key: str
    at: int
    action: Action
    outcome: Outcome | None
    """None where the session ended before the answer came."""


# --- what happens in a session --------------------------------------------------------------------


@dataclass(frozen=True)
class Prompt:
    at: int
    text: str
    origin: Origin = "human"


@dataclass(frozen=True)
class Command:
    """A slash command to the agent program."""

    at: int
    name: str
    arguments: str = ""
    output: str = ""


@dataclass(frozen=True)
class Compaction:
    at: int
    trigger: Literal["manual", "auto"]
    summary: str


@dataclass(frozen=True)
class Interruption:
    at: int
    during_call: bool


@dataclass(frozen=True)
class Request:
    """One question to the model and all that it answered."""

    at: int
    thought: str = ""
    reply: str = ""
    calls: tuple[Call, ...] = ()


Step: TypeAlias = Prompt | Command | Compaction | Interruption | Request


# --- what was planted -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Stumble:
    """A failed call, and the call that got past it."""

    call: str
    trouble: str
    exit_code: int | None
    """The real one, also where it was masked."""
    masked: bool = False
    recovered_by: str | None = None


@dataclass(frozen=True)
class Reread:
    """A file read again though it had not changed and was still in the context."""

    call: str
    path: str
    excused: bool = False
    """Whether an edit of it had just failed, after which agents are told to look again."""


@dataclass(frozen=True)
class Discovery:
    """A folder listed before anything was changed, to find files that lie there every time."""

    call: str
    folder: str


@dataclass(frozen=True)
class Haul:
    """A large output that stayed in the context."""

    call: str
    command: str


@dataclass(frozen=True)
class Spill:
    """An output that was moved to a file, so that the model saw only its beginning."""

    call: str


@dataclass(frozen=True)
class Correction:
    step: int
    """Index of the prompt among the session's steps."""
    topic: str
    manner: Manner = "said"
    about: str | None = None
    """The call that was wrong; None where it is the last one before the prompt."""


@dataclass(frozen=True)
class Aside:
    """A prompt that sounds like a correction and is none."""

    step: int
    why: str


@dataclass(frozen=True)
class Leak:
    kind: str
    value: str
    place: Literal["prompt", "output", "file"]


@dataclass(frozen=True)
class Landing:
    """An edit and what became of it; commits by name."""

    call: str
    path: str
    added: str
    fate: Fate
    commits: tuple[str, ...] = ()
    """Where the lines entered the main line; for a squash, the commits that were squashed away
    come first."""
    undone_in: str | None = None
    """The commit that reverted or reworked it."""


@dataclass(frozen=True)
class Decoy:
    """A call that looks wrong and is not."""

    call: str
    why: Literal["mentions_errors", "nothing_found"]


@dataclass(frozen=True)
class Trial:
    """An occasion on which the rule of the world could be broken."""

    call: str
    broken: bool


@dataclass(frozen=True)
class Recourse:
    """A skill that was read when it was wanted."""

    call: str
    skill: str
    asked: bool
    """Whether a person had asked for what it is for."""
    followed_by: str | None
    """The call that runs what it tells to run."""


@dataclass(frozen=True)
class Guided:
    """Work that a skill is about, which may be before the agent or not."""

    course: str
    listed: bool
    calls: tuple[tuple[str, str], ...]
    """What was done, and the call that did it."""


@dataclass(frozen=True)
class Refusal:
    """A call that a person refused."""

    call: str
    command: str


@dataclass(frozen=True)
class Struggle:
    """A file that was edited again and again while the same command kept failing."""

    path: str
    command: str
    runs: tuple[str, ...]
    """The calls that ran it; the last one went well."""


@dataclass(frozen=True)
class Course:
    """A routine that was gone through, step by step."""

    name: str
    calls: tuple[str, ...]
    commands: tuple[str, ...]
    kept_as: str | None
    """The name under which a person asked to keep it."""


Plant: TypeAlias = (
    Stumble
    | Reread
    | Discovery
    | Haul
    | Spill
    | Correction
    | Aside
    | Leak
    | Landing
    | Decoy
    | Trial
    | Recourse
    | Refusal
    | Struggle
    | Course
    | Guided
)


# --- sessions -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Session:
    key: str
    agent: str
    driver: Driver
    developer: str
    era: Era
    branch: str
    commit: str
    """Full id of the commit checked out at the start."""
    instructions: str
    """The instruction file as it stood at that commit."""
    title: str
    rate: float
    """Tokens per byte of text in this session."""
    started: int
    steps: tuple[Step, ...]
    plants: tuple[Plant, ...] = ()
    parent: str | None = None
    relation: Relation | None = None
    spawned_by: str | None = None
    guided: bool = False
    """Whether it is told of the skill that outcomes are counted for."""
    inherits: bool = False
    """Whether its context begins with the parent's, where that agent does so."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request in disjoint fields; None where the agent does not say."""

    input: int
    cache_read: int
    cache_write_5m: int | None
    cache_write_1h: int | None
    output: int
    reasoning: int | None

    @property
    def context(self) -> int:
        """All tokens the model read."""
        return (
            self.input + self.cache_read + (self.cache_write_5m or 0) + (self.cache_write_1h or 0)
        )


@dataclass(frozen=True)
class Told:
    """A session with the bill of each of its requests, in order."""

    session: Session
    usages: tuple[Usage, ...]


@dataclass(frozen=True)
class Episode:
    """What is written together: a session, its subagents, and where it was forked from."""

    main: Told
    children: tuple[Told, ...] = ()
    forked_from: Episode | None = None
    forked_at: int = 0
    """How many steps of the original were copied."""
    copied: bool = False
    """Whether somebody made a second copy of the file."""
    put_away: bool = False
    """Whether the session was archived, where an agent can do that."""

    def child(self, key: str) -> Told:
        return next(told for told in self.children if told.session.key == key)


def requests(session: Session) -> list[Request]:
    return [step for step in session.steps if isinstance(step, Request)]


def calls(session: Session) -> list[Call]:
    return [call for request in requests(session) for call in request.calls]


def spawn_step(parent: Session, call_key: str) -> int:
    """The index of the step that holds a call: what came before it is what a subagent inherits."""
    return next(
        index
        for index, step in enumerate(parent.steps)
        if isinstance(step, Request) and any(call.key == call_key for call in step.calls)
    )
