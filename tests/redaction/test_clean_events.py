"""What the gate does to events."""

from __future__ import annotations

import math
import pickle
import string
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_event import events
from hansei.events.codec import decode, encode
from hansei.events.model import (
    KINDS,
    AnyEvent,
    Basis,
    Event,
    FileEdit,
    Hunk,
    Notice,
    Origin,
    Prompt,
    Reply,
    SessionFacts,
    SlashCommand,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.redaction.engine import DEEPEST, IDS, Clean, Redactor, redact, redact_facts

REDACTOR = Redactor(b"a key for tests")
SECRET = "ghp_" + "".join(Random(1).choices(string.ascii_letters + string.digits, k=36))
PLACEHOLDER = REDACTOR.scrub(SECRET)


def one(event: AnyEvent) -> AnyEvent:
    """The event as it comes out of the gate."""
    (clean,) = redact([event], REDACTOR)
    return clean.event


def call(text: str = "", tool: Tool = Tool.SHELL, **arguments: Any) -> ToolCall:
    return ToolCall(
        key=1, session="s", call="c", tool=tool, name="tool", text=text, arguments=arguments
    )


def result(text: str, call_id: str = "c") -> ToolResult:
    return ToolResult(
        key=2, session="s", call=call_id, text=text, status=Status.OK, basis=Basis.NONE
    )


def full_of_secrets(kind: type[Event]) -> AnyEvent:
    """An event with a secret in every field that takes text."""
    structured: dict[str, Any] = {
        "arguments": {SECRET: [{"deep": SECRET}]},
        "data": {"a": (SECRET,)},
        "hunks": [Hunk(1, SECRET, f"new {SECRET}")],
    }
    values: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        if field.name in structured:
            values[field.name] = structured[field.name]
        elif field.type in (str, str | None):
            values[field.name] = "an id" if field.name in IDS else f"say {SECRET}"
        elif field.required:
            values[field.name] = next(iter(_choices(field.type)))
    return kind(**values)  # type: ignore[return-value]


def _choices(annotation: Any) -> Any:
    if annotation is int:
        return [1]
    return getattr(annotation, "__args__", None) or list(annotation)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_text_of_every_kind_of_event_is_cleaned(kind: type[Event]) -> None:
    before = full_of_secrets(kind)
    after = one(before)
    assert type(after) is kind
    assert SECRET not in repr(after)
    texts = [
        field.name
        for field in msgspec.structs.fields(kind)
        if field.type in (str, str | None) and field.name not in IDS
    ]
    assert all(getattr(after, name) == f"say {PLACEHOLDER}" for name in texts)
    for name in IDS & {field.name for field in msgspec.structs.fields(kind)}:
        assert getattr(after, name) == "an id"


def test_every_field_of_every_kind_is_known_to_the_gate() -> None:
    """A field of a new type must be looked at by a person before events with it are stored."""
    understood = {
        "str",
        "dict[str, Any]",
        "dict[str, str]",
        "list[str]",
        "list[hansei.events.model.Hunk]",
        "list[hansei.events.model.Instruction]",
        "hansei.events.model.Measured",
    }
    harmless = {"int", "bool", "Tool", "Status", "Basis", "Origin", "Literal"}
    for kind in KINDS:
        for field in msgspec.structs.fields(kind):
            name = str(field.type).replace("typing.", "").replace(" | None", "")
            if isinstance(field.type, type):
                name = field.type.__name__
            assert name.split("[")[0] in harmless or name in understood, (kind, field.name, name)


def test_an_event_without_secrets_stays_the_same_object() -> None:
    event = call("ls", path="/x", options={"deep": [1, 2.5, None, True, "text"]})
    assert one(event) is event


def test_only_redact_makes_clean_events() -> None:
    event = result("text")
    with pytest.raises(TypeError):
        Clean(event, object())
    with pytest.raises(TypeError):
        Clean(event)  # type: ignore[call-arg]
    (clean,) = redact([event], REDACTOR)
    with pytest.raises(AttributeError):
        clean.event = event  # type: ignore[misc]


def test_clean_events_and_redactors_go_from_process_to_process() -> None:
    cleaned = redact([result(SECRET)], REDACTOR)
    assert pickle.loads(pickle.dumps(cleaned)) == cleaned
    assert pickle.loads(pickle.dumps(REDACTOR)).scrub(SECRET) == PLACEHOLDER


@given(st.lists(events(), max_size=3))
def test_cleaning_clean_events_changes_nothing(some: list[AnyEvent]) -> None:
    once = redact(some, REDACTOR)
    assert redact([clean.event for clean in once], REDACTOR) == once
    assert [type(clean.event) for clean in once] == [type(event) for event in some]


def test_cleaning_an_event_full_of_secrets_twice_is_cleaning_it_once() -> None:
    for kind in KINDS:
        once = one(full_of_secrets(kind))
        assert one(once) is once


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=()), max_size=6), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=()), max_size=6), JSON))
def test_any_arguments_become_storable(arguments: dict[str, Any]) -> None:
    after = one(msgspec.structs.replace(call(), arguments=arguments))
    assert isinstance(after, ToolCall)
    assert decode(encode(after)) == after
    assert one(after) == after


