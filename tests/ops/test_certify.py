"""The counting certificate: its cases are sound, we pass it, and it can be failed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hansei.certificate import CASES, TOKENS, Case, cases
from hansei.cli.commands import doctor
from hansei.ops.certify import Certificate, certify
from hansei.sources import catalogue

ALL = list(cases())
NAMES = [case.expected.case for case in ALL]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return certify()


def some_cases(folder: Path, *names: str) -> Path:
    """A folder with these cases only."""
    for name in names:
        shutil.copytree(CASES / name, folder / name)
    return folder


def alter(folder: Path, name: str, **totals: int) -> None:
    path = folder / name / "expected.json"
    expected = json.loads(path.read_bytes())
    expected["totals"] |= totals
    path.write_text(json.dumps(expected), encoding="utf-8")


# --- we pass --------------------------------------------------------------------------------------


def test_every_case_of_an_agent_we_read_is_exact(certificate: Certificate) -> None:
    known = set(catalogue.names())
    read = [row for row in certificate.rows if known.issuperset(row.agent.split("+"))]
    assert [(row.case, row.differences) for row in read if row.verdict != "ok"] == []
    assert [row.case for row in read if row.counted != row.tokens] == []
    assert len(read) >= 23


def test_a_case_of_an_agent_we_do_not_read_is_said_to_be_unread(tmp_path: Path) -> None:
    folder = some_cases(tmp_path, "claude_code-fork")
    path = folder / "claude_code-fork" / "expected.json"
    path.write_text(path.read_text().replace('"claude_code"', '"claude_code+abacus"'))
    result = certify(folder)
    assert [(row.verdict, row.counted) for row in result.rows] == [("not read", None)]
    assert (result.exact, result.cases) == (0, 1)


def test_the_same_files_give_the_same_certificate(tmp_path: Path) -> None:
    folder = some_cases(tmp_path, "claude_code-fork", "claude_code-progress-usage")
    assert certify(folder) == certify(folder)


# --- it can be failed -----------------------------------------------------------------------------


def test_a_wrong_expectation_is_reported_with_the_figure(tmp_path: Path) -> None:
    folder = some_cases(tmp_path, "claude_code-continue", "claude_code-fork")
    alter(folder, "claude_code-fork", output=246)
    right, wrong = certify(folder).rows
    assert right.verdict == "ok"
    assert wrong.verdict == "differs"
    assert wrong.differences == [
        f"{reading}: output 245, not 246"
        for reading in ("whole", "file by file", "backwards", "in pieces")
    ]


def test_a_wrong_share_of_a_session_is_reported(tmp_path: Path) -> None:
    folder = some_cases(tmp_path, "claude_code-fork")
    path = folder / "claude_code-fork" / "expected.json"
    path.write_text(path.read_text().replace("12916", "12917"))
    (row,) = certify(folder).rows
    assert row.verdict == "differs"
    assert "12916" in row.differences[0]


def test_a_program_that_keeps_the_last_telling_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is right as long as the last telling comes last, so only some orders show it."""
    monkeypatch.setattr("hansei.store.log.merge", lambda _first, later: later)
    (row,) = certify(some_cases(tmp_path, "claude_code-sidechain-replay")).rows
    assert row.verdict == "differs"
    assert row.counted == row.tokens
    assert row.differences == ["file by file: output 2028, not 2276"]


def test_a_program_that_believes_a_guess_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hansei.sources.families.anthropic.is_announcement", lambda _usage: False)
    (row,) = certify(some_cases(tmp_path, "claude_code-announced-input")).rows
    assert row.verdict == "differs"


# --- the command ----------------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> Any:
    monkeypatch.setattr("hansei.ops.certify.certify", partial(certify, folder))
    return CliRunner().invoke(doctor.command, ["--certify", *arguments])


def test_the_command_prints_the_table_and_succeeds_if_all_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(monkeypatch, some_cases(tmp_path, "claude_code-continue", "claude_code-fork"))
    assert done.exit_code == 0
    heading, first, second, closing = done.output.splitlines()
    assert heading.split() == ["case", "tokens", "hansei", "a", "naive", "reader", "verdict"]
    assert first.split() == ["claude_code-continue", "10,827", "10,827", "16,242", "ok"]
    assert second.split() == ["claude_code-fork", "17,520", "17,520", "26,012", "ok"]
    assert closing == "2 of 2 exact"


