"""Sessions, messages and their parts as far as we use them.

Both layouts hold the same JSON: a row of the database has it in its column `data`, without the ids
that are columns of their own. A part's type decides which of its fields are there, so one wide
record serves all of them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

IGNORED = {
    "part/step-start": "marks the beginning of a step, which its end tells of",
    "part/snapshot": "a state of the files that the undo function can go back to",
    "part/agent": "an agent that is named in the prompt, as the prompt's text says",
    "part/file": "a file that was attached; pictures are counted with the prompt",
}
"""Kinds of parts we leave out on purpose, and why. Any other unknown kind is `Unrecognised`."""

Number: TypeAlias = int | float | None


class Cache(msgspec.Struct, gc=False):
    read: Number = None
    write: Number = None


class Tokens(msgspec.Struct, gc=False):
    """What a request took, cache apart from input. Only `total` tells where reasoning is."""

    total: Number = None
    input: Number = None
    output: Number = None
    reasoning: Number = None
    cache: Cache | None = None


class Times(msgspec.Struct, gc=False):
    created: Number = None
    updated: Number = None
    completed: Number = None
    start: Number = None
    end: Number = None
    compacted: Number = None


class Fault(msgspec.Struct, gc=False):
    """An error as the program words it."""

    name: str | None = None
    data: dict[str, Any] | None = None


class Folder(msgspec.Struct, gc=False):
    cwd: str | None = None


class FileDiff(msgspec.Struct, gc=False):
    """A change to one file, as the tools that change files tell of it."""

    file: str | None = None
    filePath: str | None = None  # noqa: N815 - as it is written
    movePath: str | None = None  # noqa: N815
    type: str | None = None
    patch: str | None = None
    diff: str | None = None
    additions: Number = None
    deletions: Number = None


class Metadata(msgspec.Struct, gc=False):
    """What a tool notes beside its output."""

    exit: int | None = None
    sessionId: str | None = None  # noqa: N815
    parentSessionId: str | None = None  # noqa: N815
    truncated: bool | None = None
    interrupted: bool | None = None
    exists: bool | None = None
    diff: str | None = None
    filediff: FileDiff | None = None
    files: list[FileDiff] | None = None


class Attached(msgspec.Struct, gc=False):
    mime: str | None = None


class State(msgspec.Struct, gc=False):
    """How far a call is."""

    status: str | None = None
    input: Any = None
    output: str | None = None
    error: str | None = None
    metadata: Metadata | None = None
    time: Times | None = None
    attachments: list[Attached] | None = None


class Part(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None
    time: Times | None = None
    callID: str | None = None  # noqa: N815
    tool: str | None = None
    state: State | None = None
    mime: str | None = None
    tokens: Tokens | None = None
    hash: str | None = None
    files: list[str] | None = None
    auto: bool | None = None
    tail_start_id: str | None = None
    prompt: str | None = None
    command: str | None = None
    attempt: Number = None
    error: Fault | None = None


class Message(msgspec.Struct, gc=False):
    role: str | None = None
    time: Times | None = None
    parentID: str | None = None  # noqa: N815
    modelID: str | None = None  # noqa: N815
    path: Folder | None = None
    tokens: Tokens | None = None
    summary: Any = None
    error: Fault | None = None
    parts: msgspec.Raw = msgspec.Raw()


class Rule(msgspec.Struct, gc=False):
    permission: str | None = None
    action: str | None = None


class Reverted(msgspec.Struct, gc=False):
    messageID: str | None = None  # noqa: N815
    partID: str | None = None  # noqa: N815


class Session(msgspec.Struct, gc=False):
    """A session as its file has it; a row is brought into this shape."""

    id: str | None = None
    parentID: str | None = None  # noqa: N815
    directory: str | None = None
    title: str | None = None
    version: str | None = None
    agent: str | None = None
    permission: list[Rule] | None = None
    revert: Reverted | None = None
    time: Times | None = None


decode_message = msgspec.json.Decoder(Message).decode
decode_part = msgspec.json.Decoder(Part).decode
decode_session = msgspec.json.Decoder(Session).decode