def test_numbers_that_cannot_be_stored_are_kept_as_text_or_dropped() -> None:
    numbers = [2**63, -(2**63) - 1, 2**63 - 1, -(2**63), math.nan, math.inf, -math.inf, 1.5, True]
    after = one(call(numbers=numbers))
    assert isinstance(after, ToolCall)
    assert after.arguments["numbers"] == [
        str(2**63),
        str(-(2**63) - 1),
        2**63 - 1,
        -(2**63),
        None,
        None,
        None,
        1.5,
        True,
    ]


def test_lone_surrogates_are_replaced_everywhere_even_in_ids() -> None:
    event = Reply(
        key=1, session="s\ud800", text="a\udfffb", message="m\ud801", cwd="/\ud800", model="x"
    )
    after = one(event)
    assert isinstance(after, Reply)
    assert (after.session, after.text, after.message, after.cwd) == (
        "s\ufffd",
        "a\ufffdb",
        "m\ufffd",
        "/\ufffd",
    )
    assert decode(encode(after)) == after


def test_arguments_nested_without_end_are_cut() -> None:
    deep: Any = SECRET
    for _ in range(5 * DEEPEST):
        deep = [deep]
    after = one(call(deep=deep))
    assert isinstance(after, ToolCall)
    assert SECRET not in repr(after)
    assert decode(encode(after)) == after


def test_a_field_of_arguments_is_judged_by_its_name() -> None:
    password = f"BlueRiver{77}"
    after = one(
        call(
            "x",
            password=password,
            headers={"Authorization": f"Bearer {password}abcdefgh1", "X-Api-Key": password + "zzz"},
            cache_key=password,
            token_count=5,
            token="",
        )
    )
    assert isinstance(after, ToolCall)
    arguments = after.arguments
    assert arguments["password"] == REDACTOR.scrub(f'password="{password}"')[10:-1]
    assert arguments["headers"]["Authorization"].startswith("Bearer [secret:value:")
    assert arguments["headers"]["X-Api-Key"].startswith("[secret:value:")
    assert arguments["cache_key"] == password
    assert arguments["token_count"] == 5
    assert arguments["token"] == ""


ENV = "STRIPE=plainword\nPORT=3000\n"
ENV_CLEAN = REDACTOR.scrub_env(ENV)


