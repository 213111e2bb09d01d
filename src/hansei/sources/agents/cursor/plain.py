"""Transcripts in plain text, as early versions wrote them, taken apart into messages.

A line with nothing but `user:` or `assistant:` begins a message, `[Tool call] Name` a call. The
arguments follow as `  name: value`, and what a value holds after its first line stands as it is, at
the very left. So a call ends only where the next mark begins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from hansei.sources.agents.cursor.prompts import QUERY
from hansei.sources.families.anthropic import Block
from hansei.sources.families.records import rescue

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROLE = re.compile(r"(user|assistant|system):\s*$")
_MARK = re.compile(r"\[(Tool call|Tool result|Thinking)\] ?(.*)$")
_ARGUMENT = re.compile(r" {2}(\w+)(?:: ?|=)(.*)$")
_BODY = re.compile(r"\s|$")


class Spoken(NamedTuple):
    """A message: who spoke, and what it is made of."""

    role: str
    blocks: list[Block]


def messages(text: str) -> Iterator[Spoken]:
    """The messages of a transcript in order."""
    for role, lines in _turns(text):
        if role == "assistant":
            yield Spoken(role, list(_answer(lines)))
        else:
            yield Spoken(role, [Block("text", "\n".join(lines).strip())])


def _turns(text: str) -> Iterator[tuple[str, list[str]]]:
    """Runs of lines by who spoke. What a person typed may look like a mark itself."""
    role, lines, quoted = "", list[str](), False
    for line in text.split("\n"):
        mark = None if quoted else _ROLE.match(line)
        if mark:
            if role:
                yield role, lines
            role, lines = mark[1], []
            continue
        lines.append(line.rstrip("\r"))
        if role == "user":
            quoted = (quoted or f"<{QUERY}>" in line) and f"</{QUERY}>" not in line
    if role:
        yield role, lines


def _answer(lines: list[str]) -> Iterator[Block]:
    kind, name, body = "text", "", list[str]()
    for line in lines:
        mark = _MARK.match(line)
        if mark:
            yield from _block(kind, name, body)
            kind, name, body = mark[1], mark[2].strip(), []
            if kind == "Thinking" and name:
                body.append(name)
        elif kind in ("Tool result", "Thinking") and not _BODY.match(line):
            yield from _block(kind, name, body)
            kind, name, body = "text", "", [line]
        else:
            body.append(line)
    yield from _block(kind, name, body)


def _block(kind: str, name: str, body: list[str]) -> Iterator[Block]:
    if kind == "Tool call":
        yield Block("tool_use", name=name, input=_arguments(body))
    elif kind == "Tool result":
        yield Block("tool_result", name=name, content=_dedented(body))
    elif text := _dedented(body) if kind == "Thinking" else "\n".join(body).strip():
        is_thought = kind == "Thinking"
        yield Block("thinking", thinking=text) if is_thought else Block("text", text)


def _dedented(body: list[str]) -> str:
    return "\n".join(line.removeprefix("  ") for line in body).strip("\n")


def _arguments(body: list[str]) -> dict[str, Any]:
    """Named values, one JSON object, or a text without a name."""
    text = _dedented(body)
    if text.startswith("{"):
        value = rescue(text.encode("utf-8", "surrogatepass")).value
        if value is not None:
            return value
    found: dict[str, list[str]] = {}
    values: list[str] | None = None
    for line in body:
        argument = _ARGUMENT.match(line)
        if argument and argument[1] not in found:
            values = found[argument[1]] = [argument[2]]
        elif values is None:
            return {"input": text} if text else {}
        else:
            values.append(line)
    return {name: "\n".join(lines).rstrip("\n") for name, lines in found.items()}
