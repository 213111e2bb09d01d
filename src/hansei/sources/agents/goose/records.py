"""Messages and sessions as far as we use them."""

from typing import Any

import msgspec

IGNORED = {
    "toolConfirmationRequest": "asks a person; what was answered shows in the call's result",
    "actionRequired": "asks a person; what was answered shows in the call's result",
}
"""Kinds of content we leave out on purpose, and why. Any other unknown kind is `Unrecognised`."""

Stamp = str | int | float | None


class Outcome(msgspec.Struct, gc=False):
    """What a call holds, or the reason why there is none."""

    status: str | None = None
    value: Any = None
    error: str | None = None


class Block(msgspec.Struct, rename="camel", gc=False):
    """A part of a message."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    id: str | None = None
    tool_call: Outcome | None = None
    tool_result: Outcome | None = None
    notification_type: str | None = None
    msg: str | None = None


class Visibility(msgspec.Struct, rename="camel", gc=False):
    user_visible: bool | None = None
    agent_visible: bool | None = None

    @property
    def agent_only(self) -> bool:
        """Whether the program put it into the context without showing it to anyone."""
        return self.user_visible is False and self.agent_visible is not False


class Line(msgspec.Struct, rename="camel", gc=False):
    """A line of an early session file: a message, or what the session is."""

    role: str | None = None
    created: Stamp = None
    content: list[Block] | None = None
    metadata: Visibility | None = None
    working_dir: str | None = msgspec.field(default=None, name="working_dir")
    description: str | None = None
    schedule_id: str | None = msgspec.field(default=None, name="schedule_id")
    accumulated_input: int | None = msgspec.field(default=None, name="accumulated_input_tokens")
    accumulated_output: int | None = msgspec.field(default=None, name="accumulated_output_tokens")


decode_line = msgspec.json.Decoder(Line).decode
decode_content = msgspec.json.Decoder(list[Block]).decode
decode_visibility = msgspec.json.Decoder(Visibility).decode


def words(content: list[Block]) -> str:
    """The text of a message."""
    return "\n".join(part.text for part in content if part.type == "text" and part.text)
