"""OpenAI's chat completions, as OpenCode speaks them with a compatible server."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from rig.script import Ask, Call, Role, Say, Tokens, Turn, Usage
from rig.wire import STREAM, Answer, Record, event, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROLES = {"user": Role.USER, "assistant": Role.MODEL, "tool": Role.ANSWER}


class Chat:
    path = "/v1/chat/completions"
    content_type = STREAM

    def read(self, body: Record) -> Ask:
        turns = tuple(
            Turn(_ROLES[message["role"]], joined(message.get("content")))
            for message in body.get("messages", ())
            if message.get("role") in _ROLES
        )
        tools = frozenset(str(tool["function"]["name"]) for tool in body.get("tools") or ())
        return Ask(str(body.get("model")), turns, tools)

    def write(self, answer: Answer) -> list[bytes]:
        return [*(event(data) for data in _chunks(answer)), b"data: [DONE]\n\n"]

    def told(self, tokens: Tokens) -> Usage:
        """There is no word for cache writes: they are part of the prompt's tokens."""
        return astuple(replace(tokens, input=tokens.input + tokens.cache_write, cache_write=0))


def _chunks(answer: Answer) -> Iterator[Record]:
    head: Record = {
        "id": f"chatcmpl-{answer.id}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": answer.model,
    }
    delta, reason = _delta(answer)
    yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield {**head, "choices": [], "usage": _usage(answer)}


def _delta(answer: Answer) -> tuple[Record, str]:
    match answer.step:
        case Say(text=text):
            return {"role": "assistant", "content": text}, "stop"
        case Call(tool=tool, arguments=arguments):
            function = {"name": tool, "arguments": json.dumps(arguments)}
            call = {"index": 0, "id": answer.call_id, "type": "function", "function": function}
            return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"


def _usage(answer: Answer) -> Record:
    used = answer.tokens
    inputs = used.input + used.cache_read + used.cache_write
    return {
        "prompt_tokens": inputs,
        "completion_tokens": used.output,
        "total_tokens": inputs + used.output,
        "prompt_tokens_details": {"cached_tokens": used.cache_read},
        "completion_tokens_details": {"reasoning_tokens": used.reasoning},
    }


WIRE = Chat()
