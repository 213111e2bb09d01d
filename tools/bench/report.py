"""The report: docs/performance.md and its plot."""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from cases import Alone, Growth, Measured, Row
from history import ROOT

PAGE = ROOT / "docs" / "performance.md"
PLOT = ROOT / "docs" / "performance.svg"


def page(results: list[Measured], growth: list[Growth], alone: Alone, *, now: float) -> str:
    """The whole page."""
    day = datetime.fromtimestamp(now, UTC).date().isoformat()
    cores = os.cpu_count() or 1
    lines = [
        "# Performance",
        "",
        "Written by `make bench`; do not edit the tables by hand.",
        "",
        (
            f"Measured on {day}, {cores} cores, Python {platform.python_version()}. Times are this"
            " machine's; the ratios were taken within one run on the same files, and are what to"
            " look at. A ratio above 1 means that the other program takes longer."
        ),
        "",
    ]
    for measured in results:
        lines += _size(measured)
    lines += _growth(growth)
    start = alone.start
    lines += [
        "## Start-up",
        "",
        (
            f"`python -c pass` takes {start.python:.0f} ms; `hansei --help` {start.help:.0f} ms"
            f" ({start.help / start.python:.1f}x), `hansei --version` {start.version:.0f} ms"
            f" ({start.version / start.python:.1f}x)."
        ),
        "",
        "## Hooks",
        "",
        "What a call costs the agent, launcher included, against `python -S -c pass` in turn.",
        "",
        "| | a call | python alone | ratio |",
        "|---|---:|---:|---:|",
        *(
            f"| {call.what} | {call.taken:.0f} ms | {call.python:.0f} ms"
            f" | {call.taken / call.python:.1f}x |"
            for call in alone.hooks
        ),
        "",
        "## Redaction",
        "",
        f"Taking secrets out takes {alone.redaction:.0%} of a first run in one process.",
        "",
        (Path(__file__).parent / "reading.md").read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def _size(measured: Measured) -> list[str]:
    history = measured.history
    share = history.recent_bytes / history.bytes
    lines = [
        f"## {history.bytes / 1e6:,.0f} MB, {history.files:,} files",
        "",
        (
            f"Made from {history.origin} under new ids and times, {share:.0%} of it in the last"
            " seven days."
        ),
        "",
        "| | " + " | ".join(f"{row.tool.name} {row.tool.version}" for row in measured.rows) + " |",
        "|---|" + "---:|" * len(measured.rows),
        _line("first run, files not in memory", [row.first_cold for row in measured.rows]),
        _line("first run, files in memory", [row.first_warm for row in measured.rows]),
        _line("second run, nothing new", [row.again for row in measured.rows]),
        _line("report, nothing new", [row.report for row in measured.rows]),
        _line("one new line until it is in the report", [row.appended for row in measured.rows]),
        _memory(measured.rows),
        _stored(measured),
        "",
    ]
    lines += [f"{reason}\n" for reason in measured.missing]
    if measured.searches:
        lines += [
            "| search | hansei | rg -i -c over the raw files | hansei / rg |",
            "|---|---:|---:|---:|",
        ]
        for one in measured.searches:
            kind = "regex " if one.is_regex else ""
            lines.append(
                f"| {kind}`{_cell(one.text)}` | {one.ours:.2f} s | {one.rg:.2f} s |"
                f" {one.ours / one.rg:.1f} |"
            )
        lines.append("")
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _line(label: str, seconds: list[float | None]) -> str:
    ours = seconds[0]
    cells = []
    for index, value in enumerate(seconds):
        if value is None:
            cells.append("not measured")
        elif index == 0 or ours is None:
            cells.append(f"{value:.2f} s")
        else:
            cells.append(f"{value:.2f} s ({value / ours:.2g}x)")
    return f"| {label} | " + " | ".join(cells) + " |"


def _memory(rows: list[Row]) -> str:
    cells = ["unknown" if row.memory is None else f"{row.memory:.0f} MB" for row in rows]
    return "| most memory in the first run | " + " | ".join(cells) + " |"


def _stored(measured: Measured) -> str:
    raw = measured.history.bytes
    cells = [
        "keeps nothing" if row.stored is None else f"{row.stored / raw:.0%} of raw"
        for row in measured.rows
    ]
    return "| store | " + " | ".join(cells) + " |"


def _growth(growth: list[Growth]) -> list[str]:
    if not growth:
        return []
    lines = [
        "## Growth",
        "",
        "![First run and summary over the size of the history](performance.svg)",
        "",
        (
            "| history | first run | per 100 MB | summary, nothing new | facts, worked out"
            " | of the first run | most memory | facts, nothing new |"
        ),
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one in growth:
        per = one.first / (one.bytes / 1e8)
        size = one.bytes / 1e6
        worked = max(one.facts - one.facts_again, 0.0)
        memory = "unknown" if one.facts_megabytes is None else f"{one.facts_megabytes:.0f} MB"
        lines.append(
            f"| {size:,.0f} MB | {one.first:.2f} s | {per:.2f} s | {one.summary:.2f} s"
            f" | {worked:.2f} s | {worked / one.first:.0%} | {memory} | {one.facts_again:.2f} s |"
        )
    return [*lines, ""]


def write(text: str, growth: list[Growth]) -> None:
    """Write the page and, where there is something to draw, the plot."""
    PAGE.write_text(text, encoding="utf-8")
    if growth:
        draw(growth)


def draw(growth: list[Growth]) -> None:
    points = [(one.bytes / 1e6, one.first, one.summary) for one in growth]
    program = Path(sys.executable).parents[1] / "bench" / "bin" / "python"
    plot = Path(__file__).with_name("plot.py")
    subprocess.run([program, plot, PLOT], input=json.dumps(points), text=True, check=True)
