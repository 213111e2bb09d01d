"""What only Pi does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hansei.config import Environment
from hansei.events.model import AnyEvent, FileEdit, Origin, Prompt, RequestUsage, ToolResult
from hansei.sources.agents.pi import SOURCE
from hansei.sources.contract import START, Transcript, latest
from hansei.sources.families.tree.changes import numbered_diff

FIXTURES = Path(__file__).parents[1] / "fixtures" / "agents" / "pi"


def told(path: Path) -> list[AnyEvent]:
    return SOURCE.read(Transcript(SOURCE.name, path), START).events


def only(folder: Path) -> Path:
    (path,) = folder.rglob("*.jsonl")
    return path


def test_opening_an_early_file_makes_new_ids_and_the_events_stay_the_same(tmp_path: Path) -> None:
    early = only(FIXTURES / "early_version")
    lines: list[dict[str, Any]] = [json.loads(line) for line in early.read_text().splitlines()]
    lines[0]["version"] = 3
    for number, line in enumerate(lines[1:]):
        line |= {"id": f"{number:08x}", "parentId": None}
        if line["type"] == "message" and line["message"]["role"] == "hookMessage":
            line["message"]["role"] = "custom"
    migrated = tmp_path / early.name
    migrated.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    before, after = told(early), told(migrated)
    assert [event.key for event in after] == [event.key for event in before]
    assert len(before) == 5


def test_an_edit_knows_its_lines_from_the_diff_in_its_result() -> None:
    events = latest(told(only(FIXTURES / "tools")))
    first, written, failed = [event for event in events if isinstance(event, FileEdit)]
    (hunk,) = first.hunks
    assert (hunk.start, hunk.old) == (3, "PORT = 80\n")
    assert hunk.new == 'PORT = int(env["PORT"])\nHOST = "::"\n'
    assert (first.applied, written.applied, failed.applied) == (True, True, False)


def test_a_diff_with_gaps_tells_where_its_hunks_are_in_the_new_file() -> None:
    change = numbered_diff(
        "  1 a\n+ 2 new\n+ 3 newer\n  2 b\n    ...\n 20 t\n-21 gone\n 22 v\n-23 w\n+24 W"
    )
    assert change is not None
    assert [(hunk.start, hunk.old, hunk.new) for hunk in change.hunks] == [
        (2, "", "new\nnewer\n"),
        (23, "gone\n", ""),
        (24, "w\n", "W\n"),
    ]
    assert (change.added, change.removed) == (3, 2)


@pytest.mark.parametrize("text", ["", "no diff at all", " 1 only\n 2 context"])
def test_what_is_no_diff_is_none(text: str) -> None:
    assert numbered_diff(text) is None


def test_a_skill_is_the_programs_and_what_was_typed_after_it_a_persons() -> None:
    prompts = [event for event in told(only(FIXTURES / "not_typed")) if isinstance(event, Prompt)]
    assert prompts[0].origin is Origin.HARNESS
    assert prompts[0].text.startswith("<skill ")
    assert (prompts[1].text, prompts[1].origin) == ("for 2.0 please", Origin.HUMAN)


def test_an_answer_that_nobody_counted_has_unknown_tokens() -> None:
    events = told(only(FIXTURES / "stopped"))
    *_, last = [event for event in events if isinstance(event, RequestUsage)]
    assert (last.input, last.output, last.cache_read, last.cache_write_5m) == (None,) * 4


def test_an_output_that_was_cut_has_its_whole_size(tmp_path: Path) -> None:
    lines = only(FIXTURES / "tools").read_text().splitlines()
    result = json.loads(lines[5])
    assert result["message"]["role"] == "toolResult"
    result["message"]["details"] = {"truncation": {"truncated": True, "totalBytes": 90_000}}
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([*lines[:5], json.dumps(result), ""]), "utf-8")
    (found,) = [event for event in told(path) if isinstance(event, ToolResult)]
    assert (found.size, found.truncated) == (90_000, True)


def test_sessions_are_found_where_the_program_was_told_to_put_them(tmp_path: Path) -> None:
    for home in (".pi", ".omp", "elsewhere"):
        folder = tmp_path / home / "agent" / "sessions" / "--w--"
        folder.mkdir(parents=True)
        (folder / f"2026_{home.strip('.')}.jsonl").touch()

    def names(variables: dict[str, str]) -> list[str]:
        environment = Environment(home=tmp_path, variables=variables)
        return [item.path.name for item in SOURCE.discover(environment, [])]

    assert names({}) == ["2026_pi.jsonl", "2026_omp.jsonl"]
    moved = {"PI_CODING_AGENT_DIR": str(tmp_path / "elsewhere" / "agent")}
    assert names(moved) == ["2026_elsewhere.jsonl"]
