"""The scripted model: the same request always gets the same answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rig.script import SMALL, Ask, Call, Purpose, Role, Say, Script, Turn, reply, tokens
from rig.server import WIRES
from rig.wire import Answer, Record, Wire
from rig.wires import anthropic, chat, gemini, responses

SCRIPT: Script = {
    "main": (Call("run", {"command": "make"}), Call("run", {"command": "make test"}), Say("Done.")),
    "then": (Say("More."),),
}
PROMPT = Turn(Role.USER, "Please follow cue:main now.")
ANSWER = Turn(Role.ANSWER, "output")


def ask(*turns: Turn, tools: frozenset[str] = frozenset({"run"})) -> Ask:
    return Ask("model", turns, tools)


@pytest.mark.parametrize("answered", range(3))
def test_the_number_of_answered_calls_chooses_the_step(answered: int) -> None:
    turns = (PROMPT, *(turn for _ in range(answered) for turn in (Turn(Role.MODEL, ""), ANSWER)))
    assert reply(SCRIPT, ask(*turns)).step == SCRIPT["main"][answered]


def test_the_last_cue_counts_and_begins_anew() -> None:
    found = reply(SCRIPT, ask(PROMPT, ANSWER, ANSWER, Turn(Role.USER, "cue:then")))
    assert (found.cue, found.step) == ("then", Say("More."))


def test_words_of_the_model_and_of_tools_are_no_cue() -> None:
    found = reply(SCRIPT, ask(PROMPT, Turn(Role.MODEL, "cue:then"), Turn(Role.ANSWER, "cue:then")))
    assert (found.cue, found.step) == ("main", SCRIPT["main"][1])


def test_a_request_without_tools_is_an_aside() -> None:
    assert reply(SCRIPT, ask(PROMPT, tools=frozenset())).purpose is Purpose.ASIDE


def test_a_request_for_a_summary_is_known_by_its_last_words() -> None:
    last = Turn(Role.USER, "Your task is to create a detailed summary of the conversation.")
    assert reply(SCRIPT, ask(PROMPT, last)).purpose is Purpose.SUMMARY
    assert reply(SCRIPT, ask(last, PROMPT)).purpose is Purpose.TURN


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("Generate a new <state_snapshot> based on the history.", "<state_snapshot>The summary"),
        ("Keep the required summary structure and section headers.", "## Open TODOs\nThe summary"),
    ],
)
def test_a_summary_has_the_shape_an_agent_takes(asked: str, given: str) -> None:
    found = reply(SCRIPT, ask(PROMPT, Turn(Role.USER, asked)))
    assert found.purpose is Purpose.SUMMARY
    assert isinstance(found.step, Say)
    assert given in found.step.text


def test_after_the_script_the_turn_ends() -> None:
    step = reply(SCRIPT, ask(PROMPT, *[ANSWER] * 9)).step
    assert isinstance(step, Say)


@given(st.lists(st.integers(1, 10_000), unique=True), st.sampled_from(["large", SMALL]))
def test_no_two_requests_tell_the_same_usage(numbers: list[int], model: str) -> None:
    assert len({tokens(number, model) for number in numbers}) == len(numbers)


# --- protocols ------------------------------------------------------------------------------------


def events(wire: Wire, answer: Answer) -> Iterator[Record]:
    for event in b"".join(wire.write(answer)).decode().strip().split("\n\n"):
        data = event.splitlines()[-1].removeprefix("data: ")
        if data != "[DONE]":
            yield json.loads(data)


def an_answer(step: Say | Call) -> Answer:
    return Answer(7, "model", step, tokens(7, "model"))


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_every_event_of_a_stream_is_json(wire: Wire) -> None:
    for step in (Say('quotes " and\nlines'), Call("run", {"command": "a\n\nb"})):
        assert list(events(wire, an_answer(step)))


def conversation(wire: Wire) -> dict[str, Any]:
    """A prompt, a call and its answer, as each protocol words them."""
    if wire is anthropic.WIRE:
        messages: list[Record] = [
            {"role": "user", "content": [{"type": "text", "text": PROMPT.text}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "run"}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t", "content": "output"},
                    {"type": "text", "text": "<system-reminder>Mind the gap.</system-reminder>"},
                ],
            },
        ]
        return {"model": "model", "messages": messages, "tools": [{"name": "run"}]}
    if wire is responses.WIRE:
        items = [
            {"role": "user", "content": [{"type": "input_text", "text": PROMPT.text}]},
            {"type": "function_call", "name": "run", "call_id": "c", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": "output"},
        ]
        return {"model": "model", "input": items, "tools": [{"type": "function", "name": "run"}]}
    if isinstance(wire, gemini.Gemini):
        answered = {"functionResponse": {"name": "run", "response": {"output": "output"}}}
        contents = [
            {"role": "user", "parts": [{"text": PROMPT.text}]},
            {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {}}}]},
            {"role": "user", "parts": [answered]},
        ]
        return {"contents": contents, "tools": [{"functionDeclarations": [{"name": "run"}]}]}
    messages = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": PROMPT.text},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "tool_call_id": "c", "content": "output"},
    ]
    return {"model": "model", "messages": messages, "tools": [{"function": {"name": "run"}}]}


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.path)
def test_every_protocol_is_read_the_same(wire: Wire) -> None:
    found = wire.read(conversation(wire))
    assert found.tools == {"run"}
    assert reply(SCRIPT, found).step == SCRIPT["main"][1]


def test_each_protocol_tells_the_same_tokens_in_its_own_words() -> None:
    answer = an_answer(Say("Done."))
    used = answer.tokens
    inputs = used.input + used.cache_read + used.cache_write
    (*_, delta, _stop) = events(anthropic.WIRE, answer)
    assert delta["usage"]["input_tokens"] == used.input
    assert delta["usage"]["cache_creation_input_tokens"] == used.cache_write
    (*_, completed) = events(responses.WIRE, answer)
    assert completed["response"]["usage"]["input_tokens"] == inputs
    (*_, last) = events(chat.WIRE, answer)
    assert last["usage"]["prompt_tokens"] == inputs
    fresh, _, written, *_ = chat.WIRE.told(used)
    assert (fresh, written) == (used.input + used.cache_write, 0)
    for wire in (gemini.WIRE, gemini.WHOLE):
        (whole,) = events(wire, answer)
        counts = whole["usageMetadata"]
        assert (counts["promptTokenCount"], counts["thoughtsTokenCount"]) == (
            inputs,
            used.reasoning,
        )
        assert counts["candidatesTokenCount"] == used.output - used.reasoning
        assert wire.told(used)[2] is None
