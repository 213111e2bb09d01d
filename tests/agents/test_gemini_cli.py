"""What only Gemini CLI does: two layouts, subagents in folders; real sessions if there are any."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hansei.config import Environment
from hansei.events.model import Prompt, RequestUsage, ToolResult, Unrecognised
from hansei.events.usage import total
from hansei.sources import catalogue
from hansei.sources.agents.gemini_cli import SOURCE, WHOLE
from hansei.sources.contract import START, Transcript, latest

BESIDE = Path(__file__).parents[3] / "shared" / "corpus"
CORPUS = Path(os.environ.get("HANSEI_CORPUS") or BESIDE) / "gemini"


def session(*messages: dict[str, object]) -> bytes:
    head = {"sessionId": "0e0e0e0e-1111-4222-8333-444444444444", "projectHash": "quay"}
    return json.dumps({**head, "messages": list(messages)}).encode()


def user(number: int, text: str) -> dict[str, object]:
    return {"id": f"{number:08d}-0000-4000-8000-000000000000", "type": "user", "content": text}


def test_a_file_caught_half_written_is_read_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "session-2025-09-16T20-39-0e0e0e0e.json"
    transcript = Transcript("gemini_cli", path, WHOLE)
    path.write_bytes(session(user(1, "one")))
    first = SOURCE.read(transcript, START)
    path.write_bytes(session(user(1, "one"), user(2, "two"))[:-9])
    torn = SOURCE.read(transcript, first.cursor)
    path.write_bytes(session(user(1, "one"), user(2, "two")))
    last = SOURCE.read(transcript, torn.cursor)
    assert [len(part.problems) for part in (first, torn, last)] == [0, 1, 0]
    told = latest([*first.events, *torn.events, *last.events])
    assert [event.text for event in told if isinstance(event, Prompt)] == ["one", "two"]
    assert SOURCE.read(transcript, last.cursor).events == []


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    path = tmp_path / "session-2025-09-16T20-39-0e0e0e0e.json"
    path.write_bytes(b"")
    reading = SOURCE.read(Transcript("gemini_cli", path, WHOLE), START)
    assert (reading.events, reading.problems) == ([], [])


def test_only_chats_are_found(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "quay" / "chats"
    (chats / "parent").mkdir(parents=True)
    for name in ("session-a.jsonl", "session-b.json", "parent/child.jsonl", "../logs.json"):
        (chats / name).write_bytes(b"")
    found = SOURCE.discover(Environment(home=tmp_path, variables={}), [])
    assert {it.path.name for it in found} == {"session-a.jsonl", "session-b.json", "child.jsonl"}


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        ("{}", 30),
        ('{"general":{"sessionRetention":{"enabled":false,"maxAge":"30d"}}}', None),
        ('{"general":{"sessionRetention":{"enabled":true,"maxAge":"2w"}}}', 14),
        ('{"general":{"sessionRetention":{"maxAge":"soon"}}}', 30),
        ("no json", 30),
    ],
)
def test_when_old_sessions_go_is_as_it_is_set_up(
    tmp_path: Path, settings: str, days: int | None
) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "settings.json").write_text(settings)
    assert SOURCE.deletes_after_days(Environment(home=tmp_path, variables={})) == days


def test_a_masked_output_does_not_replace_the_one_told_before(tmp_path: Path) -> None:
    call = {"id": "glob-1782892800000-abcdef", "name": "glob", "args": {}, "status": "success"}

    def answered(text: str) -> dict[str, object]:
        part = {"functionResponse": {"response": {"output": text}}}
        message = {"id": "00000002-0000-4000-8000-000000000000", "type": "gemini", "content": ""}
        return {**message, "toolCalls": [{**call, "result": [part]}]}

    masked = answered("<tool_output_masked>gone</tool_output_masked>")
    lines = [answered("a.py\nb.py"), {"$set": {"messages": [masked]}}]
    path = tmp_path / "session-x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = SOURCE.read(Transcript("gemini_cli", path, "log"), START).events
    assert [it.text for it in events if isinstance(it, ToolResult)] == ["a.py\nb.py"]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no sessions of Gemini CLI in {CORPUS}")
def test_real_sessions_are_read_whole_and_every_request_once() -> None:
    paths = sorted(path for path in CORPUS.rglob("*.json") if path.is_file())
    assert paths
    events = []
    billed: dict[str, int] = {}
    for path in paths:
        reading = SOURCE.read(Transcript("gemini_cli", path, WHOLE), START)
        assert reading.problems == []
        assert reading.records
        events += reading.events
        for message in json.loads(path.read_bytes())["messages"]:
            if tokens := message.get("tokens"):
                parts = (tokens[name] for name in ("input", "output", "thoughts", "tool"))
                billed[f"{path.stem if len(message['id']) < 16 else ''}{message['id']}"] = sum(
                    parts
                )
    known = latest(events)
    assert not [event for event in known if isinstance(event, Unrecognised)]
    usages = [event for event in known if isinstance(event, RequestUsage)]
    assert sum(map(total, usages)) == sum(billed.values())
    assert len(usages) == len(billed)


def test_what_its_hooks_saw_is_told_of_the_same_session(tmp_path: Path) -> None:
    line = {"v": 1, "agent": "gemini", "session": "s", "hook": "SessionStart", "at": 1_790_000_000}
    path = tmp_path / "spool.jsonl"
    path.write_text(json.dumps(line) + "\n")
    reading = catalogue.load("hooks").read(Transcript("hooks", path), START)
    assert reading.problems == []
    seen = {
        agent: [event.session for event in told.events] for agent, told in reading.others.items()
    }
    assert seen == {SOURCE.name: ["s"]}
