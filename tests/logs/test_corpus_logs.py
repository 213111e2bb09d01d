"""Every real log of other programs: recognised, and read with nothing left unexplained.

They lie outside the repository, in `$HANSEI_CORPUS` or in `../shared/corpus` beside it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hansei.events.model import RequestUsage, ToolCall, Unrecognised
from hansei.events.usage import total
from hansei.ops.imports import check_logs
from hansei.sources import catalogue
from hansei.sources.contract import Reading
from hansei.sources.log_files import open_log

FILES = {
    "aider": ".aider*", "anthropic_managed": "*.jsonl", "claude_stream": "*.jsonl",
    "cline": "ui_messages.json", "mini_swe_agent": "*.traj.json", "otlp": "*.jsonl",
    "specstory": "*.md", "swe_agent": "*.traj",
}  # fmt: skip
LONGEST_LOOKED_AT = 200_000
"""What a log is in shows in its first records; larger files only take longer."""
every_format = pytest.mark.parametrize("name", sorted(FILES))


def logs(corpus: Path, name: str) -> list[Path]:
    return sorted(path for path in (corpus / name).rglob(FILES[name]) if path.is_file())


def told(path: Path, name: str) -> Reading:
    return catalogue.load_format(name).told(open_log(path))


@every_format
def test_every_log_is_recognised_and_read_to_its_last_record(corpus: Path, name: str) -> None:
    paths = logs(corpus, name)
    assert paths
    checked = check_logs(paths)
    assert {log.format for log in checked.logs} == {name}
    assert (checked.faults, checked.unread, checked.unrecognised) == ([], [], {})


@every_format
def test_every_log_tells_something(corpus: Path, name: str) -> None:
    for path in logs(corpus, name):
        reading = told(path, name)
        assert reading.events
        assert not any(isinstance(event, Unrecognised) for event in reading.events)


def test_requests_of_mini_swe_agent_add_up_to_what_the_provider_said(corpus: Path) -> None:
    for path in logs(corpus, "mini_swe_agent"):
        document = json.loads(path.read_text("utf-8"))
        responses = [it.get("extra", {}).get("response") for it in document["messages"]]
        said = [it["usage"]["total_tokens"] for it in responses if it]
        requests = [
            it for it in told(path, "mini_swe_agent").events if isinstance(it, RequestUsage)
        ]
        assert len(requests) == len(said)
        assert sum(map(total, requests)) == sum(said)


def test_each_step_of_swe_agent_is_one_call(corpus: Path) -> None:
    for path in logs(corpus, "swe_agent"):
        steps = json.loads(path.read_text("utf-8"))["trajectory"]
        calls = [it for it in told(path, "swe_agent").events if isinstance(it, ToolCall)]
        assert len(calls) == sum(bool(step["action"].strip()) for step in steps)


def test_spans_of_managed_agents_hold_every_token(corpus: Path) -> None:
    for path in logs(corpus, "anthropic_managed"):
        said = 0
        for line in path.read_text("utf-8").splitlines():
            usage = json.loads(line)["raw"].get("model_usage", {})
            said += sum(it for it in usage.values() if isinstance(it, int))
        events = told(path, "anthropic_managed").events
        assert sum(total(it) for it in events if isinstance(it, RequestUsage)) == said


def test_printed_streams_hold_the_tokens_of_their_run(corpus: Path) -> None:
    for path in logs(corpus, "claude_stream"):
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        (said,) = [line["usage"] for line in lines if line["type"] == "result"]
        requests = [it for it in told(path, "claude_stream").events if isinstance(it, RequestUsage)]
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        assert sum(map(total, requests)) == sum(said[it] for it in (*names, "output_tokens"))


def test_no_real_transcript_of_an_agent_is_taken_for_a_log(corpus: Path) -> None:
    formats = [catalogue.load_format(name) for name in catalogue.formats()]
    for path in sorted(corpus.rglob("*.json*")):
        folder = path.relative_to(corpus).parts[0]
        if path.is_file() and folder not in FILES and path.stat().st_size < LONGEST_LOOKED_AT:
            log = open_log(path)
            taken = [it.name for it in formats if log.records if it.recognises(log)]
            made_by_hand = folder == "gemini" and path.parent.name != "chats"
            assert taken == [] or made_by_hand, path.relative_to(corpus)
