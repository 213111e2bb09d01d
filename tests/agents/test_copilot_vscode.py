"""What only Copilot in VS Code does: a chat is the sum of its changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.config import Environment
from hansei.events.model import Prompt, Reply, RequestUsage, ToolCall
from hansei.sources.agents.copilot_vscode import LOG, SOURCE, WHOLE
from hansei.sources.agents.copilot_vscode.replay import Chat
from hansei.sources.contract import START, Reading, Transcript

NAME = "request_00000000-0000-4000-8000-00000000000"


def asked(number: int, text: str, **more: Any) -> dict[str, Any]:
    return {"requestId": f"{NAME}{number}", "message": {"text": text}, "response": [], **more}


def log(folder: Path, *changes: dict[str, Any]) -> Reading:
    path = folder / "chat.jsonl"
    path.write_text("".join(json.dumps(change) + "\n" for change in changes))
    return SOURCE.read(Transcript("copilot_vscode", path, LOG), START)


def push(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"kind": 2, "k": ["requests"], "v": list(requests)}


def texts(reading: Reading, kind: type[Prompt | Reply]) -> list[str]:
    return [event.text for event in reading.events if isinstance(event, kind)]


def test_an_answer_is_told_when_the_request_is_over(tmp_path: Path) -> None:
    changes = [push(asked(1, "one")), {"kind": 2, "k": ["requests", 0, "response"], "v": ["x"]}]
    changes[1]["v"] = [{"value": "Half of "}]
    running = log(tmp_path, *changes)
    assert (texts(running, Prompt), texts(running, Reply)) == (["one"], [])
    rest = {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "it."}]}
    over = {"kind": 1, "k": ["requests", 0, "modelState"], "v": {"value": 1}}
    assert texts(log(tmp_path, *changes, rest, over), Reply) == ["Half of it."]
    assert texts(log(tmp_path, *changes, rest, push(asked(2, "two"))), Reply) == ["Half of it."]


def test_what_is_taken_out_of_a_chat_stays_told(tmp_path: Path) -> None:
    said = asked(1, "one", response=[{"value": "Yes."}])
    cut = {"kind": 2, "k": ["requests"], "i": 0}
    reading = log(tmp_path, push(said), cut, push(asked(2, "two")))
    assert (texts(reading, Prompt), texts(reading, Reply)) == (["one", "two"], ["Yes."])


def test_rounds_without_counts_are_requests_of_unknown_size(tmp_path: Path) -> None:
    metadata = {"promptTokens": 90, "outputTokens": 4, "toolCallRounds": [{"response": "a"}] * 3}
    reading = log(tmp_path, push(asked(1, "one", result={"metadata": metadata})))
    usages = [event for event in reading.events if isinstance(event, RequestUsage)]
    assert [(it.input, it.output) for it in usages] == [(None, None), (None, None), (90, 4)]


def test_calls_shown_under_ids_of_their_own_do_not_count_again(tmp_path: Path) -> None:
    shown = {
        "kind": "toolInvocationSerialized",
        "toolId": "copilot_readFile",
        "toolCallId": "own-1",
    }
    call = {"id": "call_1", "name": "read_file", "arguments": "{}"}
    result = {"metadata": {"toolCallRounds": [{"toolCalls": [call]}]}}
    reading = log(tmp_path, push(asked(1, "one", response=[shown], result=result)))
    assert [it.call for it in reading.events if isinstance(it, ToolCall)] == ["call_1"]


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.lists(st.integers(), max_size=3)),
        max_size=20,
    )
)
@settings(max_examples=50, deadline=None)
def test_a_replayed_array_is_what_cutting_and_appending_make_of_it(
    steps: list[tuple[int, int, list[int]]],
) -> None:
    chat, truth = Chat(), list[int]()
    for kind, start, values in steps:
        change: dict[str, Any] = {"kind": 2, "k": ["list"], "v": values}
        if kind == 0:
            change["kind"], truth = 1, list(values)
        elif kind == 1:
            change["i"] = start
            truth = [*truth[:start], *values]
        else:
            truth = [*truth, *values]
        assert chat.apply(change)
        assert chat.value["list"] == truth


def test_chats_of_every_editor_and_of_windows_without_a_folder_are_found(tmp_path: Path) -> None:
    code, other = tmp_path / ".config" / "Code" / "User", tmp_path / ".config" / "VSCodium" / "User"
    chats = [
        code / "workspaceStorage" / "a" / "chatSessions" / "one.jsonl",
        code / "workspaceStorage" / "a" / "chatSessions" / "one.json",
        code / "globalStorage" / "emptyWindowChatSessions" / "two.json",
        other / "workspaceStorage" / "b" / "chatSessions" / "three.json",
    ]
    for path in (*chats, code / "workspaceStorage" / "a" / "workspace.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"{}")
    found = SOURCE.discover(Environment(home=tmp_path, variables={}), [])
    assert {(it.path.name, it.variant) for it in found} == {
        ("one.jsonl", LOG),
        ("two.json", WHOLE),
        ("three.json", WHOLE),
    }


@pytest.mark.parametrize("rest", ['{"requests":[', "[]", "nothing"])
def test_a_half_written_object_is_noted(tmp_path: Path, rest: str) -> None:
    path = tmp_path / "chat.json"
    path.write_text(rest)
    reading = SOURCE.read(Transcript("copilot_vscode", path, WHOLE), START)
    assert (len(reading.problems), reading.events) == (1, [])
