"""The handler for LangChain on its core library alone, with a model that follows a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("langchain_core", reason="`make .venv/.dev` installs langchain-core")

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, Generation, LLMResult
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from hansei.integrations.langchain import HanseiHandler
from hansei.ops.imports import check_logs

USAGE = {
    "input_tokens": 1000,
    "output_tokens": 50,
    "total_tokens": 1050,
    "input_token_details": {"cache_read": 600, "cache_creation": 100},
    "output_token_details": {"reasoning": 20},
}


@tool
def shell(command: str) -> str:
    """Run a command."""
    if "fail" in command:
        raise ValueError("no such command")
    return f"ran {command}"


def answers(*commands: str) -> Iterator[AIMessage]:
    """Calls of the shell one after the other, then a word."""
    for number, command in enumerate(commands):
        call = {"name": "shell", "args": {"command": command}, "id": f"c{number}"}
        yield AIMessage("", tool_calls=[call], usage_metadata=USAGE)
    metadata = {"model_name": "gpt-5"}
    yield AIMessage("Done.", usage_metadata=USAGE, response_metadata=metadata)


def agent(*commands: str) -> RunnableLambda[Any, Any]:
    """The smallest agent there is: ask, run, ask again."""
    model = GenericFakeChatModel(messages=answers(*commands))

    def run(said: list[Any]) -> list[Any]:
        said = [SystemMessage("Sail."), *said]
        while True:
            said.append(answer := model.invoke(said))
            if not answer.tool_calls:
                return said
            for call in answer.tool_calls:
                try:
                    said.append(shell.invoke(call))
                except ValueError as problem:
                    said.append(ToolMessage(str(problem), tool_call_id=call["id"]))

    return RunnableLambda(run)


def told(home: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted((home / "live").rglob("*.jsonl"))
        for line in path.read_text("ascii").splitlines()
    ]


def of_type(home: Path, name: str) -> list[dict[str, Any]]:
    return [it for it in told(home) if it["type"] == name]


def test_a_run_is_told_once_each(tmp_path: Path) -> None:
    config: Any = {"callbacks": [HanseiHandler(home=tmp_path)]}
    agent("date", "fail").invoke([HumanMessage("go")], config=config)
    assert [it["text"] for it in of_type(tmp_path, "prompt")] == ["Sail.", "go"]
    assert [it["by"] for it in of_type(tmp_path, "prompt")] == ["harness", "human"]
    assert [it["arguments"]["command"] for it in of_type(tmp_path, "call")] == ["date", "fail"]
    results = [(it["call"], it["status"]) for it in of_type(tmp_path, "result")]
    assert results == [("c0", "ok"), ("c1", "failed")]
    counts = of_type(tmp_path, "usage")
    assert len(counts) == 3
    assert {name: counts[0][name] for name in ("input", "cache_read", "cache_write")} == {
        "input": 300, "cache_read": 600, "cache_write": 100,
    }  # fmt: skip
    assert (counts[0]["output"], counts[0]["reasoning"]) == (50, 20)
    checked = check_logs([tmp_path])
    assert checked.fine
    assert (checked.sessions, checked.tokens) == (1, 3 * 1050)


def test_several_answers_to_one_request_are_counted_once(tmp_path: Path) -> None:
    handler, run = HanseiHandler(home=tmp_path), uuid4()
    said = [AIMessage(it, usage_metadata=USAGE) for it in ("Calm.", "Windy.")]
    handler.on_chat_model_start({}, [[HumanMessage("weather?")]], run_id=run)
    several: list[Any] = [ChatGeneration(message=it) for it in said]
    handler.on_llm_end(LLMResult(generations=[several]), run_id=run)
    assert [it["text"] for it in of_type(tmp_path, "reply")] == ["Calm.", "Windy."]
    assert [it["id"] for it in of_type(tmp_path, "usage")] == [str(run)]
    assert check_logs([tmp_path]).tokens == 1050


def test_what_a_request_took_may_be_told_beside_the_answers(tmp_path: Path) -> None:
    handler, run = HanseiHandler(home=tmp_path), uuid4()
    handler.on_llm_start({}, ["weather?"], run_id=run)
    beside = {"token_usage": {"prompt_tokens": 7, "completion_tokens": 2}, "model_name": "old"}
    texts = [Generation(text="Calm."), Generation(text="Windy.")]
    handler.on_llm_end(LLMResult(generations=[texts], llm_output=beside), run_id=run)
    (usage,) = of_type(tmp_path, "usage")
    assert (usage["input"], usage["output"], usage["model"]) == (7, 2, "old")


def test_threads_and_asyncio_keep_their_runs_apart(tmp_path: Path) -> None:
    handler = HanseiHandler(home=tmp_path)

    async def many() -> None:
        runs = [
            agent("date").ainvoke([HumanMessage(f"go {number}")], config={"callbacks": [handler]})
            for number in range(8)
        ]
        await asyncio.gather(*runs)

    asyncio.run(many())
    agent("date").batch(
        [[HumanMessage("one")]], config={"callbacks": [handler], "max_concurrency": 4}
    )
    checked = check_logs([tmp_path])
    assert checked.fine
    assert (checked.sessions, checked.tokens) == (9, 9 * 2 * 1050)
    assert checked.events["tool_call"] == 9


def test_a_thread_is_one_session_over_many_turns(tmp_path: Path) -> None:
    for _ in range(2):
        config: Any = {
            "callbacks": [HanseiHandler(home=tmp_path)],
            "metadata": {"thread_id": "t1"},
        }
        agent().invoke([HumanMessage("go")], config=config)
    assert {it["id"] for it in of_type(tmp_path, "session")} == {"t1"}
    assert check_logs([tmp_path]).tokens == 2 * 1050


def test_a_tool_without_a_call_of_a_model_is_told(tmp_path: Path) -> None:
    shell.invoke({"command": "date"}, config={"callbacks": [HanseiHandler(home=tmp_path)]})
    (call,), (result,) = of_type(tmp_path, "call"), of_type(tmp_path, "result")
    assert call["tool"] == "shell"
    assert result["call"] == call["id"]
    assert result["text"] == "ran date"


def test_what_goes_wrong_is_told(tmp_path: Path) -> None:
    def broken(_: Any) -> Any:
        raise RuntimeError("the sea is closed")

    def stopped(_: Any) -> Any:
        raise KeyboardInterrupt

    config: Any = {"callbacks": [HanseiHandler(home=tmp_path, driver="automated")]}
    with pytest.raises(RuntimeError):
        RunnableLambda(broken).invoke(1, config=config)
    with pytest.raises(KeyboardInterrupt):
        RunnableLambda(stopped).invoke(1, config=config)
    (failed,) = of_type(tmp_path, "notice")
    assert failed["text"] == "RuntimeError: the sea is closed"
    assert len(of_type(tmp_path, "interruption")) == 1
    assert {it["driver"] for it in of_type(tmp_path, "session")} == {"automated"}


@pytest.mark.parametrize("spoil", [lambda it: it.write_text("x"), lambda it: it.symlink_to("/x")])
def test_a_handler_that_cannot_write_breaks_nothing(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path / "live")
    config: Any = {"callbacks": [HanseiHandler(home=tmp_path)]}
    said = agent("date").invoke([HumanMessage("go")], config=config)
    assert said[-1].content == "Done."


def test_odd_values_are_written_all_the_same(tmp_path: Path) -> None:
    odd = [HumanMessage("lone \ud800 half"), HumanMessage([{"type": "text", "text": "part"}])]
    config: Any = {"callbacks": [HanseiHandler(home=tmp_path, session="x" * 999)]}
    agent().invoke(odd, config=config)
    assert len(of_type(tmp_path, "prompt")) == 3
    assert check_logs([tmp_path]).fine
