"""OpenAI Agents SDK: a trace processor that records what agents do.

    from agents import add_trace_processor
    add_trace_processor(HanseiProcessor())

Traces and spans are written as the SDK exports them (docs/formats/openai_agents.md). The SDK's own
export of a response leaves out what was said; here it is put back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.tracing import TracingProcessor

from hansei.hook.repository import head
from hansei.integrations.journal import Journal, quietly

if TYPE_CHECKING:
    import os

    from agents.tracing import Span, Trace

FORMAT = "openai_agents"
REQUESTS = ("generation", "response")
"""Spans that hold no others, and tell all they know when they end."""
LARGEST = 64 * 1024 * 1024
"""A file is continued late: a span whose agent stands in another file is not known to be its."""
TRACES_KEPT = 10_000
"""Traces that were never heard to end; beyond this the oldest are given up."""


class HanseiProcessor(TracingProcessor):
    """Writes every trace below the hansei home. Safe in threads and with asyncio."""

    def __init__(self, *, home: str | os.PathLike[str] | None = None) -> None:
        self._journal = Journal(FORMAT, home, largest=LARGEST)
        self._traces: dict[str, dict[str, Any]] = {}

    @quietly
    def on_trace_start(self, trace: Trace) -> None:
        told = trace.export()
        if told is None:
            return
        told = told | {"metadata": (told.get("metadata") or {}) | _place()}
        with self._journal.lock:
            self._traces[trace.trace_id] = told
            while len(self._traces) > TRACES_KEPT:
                del self._traces[next(iter(self._traces))]
        self._write(trace.trace_id, told)

    @quietly
    def on_trace_end(self, trace: Trace) -> None:
        with self._journal.lock:
            self._traces.pop(trace.trace_id, None)

    @quietly
    def on_span_start(self, span: Span[Any]) -> None:
        """What may hold others is told when it begins: those end first and must find it."""
        if span.span_data.type not in REQUESTS and (told := span.export()) is not None:
            self._write(span.trace_id, told)

    @quietly
    def on_span_end(self, span: Span[Any]) -> None:
        told = span.export()
        if told is None:
            return
        if span.span_data.type == "response":
            told = told | {"span_data": _response(span.span_data, told.get("span_data") or {})}
        self._write(span.trace_id, told)

    def shutdown(self) -> None:
        """Nothing waits to be written."""

    def force_flush(self) -> None:
        """Nothing waits to be written."""

    def _write(self, trace: str, line: dict[str, Any]) -> None:
        opening = self._traces.get(trace) or {"object": "trace", "id": trace, "metadata": _place()}
        session = str(opening.get("group_id") or trace)
        self._journal.add(session, opening, [line])


def _response(data: Any, exported: dict[str, Any]) -> dict[str, Any]:
    """A span of a response with what was asked and answered."""
    response = data.response
    if response is None:
        return exported | {"input": data.input}
    sent = data.input if isinstance(data.input, list) else [{"role": "user", "content": data.input}]
    rules = response.instructions
    if isinstance(rules, str) and rules:
        sent = [{"role": "system", "content": rules}, *sent]
    usage = exported.get("usage") or (response.usage.model_dump() if response.usage else None)
    return exported | {
        "input": sent,
        "output": [it.model_dump(mode="json", exclude_unset=True) for it in response.output],
        "model": response.model,
        "usage": usage,
    }


def _place() -> dict[str, str]:
    try:
        folder = str(Path.cwd())
    except OSError:  # it was deleted
        return {}
    commit, branch = head(folder)
    said = {"cwd": folder, "branch": branch, "commit": commit}
    return {name: it for name, it in said.items() if it}
