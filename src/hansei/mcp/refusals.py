"""Lines that are no messages: answered with the errors of JSON-RPC, where the library is silent.

A client that sent half a request would otherwise wait for an answer that never comes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

if TYPE_CHECKING:
    from contextvars import Context
    from types import TracebackType
    from typing import Self

    from mcp.shared._stream_protocols import ReadStream, WriteStream

KIND_AND_FIELD: Final = 2
"""How deep an error lies that is about the line itself."""
NO_JSON: Final = "this line is no JSON"
NO_REQUEST: Final = "this is no request of JSON-RPC 2.0"


class Heard:
    """What a client sends, without what could not be read: that is answered here."""

    def __init__(
        self, lines: ReadStream[SessionMessage | Exception], out: WriteStream[SessionMessage]
    ) -> None:
        self._lines = lines
        self._out = out

    @property
    def last_context(self) -> Context | None:
        """What the library asks of its own streams."""
        return getattr(self._lines, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        while isinstance(item := await self._lines.receive(), ValidationError):
            refused = refusal(item)
            if refused is not None:
                await self._out.send(SessionMessage(refused))
        return item

    async def aclose(self) -> None:
        await self._lines.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def refusal(problem: ValidationError) -> types.JSONRPCError | None:
    """The error that answers a line; None for a line with nothing in it."""
    # Of the kinds of message that were tried, one always misses a field and has the whole line.
    told = [it for it in problem.errors(include_url=False) if len(it["loc"]) <= KIND_AND_FIELD]
    inputs = {it["type"]: it["input"] for it in told}
    whole = inputs.get("missing", inputs.get("model_type"))
    if "json_invalid" in inputs:
        line = str(inputs["json_invalid"])
        if not line.strip():
            return None
        try:
            whole = json.loads(line)
        except (ValueError, RecursionError):
            return _error(None, types.PARSE_ERROR, NO_JSON)
    return _error(_id(whole), types.INVALID_REQUEST, NO_REQUEST)


def _id(whole: Any) -> str | int | None:
    """By what the client knows its request, if that can be told."""
    told = whole.get("id") if isinstance(whole, dict) else None
    if isinstance(told, bool) or not isinstance(told, str | int):
        return None
    return told.encode(errors="replace").decode() if isinstance(told, str) else told


def _error(number: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(
        jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message)
    )
