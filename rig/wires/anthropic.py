"""Anthropic's messages, as Claude Code speaks them."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING

from rig.script import Ask, Call, Role, Say, Tokens, Turn, Usage
from rig.wire import STREAM, Answer, Record, event, joined

if TYPE_CHECKING:
    from collections.abc import Iterator


class Anthropic:
    path = "/v1/messages"
    content_type = STREAM

    def read(self, body: Record) -> Ask:
        turns = [turn for message in body.get("messages", ()) for turn in _turns(message)]
        tools = frozenset(str(tool.get("name")) for tool in body.get("tools") or ())
        return Ask(str(body.get("model")), tuple(turns), tools)

    def write(self, answer: Answer) -> list[bytes]:
        return [event(data, data["type"]) for data in _events(answer)]

    def told(self, tokens: Tokens) -> Usage:
        return astuple(tokens)


def _turns(message: Record) -> Iterator[Turn]:
    if message["role"] == "assistant":
        yield Turn(Role.MODEL, "")
        return
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    for part in parts:
        if part.get("type") == "tool_result":
            yield Turn(Role.ANSWER, joined(part.get("content")))
        elif part.get("type") == "text":
            yield Turn(Role.USER, part["text"])


def _events(answer: Answer) -> Iterator[Record]:
    used = answer.tokens
    usage = {
        "input_tokens": used.input,
        "cache_read_input_tokens": used.cache_read,
        "cache_creation_input_tokens": used.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": used.cache_write,
            "ephemeral_1h_input_tokens": 0,
        },
        "output_tokens": 1,
    }
    message: Record = {
        "id": f"msg_{answer.id}",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    block, delta, reason = _block(answer)
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": None},
        "usage": {
            **usage,
            "output_tokens": used.output,
            "output_tokens_details": {"thinking_tokens": used.reasoning},
        },
    }
    yield {"type": "message_stop"}


def _block(answer: Answer) -> tuple[Record, Record, str]:
    match answer.step:
        case Say(text=text):
            return (
                {"type": "text", "text": ""},
                {"type": "text_delta", "text": text},
                "end_turn",
            )
        case Call(tool=tool, arguments=arguments):
            block = {"type": "tool_use", "id": f"toolu_{answer.id}", "name": tool, "input": {}}
            written = json.dumps(arguments)
            return block, {"type": "input_json_delta", "partial_json": written}, "tool_use"


WIRE = Anthropic()
