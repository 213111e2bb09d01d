"""Sessions and events as every agent's transcript is told in them.

An event is a frozen value that knows its own identity: `key` is derived from the ids the agent
itself wrote, so the same thing read twice (a streamed copy, a fork, a resume) has the same key and
is kept once. Names follow OpenTelemetry's GenAI conventions where those exist.

Unknown is `None`, never 0 or an empty string that could be mistaken for a measurement.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal, TypeAlias

import msgspec

MARKER = "<!-- hansei -->"
"""Stands in every text hansei writes or injects, so that it never learns from itself."""


class Evidence(StrEnum):
    """What kind of number a number is."""

    MEASURED = "measured"  # read from a transcript or from git
    DERIVED = "derived"  # computed from measured numbers by a rule we can print
    UNKNOWN = "unknown"


class Origin(StrEnum):
    """Who wrote a prompt."""

    HUMAN = "human"
    QUEUED_HUMAN = "queued_human"  # typed while the agent was still at work
    PARENT_AGENT = "parent_agent"
    HARNESS = "harness"
    HOOK = "hook"
    HANSEI = "hansei"


class Driver(StrEnum):
    """Who drove a session."""

    HUMAN = "human"
    SUBAGENT = "subagent"
    AUTOMATED = "automated"


class Relation(StrEnum):
    """How a session came from its parent."""

    SUBAGENT = "subagent"
    FORK = "fork"
    CONTINUATION = "continuation"


class Tool(StrEnum):
    """One name for each kind of tool, over all agents."""

    SHELL = "shell"
    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    SEARCH = "search"
    WEB = "web"
    MCP = "mcp"
    SUBAGENT = "subagent"
    PLAN = "plan"
    OTHER = "other"


class Status(StrEnum):
    """How a call ended."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Basis(StrEnum):
    """How we know a call's status."""

    EXIT_CODE = "exit_code"
    FLAG = "flag"  # the agent marked the result as failed, or as fine
    RUNNER_SUMMARY = "runner_summary"  # the tool's own closing line decides
    DECLINED = "declined"  # a person or a permission rule refused the call: it never ran
    INTERRUPTED = "interrupted"
    MASKED = "masked"  # a pipe, `|| true` or `; echo` hides the exit code
    NONE = "none"


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    """What all events share."""

    key: int
    """Identity as a signed 64-bit number; see `hansei.events.keys`."""
    session: str
    """The agent's own id of the session this belongs to."""
    at: int | None = None
    """Milliseconds since 1970 in UTC, as recorded."""
    cwd: str | None = None
    branch: str | None = None


class Prompt(Event, frozen=True, kw_only=True, omit_defaults=True, tag="prompt"):
    """Text given to the model in the user's place."""

    text: str
    origin: Origin
    images: int = 0


class SlashCommand(Event, frozen=True, kw_only=True, omit_defaults=True, tag="slash_command"):
    """A command to the agent program itself, such as `/compact`."""

    name: str
    text: str = ""
    """What stood after the name."""


class Interruption(Event, frozen=True, kw_only=True, omit_defaults=True, tag="interruption"):
    """A person stopped the agent."""

    text: str = ""


class Reply(Event, frozen=True, kw_only=True, omit_defaults=True, tag="reply"):
    text: str
    model: str | None = None
    message: str | None = None
    """The provider's id of the response this is part of."""


class Thought(Event, frozen=True, kw_only=True, omit_defaults=True, tag="thought"):
    text: str
    """Empty where the agent keeps only a signature."""
    model: str | None = None
    message: str | None = None


class ToolCall(Event, frozen=True, kw_only=True, omit_defaults=True, tag="tool_call"):
    call: str
    """The id that pairs it with its result."""
    tool: Tool
    name: str
    """The agent's own name for the tool."""
    arguments: dict[str, Any] = msgspec.field(default_factory=dict)
    text: str = ""
    """What the call is about, on its own: the command, the path, the query."""
    server: str | None = None
    model: str | None = None
    message: str | None = None


class ToolResult(Event, frozen=True, kw_only=True, omit_defaults=True, tag="tool_result"):
    call: str
    text: str
    status: Status
    basis: Basis
    exit_code: int | None = None
    size: int | None = None
    """Bytes of the whole output, also where `text` is only a part of it."""
    truncated: bool = False
    shown: int | None = None
    """Bytes the model was shown, where those are not `text`: a large output is moved to a file."""
    images: int = 0
    child: str | None = None
    """The session of the subagent this call started."""


class Hunk(msgspec.Struct, frozen=True, array_like=True):
    """One replaced run of lines; `start` is the first line in the new file, None if unrecorded."""

    start: int | None
    old: str
    new: str


class FileEdit(Event, frozen=True, kw_only=True, omit_defaults=True, tag="file_edit"):
    call: str
    path: str
    operation: Literal["create", "update", "delete", "rename"]
    hunks: list[Hunk] = msgspec.field(default_factory=list)
    added: int | None = None
    removed: int | None = None
    applied: bool | None = None
    moved_to: str | None = None