@pytest.mark.parametrize(
    "shows",
    [
        call("cat .env"),
        call("/x/.env", tool=Tool.READ, file_path="/x/.env"),
        call("", tool=Tool.READ, path="/x/.env.local"),
        call("", tool=Tool.OTHER, command=["bash", "-lc", "cat .env"]),
        call("printenv"),
        call("KEY", tool=Tool.SEARCH, pattern="KEY", path="/x/.env"),
        call("KEY", tool=Tool.SEARCH, pattern="KEY", glob=".env*"),
        call("", tool=Tool.OTHER, paths=["a.py", "/x/.env"]),
        call("", tool=Tool.OTHER, action={"command": ["cat", ".env"]}),
        call("python -c \"print(open('.env').read())\""),
    ],
)
def test_the_result_of_a_call_that_shows_an_env_file_loses_its_values(shows: ToolCall) -> None:
    assert ENV_CLEAN != ENV
    _, clean = redact([shows, result(ENV)], REDACTOR)
    assert clean.event == result(ENV_CLEAN)


@pytest.mark.parametrize(
    "other",
    [
        call("cat README.md"),
        call("/x/.env.example", tool=Tool.READ, file_path="/x/.env.example"),
        call(".env", tool=Tool.SEARCH, pattern=".env", path="/x"),
        call("touch .env"),
        call("", tool=Tool.WRITE, path="/x/a.sh", file_text="cat .env"),
    ],
)
def test_the_result_of_another_call_keeps_them(other: ToolCall) -> None:
    _, clean = redact([other, result(ENV)], REDACTOR)
    assert clean.event == result(ENV)


def test_a_result_in_a_later_batch_is_recognised_by_the_ids_the_caller_keeps() -> None:
    env_calls: dict[str, None] = {}
    redact([call("cat .env")], REDACTOR, env_calls=env_calls)
    assert list(env_calls) == ["c"]
    (clean,) = redact([result(ENV)], REDACTOR, env_calls=env_calls)
    assert clean.event == result(ENV_CLEAN)
    assert env_calls == {}
    (other,) = redact([result(ENV, call_id="d")], REDACTOR, env_calls=env_calls)
    assert other.event == result(ENV, call_id="d")


def test_calls_that_wait_for_their_results_are_kept_in_the_order_they_came() -> None:
    env_calls: dict[str, None] = {}
    calls = [msgspec.structs.replace(call("cat .env"), call=name) for name in "zyxw"]
    redact([*calls, result(ENV, call_id="y")], REDACTOR, env_calls=env_calls)
    assert list(env_calls) == ["z", "x", "w"]


def test_a_result_that_is_told_twice_is_cleaned_twice() -> None:
    _, first, second = redact([call("cat .env"), result(ENV), result(ENV)], REDACTOR)
    assert first.event == second.event == result(ENV_CLEAN)


@pytest.mark.parametrize(
    ("started", "asks"),
    [
        ("Command running in background with ID: b28e89a", {"bash_id": "b28e89a"}),
        ("Command running in background with ID: b28e89a", {"task_id": "b28e89a", "block": True}),
        ("Command running in background with ID: b28e89a", {"file": "/t/tasks/b28e89a.output"}),
        ("Process running with session ID 4711", {"session_id": 4711}),
    ],
)
def test_the_output_of_a_background_task_is_known_whenever_it_is_asked_for(
    started: str, asks: dict[str, Any]
) -> None:
    env_calls: dict[str, None] = {}
    redact([call("cat .env"), result(started)], REDACTOR, env_calls=env_calls)
    for _ in range(2):
        asking = msgspec.structs.replace(call(**asks), call="d")
        _, clean = redact([asking, result(ENV, call_id="d")], REDACTOR, env_calls=env_calls)
        assert clean.event == result(ENV_CLEAN, call_id="d")
    other = msgspec.structs.replace(call(bash_id="another"), call="e")
    _, kept = redact([other, result(ENV, call_id="e")], REDACTOR, env_calls=env_calls)
    assert kept.event == result(ENV, call_id="e")


def typed(command: str) -> SlashCommand:
    return SlashCommand(key=1, session="s", name="!", text=command)


def output(session: str = "s") -> Notice:
    return Notice(key=2, session=session, name="bash_output", text=ENV)


