"""OpenAI's responses, as Codex speaks them."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import TYPE_CHECKING

from rig.script import Ask, Call, Role, Say, Tokens, Turn, Usage
from rig.wire import STREAM, Answer, Record, event, joined

if TYPE_CHECKING:
    from collections.abc import Iterator

_ANSWERS = ("function_call_output", "custom_tool_call_output")


class Responses:
    path = "/v1/responses"
    content_type = STREAM

    def read(self, body: Record) -> Ask:
        turns = [turn for item in body.get("input", ()) for turn in _turns(item)]
        tools = frozenset(
            str(tool.get("name") or tool.get("type")) for tool in body.get("tools") or ()
        )
        return Ask(str(body.get("model")), tuple(turns), tools)

    def write(self, answer: Answer) -> list[bytes]:
        return [event(data, data["type"]) for data in _events(answer)]

    def told(self, tokens: Tokens) -> Usage:
        return astuple(tokens)


def _turns(item: Record) -> Iterator[Turn]:
    kind = item.get("type")
    if kind in _ANSWERS:
        output = item.get("output")
        yield Turn(Role.ANSWER, output if isinstance(output, str) else joined(output))
    elif kind == "agent_message" or item.get("role") == "user":
        yield Turn(Role.USER, joined(item.get("content")))
    elif item.get("role") == "assistant":
        yield Turn(Role.MODEL, joined(item.get("content")))


def _events(answer: Answer) -> Iterator[Record]:
    used = answer.tokens
    inputs = used.input + used.cache_read + used.cache_write
    response: Record = {"id": f"resp_{answer.id}"}
    usage = {
        "input_tokens": inputs,
        "input_tokens_details": {
            "cached_tokens": used.cache_read,
            "cache_write_tokens": used.cache_write,
        },
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": used.reasoning},
        "total_tokens": inputs + used.output,
    }
    yield {"type": "response.created", "response": response}
    yield {"type": "response.output_item.done", "item": _item(answer)}
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


def _item(answer: Answer) -> Record:
    match answer.step:
        case Say(text=text):
            return {
                "type": "message",
                "id": f"msg_{answer.id}",
                "role": "assistant",
                "content": [{"type": "output_text", "text": text}],
            }
        case Call(tool=tool, arguments=arguments, namespace=namespace):
            item: Record = {
                "type": "function_call",
                "id": f"fc_{answer.id}",
                "name": tool,
                "arguments": json.dumps(arguments),
                "call_id": answer.call_id,
            }
            return {**item, "namespace": namespace} if namespace else item


WIRE = Responses()