class RequestUsage(Event, frozen=True, kw_only=True, omit_defaults=True, tag="request_usage"):
    """What one request to a model was billed. The four inputs are disjoint."""

    model: str | None = None
    message: str | None = None
    request: str | None = None
    input: int | None = None
    """Input tokens neither read from nor written to a cache."""
    cache_read: int | None = None
    cache_write_5m: int | None = None
    cache_write_1h: int | None = None
    output: int | None = None
    """Output tokens, reasoning included."""
    reasoning: int | None = None
    """The part of `output` spent on reasoning, where the agent says it."""
    web_searches: int | None = None
    tier: str | None = None
    """A price tier other than the standard one, as the agent names it."""
    lines: int = 1
    """Transcript lines that reported this one request."""
    repeated: int = 0
    """Tokens a reader that adds up every line would have counted on top."""
    sums: bool = False
    """Whether this is what several requests took together, where the agent tells no more."""


class Compaction(Event, frozen=True, kw_only=True, omit_defaults=True, tag="compaction"):
    """The context was replaced by a summary, or partly dropped."""

    text: str = ""
    trigger: str | None = None
    tokens_before: int | None = None
    partial: bool = False


class Notice(Event, frozen=True, kw_only=True, omit_defaults=True, tag="notice"):
    """Something the agent program recorded about itself."""

    name: str
    text: str = ""
    data: dict[str, Any] = msgspec.field(default_factory=dict)


class Unrecognised(Event, frozen=True, kw_only=True, omit_defaults=True, tag="unrecognised"):
    """A record of a kind we do not know. Its content is not kept, only its trace."""

    name: str
    """The kind as the agent wrote it, or what was wrong with it."""
    digest: str
    size: int


class Measured(msgspec.Struct, frozen=True, array_like=True):
    """How large a text was and what it is known by; the text itself is not kept."""

    bytes: int
    hash: str


class Instruction(msgspec.Struct, frozen=True, array_like=True):
    """An instruction file, rule, skill or MCP server that an agent had before it."""

    kind: str
    path: str
    """From the top of the repository, from `~`, or absolute where it lies in neither."""
    hash: str
    bytes: int


class Observation(Event, frozen=True, kw_only=True, omit_defaults=True, tag="observation"):
    """What a hook saw. It points to the transcript's own event by ids and never replaces it."""

    name: str
    """The agent's own name of the hook; `look` for what hansei looked up beside it."""
    call: str | None = None
    turn: str | None = None
    """The agent's id of the prompt and what follows from it."""
    native_tool: str | None = None
    word: str | None = None
    """Why, in the agent's own word: `startup`, `resume`, `clear`, `auto`."""
    version: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    """Whether tracked files differed from the commit."""
    prompt: Measured | None = None
    input: Measured | None = None
    output: Measured | None = None
    instructions: list[Instruction] | None = None
    """What was in force; None where nobody looked."""
    arms: dict[str, str] = msgspec.field(default_factory=dict)
    """For each item under test, whether this session was to get it: treatment or control."""
    delivered: list[str] = msgspec.field(default_factory=list)
    context: Measured | None = None
    """The text that was handed to the agent with the delivered items."""


AnyEvent: TypeAlias = (
    Prompt
    | SlashCommand
    | Interruption
    | Reply
    | Thought
    | ToolCall
    | ToolResult
    | FileEdit
    | RequestUsage
    | Compaction
    | Notice
    | Observation
    | Unrecognised
)

KINDS: tuple[type[Event], ...] = AnyEvent.__args__
"""Every kind of event, in reading order."""


class CommitBasis(StrEnum):
    """Who told the commit a session began on."""

    HOOK = "hook"  # read from the repository when the session began
    AGENT = "agent"  # written by the agent into its transcript


class SessionFacts(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a transcript or a hook says of a session as a whole; None where it says nothing.

    Of what transcripts say the first value stays for everything but `title`, `version` and
    `branch`, where the last one does. Of what hooks saw the earliest stays. Where both speak the
    transcript is right, except about the commit.
    """

    id: str
    driver: Driver | None = None
    driver_recorded: bool = False
    """Whether the transcript says who drove it, or we take the agent's usual case."""
    parent: str | None = None
    relation: Relation | None = None
    spawned_by: str | None = None
    """The call in the parent that started this session."""
    cwd: str | None = None
    branch: str | None = None
    commit: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    title: str | None = None
    role: str | None = None
    """The kind of subagent, where it has one."""
    dirty: bool | None = None
    """Whether tracked files differed from the commit when the session began."""
    seen_at: int | None = None
    """When a hook saw all this; None for what a transcript says."""

    @property
    def commit_basis(self) -> CommitBasis | None:
        """How the commit is known, if it is."""
        if self.commit is None:
            return None
        return CommitBasis.AGENT if self.seen_at is None else CommitBasis.HOOK
