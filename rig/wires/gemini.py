"""Gemini's content generation, as Gemini CLI speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rig.script import Ask, Call, Role, Say, Tokens, Turn, Usage
from rig.wire import STREAM, Answer, Record, event

if TYPE_CHECKING:
    from collections.abc import Iterator


class Gemini:
    path = ":streamGenerateContent"
    content_type = STREAM

    def read(self, body: Record) -> Ask:
        turns = [turn for content in body.get("contents", ()) for turn in _turns(content)]
        tools = frozenset(
            str(function["name"])
            for tool in body.get("tools") or ()
            for function in tool.get("functionDeclarations") or ()
        )
        # The model's name stands in the address, which is not part of the body.
        return Ask("gemini", tuple(turns), tools)

    def write(self, answer: Answer) -> list[bytes]:
        return [event(_response(answer))]

    def told(self, tokens: Tokens) -> Usage:
        """There is no word for cache writes: they are part of the prompt's tokens."""
        fresh = tokens.input + tokens.cache_write
        return (fresh, tokens.cache_read, None, tokens.output, tokens.reasoning)


class Whole(Gemini):
    """The same in one piece, as summaries and the like are asked for."""

    path = ":generateContent"
    content_type = "application/json"

    def write(self, answer: Answer) -> list[bytes]:
        return [json.dumps(_response(answer)).encode()]


def _turns(content: Record) -> Iterator[Turn]:
    said = Role.MODEL if content.get("role") == "model" else Role.USER
    for part in content.get("parts") or ():
        if "functionResponse" in part:
            yield Turn(Role.ANSWER, str(part["functionResponse"].get("response")))
        elif isinstance(part.get("text"), str):
            yield Turn(said, part["text"])


def _response(answer: Answer) -> Record:
    used = answer.tokens
    inputs = used.input + used.cache_read + used.cache_write
    return {
        "candidates": [
            {
                "index": 0,
                "content": {"role": "model", "parts": [_part(answer)]},
                "finishReason": "STOP",
            }
        ],
        "usageMetadata": {
            "promptTokenCount": inputs,
            "cachedContentTokenCount": used.cache_read,
            "candidatesTokenCount": used.output - used.reasoning,
            "thoughtsTokenCount": used.reasoning,
            "totalTokenCount": inputs + used.output,
        },
        "modelVersion": answer.model,
        "responseId": answer.id,
    }


def _part(answer: Answer) -> Record:
    match answer.step:
        case Say(text=text):
            return {"text": text}
        case Call(tool=tool, arguments=arguments):
            return {"functionCall": {"id": answer.call_id, "name": tool, "args": arguments}}


WIRE = Gemini()
WHOLE = Whole()