def test_the_command_fails_if_a_case_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = some_cases(tmp_path, "claude_code-fork")
    alter(folder, "claude_code-fork", requests=5)
    done = run(monkeypatch, folder)
    assert done.exit_code == 1
    assert "differs" in done.output
    assert "! claude_code-fork, whole: requests 4, not 5" in done.output
    assert done.output.splitlines()[-1] == "0 of 1 exact"


def test_the_command_prints_json_for_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(monkeypatch, some_cases(tmp_path, "claude_code-fork"), "--json")
    answer = json.loads(done.output)
    assert answer["schema"] == "hansei.certificate/1"
    assert (answer["exact"], answer["cases"]) == (1, 1)
    assert answer["rows"][0]["got"]["cache_read"] == 12600


def test_the_command_touches_no_store_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HANSEI_HOME", str(tmp_path / "store"))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    done = run(monkeypatch, some_cases(tmp_path / "cases", "claude_code-fork"))
    assert done.exit_code == 0
    assert not (tmp_path / "store").exists()


# --- the cases are sound --------------------------------------------------------------------------


def test_there_are_enough_cases_and_each_is_called_as_its_folder() -> None:
    assert len(ALL) >= 28
    assert [case.home.parent.name for case in ALL] == NAMES
    assert {agent for case in ALL for agent in case.agents} == {"claude_code", "codex"}


def transcripts(home: Path) -> list[Path]:
    return sorted(path for path in home.rglob("*.jsonl") if path.is_file())


def usages(value: Any) -> Iterator[dict[str, Any]]:
    """Every object that a naive reader takes for the usage of a request."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ("usage", "last_token_usage") and isinstance(inner, dict):
                yield inner
            else:
                yield from usages(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from usages(inner)


@pytest.mark.parametrize("case", ALL, ids=NAMES)
def test_the_naive_total_is_what_a_naive_reader_gets(case: Case) -> None:
    total = sum(
        number
        for path in transcripts(case.home)
        for line in path.read_text(encoding="utf-8").splitlines()
        for usage in usages(json.loads(line))
        for name, number in usage.items()
        if name.endswith("_tokens") and name != "total_tokens"
    )
    assert total == case.expected.naive_total


def table(text: str) -> list[list[int | None]]:
    """The figures of the table in a case's own words, the sums last."""
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")][1:]
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith("| request ")
    ]
    return [[None if cell == "–" else int(cell.replace(",", "")) for cell in row] for row in rows]


@pytest.mark.parametrize("case", ALL, ids=NAMES)
def test_the_account_in_words_adds_up(case: Case) -> None:
    text = (case.home.parent / "case.md").read_text(encoding="utf-8")
    totals = case.expected.totals
    *requests, sums = table(text)
    assert sums == [*(getattr(totals, name) for name in TOKENS), totals.reasoning]
    for column, total in zip(zip(*requests, strict=True), sums, strict=True):
        told = [number for number in column if number is not None]
        assert (sum(told) if told else None) == total
    assert len(requests) == totals.requests
    assert f"= **{totals.tokens:,}**" in text
    naive = text.partition("## What a naive reader gets")[2]
    assert f"**{case.expected.naive_total:,}** tokens." in naive


@pytest.mark.parametrize("case", ALL, ids=NAMES)
def test_shares_of_sessions_add_up_to_the_total(case: Case) -> None:
    sessions = case.expected.sessions
    if sessions is not None:
        assert sum(share.tokens for share in sessions.values()) == case.expected.totals.tokens
        assert sum(share.requests for share in sessions.values()) == case.expected.totals.requests


def test_no_two_cases_share_an_id() -> None:
    """Otherwise a program that reads all of them at once could not be exact."""
    pattern = re.compile(r"msg_01\w{22}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
    owner: dict[str, str] = {}
    for case in ALL:
        for path in transcripts(case.home):
            for identity in set(pattern.findall(path.read_text(encoding="utf-8"))):
                assert owner.setdefault(identity, case.expected.case) == case.expected.case


def test_the_cases_are_installed_with_the_program(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    here = ROOT / "src"
    files = [path for path in (here / "hansei" / "certificate").rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(here)) for path in files if path.suffix != ".pyc"}
    assert wanted <= packed
    assert any("/.claude/" in name for name in packed)
    assert any("/.codex/" in name for name in packed)
