"""A model on 127.0.0.1 that speaks OpenAI's two protocols: it calls the first tool, then answers.

What it says follows from the request alone, so programs may ask in any order. Every request is
remembered; the tokens of all are the same and known.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "gpt-5-2025-08-07"
COMMAND = "echo calm"
ANSWER = "The sea is calm."
INPUT, CACHE_READ, OUTPUT, REASONING = 400, 600, 50, 20
"""Of each request; the provider counts what the cache held as input."""
EACH = INPUT + CACHE_READ + OUTPUT


class Scripted:
    """What was asked, and where to ask."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[dict[str, Any]] = []


@contextmanager
def scripted_openai() -> Iterator[Scripted]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    host, port = "127.0.0.1", server.server_address[1]
    _Handler.scripted = scripted = Scripted(f"http://{host}:{port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    scripted: Scripted

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.scripted.asked.append(asked)
        number = len(self.scripted.asked)
        of_responses = self.path.endswith("/responses")
        told = _response(asked, number) if of_responses else _completion(asked, number)
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        del format, args


def _calls(asked: dict[str, Any], said: list[Any]) -> bool:
    """Whether a tool is called: there is one, and the last thing said is no result of it."""
    last = said[-1] if said else {}
    came = last.get("role") == "tool" or last.get("type") == "function_call_output"
    first = all(it.get("role") not in ("tool", "assistant") for it in said)
    return bool(asked.get("tools")) and first and not came


def _completion(asked: dict[str, Any], number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if _calls(asked, asked["messages"]):
        function = {
            "name": asked["tools"][0]["function"]["name"],
            "arguments": json.dumps({"command": COMMAND}),
        }
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message |= {"content": None, "tool_calls": [call]}
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": INPUT + CACHE_READ,
            "completion_tokens": OUTPUT,
            "total_tokens": EACH,
            "prompt_tokens_details": {"cached_tokens": CACHE_READ},
            "completion_tokens_details": {"reasoning_tokens": REASONING},
        },
    }


def _response(asked: dict[str, Any], number: int) -> dict[str, Any]:
    said = asked["input"] if isinstance(asked["input"], list) else []
    output: dict[str, Any] = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    }
    if _calls(asked, said):
        output = {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": asked["tools"][0]["name"],
            "arguments": json.dumps({"command": COMMAND}),
            "status": "completed",
        }
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": "completed",
        "model": MODEL,
        "instructions": asked.get("instructions"),
        "output": [output],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": INPUT + CACHE_READ,
            "input_tokens_details": {"cached_tokens": CACHE_READ},
            "output_tokens": OUTPUT,
            "output_tokens_details": {"reasoning_tokens": REASONING},
            "total_tokens": EACH,
        },
    }
