"""The status line: what is known, briefly; nothing where nothing is known; never an error."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.hook import known, statusline
from hansei.hook.statusline import status
from hook_calls import PROGRAM, spooled

SAID: dict[str, Any] = {
    "session_id": "5f1c",
    "cost": {"total_cost_usd": 0.4213},
    "context_window": {"used_percentage": 41.2, "context_window_size": 200_000},
}


def shown(home: Path, said: object, own: str | None = None) -> str:
    return status(str(home), json.dumps(said).encode(), own).decode()


def transcript(folder: Path, *calls: tuple[str, bool], usage: dict[str, int] | None = None) -> str:
    """A transcript of shell calls, each with whether it failed."""
    lines = []
    for number, (command, failed) in enumerate(calls):
        use = {"type": "tool_use", "id": f"t{number}", "name": "Bash"}
        part = {**use, "input": {"command": command}}
        lines.append({"type": "assistant", "message": {"content": [part], "usage": usage}})
        text = "Exit code 1\nloader: cannot load" if failed else "ok"
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        lines.append({"message": {"content": [{**result, "is_error": failed}]}})
    path = folder / "transcript.jsonl"
    path.write_text("".join(json.dumps(it) + "\n" for it in lines))
    return str(path)


def test_cost_and_context_are_shown(tmp_path: Path) -> None:
    assert shown(tmp_path, SAID) == "$0.42 · context 41%"


def test_what_is_not_known_is_left_out(tmp_path: Path) -> None:
    said = {"cost": {"total_cost_usd": None}, "context_window": {"used_percentage": None}}
    assert shown(tmp_path, said) == ""
    assert shown(tmp_path, {"cost": {"total_cost_usd": 0}}) == "$0.00"


def test_without_a_share_the_last_request_tells_the_context(tmp_path: Path) -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 84_000}
    path = transcript(tmp_path, ("ls", False), usage=usage)
    assert shown(tmp_path, {"transcript_path": path}) == "context 84k"
    with Path(path).open("a") as file:  # what the program says in the place of a model
        file.write(json.dumps({"message": {"content": [], "usage": {"input_tokens": 0}}}) + "\n")
    assert shown(tmp_path, {"transcript_path": path}) == "context 84k"


@pytest.mark.parametrize(
    ("calls", "warning"),
    [
        ([("pytest -q", True)], ""),
        ([("pytest -q", True), ("ls", False), ("pytest -q", True)], "⚠ pytest -q failed 2×"),
        ([("pytest -q", True), ("pytest -q", True), ("pytest -q", False)], ""),
        ([("a", True), ("a", True), ("b", True), ("b", True), ("b", True)], "⚠ b failed 3×"),
        ([("a\x1b[31m\nb", True), ("a\x1b[31m\nb", True)], "⚠ a [31m b failed 2×"),
    ],
)
def test_what_fails_again_and_has_not_succeeded_since_is_warned_of(
    tmp_path: Path, calls: list[tuple[str, bool]], warning: str
) -> None:
    assert shown(tmp_path, {"transcript_path": transcript(tmp_path, *calls)}) == warning


def test_a_failure_known_here_is_warned_of_at_once_with_what_helped(tmp_path: Path) -> None:
    failure = {"id": "f", "words": ["loader"], "pieces": ["cannot load"], "fix": "loader --calm"}
    file = tmp_path / known.place(str(tmp_path))
    file.parent.mkdir()
    file.write_text(json.dumps({"v": 1, "failures": [failure]}))
    path = transcript(tmp_path, ("loader x", True))
    said = {"transcript_path": path, "workspace": {"current_dir": str(tmp_path)}}
    assert shown(tmp_path, said) == "⚠ loader x failed, before: loader --calm"


def test_only_the_end_of_a_transcript_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = transcript(tmp_path, *[("early", True)] * 3, *[("later", False)] * 50)
    assert "early" in shown(tmp_path, {"transcript_path": path})
    monkeypatch.setattr(statusline, "TAIL_BYTES", 4_000)
    assert shown(tmp_path, {"transcript_path": path}) == ""


def test_a_refused_call_is_no_failure(tmp_path: Path) -> None:
    path = Path(transcript(tmp_path, ("rm x", True), ("rm x", True)))
    path.write_text(path.read_text().replace("Exit code 1", "The user doesn't want to proceed"))
    assert shown(tmp_path, {"transcript_path": str(path)}) == ""


def test_a_persons_own_line_stays_and_ours_stands_beside_it(tmp_path: Path) -> None:
    own = 'printf "\\033[1mmine\\033[0m\\nsecond "; wc -c'
    size = len(json.dumps(SAID))
    wanted = f"\x1b[1mmine\x1b[0m\nsecond {size} · $0.42 · context 41%"
    assert shown(tmp_path, SAID, own) == wanted
    assert shown(tmp_path, {}, "echo mine") == "mine"
    assert shown(tmp_path, SAID, "exit 3") == "$0.42 · context 41%"


def test_an_own_line_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statusline, "OWN_SECONDS", 0.2)
    started = time.monotonic()
    assert shown(tmp_path, SAID, "exec sleep 20") == "$0.42 · context 41%"
    assert time.monotonic() - started < 10


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.text(max_size=9),
        lambda it: (
            st.lists(it, max_size=3)
            | st.dictionaries(st.sampled_from(["cost", "total_cost_usd", "cwd"]), it)
        ),
    ).map(lambda it: json.dumps(it).encode())
)
def test_whatever_comes_in_a_line_or_nothing_goes_out(data: bytes) -> None:
    assert b"Traceback" not in status("/nowhere", data)


def test_it_is_run_by_the_launcher_writes_no_spool_and_imports_nothing_heavy(
    tmp_path: Path,
) -> None:
    path = transcript(tmp_path, *[("pytest -q", True)] * 200)
    command = [str(PROGRAM), str(tmp_path), "claude_code", "statusline", "echo mine"]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", *command],
        input=json.dumps({**SAID, "transcript_path": path}).encode(),
        capture_output=True,
    )
    assert done.returncode == 0
    assert done.stdout.decode().startswith("mine · $0.42 · context 41% · ⚠ pytest -q failed")
    assert spooled(tmp_path) == []
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert not loaded & {"re", "json", "typing", "pathlib", "hashlib", "subprocess", "enum"}
