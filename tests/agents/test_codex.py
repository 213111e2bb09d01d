"""Codex: what its fixtures do not already show."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.config import Environment
from hansei.errors import UnreadableTranscript
from hansei.events.model import (
    Basis,
    Compaction,
    FileEdit,
    Hunk,
    Interruption,
    Origin,
    Prompt,
    Reply,
    RequestUsage,
    Status,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from hansei.events.usage import total
from hansei.sources.agents.codex import HISTORY, INDEX, ROLLOUT, SOURCE, thread_of
from hansei.sources.agents.codex.records import IGNORED
from hansei.sources.contract import START, Cursor, Reading, Transcript, latest
from hansei.sources.families import patches, zstd
from hansei.synth import build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.events.model import AnyEvent

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents" / "codex"
DOCS = Path(__file__).parents[2] / "docs" / "formats" / "codex.md"
THREAD = "0199c001-0000-7000-8000-000000000001"
OTHER = "0199c002-0000-7000-8000-000000000002"
TURN = "0199c001-0001-7000-8000-000000000001"
CALL = "call_aaaaaaaaaaaaaaaaaaaaaaaa"
NOW = 1_790_000_000_000


class Roll:
    """A rollout being written."""

    def __init__(self, folder: Path, thread: str = THREAD) -> None:
        self.path = folder / "sessions" / f"rollout-2026-03-01T10-00-00-{thread}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.thread = thread
        self.seconds = 0

    def add(self, kind: str, **payload: Any) -> None:
        self.seconds += 1
        stamp = f"2026-03-01T10:{self.seconds // 60:02d}:{self.seconds % 60:02d}Z"
        line = {"timestamp": stamp, "type": kind, "payload": payload}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def meta(self, thread: str | None = None, **fields: Any) -> None:
        usual = {"id": thread or self.thread, "cwd": "/w/app", "source": "cli"}
        self.add("session_meta", **usual | fields)

    def item(self, kind: str, **payload: Any) -> None:
        self.add("response_item", type=kind, **payload)

    def event(self, kind: str, **payload: Any) -> None:
        self.add("event_msg", type=kind, **payload)

    def said(self, role: str, text: str, **fields: Any) -> None:
        self.item("message", role=role, content=[{"type": "input_text", "text": text}], **fields)

    def call(self, name: str, call: str = CALL, **arguments: Any) -> None:
        self.item("function_call", name=name, arguments=json.dumps(arguments), call_id=call)

    def output(self, output: Any, call: str = CALL) -> None:
        self.item("function_call_output", call_id=call, output=output)

    def count(self, running: int, last: int) -> None:
        usage = {"total_token_usage": tokens(running), "last_token_usage": tokens(last)}
        self.event("token_count", info=usage, rate_limits=None)

    def read(self, since: Cursor = START) -> Reading:
        return SOURCE.read(Transcript(SOURCE.name, self.path, ROLLOUT), since)

    def events(self) -> list[AnyEvent]:
        return self.read().events


def tokens(number: int) -> dict[str, int]:
    """A usage of which all is input, for tests that are not about its parts."""
    return {"input_tokens": number, "output_tokens": 0, "total_tokens": number}


@pytest.fixture
def roll(tmp_path: Path) -> Roll:
    return Roll(tmp_path)


def only(events: list[AnyEvent], kind: type[Any]) -> Any:
    (found,) = (event for event in events if isinstance(event, kind))
    return found


def found_in(folder: Path) -> list[Transcript]:
    nowhere = Environment(folder / "no-home", {})
    return SOURCE.reading_order(list(SOURCE.discover(nowhere, [str(folder)])))


def told_by(transcript: Transcript) -> list[AnyEvent]:
    return [event for part in readings(transcript) for event in part.events]


def readings(transcript: Transcript) -> Iterator[Reading]:
    cursor = START
    while True:
        reading = SOURCE.read(transcript, cursor)
        yield reading
        if not reading.more:
            return
        cursor = reading.cursor


def spent(events: list[AnyEvent]) -> Counter[str]:
    """All that is counted: requests with their tokens, prompts, calls."""
    sums: Counter[str] = Counter()
    for event in latest(events):
        sums[type(event).__name__] += 1
        if isinstance(event, RequestUsage):
            sums["tokens"] += total(event)
    return sums


# --- finding --------------------------------------------------------------------------------------


def names(transcripts: list[Transcript]) -> list[str]:
    return [item.path.name for item in transcripts]


def test_the_variable_names_the_folder_and_stands_alone(tmp_path: Path) -> None:
    Roll(tmp_path / ".codex").meta()
    Roll(tmp_path / "elsewhere", OTHER).meta()
    at_home = SOURCE.discover(Environment(tmp_path, {}), [])
    assert [thread_of(name) for name in names(list(at_home))] == [THREAD]
    moved = SOURCE.discover(Environment(tmp_path, {"CODEX_HOME": str(tmp_path / "elsewhere")}), [])
    assert [thread_of(name) for name in names(list(moved))] == [OTHER]


def test_more_folders_may_be_the_programs_or_plain_ones(tmp_path: Path) -> None:
    Roll(tmp_path / "home").meta()
    loose = tmp_path / "loose" / "deep" / "session-alpha.jsonl"
    loose.parent.mkdir(parents=True)
    loose.write_text('{"type":"session_meta","payload":{"id":"alpha","cwd":"/w"}}\n')
    (tmp_path / "loose" / "history.jsonl").write_text('{"session_id":"s","ts":1,"text":"x"}\n')
    extra = [str(tmp_path / "home"), str(tmp_path / "loose")]
    found = list(SOURCE.discover(Environment(tmp_path / "nobody", {}), extra))
    assert [(item.path.suffix, item.variant) for item in found] == [
        (".jsonl", ROLLOUT),
        (".jsonl", ROLLOUT),
        (".jsonl", HISTORY),
    ]
    assert list(SOURCE.read(found[1], START).sessions) == ["alpha"]


def test_each_rollout_is_found_once_plain_and_active_first(tmp_path: Path) -> None:
    roll = Roll(tmp_path)
    roll.meta()
    packed = pack(roll.path)
    archive = tmp_path / "archived_sessions"
    archive.mkdir()
    shutil.copy(roll.path, archive)
    shutil.copy(packed, archive)
    assert [item.path for item in found_in(tmp_path)] == [roll.path]
    roll.path.unlink()
    assert [item.path for item in found_in(tmp_path)] == [packed]
    packed.unlink()
    assert [item.path for item in found_in(tmp_path)] == [archive / roll.path.name]


def test_lists_beside_the_rollouts_are_found_and_nothing_else(tmp_path: Path) -> None:
    Roll(tmp_path).meta()
    for name in ("history.jsonl", "session_index.jsonl", "version.json", "log.jsonl"):
        (tmp_path / name).write_text("")
    assert [item.variant for item in found_in(tmp_path)] == [ROLLOUT, HISTORY, INDEX]


@pytest.mark.parametrize(
    ("name", "thread"),
    [
        (f"rollout-2026-03-01T10-00-00-{THREAD}.jsonl", THREAD),
        (f"rollout-2026-03-01T10-00-00-{THREAD}.jsonl.zst", THREAD),
        (f"rollout-2026-03-01T10-00-00-{THREAD}_{OTHER}.jsonl", THREAD),
        ("rollout-2026-03-01T10-00-00-nothing.jsonl", None),
        ("session-alpha.jsonl", None),
    ],
)
def test_a_files_name_tells_its_thread(name: str, thread: str | None) -> None:
    assert thread_of(name) == thread


def test_what_was_copied_is_read_before_its_copy_whatever_the_clock_on_the_wall_said() -> None:
    """Names have local times: a fork after the end of summer time may look older."""
    older = Path(f"rollout-2026-10-25T02-50-00-{THREAD}.jsonl")
    newer = Path(f"rollout-2026-10-25T02-10-00-{OTHER}.jsonl")
    early = Path("rollout-2025-08-01T09-00-00-00000000-0000-4000-8000-000000000000.jsonl")
    later = Path("rollout-2025-09-01T09-00-00-00000000-0000-4000-8000-000000000000.jsonl")
    items = [Transcript(SOURCE.name, path, ROLLOUT) for path in (newer, later, older, early)]
    assert [item.path for item in SOURCE.reading_order(items)] == [early, later, older, newer]


def test_looking_for_transcripts_loads_nothing_that_reads_them() -> None:
    program = (
        "import sys\n"
        "from hansei.sources.agents.codex import SOURCE\n"
        "print([name for name in sys.modules if name.startswith('hansei.sources.agents.codex.')"
        " or name in ('pyarrow', 'json', 'hansei.sources.families.jsonl')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[]"


# --- packed files ---------------------------------------------------------------------------------


def pack(path: Path) -> Path:
    packed = path.with_name(f"{path.name}.zst")
    with pa.output_stream(str(packed), compression="zstd") as stream:
        stream.write(path.read_bytes())
    return packed


def long_roll(folder: Path) -> Roll:
    roll = Roll(folder)
    roll.meta()
    for number in range(200):
        roll.said("assistant", f"reply {number} " + "x" * (number * 7 % 900))
    return roll


def test_a_packed_rollout_tells_what_the_plain_one_told(tmp_path: Path) -> None:
    roll = long_roll(tmp_path)
    packed = Transcript(SOURCE.name, pack(roll.path), ROLLOUT)
    assert told_by(packed) == roll.events()


def test_a_cursor_stays_good_when_the_file_is_packed_and_unpacked(tmp_path: Path) -> None:
    roll = long_roll(tmp_path)
    plain = Transcript(SOURCE.name, roll.path, ROLLOUT)
    packed = Transcript(SOURCE.name, pack(roll.path), ROLLOUT)
    told: list[AnyEvent] = []
    cursor, forms = START, [plain, packed]
    while True:
        reading = SOURCE.read(forms[0], cursor, 5_000)
        assert not reading.restarted
        told += reading.events
        cursor = reading.cursor
        forms.reverse()
        if not reading.more:
            break
    assert told == roll.events()


def test_an_edit_is_settled_also_where_its_call_lies_in_an_earlier_part_of_a_packed_file(
    roll: Roll,
) -> None:
    roll.meta()
    patch = "*** Begin Patch\n*** Add File: a.txt\n+" + "long " * 400 + "\n*** End Patch"
    roll.item("custom_tool_call", name="apply_patch", call_id=CALL, input=patch)
    cut = roll.path.stat().st_size
    roll.output("Success. Updated the following files:\nA a.txt\n")
    packed = Transcript(SOURCE.name, pack(roll.path), ROLLOUT)
    first = SOURCE.read(packed, START, cut)
    second = SOURCE.read(packed, first.cursor)
    assert only(first.events, FileEdit).applied is None
    assert only(second.events, FileEdit).applied is True
    assert latest([*first.events, *second.events]) == roll.events()


@pytest.mark.parametrize("content", [b"no such frame", b"(\xb5/\xfd\x04\x00\x01"])
def test_a_damaged_packed_file_is_said_to_be_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl.zst"
    path.write_bytes(content)
    with pytest.raises(UnreadableTranscript):
        SOURCE.read(Transcript(SOURCE.name, path, ROLLOUT), START)
    assert zstd.line_at(path, 0) == b""


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.zst"])
def test_a_file_that_is_gone_is_said_to_be_unreadable(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableTranscript):
        SOURCE.read(Transcript(SOURCE.name, tmp_path / name, ROLLOUT), START)


def test_a_rollout_that_is_archived_adds_nothing(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "fork_replay", tmp_path, dirs_exist_ok=True)
    before = [event for item in found_in(tmp_path) for event in told_by(item)]
    archive = tmp_path / "archived_sessions"
    archive.mkdir()
    for path in (tmp_path / "sessions").rglob("*.jsonl"):
        path.rename(archive / path.name)
    after = [event for item in found_in(tmp_path) for event in told_by(item)]
    assert after == before
    assert latest([*before, *after]) == latest(before)


# --- copies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["fork_replay", "subagent_replay", "token_usage_record"])
@given(data=st.data())
def test_what_is_counted_does_not_depend_on_which_copy_is_read_first(
    case: str, data: st.DataObject
) -> None:
    told = [told_by(item) for item in found_in(FIXTURES / case)]
    shuffled = data.draw(st.permutations(told))
    in_order, anyhow = ([e for events in some for e in events] for some in (told, shuffled))
    assert spent(anyhow) == spent(in_order)


def backtrack(folder: Path, thread: str, parent: str | None, last: str, calls: list[str]) -> Roll:
    """A thread of a version without ids of turns; `parent` is the one it repeats."""
    roll = Roll(folder, thread)
    roll.meta()
    if parent:
        roll.meta(parent)
    running = 0
    for number, prompt in enumerate(("yes", "yes", last)):
        roll.said("user", prompt)
        roll.add("turn_context", cwd="/w/app", model="gpt-5-codex")
        roll.call("shell", calls[number], command=["bash", "-lc", "make"])
        roll.output('{"output":"","metadata":{"exit_code":0}}', calls[number])
        running += 1000 + len(prompt)
        roll.count(running, 1000 + len(prompt))
        roll.said("assistant", "done")
        roll.count(running, 1000 + len(prompt))
    return roll


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_before_turns_had_ids_a_thread_that_went_back_is_told_by_its_copied_first_line(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    calls = [f"call_{number:024d}" for number in range(4)]
    rolls = [
        backtrack(tmp_path, THREAD, None, "wrong", calls[:3]),
        backtrack(tmp_path, OTHER, THREAD, "right way", [*calls[:2], calls[3]]),
    ]
    events = [event for place in order for event in rolls[place].events()]
    sums = spent(events)
    assert sums["RequestUsage"] == 4
    assert sums["tokens"] == 4 * 1000 + len("yesyes" + "wrong" + "right way")
    assert sums["Prompt"] == sums["Reply"] == sums["ToolCall"] == 4
    facts = rolls[1].read().sessions[OTHER]
    assert (facts.parent, facts.relation) == (THREAD, "fork")


def test_two_threads_that_look_alike_are_not_one(tmp_path: Path) -> None:
    events = []
    for thread in (THREAD, OTHER):
        roll = Roll(tmp_path, thread)
        roll.meta()
        roll.said("user", "hello")
        roll.count(500, 500)
        roll.said("assistant", "hi")
        events += roll.events()
    assert spent(events)["tokens"] == 1000
    assert spent(events)["Prompt"] == spent(events)["Reply"] == 2


def test_a_turn_made_in_the_same_millisecond_as_its_thread_is_its_own(roll: Roll) -> None:
    roll.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}})
    roll.event("task_started", turn_id="0199c001-0000-7000-0000-000000000000")
    roll.said("user", "find it")
    assert only(roll.events(), Prompt).origin is Origin.PARENT_AGENT


def test_what_a_subagent_inherits_keeps_its_origin(roll: Roll) -> None:
    roll.meta(source={"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}})
    roll.event("task_started", turn_id="0199c000-0001-7000-8000-000000000000")
    roll.said("user", "a person said this to the parent")
    roll.event("turn_aborted", turn_id="0199c000-0001-7000-8000-000000000000", reason="interrupted")
    events = roll.events()
    assert only(events, Prompt).origin is Origin.HUMAN
    assert not any(isinstance(event, Interruption) for event in events)


def test_ids_of_calls_that_are_counters_name_a_call_only_within_its_turn(roll: Roll) -> None:
    roll.meta()
    for number in (1, 2):
        roll.event("task_started", turn_id=f"0199c001-000{number}-7000-8000-000000000000")
        roll.call("exec_command", "call_0", cmd="ls")
        roll.output("Exit code: 0\nWall time: 0 seconds\nOutput:\n", "call_0")
    assert spent(roll.events())["ToolCall"] == 2
    assert spent(roll.events())["ToolResult"] == 2


# --- tokens ---------------------------------------------------------------------------------------


@given(
    shares=st.lists(st.integers(1, 50), min_size=1, max_size=8),
    repeats=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    recorded=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_each_request_counts_once_however_often_and_in_whichever_way_it_is_told(
    tmp_path_factory: pytest.TempPathFactory,
    shares: list[int],
    repeats: list[int],
    recorded: list[bool],
) -> None:
    roll = Roll(tmp_path_factory.mktemp("roll"))
    roll.meta()
    roll.event("task_started", turn_id=TURN)
    running = own = 0
    lines = 0
    for number, share in enumerate(shares):
        running += share
        if recorded[number]:
            own += share
            usage = {"usage": tokens(share), "thread_token_usage": tokens(own)}
            roll.add("token_usage_record", turn_id=TURN, response_id=f"resp_{number}", **usage)
        for _ in range(1 + repeats[number]):
            roll.count(running, share)
        lines += 1 + repeats[number] + recorded[number]
    requests = [event for event in roll.events() if isinstance(event, RequestUsage)]
    assert [total(event) for event in requests] == shares
    assert [event.message is not None for event in requests] == recorded[: len(shares)]
    assert sum(event.lines for event in requests) == lines


def test_a_count_of_the_request_before_may_come_between_a_record_and_its_own_count(
    roll: Roll,
) -> None:
    roll.meta()
    roll.count(100, 100)
    roll.add("token_usage_record", response_id="resp_1", usage=tokens(7))
    roll.count(100, 100)
    roll.count(107, 7)
    requests = [event for event in roll.events() if isinstance(event, RequestUsage)]
    assert [total(event) for event in requests] == [100, 7]


@pytest.mark.parametrize("number", [-5, 2**60, "many", None])
def test_a_number_that_is_none_is_not_counted(roll: Roll, number: object) -> None:
    roll.meta()
    usage = {"input_tokens": number, "output_tokens": 9, "total_tokens": number}
    info = {"total_token_usage": tokens(50), "last_token_usage": usage}
    roll.event("token_count", info=info)
    request = only(roll.events(), RequestUsage)
    assert (request.input, request.output) == (None, 9)


def test_the_model_is_that_of_the_turn_also_in_a_later_reading(roll: Roll) -> None:
    roll.meta()
    roll.add("turn_context", cwd="/w/other place", model="model-a")
    roll.count(5, 5)
    first = roll.read()
    roll.count(9, 4)
    second = roll.read(first.cursor)
    assert [only(part.events, RequestUsage).model for part in (first, second)] == ["model-a"] * 2
    assert only(second.events, RequestUsage).cwd == "/w/other place"


def test_a_price_tier_holds_until_it_is_changed(roll: Roll) -> None:
    roll.meta()
    for running, tier in ((1, "flex"), (2, None), (3, "default")):
        roll.event("thread_settings_applied", thread_settings={"service_tier": tier})
        roll.count(running, 1)
    requests = [event for event in roll.events() if isinstance(event, RequestUsage)]
    assert [event.tier for event in requests] == ["flex", None, None]


# --- calls and edits ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "text", "code"),
    [
        ('{"output":"hi\\n","metadata":{"exit_code":3}}', "hi\n", 3),
        ('{"output": broken', '{"output": broken', None),
        ("Exit code: 3\nWall time: 1 seconds\nOutput:\nhi\n", "hi\n", 3),
        ("Exit code: 3\nWall time: 1 seconds\nTotal output lines: 9\n\nOutput:\nhi\n", "hi\n", 3),
        ("Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nhi\n", "hi\n", 3),
        ("Wall time: 1 seconds\nOutput:\nExit code: 3\nWall time: 0\nOutput:\nhi\n", "hi\n", 3),
        ("it says Exit code: 3 inside", "it says Exit code: 3 inside", None),
        ([{"type": "input_text", "text": "hi\n"}], "hi\n", None),
        ({"content": "hi\n", "success": True}, "hi\n", None),
        (None, "", None),
    ],
)
def test_an_answer_is_freed_of_the_lines_around_it(
    roll: Roll, output: Any, text: str, code: int | None
) -> None:
    roll.meta()
    roll.output(output)
    result = only(roll.events(), ToolResult)
    assert (result.text, result.exit_code) == (text, code)
    shown = output if isinstance(output, str) else text
    assert (result.shown or result.size) == len(shown)


@pytest.mark.parametrize(
    "middle",
    ["…12 tokens truncated…", "x" * 4_000 + "\n[... output truncated to fit 10240 bytes ...]"],
)
def test_an_output_of_which_the_middle_is_left_out_has_no_known_size(
    roll: Roll, middle: str
) -> None:
    roll.meta()
    roll.output(f"Exit code: 0\nWall time: 1 seconds\nOutput:\na\n{middle}\nb\n")
    result = only(roll.events(), ToolResult)
    assert result.truncated
    assert result.size is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"cmd": "ls -l"}, "ls -l"),
        ({"command": ["bash", "-lc", "ls | wc -l"]}, "ls | wc -l"),
        ({"command": ["/usr/bin/zsh", "-c", "ls"]}, "ls"),
        ({"command": ["powershell.exe", "-Command", "dir"]}, "dir"),
        ({"command": ["git", "-C", "x", "status"]}, "git -C x status"),
        ({"path": "/w/a.png"}, "/w/a.png"),
        ({"plan": []}, ""),
    ],
)
def test_a_call_is_about_its_command_as_it_would_be_typed(
    roll: Roll, arguments: dict[str, Any], text: str
) -> None:
    roll.meta()
    roll.call("shell", **arguments)
    assert only(roll.events(), ToolCall).text == text


def test_an_mcp_tool_has_its_server_wherever_that_is_written(roll: Roll) -> None:
    roll.meta()
    roll.call("mcp__docs__find", f"{CALL}1", query="x")
    arguments = json.dumps({"query": "y"})
    roll.item(
        "function_call", name="find", namespace="mcp__docs", call_id=f"{CALL}2", arguments=arguments
    )
    calls = [event for event in roll.events() if isinstance(event, ToolCall)]
    assert [(event.name, event.server) for event in calls] == [("mcp__docs__find", "docs")] * 2


def test_an_edit_takes_its_line_numbers_from_the_diff(roll: Roll) -> None:
    roll.meta()
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n keep\n-old\n+new\n*** End Patch"
    roll.item("custom_tool_call", name="apply_patch", call_id=CALL, input=patch)
    assert only(roll.events(), FileEdit).hunks == [Hunk(None, "old\n", "new\n")]
    diff = "@@ -41,2 +41,2 @@\n keep\n-old\n+new\n"
    changes = {"/w/app/a.py": {"type": "update", "unified_diff": diff}}
    roll.event("patch_apply_end", call_id=CALL, success=True, changes=changes)
    roll.output(
        "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:"
    )
    edit = only(roll.events(), FileEdit)
    assert edit.hunks == [Hunk(42, "old\n", "new\n")]
    assert edit.applied
    assert edit.path == "/w/app/a.py"


@pytest.mark.parametrize(
    ("folder", "path", "whole"),
    [
        ("/w/app", "src/a.py", "/w/app/src/a.py"),
        ("/w/app/", "./a.py", "/w/app/a.py"),
        ("/w/app", "/etc/a.py", "/etc/a.py"),
        ("C:\\w\\app", "src\\a.py", "C:\\w\\app\\src\\a.py"),
        ("C:\\w\\app", "D:\\a.py", "D:\\a.py"),
    ],
)
def test_a_path_is_told_from_the_root(roll: Roll, folder: str, path: str, whole: str) -> None:
    roll.add("turn_context", cwd=folder)
    patch = f"*** Begin Patch\n*** Delete File: {path}\n*** End Patch"
    roll.item("custom_tool_call", name="apply_patch", call_id=CALL, input=patch)
    assert only(roll.events(), FileEdit).path == whole


def test_a_refused_patch_was_not_applied(roll: Roll) -> None:
    roll.meta()
    patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch"
    roll.item("custom_tool_call", name="apply_patch", call_id=CALL, input=patch)
    roll.output("patch rejected by user")
    events = roll.events()
    assert only(events, FileEdit).applied is False
    assert only(events, ToolResult).basis is Basis.DECLINED


lines = st.text("abc +-*@\\", max_size=8)


@given(
    path=st.from_regex(r"[a-z]{1,8}/[a-z ]{0,6}[a-z]", fullmatch=True),
    removed=st.lists(lines, max_size=5),
    added=st.lists(lines, min_size=1, max_size=5),
)
def test_a_patch_is_read_as_it_was_written(path: str, removed: list[str], added: list[str]) -> None:
    body = [*(f"-{line}" for line in removed), *(f"+{line}" for line in added)]
    text = "\n".join(["*** Begin Patch", f"*** Update File: {path}", "@@", *body, "*** End Patch"])
    (found,) = patches.parse(text)
    old, new = ("".join(f"{line}\n" for line in some) for some in (removed, added))
    assert found.path == path
    assert found.change is not None
    assert found.change == ([Hunk(None, old, new)], len(added), len(removed))


@given(st.text())
def test_any_text_can_be_looked_at_for_patches(text: str) -> None:
    assert patches.parse(text) == [] or "*** Begin Patch" in text
    patches.parse(f"*** Begin Patch\n{text}")
    patches.from_unified(text)


def test_a_command_that_only_mentions_a_patch_changes_nothing() -> None:
    assert patches.in_command("grep -r '*** Begin Patch' .") is None
    assert patches.in_command("apply_patch <<E\n*** Begin Patch\nE") is not None


# --- sessions, prompts, kinds ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "driver", "recorded"),
    [
        ({"source": "cli", "originator": "codex_cli_rs"}, "human", True),
        ({"source": "vscode", "originator": "Codex Desktop"}, "human", True),
        ({"source": "vscode", "originator": "somebody's client"}, "human", False),
        ({"source": "exec", "originator": "codex_exec"}, "automated", True),
        ({"source": "vscode", "originator": "codex_exec"}, "automated", True),
        ({"source": "mcp"}, "automated", True),
        ({"source": {"custom": "atlas"}, "originator": "codex_cli_rs"}, "human", False),
        ({"source": {"subagent": "review"}}, "subagent", True),
        ({"source": {"internal": "guardian"}}, "subagent", True),
        ({"source": "cli", "thread_source": "subagent"}, "subagent", True),
        ({}, "human", False),
    ],
)
def test_who_drove_a_session(
    roll: Roll, fields: dict[str, Any], driver: str, recorded: bool
) -> None:
    roll.add("session_meta", id=THREAD, **fields)
    facts = roll.read().sessions[THREAD]
    assert (facts.driver, facts.driver_recorded) == (driver, recorded)


def test_a_file_without_a_telling_name_has_the_thread_of_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "saved.jsonl"
    path.write_text(
        json.dumps({"type": "session_meta", "payload": {"id": THREAD}})
        + "\n"
        + json.dumps({"type": "response_item", "payload": {"role": "user", "content": "hello"}})
        + "\n"
    )
    transcript = Transcript(SOURCE.name, path, ROLLOUT)
    first = SOURCE.read(transcript, START, 1)
    second = SOURCE.read(transcript, first.cursor)
    assert only(second.events, Prompt).session == THREAD


def test_the_same_words_in_one_turn_are_two_events(roll: Roll) -> None:
    roll.meta()
    roll.event("task_started", turn_id=TURN)
    for _ in range(3):
        roll.said("assistant", "still at it")
    assert spent(roll.events())["Reply"] == 3


def test_a_person_who_speaks_again_within_a_turn_was_queued(roll: Roll) -> None:
    roll.meta()
    for turn in (TURN, "0199c001-0002-7000-8000-000000000001"):
        roll.event("task_started", turn_id=turn)
        roll.said("user", "first")
        roll.said("user", "second")
    prompts = [event for event in roll.events() if isinstance(event, Prompt)]
    assert [event.origin for event in prompts] == [Origin.HUMAN, Origin.QUEUED_HUMAN] * 2


def test_a_compaction_told_by_a_sealed_item_alone_is_one(roll: Roll) -> None:
    roll.meta()
    roll.item("compaction", encrypted_content="gAAAA")
    assert only(roll.events(), Compaction).text == ""


@pytest.mark.parametrize("kind", sorted(IGNORED))
def test_a_kind_left_out_on_purpose_leaves_nothing(roll: Roll, kind: str) -> None:
    roll.meta()
    family, _, member = kind.rpartition("/")
    if family == "item_completed":
        roll.event("item_completed", item={"type": member, "id": "x"})
    elif family == "record_type":
        with roll.path.open("a") as file:
            file.write('{"record_type":"state"}\n')
    elif family:
        roll.add(family, type=member)
    else:
        roll.add(kind, x=1)
    assert roll.events() == []


def test_the_page_on_the_format_lists_every_kind_left_out() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \|$", DOCS.read_text("utf-8"), re.MULTILINE)
    listed = {kind: reason for kind, reason in rows if kind in IGNORED}
    assert listed == IGNORED


def test_unknown_kinds_leave_a_trace_and_no_content(roll: Roll) -> None:
    roll.meta()
    roll.item("telepathy", thought="secret words")
    event = only(roll.events(), Unrecognised)
    assert event.name == "response_item/telepathy"
    assert "secret" not in repr(event)


def test_notes_of_another_version_make_it_begin_again(roll: Roll) -> None:
    roll.meta()
    roll.said("assistant", "hello")
    cursor = roll.read().cursor
    spoiled = Cursor(cursor.offset, cursor.line, cursor.check, {"calls": 5})
    again = roll.read(spoiled)
    assert again.restarted
    assert only(again.events, Reply).text == "hello"


# --- a synthetic world ----------------------------------------------------------------------------


def test_what_was_planted_in_a_synthetic_world_comes_back(tmp_path: Path) -> None:
    world = build(tmp_path, seed=11, now_ms=NOW, sessions=40, weeks=4, agents=["codex"])
    found = SOURCE.reading_order(list(SOURCE.discover(Environment(world.home, {}), [])))
    events: dict[str, list[AnyEvent]] = {}
    for event in latest(event for item in found for event in told_by(item)):
        events.setdefault(event.session, []).append(event)
    assert sorted(events) == sorted(truth.id for truth in world.truth.sessions)
    for truth in world.truth.sessions:
        own = events[truth.id]
        requests = [event for event in own if isinstance(event, RequestUsage)]
        assert len(requests) == truth.requests
        assert sum(map(total, requests)) == truth.tokens.total
        assert sum(event.reasoning or 0 for event in requests) == truth.tokens.reasoning
        origins = Counter(str(event.origin) for event in own if isinstance(event, Prompt))
        assert {name: origins[name] for name in truth.prompts} == truth.prompts
        assert Counter(str(event.tool) for event in own if isinstance(event, ToolCall)) == (
            truth.calls
        )
        assert sum(isinstance(event, Interruption) for event in own) == truth.interruptions
        assert sum(isinstance(event, Compaction) for event in own) == truth.compactions
    results = {
        event.call: event
        for own in events.values()
        for event in own
        if isinstance(event, ToolResult)
    }
    for failure in world.truth.failures:
        result = results[failure.call]
        assert result.status is (Status.UNKNOWN if failure.masked else Status.FAILED)


# --- real rollouts --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told(corpus: Path) -> dict[Path, list[Reading]]:
    found = [Transcript(SOURCE.name, path, ROLLOUT) for path in (corpus / "codex").rglob("*.jsonl")]
    return {item.path: list(readings(item)) for item in SOURCE.reading_order(found)}


def test_every_real_line_is_known(told: dict[Path, list[Reading]]) -> None:
    events = [event for parts in told.values() for part in parts for event in part.events]
    unknown = Counter(event.name for event in events if isinstance(event, Unrecognised))
    assert unknown == {}
    assert not any(part.problems for parts in told.values() for part in parts)


def test_every_real_thread_took_what_its_running_total_says(
    told: dict[Path, list[Reading]],
) -> None:
    real = [path for path in told if thread_of(path.name)]  # others were made by hand
    assert real
    for path in real:
        running = 0
        for line in path.read_text("utf-8").split("\n"):
            payload = (json.loads(line) if line else {}).get("payload") or {}
            if payload.get("type") == "token_count" and payload["info"]:
                running = payload["info"]["total_token_usage"]["total_tokens"]
        events = latest(event for part in told[path] for event in part.events)
        counted = [event for event in events if isinstance(event, RequestUsage)]
        assert sum(map(total, counted)) == running


def test_every_real_list_of_prompts_is_read(corpus: Path) -> None:
    for path in (corpus / "codex_history").rglob("history.jsonl"):
        (reading,) = readings(Transcript(SOURCE.name, path, HISTORY))
        whole = [line for line in path.read_bytes().split(b"\n") if line.strip()]
        assert reading.records == len(whole)
        assert reading.problems == []
        assert len(reading.events) == len(set(whole))


def test_copies_of_real_rollouts_in_any_order_add_nothing(told: dict[Path, list[Reading]]) -> None:
    by_file = [[event for part in parts for event in part.events] for parts in told.values()]
    once = [event for events in by_file for event in events]
    random.Random(7).shuffle(by_file)
    again = [event for events in by_file for event in events]
    assert spent([*again, *once]) == spent(once)
