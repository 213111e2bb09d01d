"""What is measured, for each program and each size."""

import json
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import measure
from history import History
from hook_cost import HookCall
from tools import Tool, hansei

SHORT_RUNS = 5
PLAIN = ("permission denied", "import", "no such text anywhere 7f3a")
REGEX = (r"error(:| TS)\d*", r"[A-Z][a-z]+Error: .{0,40}not")


class Row(NamedTuple):
    """One program on one history; seconds, None where there is nothing to measure."""

    tool: Tool
    first_cold: float | None
    first_warm: float | None
    again: float
    report: float
    appended: float
    memory: float | None
    stored: int | None


class Search(NamedTuple):
    """One search by us and by rg over the raw files."""

    text: str
    is_regex: bool
    ours: float
    rg: float


class Measured(NamedTuple):
    history: History
    rows: list[Row]
    searches: list[Search]
    missing: list[str]


class Growth(NamedTuple):
    bytes: int
    first: float
    summary: float
    facts: float
    """Working out every fact for the first time."""
    facts_megabytes: float | None
    facts_again: float
    """Showing them when nothing is new."""


class Alone(NamedTuple):
    """What is measured of us without a history of each size."""

    start: "StartUp"
    redaction: float
    """The part of a first run that it takes."""
    hooks: list[HookCall]


class StartUp(NamedTuple):
    """Medians in milliseconds."""

    python: float
    help: float
    version: float


def take_measures(tool: Tool, history: History) -> Row:
    """Everything about one program."""
    tool.forget()
    evicted = measure.evict(history.home)
    cold = measure.run(tool.take_in, tool.environment, watch_memory=True)
    again = measure.typical(tool.take_in, tool.environment, SHORT_RUNS)
    measure.run(tool.report, tool.environment)  # some build what they report from on the first call
    reported = measure.typical(tool.report, tool.environment, SHORT_RUNS)
    stored = _stored(tool)
    appended = _appended(tool, history)
    return Row(
        tool=tool,
        first_cold=cold.seconds if evicted else None,
        first_warm=_first_warm(tool, cold.seconds),
        again=again,
        report=reported,
        appended=appended,
        memory=cold.megabytes,
        stored=stored,
    )


def too_slow(tool: Tool, history: History, smaller: list[Measured], patience: float) -> str | None:
    """Why a program is left out: going by a smaller history, it would take too long."""
    for measured in smaller:
        for row in measured.rows:
            first = row.first_cold or row.first_warm
            factor = history.bytes / measured.history.bytes
            if row.tool.name == tool.name and first is not None and first * factor > patience:
                return f"{tool.name} is left out: it took {first:.0f} s for a smaller history."
    return None


def _first_warm(tool: Tool, cold: float) -> float | None:
    """A first run on files in memory; left out where it takes minutes and the disk is not why."""
    if cold > 60:
        return None
    tool.forget()
    return measure.run(tool.take_in, tool.environment).seconds


def _stored(tool: Tool) -> int | None:
    if tool.store is None:
        return None
    if tool.store.is_dir():
        return measure.size(tool.store)
    beside = tool.store.parent.glob(f"{tool.store.name}*")
    return sum(path.stat().st_size for path in beside)


def _appended(tool: Tool, history: History) -> float:
    """From a new line in a transcript to a report that shows it. Ours is checked to show it."""
    transcript = max(history.home.rglob("*.jsonl"), key=lambda path: (path.stat().st_size, path))
    before = transcript.read_bytes()
    tokens_before = _output_tokens(tool)
    try:
        with transcript.open("ab") as file:
            file.write(_line(transcript))
        started = time.perf_counter()
        if not tool.looks_by_itself:
            measure.run(tool.take_in, tool.environment)
        shown = measure.run(tool.report, tool.environment)
        seconds = time.perf_counter() - started
    finally:
        transcript.write_bytes(before)
    if tool.name == "hansei" and _tokens(shown.output) != tokens_before + NEW_TOKENS:
        raise SystemExit("the appended line does not show in the summary")
    return seconds


NEW_TOKENS = 777


def _line(transcript: Path) -> bytes:
    """An answer that nobody has seen before."""
    stamp = time.time_ns()
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": NEW_TOKENS,
    }
    message = {
        "id": f"msg_bench{stamp}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": "done"}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    record = {
        "type": "assistant",
        "uuid": f"00000000-0000-4000-8000-{stamp % 16**12:012x}",
        "parentUuid": None,
        "sessionId": transcript.stem,
        "requestId": f"req_bench{stamp}",
        "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "cwd": "/bench",
        "version": "2.1.0",
        "message": message,
    }
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _output_tokens(tool: Tool) -> int:
    if tool.name != "hansei":
        return 0
    return _tokens(measure.run(tool.report, tool.environment).output)


def _tokens(output: str) -> int:
    total: int = json.loads(output)["total"]["tokens"]["output"]
    return total


def searches(tool: Tool, history: History) -> list[Search]:
    """Ours against rg over the raw files, both asked to find every match."""
    rg = shutil.which("rg")
    if rg is None:
        return []
    program = tool.take_in[0]
    found = []
    for text, is_regex in [(text, False) for text in PLAIN] + [(text, True) for text in REGEX]:
        flags = ["-e"] if is_regex else []
        ours = [program, "search", "--all", "--no-ingest", *flags, "--", text]
        kind = ["-e"] if is_regex else ["-F", "-e"]
        theirs = [rg, "-i", "-c", *kind, text, str(history.home / ".claude")]
        found.append(
            Search(text, is_regex, _any_outcome(ours, tool.environment), _any_outcome(theirs, {}))
        )
    return found


def _any_outcome(command: list[str], environment: dict[str, str]) -> float:
    """The median time; finding nothing is an outcome too."""
    times = []
    for _ in range(SHORT_RUNS):
        started = time.perf_counter()
        subprocess.run(command, env=environment, capture_output=True, check=False)
        times.append(time.perf_counter() - started)
    return sorted(times)[len(times) // 2]


def growth(tool: Tool, history: History) -> Growth:
    first = measure.run(tool.take_in, tool.environment).seconds
    summary = measure.typical(tool.report, tool.environment, SHORT_RUNS)
    command = [tool.take_in[0], "facts", "--all", "--no-ingest", "--json"]
    facts = measure.run(command, tool.environment, watch_memory=True)
    again = measure.typical(command, tool.environment, SHORT_RUNS)
    return Growth(history.bytes, first, summary, facts.seconds, facts.megabytes, again)


def start_up(folder: Path) -> StartUp:
    """What a command costs before it does anything."""
    home = folder / "start"
    home.mkdir()
    tool = hansei(home)
    program = tool.take_in[0]
    commands = ([sys.executable, "-c", "pass"], [program, "--help"], [program, "--version"])
    times = [measure.typical(command, tool.environment, 15) * 1000 for command in commands]
    return StartUp(*times)
