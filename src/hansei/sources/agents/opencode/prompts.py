"""Messages in the user's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import MARKER, Notice, Origin, Prompt, SlashCommand
from hansei.sources.agents.opencode.records import IGNORED

if TYPE_CHECKING:
    from hansei.sources.agents.opencode.reader import Reader, Said
    from hansei.sources.agents.opencode.records import Part
    from hansei.sources.agents.opencode.stored import Stored

RAN_BY_USER = "The following tool was executed by the user"
"""What the program says in a person's place when that person has run a command with `!`."""


def take(reader: Reader, said: Said, stored: list[Stored]) -> None:
    """Every text of a message, told apart by who wrote it."""
    images = sum(_is_image(part) for part in said.parts)
    person = Origin.PARENT_AGENT if said.owner.is_child else Origin.HUMAN
    for part, kept in zip(said.parts, stored, strict=True):
        if part.type == "text":
            images = _text(reader, said, part, person, images)
        elif part.type == "subtask":
            _subtask(reader, said, part, person)
        elif part.type != "compaction" and f"part/{part.type}" not in IGNORED:
            reader.unrecognised(said, f"part/{part.type}", kept)
    if images:
        key = said.key("images")
        reader.emit(Prompt(key=key, text="", origin=person, images=images, **said.where))


def _text(reader: Reader, said: Said, part: Part, person: Origin, images: int) -> int:
    """Tell one text; the pictures go with the first that a person wrote. Returns those left."""
    text = part.text or ""
    if part.ignored:
        key = said.text_key("shown", text)
        reader.emit(Notice(key=key, name="shown", text=text, **said.where))
    elif text:
        origin = ours(text, Origin.HARNESS if part.synthetic else person)
        with_it = images if origin is person else 0
        key = said.text_key("prompt", text)
        reader.emit(Prompt(key=key, text=text, origin=origin, images=with_it, **said.where))
        return images - with_it
    return images


def _subtask(reader: Reader, said: Said, part: Part, person: Origin) -> None:
    """Work handed to a subagent: by a command, or by naming the agent in the prompt."""
    text = part.prompt or ""
    if part.command and MARKER not in part.command:
        key = said.text_key("command", part.command)
        reader.emit(SlashCommand(key=key, name=part.command, **said.where))
    elif text:
        key = said.text_key("prompt", text)
        reader.emit(Prompt(key=key, text=text, origin=ours(text, person), **said.where))


def _is_image(part: Part) -> bool:
    return part.type == "file" and (part.mime or "").startswith("image/")


def ours(text: str, otherwise: Origin) -> Origin:
    """What carries hansei's marker is hansei's, whoever seems to say it."""
    return Origin.HANSEI if MARKER in text else otherwise
