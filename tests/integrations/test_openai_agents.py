"""The trace processor for the OpenAI Agents SDK, heard through the SDK's own spans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="`make .venv/.dev` installs openai-agents")

from agents import (
    agent_span,
    function_span,
    generation_span,
    set_trace_processors,
    trace,
)
from hansei.integrations.openai_agents import HanseiProcessor
from hansei.ops.imports import check_logs
from hansei.sources.log_files import taken_apart
from hansei.sources.logs.openai_agents import SOURCE

USAGE = {"input_tokens": 100, "output_tokens": 5}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    set_trace_processors([HanseiProcessor(home=tmp_path)])
    yield tmp_path
    set_trace_processors([])


def request(*said: str) -> None:
    listed = [{"role": "user", "content": it} for it in said]
    answer = [{"role": "assistant", "content": f"to {said[-1]}"}]
    with generation_span(input=listed, output=answer, model="gpt-5", usage=USAGE):
        pass


def nested(group: str | None = None) -> None:
    with trace("harbour", group_id=group), agent_span("Pilot"):
        request("go")
        with function_span("ask_mate", input='{"input": "look"}') as call:
            with agent_span("Mate"):
                request("look")
            call.span_data.output = "to look"
        request("go", "and back")


def log(home: Path) -> bytes:
    (path,) = (home / "live" / "openai_agents").iterdir()
    return path.read_bytes()


def test_an_agent_within_an_agent_has_its_own_session(home: Path) -> None:
    nested("g1")
    checked = check_logs([home])
    assert checked.fine
    assert (checked.sessions, checked.tokens) == (2, 3 * 105)
    first = json.loads(log(home).splitlines()[0])
    assert (first["object"], first["group_id"]) == ("trace", "g1")
    assert first["metadata"]["cwd"] == str(Path.cwd())


def test_every_trace_of_a_group_is_told_once(home: Path) -> None:
    nested("g1")
    nested("g1")
    told = [json.loads(it) for it in log(home).splitlines()]
    traces = [it for it in told if it["object"] == "trace"]
    assert len({it["id"] for it in traces}) == len(traces) == 2
    assert all(it["group_id"] == "g1" and it["metadata"]["cwd"] for it in traces)
    (top,) = {it.session for it in SOURCE.told(taken_apart(home, log(home))).events
              if "/" not in it.session}  # fmt: skip
    assert top == "g1"


def test_what_is_read_while_it_runs_stays_right(home: Path) -> None:
    """A request is in the same session whenever the file is read: agents are told as they begin."""
    nested()
    lines = log(home).splitlines(keepends=True)
    whole = SOURCE.told(taken_apart(home, log(home)))
    where = {event.key: event.session for event in whole.events}
    for end in range(1, len(lines)):
        part = SOURCE.told(taken_apart(home, b"".join(lines[:end])))
        assert {it.key: it.session for it in part.events if it.key in where} == {
            it.key: where[it.key] for it in part.events if it.key in where
        }


def test_a_processor_that_cannot_write_breaks_nothing(home: Path) -> None:
    (home / "live").write_text("in the way")
    nested()
    assert (home / "live").read_text() == "in the way"


def test_what_is_no_json_is_written_as_text(home: Path) -> None:
    with trace("harbour"), generation_span(input=[{"role": "user", "content": "go"}]) as span:
        data: Any = span.span_data
        data.model_config = {"odd": object()}
    assert b"object at" in log(home)