def texts(events: list[AnyEvent], env_calls: dict[str, None] | None = None) -> list[str]:
    return [
        getattr(clean.event, "text", "") for clean in redact(events, REDACTOR, env_calls=env_calls)
    ]


def test_the_output_of_a_command_that_a_person_typed_loses_its_values() -> None:
    assert texts([typed("cat .env"), output()])[1] == ENV_CLEAN
    assert texts([typed("cat .env"), output("another")])[1] == ENV
    assert texts([typed("cat .env"), typed("ls"), output()])[2] == ENV
    env_calls: dict[str, None] = {}
    texts([typed("cat .env")], env_calls)
    assert texts([output()], env_calls) == [ENV_CLEAN]
    assert texts([output()], env_calls) == [ENV]


@pytest.mark.parametrize("name", ["filename", "filePath", "path", "displayPath"])
def test_an_attached_env_file_loses_its_values(name: str) -> None:
    def attached(path: str) -> Notice:
        return Notice(key=1, session="s", name="file", text=ENV, data={name: path})

    assert texts([attached("/x/.env")]) == [ENV_CLEAN]
    assert texts([attached("/x/.env.example")]) == [ENV]


def test_what_the_program_adds_to_a_prompt_about_an_env_file_loses_its_values() -> None:
    def added(text: str, origin: Origin = Origin.HARNESS) -> Prompt:
        return Prompt(key=1, session="s", text=text, origin=origin)

    (changed,) = texts([added(f"<system-reminder>\nNote: /x/.env was modified:\n{ENV}")])
    assert changed.endswith(ENV_CLEAN)
    called = added('Called the Read tool with the following input: {"file_path":"/x/.env"}')
    _, read = texts([called, added(f"Result of calling the Read tool:\n{ENV}")])
    assert read.endswith(ENV_CLEAN)
    (both,) = texts([added(f"<bash-input>cat .env</bash-input>\n{ENV}", Origin.HUMAN)])
    assert both.endswith(ENV_CLEAN)
    asked = f"write this to .env.local\n{ENV}"
    assert texts([added(asked, Origin.HUMAN)]) == [asked]


def test_writing_an_env_file_is_cleaned_like_showing_it() -> None:
    written = one(call("/x/.env", tool=Tool.WRITE, file_path="/x/.env", content=ENV))
    assert isinstance(written, ToolCall)
    assert written.arguments == {"file_path": "/x/.env", "content": ENV_CLEAN}
    edited = one(
        FileEdit(
            key=1,
            session="s",
            call="c",
            path="/x/.env",
            operation="update",
            hunks=[Hunk(1, ENV, ENV + "B=1")],
        )
    )
    assert isinstance(edited, FileEdit)
    assert edited.hunks == [Hunk(1, ENV_CLEAN, ENV_CLEAN + "B=1")]


def test_events_that_are_not_about_env_files_keep_plain_settings() -> None:
    prompt = Prompt(key=1, session="s", text=ENV, origin=Origin.HUMAN)
    notice = Notice(key=2, session="s", name="n", data={"text": ENV})
    assert [clean.event for clean in redact([prompt, notice], REDACTOR)] == [prompt, notice]


def test_what_is_known_of_a_session_is_cleaned() -> None:
    facts = SessionFacts(
        id="an id",
        parent="a parent",
        spawned_by="a call",
        title=f"use {SECRET}",
        branch=SECRET,
        cwd=f"/x/{SECRET}",
        commit="0123456789abcdef0123456789abcdef01234567",
        version="1.2.3",
    )
    clean = redact_facts(facts, REDACTOR)
    assert clean == SessionFacts(
        id="an id",
        parent="a parent",
        spawned_by="a call",
        title=f"use {PLACEHOLDER}",
        branch=PLACEHOLDER,
        cwd=f"/x/{PLACEHOLDER}",
        commit="0123456789abcdef0123456789abcdef01234567",
        version="1.2.3",
    )
    assert redact_facts(clean, REDACTOR) is clean
    assert facts.branch == SECRET
