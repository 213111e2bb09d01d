"""Results: kept as long as they are good, and never shown better than they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rig.catalogue import AGENTS, SCENARIOS
from rig.perform import Result, State

from rig import install, report, results

AGENT = AGENTS[0]
NAME = next(iter(SCENARIOS))
GOOD = Result(
    scenario=NAME,
    agent=AGENT.name,
    version="1.0",
    state=State.OK,
    reason="",
    claims=12,
    requests=4,
    outward=("elsewhere.invalid:443",),
    unwritten=("a request for a title (7 tokens)",),
    seconds=1.5,
)


def test_a_result_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    results.keep(tmp_path, GOOD, "code")
    assert results.kept(tmp_path, NAME, AGENT.name, "1.0", "code") == GOOD


@pytest.mark.parametrize(("version", "code"), [("1.1", "code"), ("1.0", "other")])
def test_a_result_of_other_code_or_another_version_is_not_kept(
    tmp_path: Path, version: str, code: str
) -> None:
    results.keep(tmp_path, GOOD, "code")
    assert results.kept(tmp_path, NAME, AGENT.name, version, code) is None


def test_a_half_written_result_is_no_result(tmp_path: Path) -> None:
    results.keep(tmp_path, GOOD, "code")
    (path,) = (tmp_path / "results").iterdir()
    path.write_text(path.read_text()[:20])
    assert results.kept(tmp_path, NAME, AGENT.name, "1.0", "code") is None


@pytest.mark.parametrize(
    ("result", "cell"),
    [
        (GOOD, "ok (12 claims, 4 requests)"),
        (replace(GOOD, state=State.FAILED, reason="a claim"), "**failed**"),
        (replace(GOOD, state=State.NOT_APPLICABLE, reason="no hooks"), "not applicable"),
    ],
)
def test_the_table_says_how_it_went_and_why(result: Result, cell: str) -> None:
    page = report.page([result], AGENTS, SCENARIOS, install.versions(), "2026-11-16")
    row = next(line for line in page.splitlines() if line.startswith(f"| {SCENARIOS[NAME].title}"))
    assert row.split(" | ")[1] == cell
    assert row.count("not run") == len(AGENTS) - 1
    assert result.reason in page
    assert "a request for a title (7 tokens)" in page
    assert "elsewhere.invalid" in page


def test_every_agent_has_a_pinned_version() -> None:
    needed = {package for agent in AGENTS for package in (agent.package, *agent.needs)}
    assert set(install.versions()) == needed


def test_every_scenario_is_a_file_and_every_file_a_scenario() -> None:
    folder = Path(report.__file__).parent / "scenarios"
    assert set(SCENARIOS) == {path.stem for path in folder.glob("[a-z]*.py")}
