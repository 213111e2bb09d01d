"""Claude Code: what its fixtures do not already show."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.config import Environment
from hansei.events.model import (
    Basis,
    Compaction,
    FileEdit,
    Hunk,
    Notice,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    Status,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.sources.agents.claude_code import SOURCE
from hansei.sources.agents.claude_code import results as tool_results
from hansei.sources.agents.claude_code.reader import MESSAGES_KEPT
from hansei.sources.agents.claude_code.records import IGNORED
from hansei.sources.agents.claude_code.source import HISTORY, transcript_at
from hansei.sources.contract import START, Cursor, Reading, Transcript, latest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent

DOCS = Path(__file__).parents[2] / "docs" / "formats" / "claude_code.md"
SESSION = "5e551011-0000-4000-8000-0000000000aa"


class Log:
    """A transcript being written."""

    def __init__(self, folder: Path, name: str = SESSION) -> None:
        self.path = folder / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.count += 1
        record = {
            "type": kind,
            "uuid": f"00000000-0000-4000-8000-{self.count:012d}",
            "timestamp": f"2026-03-01T10:00:{self.count % 60:02d}Z",
            "sessionId": SESSION,
            "version": "2.1.40",
            "cwd": "/w/app",
            **fields,
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        return record

    def user(self, content: Any, **fields: Any) -> None:
        self.add("user", message={"role": "user", "content": content}, **fields)

    def said(self, message: str, *blocks: Any, usage: Any = None, **fields: Any) -> None:
        body = {"id": message, "model": "claude-x", "content": blocks, "usage": usage}
        self.add("assistant", message=body, **{"requestId": "req_1", **fields})

    def result(self, text: Any, notes: Any = None, *, failed: bool = False, **fields: Any) -> None:
        block = {
            "type": "tool_result",
            "tool_use_id": "toolu_01AAAAAAAAAAAAAAAAAAAA",
            "content": text,
            "is_error": failed,
        }
        self.user([block], toolUseResult=notes, **fields)

    def read(self, since: Cursor = START) -> Reading:
        return SOURCE.read(transcript_at(self.path), since)

    def events(self) -> list[AnyEvent]:
        return self.read().events


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "projects" / "-w-app")


def call(command: str) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": "toolu_01AAAAAAAAAAAAAAAAAAAA",
        "name": "Bash",
        "input": {"command": command},
    }


def message_id(number: int) -> str:
    return f"msg_01{number:022d}"


def only(events: list[AnyEvent], kind: type[Any]) -> Any:
    (event,) = [event for event in events if isinstance(event, kind)]
    return event


# --- finding --------------------------------------------------------------------------------------


def environment(home: Path, **variables: str) -> Environment:
    return Environment(home=home, variables=variables)


def write(path: Path, text: str = "{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_both_default_folders_are_looked_at(tmp_path: Path) -> None:
    assert SOURCE.roots(environment(tmp_path), []) == [
        tmp_path / ".claude" / "projects",
        tmp_path / ".config" / "claude" / "projects",
    ]
    moved = environment(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "xdg"))
    assert SOURCE.roots(moved, [])[1] == tmp_path / "xdg" / "claude" / "projects"


def test_a_configured_folder_stands_alone_and_may_be_several(tmp_path: Path) -> None:
    named = f"{tmp_path}/one, {tmp_path}/two/projects,"
    assert SOURCE.roots(environment(tmp_path, CLAUDE_CONFIG_DIR=named), []) == [
        tmp_path / "one" / "projects",
        tmp_path / "two" / "projects",
    ]


def test_more_folders_may_be_configuration_or_plain_ones(tmp_path: Path) -> None:
    write(tmp_path / "config" / "projects" / "p" / "a.jsonl")
    write(tmp_path / "plain" / "b.jsonl")
    extra = [str(tmp_path / "config"), str(tmp_path / "plain")]
    found = SOURCE.discover(environment(tmp_path), extra)
    assert sorted(item.path.name for item in found) == ["a.jsonl", "b.jsonl"]


def test_transcripts_are_told_from_other_files_without_opening_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / ".claude"
    project = root / "projects" / "-w-app"
    write(project / "s1.jsonl")
    write(project / "agent-old.jsonl")
    write(project / "s1" / "subagents" / "agent-new.jsonl")
    write(project / "s1" / "subagents" / "agent-new.meta.json")
    write(project / "s1" / "subagents" / "workflows" / "wf_1" / "agent-deep.jsonl")
    write(project / "s1" / "subagents" / "workflows" / "wf_1" / "journal.jsonl")
    write(project / "s1" / "tool-results" / "output.jsonl")
    write(root / "history.jsonl")
    write(root / "other.jsonl")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("opened a file")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "open", refuse)
    found = {item.path.name: item for item in SOURCE.discover(environment(tmp_path), [])}
    assert {name: item.variant for name, item in found.items()} == {
        "s1.jsonl": "session",
        "agent-old.jsonl": "subagent",
        "agent-new.jsonl": "subagent",
        "agent-deep.jsonl": "subagent",
        "history.jsonl": "history",
    }
    assert all(item.fingerprint == SOURCE.fingerprint(item) for item in found.values())


def test_a_folder_reached_in_two_ways_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / ".claude" / "projects" / "p" / "a.jsonl")
    (tmp_path / ".config").mkdir()
    (tmp_path / ".config" / "claude").symlink_to(tmp_path / ".claude")
    write(tmp_path / ".claude" / "history.jsonl")
    found = SOURCE.discover(environment(tmp_path), [str(tmp_path / ".claude")])
    assert [item.path.name for item in found] == ["a.jsonl", "history.jsonl"]


def test_a_copy_is_read_after_its_original(tmp_path: Path) -> None:
    first = '{"timestamp": "2026-03-01T10:00:00Z", "sessionId": "%s"}\n'
    later = '{"timestamp": "2026-03-02T10:00:00Z", "sessionId": "aaa"}\n'
    original = write(tmp_path / "zzz.jsonl", first % "zzz" + "{}\n" * 50)
    unmarked = write(tmp_path / "bbb.jsonl", first % "bbb" + "{}\n" * 90)
    resumed = write(tmp_path / "ccc.jsonl", first % "zzz")
    newer = write(tmp_path / "aaa.jsonl", later)
    timeless = write(tmp_path / "000.jsonl", "{}\n")
    below = write(tmp_path / "zzz" / "subagents" / "agent-1.jsonl", first % "zzz")
    paths = [below, timeless, newer, resumed, unmarked, original]
    ordered = SOURCE.reading_order([transcript_at(path) for path in paths])
    assert [item.path for item in ordered] == [original, unmarked, resumed, below, newer, timeless]


def test_a_transcript_that_is_gone_does_not_stop_the_ordering(tmp_path: Path) -> None:
    gone = transcript_at(tmp_path / "gone.jsonl")
    assert SOURCE.reading_order([gone]) == [gone]


# --- counting -------------------------------------------------------------------------------------

usages = st.fixed_dictionaries(
    {
        "input_tokens": st.integers(0, 99),
        "output_tokens": st.integers(0, 99),
        "cache_read_input_tokens": st.integers(0, 99),
        "cache_creation_input_tokens": st.integers(0, 99),
    }
).filter(lambda usage: any(usage.values()))  # a copy with nothing but zeros tells no numbers


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 4), usages), min_size=1, max_size=20), st.data())
def test_each_answer_counts_once_at_its_largest(
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[tuple[int, dict[str, int]]],
    data: st.DataObject,
) -> None:
    log = Log(tmp_path_factory.mktemp("counting"))
    for number, usage in lines:
        log.said(message_id(number), {"type": "text", "text": f"{number}"}, usage=usage)
    transcript = transcript_at(log.path)
    told: list[AnyEvent] = []
    cursor = START
    while True:
        reading = SOURCE.read(transcript, cursor, data.draw(st.integers(1, 2_000)))
        told += reading.events
        cursor = reading.cursor
        if not reading.more:
            break
    requests = [event for event in latest(told) if isinstance(event, RequestUsage)]
    assert len(requests) == len({number for number, _ in lines})
    for event in requests:
        own = [usage for number, usage in lines if message_id(number) == event.message]
        assert event.output == max(usage["output_tokens"] for usage in own)
        assert event.cache_write_5m == max(usage["cache_creation_input_tokens"] for usage in own)
        assert event.lines == len(own)
        kept = sum(max(usage[name] for usage in own) for name in own[0])
        assert event.repeated == sum(sum(usage.values()) for usage in own) - kept


def test_an_answer_that_goes_on_after_many_others_still_counts_once(log: Log) -> None:
    usage = {"input_tokens": 5, "output_tokens": 1}
    log.said(message_id(0), usage=usage)
    log.said(message_id(0), usage={"input_tokens": 5, "output_tokens": 9})
    for number in range(1, MESSAGES_KEPT + 5):
        log.said(message_id(number), usage=usage)
    log.said(message_id(0), usage={"input_tokens": 6, "output_tokens": 7})
    log.said(message_id(0), usage={"input_tokens": 5, "output_tokens": 8})
    requests = list(_requests(log))
    assert len(requests) == MESSAGES_KEPT + 5
    assert (requests[0].input, requests[0].output) == (6, 9)


def test_short_message_ids_are_told_apart_by_their_request(log: Log) -> None:
    for request in ("req_1", "req_2"):
        log.said("msg_1", usage={"input_tokens": 1, "output_tokens": 1}, requestId=request)
    log.said("msg_1", usage={"input_tokens": 1, "output_tokens": 1}, requestId="req_2")
    assert len(log.events()) == 2


def test_an_answer_without_an_id_is_known_by_its_record(log: Log) -> None:
    for _ in range(2):
        log.add(
            "assistant",
            message={"model": "m", "content": "Hi.", "usage": {"input_tokens": 1}},
        )
    kinds = Counter(type(event) for event in log.events())
    assert kinds == {RequestUsage: 2, Reply: 2}


def test_cache_writes_without_a_split_last_five_minutes(log: Log) -> None:
    split = {"ephemeral_5m_input_tokens": 3, "ephemeral_1h_input_tokens": 4}
    empty = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    for number, creation in enumerate((split, empty, None)):
        usage = {"input_tokens": 1, "cache_creation_input_tokens": 7, "cache_creation": creation}
        log.said(message_id(number), usage=usage)
    told = [(event.cache_write_5m, event.cache_write_1h) for event in _requests(log)]
    assert told == [(3, 4), (7, None), (7, None)]


def test_a_copy_whose_numbers_were_emptied_tells_none(log: Log) -> None:
    emptied = {
        "input_tokens": 0,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
        "cache_creation": {"ephemeral_5m_input_tokens": 330, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 0,
    }
    log.said(message_id(1), usage=emptied)
    (request,) = _requests(log)
    assert (request.input, request.cache_write_5m, request.output) == (None, None, None)


def _requests(log: Log) -> Iterator[RequestUsage]:
    return (event for event in log.events() if isinstance(event, RequestUsage))


def test_the_recorded_time_stays_also_when_the_clock_goes_back(log: Log) -> None:
    log.user("later", timestamp="2026-03-01T10:00:10Z")
    log.user("earlier", timestamp="2026-03-01T10:00:05Z")
    log.user("never", timestamp="soon")
    assert [event.at for event in log.events()] == [1772359210000, 1772359205000, None]


# --- identity -------------------------------------------------------------------------------------


def test_the_same_record_twice_in_a_file_is_one_event(log: Log) -> None:
    uuid = "11111111-0000-4000-8000-000000000001"
    log.user("once", uuid=uuid)
    log.user("once", uuid=uuid)
    assert len(log.events()) == 1


def test_made_up_ids_with_different_texts_are_different_events(log: Log) -> None:
    log.user("one", uuid="edge_1")
    log.user("two", uuid="edge_1")
    log.user("two", uuid="edge_1", timestamp="2026-03-01T10:00:02Z")
    assert [event.text for event in log.events() if isinstance(event, Prompt)] == ["one", "two"]


def test_a_call_is_paired_with_its_result(log: Log) -> None:
    log.said(message_id(1), call("make"))
    log.result("ok")
    events = log.events()
    assert only(events, ToolCall).call == only(events, ToolResult).call
    assert only(events, ToolCall).text == "make"


# --- results --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "text", "fields", "status", "basis", "code"),
    [
        ("make", "ok", {}, Status.OK, Basis.FLAG, None),
        ("make", "Exit code 2\nno", {"failed": True}, Status.FAILED, Basis.EXIT_CODE, 2),
        ("make | tail", "Exit code 1", {"failed": True}, Status.FAILED, Basis.EXIT_CODE, 1),
        ("make", "broken", {"failed": True}, Status.FAILED, Basis.FLAG, None),
        ("make | tail", "ok", {}, Status.UNKNOWN, Basis.MASKED, None),
        ("make || true", "ok", {}, Status.UNKNOWN, Basis.MASKED, None),
        ("make", "stop", {"toolDenialKind": "cancelled"}, Status.UNKNOWN, Basis.INTERRUPTED, None),
        ("make", "no", {"toolDenialKind": "hook"}, Status.UNKNOWN, Basis.DECLINED, None),
        ("make", "ok", {"notes": {"interrupted": True}}, Status.UNKNOWN, Basis.INTERRUPTED, None),
        ("make", "ok", {"notes": {"backgroundTaskId": "b"}}, Status.UNKNOWN, Basis.NONE, None),
        ("make", "ok", {"notes": {"exitCode": 0}}, Status.OK, Basis.EXIT_CODE, 0),
    ],
)
def test_how_a_call_ended(
    log: Log,
    command: str,
    text: str,
    fields: dict[str, Any],
    status: Status,
    basis: Basis,
    code: int | None,
) -> None:
    log.said(message_id(1), call(command))
    log.result(text, **fields)
    result = only(log.events(), ToolResult)
    assert (result.status, result.basis, result.exit_code) == (status, basis, code)


def test_a_result_told_again_ends_the_same_way(log: Log) -> None:
    log.said(message_id(1), call("make | tail"))
    for _ in range(2):
        log.result("ok")
    assert only(log.events(), ToolResult).basis is Basis.MASKED


def test_a_result_in_parts_is_one_text_with_its_images(log: Log) -> None:
    parts = [
        {"type": "text", "text": "größe"},
        {"type": "image", "source": {"data": "aGk="}},
        {"type": "tool_reference", "tool_name": "x"},
        {"type": "text", "text": "zwei"},
    ]
    log.result(parts)
    result = only(log.events(), ToolResult)
    assert (result.text, result.images, result.size) == ("größe\nzwei", 1, 12)


def test_a_shortened_output_has_no_known_size(log: Log) -> None:
    log.result("x" * 30_000 + "\n\n... [373 lines truncated] ...\n\n")
    result = only(log.events(), ToolResult)
    assert (result.truncated, result.size) == (True, None)


PREVIEW = "<persisted-output>\nOutput too large. Full output saved to: {}\n\nPreview:\nx\n"


def test_a_moved_output_is_read_back_and_what_the_model_saw_is_kept(log: Log) -> None:
    folder = log.path.with_suffix("") / "tool-results"
    write(folder / "b1.txt", "whole " * 1000)
    log.result(PREVIEW.format("/elsewhere/b1.txt"))
    result = only(log.events(), ToolResult)
    assert result.text == "whole " * 1000
    assert (result.size, result.truncated) == (6000, False)
    assert result.shown == len(PREVIEW.format("/elsewhere/b1.txt"))


def test_a_subagents_moved_output_is_in_its_parents_folder(tmp_path: Path) -> None:
    project = tmp_path / "p"
    write(project / SESSION / "tool-results" / "b1.txt", "whole")
    for folder in (project / SESSION / "subagents", project):
        log = Log(folder, "agent-a1")
        log.result(PREVIEW.format("b1.txt"))
        assert only(log.events(), ToolResult).text == "whole"


def test_nothing_outside_the_folder_for_outputs_is_read(
    log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = log.path.with_suffix("") / "tool-results"
    secret = write(tmp_path / "secret.txt", "secret")
    write(log.path.with_suffix("") / "near.txt", "secret")
    write(folder / "big.txt", "secret" * 10)
    (folder / "link.txt").symlink_to(secret)
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    monkeypatch.setattr(tool_results, "SPILLED_BYTES", 20)
    names = [str(secret), "../near.txt", "big.txt", "link.txt", "loop.txt", "..", "", "a\x00b"]
    for name in names:
        assert tool_results.spilled(folder, name) is None, name


def test_an_edit_is_told_with_its_lines(log: Log) -> None:
    patch = [{"newStart": 4, "lines": [" a", "-b", "+c"]}]
    log.result("done", {"filePath": "/w/a.py", "structuredPatch": patch, "originalFile": "a\nb"})
    edit = only(log.events(), FileEdit)
    assert (edit.path, edit.operation, edit.applied) == ("/w/a.py", "update", True)
    assert edit.hunks == [Hunk(5, "b\n", "c\n")]


@pytest.mark.parametrize(
    ("notes", "operation"),
    [
        ({"type": "create", "content": "c", "originalFile": None}, "create"),
        ({"type": "create", "content": "c"}, "create"),
        ({"type": "update", "content": "c", "originalFile": None}, "update"),
        ({"oldString": "b", "newString": "c", "originalFile": None}, "update"),
        ({"oldString": "", "newString": "c", "originalFile": None}, "create"),
        ({"oldString": "", "newString": "c", "originalFile": "b"}, "update"),
    ],
)
def test_a_file_is_new_only_where_nothing_of_it_was_replaced(
    log: Log, notes: dict[str, Any], operation: str
) -> None:
    log.result("done", {"filePath": "/w/a.py", **notes})
    assert only(log.events(), FileEdit).operation == operation


def test_an_edit_without_a_patch_is_told_by_its_texts(log: Log) -> None:
    log.result("done", {"filePath": "/w/a.py", "oldString": "b", "newString": "c\nd"})
    edit = only(log.events(), FileEdit)
    assert (edit.hunks, edit.added, edit.removed) == ([Hunk(None, "b", "c\nd")], 2, 1)


def test_notes_beside_several_results_belong_to_none(log: Log) -> None:
    results = [{"type": "tool_result", "tool_use_id": f"toolu_{n:020d}"} for n in range(2)]
    log.user(results, toolUseResult={"filePath": "/w/a.py", "oldString": "b", "newString": "c"})
    assert [type(event) for event in log.events()] == [ToolResult, ToolResult]


# --- the rest -------------------------------------------------------------------------------------


def test_unknown_kinds_leave_a_trace_and_no_content(log: Log) -> None:
    log.add("brand-new", secret="content")
    log.add("system", subtype="brand-new", content="content")
    log.add("progress", data={"type": "brand-new"})
    log.add("queue-operation", operation="brand-new")
    log.user([{"type": "brand-new"}])
    log.said(message_id(1), {"type": "brand-new"})
    events = log.events()
    assert all(isinstance(event, Unrecognised) for event in events)
    assert [event.name for event in events if isinstance(event, Unrecognised)] == [
        "brand-new",
        "system/brand-new",
        "progress/brand-new",
        "queue-operation/brand-new",
        "user block brand-new",
        "assistant block brand-new",
    ]
    assert b"content" not in b"".join(repr(event).encode() for event in events)


def test_an_unknown_attachment_is_a_notice_because_it_fills_the_context(log: Log) -> None:
    log.add("attachment", attachment={"type": "brand_new", "content": ["some", {"text": "words"}]})
    notice = only(log.events(), Notice)
    assert (notice.name, notice.text) == ("brand_new", "some\nwords")


@pytest.mark.parametrize("kind", sorted(IGNORED))
def test_a_kind_left_out_on_purpose_leaves_nothing(log: Log, kind: str) -> None:
    name, _, detail = kind.partition("/")
    log.add(name, subtype=detail, data={"type": detail}, content="some text")
    assert log.events() == []


def test_the_page_on_the_format_lists_every_kind_left_out() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    listed = {kind: reason for kind, reason in rows if kind in IGNORED}
    assert listed == IGNORED


def test_notes_of_another_version_make_it_begin_again(log: Log) -> None:
    log.user("one")
    log.user("two")
    cursor = log.read().cursor
    other = Cursor(cursor.offset, cursor.line, cursor.check, {"messages": "something else"})
    again = log.read(other)
    assert again.restarted
    assert len(again.events) == 2


def test_a_summary_without_its_boundary_is_a_compaction_of_its_own(log: Log) -> None:
    log.user("This session is being continued from a previous conversation. And so on.")
    event = only(log.events(), Compaction)
    assert (event.trigger, event.partial) == (None, False)


@pytest.mark.parametrize(
    ("fields", "origin"),
    [
        ({}, Origin.HUMAN),
        ({"isMeta": True}, Origin.HARNESS),
        ({"promptSource": "system"}, Origin.HARNESS),
        ({"promptSource": "typed"}, Origin.HUMAN),
        ({"origin": {"kind": "human"}}, Origin.HUMAN),
        ({"origin": {"kind": "coordinator"}}, Origin.PARENT_AGENT),
        ({"origin": {"kind": "brand-new"}}, Origin.HARNESS),
        ({"isSidechain": True}, Origin.PARENT_AGENT),
    ],
)
def test_a_prompt_is_a_persons_only_where_nothing_says_otherwise(
    log: Log, fields: dict[str, Any], origin: Origin
) -> None:
    log.user("Do it.", **fields)
    assert only(log.events(), Prompt).origin is origin


def test_what_a_hook_adds_is_a_prompt_whatever_it_looks_like(log: Log) -> None:
    content = ["<command-name>/clear</command-name>"]
    log.add("attachment", attachment={"type": "hook_additional_context", "content": content})
    assert only(log.events(), Prompt).origin is Origin.HOOK


def test_what_a_hook_prints_is_a_prompt_only_where_the_model_was_shown_it(log: Log) -> None:
    printed = {"type": "hook_success", "hookName": "SessionStart", "content": "Tide is low."}
    shown = "<system-reminder>\nSessionStart hook success: Tide is low.\n</system-reminder>"
    log.add("attachment", attachment=printed)
    log.add("attachment", attachment=printed, rendered=[{"content": shown}])
    assert only(log.events(), Notice).name == "hook_success"
    prompt = only(log.events(), Prompt)
    assert (prompt.origin, prompt.text) == (Origin.HOOK, shown)


def test_the_same_words_typed_later_are_another_prompt(log: Log) -> None:
    log.add("queue-operation", operation="enqueue", content="continue", uuid=None)
    log.add("queue-operation", operation="remove", uuid=None)
    log.user("continue")
    origins = [event.origin for event in log.events() if isinstance(event, Prompt)]
    assert origins == [Origin.QUEUED_HUMAN, Origin.HUMAN]


def test_a_detached_head_is_no_branch(log: Log) -> None:
    for branch in ("HEAD", "", "main"):
        log.user(f"on {branch}", gitBranch=branch)
    assert [event.branch for event in log.events()] == [None, None, "main"]


def test_a_list_of_prompts_has_no_trouble_with_odd_lines(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('{"display": 5, "project": []}\n{"display": "x", "timestamp": "1"}\nno\n')
    reading = SOURCE.read(Transcript(SOURCE.name, path, HISTORY), START)
    assert [event.__struct_config__.tag for event in reading.events] == ["unrecognised", "prompt"]
    assert len(reading.problems) == 1
