"""The hook writes one whole line, and nothing that happens to it reaches the agent."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from any_event import JSON
from hansei.hook import record, words
from hansei.hook.notation import parsed, written
from hook_calls import PROGRAM, call, command, looked, spooled

SECRET = "the text of a prompt that nobody may keep"
TOOL = {
    "session_id": "5f1c",
    "tool_use_id": "toolu_1",
    "tool_name": "Bash",
    "tool_input": {"command": SECRET},
    "hook_event_name": "PreToolUse",
}


def test_a_call_becomes_one_line_without_any_text(tmp_path: Path) -> None:
    said = {**TOOL, "prompt": SECRET, "tool_response": {"stdout": SECRET}, "reason": SECRET}
    assert call(tmp_path, said) == ""
    (line,) = spooled(tmp_path)
    at = line.pop("at")
    assert abs(at / 1000 - time.time()) < 60
    assert {name: line[name] for name in ("v", "agent", "hook", "session", "call", "tool")} == {
        "v": 1,
        "agent": "claude_code",
        "hook": "PreToolUse",
        "session": "5f1c",
        "call": "toolu_1",
        "tool": "Bash",
    }
    assert line["prompt"]["bytes"] == len(SECRET)
    assert "reason" not in line
    assert SECRET[:12] not in (tmp_path / "spool" / "hooks.jsonl").read_text()


def test_the_spool_is_private(tmp_path: Path) -> None:
    call(tmp_path, TOOL)
    folder = tmp_path / "spool"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "hooks.jsonl").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\xff\xfe garbage",
        b"null",
        b"[1, 2",
        b'"text"',
        b'{"session_id": "5f1c"',
        b"[" * 100_000,
        b'{"session_id": ' + b"9" * 10_000 + b"}",
        json.dumps({"session_id": ["x"], "cwd": 7, "tool_input": None}).encode(),
        json.dumps({"session_id": "\ud800", "cwd": "/a\x00b"}).encode(),
    ],
    ids=range(10),
)
def test_garbage_is_noted_and_ends_well(tmp_path: Path, data: bytes) -> None:
    assert call(tmp_path, data, event="SessionStart") == ""
    assert spooled(tmp_path)[0]["hook"] == "SessionStart"


def test_ten_megabytes_are_read_to_the_end(tmp_path: Path) -> None:
    call(tmp_path, {**TOOL, "tool_input": {"content": "x" * 10_000_000}})
    (line,) = spooled(tmp_path)
    assert line["input"]["bytes"] > 10_000_000
    assert len(json.dumps(line)) < 1_000


def test_a_closed_stdin_and_stdout_do_no_harm(tmp_path: Path) -> None:
    quoted = " ".join(f"'{part}'" for part in command(tmp_path))
    done = subprocess.run(["sh", "-c", f"{quoted} <&- >&-"], stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, b"")
    assert spooled(tmp_path)[0]["unread"] == 0


def test_an_agent_that_never_closes_its_end_is_not_waited_for(tmp_path: Path) -> None:
    process = subprocess.Popen(command(tmp_path), stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(TOOL).encode())
    process.stdin.flush()
    assert process.wait(timeout=10) == 0
    process.stdin.close()
    assert spooled(tmp_path)[0]["session"] == "5f1c"


def test_a_home_that_is_gone_stays_gone(tmp_path: Path) -> None:
    assert call(tmp_path / "gone", TOOL) == ""
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("obstacle", ["folder is a file", "file is a folder", "file is a link"])
def test_a_spool_that_cannot_be_written_is_left_alone(tmp_path: Path, obstacle: str) -> None:
    spool, other = tmp_path / "spool", tmp_path / "other"
    other.write_text("mine")
    if obstacle == "folder is a file":
        spool.write_text("mine")
    else:
        spool.mkdir()
        target = spool / "hooks.jsonl"
        target.mkdir() if obstacle == "file is a folder" else target.symlink_to(other)
    assert call(tmp_path, TOOL) == ""
    assert other.read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for the superuser")
def test_a_read_only_home_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert call(tmp_path, TOOL) == ""
    finally:
        tmp_path.chmod(0o700)


def test_a_line_torn_by_a_full_disk_does_not_spoil_the_next(tmp_path: Path) -> None:
    def nearly_full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60, 60))

    call(tmp_path, TOOL, preexec_fn=nearly_full)
    path = tmp_path / "spool" / "hooks.jsonl"
    assert path.stat().st_size == 60
    call(tmp_path, {**TOOL, "session_id": "after"})
    assert json.loads(path.read_bytes().splitlines()[-1])["session"] == "after"


def test_a_full_spool_takes_no_more(tmp_path: Path) -> None:
    call(tmp_path, TOOL)
    path = tmp_path / "spool" / "hooks.jsonl"
    os.truncate(path, record.MOST_BYTES)
    call(tmp_path, TOOL)
    assert path.stat().st_size == record.MOST_BYTES


def test_two_first_hooks_at_once_are_both_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.mkdir

    def other_was_faster(path: str, mode: int) -> None:
        plain(path, mode)
        plain(path, mode)

    monkeypatch.setattr(os, "mkdir", other_was_faster)
    assert record.append(str(tmp_path), {"session": "5f1c"})
    assert spooled(tmp_path) == [{"session": "5f1c"}]


def test_an_input_that_comes_late_and_in_pieces_is_waited_for(tmp_path: Path) -> None:
    process = subprocess.Popen(command(tmp_path), stdin=subprocess.PIPE)
    assert process.stdin is not None
    data = json.dumps(TOOL).encode()
    for piece in (data[:20], data[20:]):
        time.sleep(1.2)
        process.stdin.write(piece)
        process.stdin.flush()
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    assert spooled(tmp_path)[0]["session"] == "5f1c"


def writers(tmp_path: Path, calls: int) -> list[dict[str, object]]:
    """Eight processes at once, each calling the hook many times; returns every line."""
    program = (
        "import subprocess, sys, json\n"
        "writer, calls, *command = sys.argv[1:]\n"
        "for n in range(int(calls)):\n"
        "    said = {'session_id': writer, 'tool_use_id': str(n), 'tool_input': 'x' * (n * 7)}\n"
        "    subprocess.run(command, input=json.dumps(said).encode(), check=True)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, f"w{number}", str(calls), *command(tmp_path)]
        )
        for number in range(8)
    ]
    assert [process.wait() for process in running] == [0] * 8
    return spooled(tmp_path)


def check_whole(lines: list[dict[str, object]], calls: int) -> None:
    expected = {(f"w{writer}", str(n)) for writer in range(8) for n in range(calls)}
    assert len(lines) == len(expected)
    assert {(line["session"], line["call"]) for line in lines} == expected


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_writers_leave_whole_lines(tmp_path: Path) -> None:
    check_whole(writers(tmp_path, 100), 100)


@pytest.mark.prove
def test_very_many_writers_leave_whole_lines(tmp_path: Path) -> None:
    check_whole(writers(tmp_path, 2_000), 2_000)


def fastest(arguments: list[str], runs: int = 15) -> float:
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        subprocess.run(arguments, input=json.dumps(TOOL).encode(), check=True)
        taken.append(time.perf_counter() - started)
    return min(taken)


def test_a_call_takes_little_more_than_starting_python(tmp_path: Path) -> None:
    """The promise is three times; the bound is wider, since other work disturbs the clock."""
    base = fastest([sys.executable, "-S", "-c", "pass"])
    assert fastest(command(tmp_path)) < 5 * base


def test_the_hook_imports_nothing_heavy(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *command(tmp_path)[3:]],
        input=json.dumps(TOOL).encode(),
        capture_output=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert not loaded & {"re", "json", "typing", "pathlib", "hashlib", "subprocess", "enum"}
    ours = {name for name in loaded if name.startswith("hansei.")}
    assert ours == {
        "hansei.hook",
        *(f"hansei.hook.{name}" for name in ("words", "notation", "repository", "record")),
    }


def test_a_hook_whose_other_files_are_gone_ends_well(tmp_path: Path) -> None:
    alone = tmp_path / "lib" / "hansei" / "hook" / "run.py"
    alone.parent.mkdir(parents=True)
    alone.write_text(PROGRAM.read_text())
    arguments = [sys.executable, "-I", "-S", str(alone), str(tmp_path), "claude_code", "Stop"]
    done = subprocess.run(arguments, input=b"{}", capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@given(st.binary(max_size=200) | JSON.map(json.dumps).map(str.encode))
def test_any_input_makes_a_short_line(data: bytes) -> None:
    line = record.observed("claude_code", "Stop", data, 1)
    text = written(line)
    assert json.loads(text) == line
    assert "\n" not in text


names = st.sampled_from(
    sorted({name for own in words.OWN for names in words.words(own).values() for name in names})
)


@given(st.sampled_from(sorted(words.OWN)), st.dictionaries(names, JSON))
def test_whatever_stands_in_an_agents_fields_makes_a_line(
    agent: str, said: dict[str, object]
) -> None:
    line = record.observed(agent, "Stop", json.dumps(said).encode(), 1)
    assert json.loads(written(line)) == line
    assert all(isinstance(line.get(name, ""), str) for name in ("session", "call", "cwd", "tool"))


@given(JSON)
def test_what_is_written_is_read_as_it_was(value: object) -> None:
    assert parsed(written(value).encode()) == value
    assert json.loads(written(value)) == value


@pytest.mark.parametrize(
    ("agent", "event", "said", "expected"),
    [
        (
            "codex",
            "PreToolUse",
            {"session_id": "s", "turn_id": "t", "tool_use_id": "c", "tool_name": "Bash"},
            {"session": "s", "turn": "t", "call": "c", "tool": "Bash"},
        ),
        (
            "cursor",
            "stop",
            {
                "conversation_id": "s",
                "generation_id": "g",
                "cursor_version": "2.1",
                "status": "completed",
                "workspace_roots": ["/nowhere/app"],
                "input_tokens": 100,
                "output_tokens": 5,
                "cache_read_tokens": 60,
            },
            {
                "session": "s",
                "turn": "g",
                "version": "2.1",
                "reason": "completed",
                "cwd": "/nowhere/app",
                "tokens": {"input": 100, "output": 5, "cache_read": 60},
            },
        ),
        (
            "copilot",
            "postToolUse",
            {"sessionId": "s", "toolName": "bash", "cwd": "/nowhere"},
            {"session": "s", "tool": "bash", "hook": "postToolUse"},
        ),
        ("gemini", "", {"session_id": "s", "hook_event_name": "AfterTool"}, {"hook": "AfterTool"}),
        (
            "opencode",
            "tool.execute.after",
            {"sessionID": "s", "callID": "c", "tool": "bash", "directory": "/nowhere"},
            {"session": "s", "call": "c", "tool": "bash", "cwd": "/nowhere"},
        ),
        (
            "openclaw",
            "command:new",
            {"context": {"sessionId": "s", "workspaceDir": "/nowhere"}},
            {"session": "s", "cwd": "/nowhere"},
        ),
        ("somebody else", "x", {"session_id": "s"}, {"agent": "somebody else", "session": "s"}),
        (
            "claude_code",
            "PreToolUse",
            {"session_id": "s", "conversation_id": "s", "cursor_version": "2.1"},
            {"agent": "cursor", "session": "s"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_agent_is_understood_in_its_own_words(
    agent: str, event: str, said: dict[str, object], expected: dict[str, object]
) -> None:
    line = record.observed(agent, event, json.dumps(said).encode(), 1)
    assert {name: line.get(name) for name in expected} == expected


@pytest.fixture
def slow_git(tmp_path: Path) -> dict[str, str]:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\nsleep 4\nexec /usr/bin/env false\n")
    (folder / "git").chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_the_agent_does_not_wait_for_the_slow_look(
    tmp_path: Path, slow_git: dict[str, str]
) -> None:
    repository = tmp_path / "app"
    (repository / ".git").mkdir(parents=True)
    said = {"session_id": "5f1c", "cwd": str(repository), "source": "startup"}
    started = time.monotonic()
    call(tmp_path, said, event="SessionStart", env=slow_git)
    assert time.monotonic() - started < 3  # it would be eight seconds: git is asked twice
    (seen,) = looked(tmp_path)
    assert "dirty" not in seen
