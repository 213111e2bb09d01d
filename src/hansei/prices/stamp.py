"""Which prices are in use, as a short text that is cheap to compare.

Asked at every start-up, so nothing here may import the price library (0.4 s) or
`importlib.metadata` (50 ms).
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import hansei

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hansei.config import PriceOverride

LIBRARY = "genai-prices"
PACKAGE = "genai_prices"


def version_stamp(overrides: Mapping[str, PriceOverride]) -> str:
    """Changes whenever any price could: with the library, with hansei's rules, with config.toml.

    The library carries its price data inside, so its version stands for the data too.
    """
    mine = override_digest(overrides) if overrides else "none"
    return f"{LIBRARY} {library_version()}, hansei {hansei.__version__}, overrides {mine}"


def override_digest(overrides: Mapping[str, PriceOverride]) -> str:
    import msgspec

    from hansei.events.keys import digest

    return digest(msgspec.json.encode(dict(overrides), order="deterministic"))


@cache
def library_version() -> str:
    """The installed version of the price library, read off the name of its metadata folder."""
    for folder in sys.path:
        if Path(folder, PACKAGE).is_dir():
            found = [path.name for path in Path(folder).glob(f"{PACKAGE}-*.dist-info")]
            if len(found) == 1:
                return found[0].removeprefix(f"{PACKAGE}-").removesuffix(".dist-info")
            break
    # Installed in some other way (a zip, a source tree, a broken upgrade): slower, but right.
    from importlib.metadata import version

    return version(LIBRARY)
