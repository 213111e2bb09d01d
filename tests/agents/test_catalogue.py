"""Finding sources by name."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hansei import plugins
from hansei.errors import PluginError
from hansei.sources import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OURS = plugins.builtin_names(catalogue.PACKAGE)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Install a package of another maker whose module holds the given code."""
    monkeypatch.syspath_prepend(tmp_path)
    catalogue.load.cache_clear()

    def install_stranger(code: str) -> None:
        (tmp_path / "stranger_module.py").write_text(code)
        metadata = tmp_path / "stranger-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(
            f"[{catalogue.GROUP}]\nstranger = stranger_module:SOURCE\n"
        )
        importlib.invalidate_caches()

    yield install_stranger
    sys.modules.pop("stranger_module", None)
    catalogue.load.cache_clear()


def test_every_built_in_source_loads_under_its_own_name() -> None:
    loaded = catalogue.load_all()
    assert [source.name for source in loaded.sources] == catalogue.names()
    assert set(OURS) <= set(catalogue.names())
    assert loaded.warnings == []


def test_a_strangers_source_is_one_of_them(install: Callable[[str], None]) -> None:
    install(f"from hansei.sources.agents.{OURS[0]} import SOURCE")
    assert "stranger" in catalogue.names()
    assert catalogue.load("stranger") is catalogue.load(OURS[0])


@pytest.mark.parametrize("code", ["raise ImportError('no module')", "SOURCE = object()", ""])
def test_a_strangers_fault_is_a_warning_with_its_name(
    install: Callable[[str], None], code: str
) -> None:
    install(code)
    loaded = catalogue.load_all()
    assert ["stranger" in warning for warning in loaded.warnings] == [True]
    assert [source.name for source in loaded.sources] == OURS
    with pytest.raises(PluginError, match="stranger"):
        catalogue.load("stranger")


def test_a_source_that_is_not_there_is_an_error_with_its_name() -> None:
    with pytest.raises(PluginError, match="nobody"):
        catalogue.load("nobody")


def test_naming_sources_imports_none_of_them() -> None:
    script = (
        "import sys; from hansei.sources import catalogue; catalogue.names();"
        "print([name for name in sys.modules if name.startswith('hansei.sources.agents.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == "[]"
