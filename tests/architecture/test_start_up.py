"""Heavy libraries stay out of start-up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "pyarrow",
    "duckdb",
    "genai_prices",
    "pydantic",
    "httpx2",
    "asyncio",
    "multiprocessing",
    "concurrent.futures",
    "importlib.metadata",
    "tomllib",
    "tree_sitter",
    "watchfiles",
    "ziaplot",
}


def loaded_by(code: str, home: Path) -> set[str]:
    """Modules in memory after running some code in a fresh interpreter."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        cwd=home,
    )
    return set(done.stderr.split())


def run(*arguments: str) -> str:
    return (
        "import sys, hansei.cli.main as m\n"
        f"try: m.main({list(arguments)!r})\n"
        "except SystemExit: pass"
    )


@pytest.mark.parametrize("arguments", [("--help",), ("summary", "--help"), ("--version",)])
def test_help_imports_nothing_heavy(arguments: tuple[str, ...], tmp_path: Path) -> None:
    modules = loaded_by(run(*arguments), tmp_path)
    assert not modules & (HEAVY | {"sqlite3", "msgspec"})
    assert not [name for name in modules if name.startswith("hansei.sources")]


def test_a_summary_without_news_imports_nothing_heavy(tmp_path: Path) -> None:
    loaded_by(run("ingest"), tmp_path)
    modules = loaded_by(run("summary"), tmp_path)
    assert not modules & HEAVY


def test_the_package_itself_imports_nothing(tmp_path: Path) -> None:
    modules = loaded_by("import hansei", tmp_path)
    assert not [name for name in modules if name.startswith("hansei.")]


def test_what_runs_in_other_programs_needs_nothing_but_python(tmp_path: Path) -> None:
    """Only a framework's own module imports it; the rest stands beside any library."""
    code = "import sys; before = set(sys.modules)\n"
    code += "import hansei.integrations.telling, hansei.integrations.otlp\n"
    code += "new = {it.partition('.')[0] for it in set(sys.modules) - before}\n"
    code += "assert new - {'hansei'} <= set(sys.stdlib_module_names), new"
    modules = loaded_by(code, tmp_path)
    ours = {it for it in modules if it.startswith("hansei.")}
    assert not [
        it for it in ours if it.startswith(("hansei.store", "hansei.ops", "hansei.sources"))
    ]
