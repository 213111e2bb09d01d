"""Prices need no network ever, and no heavy import before the first request is priced."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from hansei.prices import library_version, version_stamp

HEAVY = ("genai_prices", "pydantic", "httpx", "httpx2", "importlib.metadata")

PRICE_ONE_REQUEST = """
import json, sys, threading
opened = []
sys.addaudithook(lambda event, _: opened.append(event) if event.startswith("socket.") else None)

from hansei.events.model import RequestUsage
from hansei.prices import PriceBook

usage = RequestUsage(key=1, session="s", model="claude-opus-4-8", at=0, input=1)
cost = PriceBook().cost(usage)
PriceBook().known(["my-model"])
print(json.dumps({"cost": cost, "opened": opened, "threads": threading.active_count()}))
"""


def run(code: str) -> object:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def loaded_after(statement: str) -> object:
    heavy = f"[name for name in {HEAVY!r} if name in sys.modules]"
    return run(f"import json, sys\n{statement}\nprint(json.dumps({heavy}))")


@pytest.mark.parametrize(
    "statement",
    [
        "import hansei.prices",
        "from hansei.prices import version_stamp; version_stamp({})",
        "from hansei.prices import PriceBook, PriceRow, Rates; PriceBook().version",
    ],
)
def test_nothing_heavy_is_imported_before_a_request_is_priced(statement: str) -> None:
    assert loaded_after(statement) == []


def test_the_heavy_imports_are_looked_for_under_their_right_names() -> None:
    assert loaded_after("import hansei.prices.library") == [
        name for name in HEAVY if name != "httpx"
    ]


def test_pricing_opens_no_socket_and_starts_no_thread() -> None:
    assert run(PRICE_ONE_REQUEST) == {"cost": 5_000, "opened": [], "threads": 1}


def test_the_version_read_off_the_folder_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert library_version() == version("genai-prices")
    assert library_version() in version_stamp({})


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    import hansei.prices

    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hansei.prices.nothing
