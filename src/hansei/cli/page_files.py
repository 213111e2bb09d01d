"""Where a page is written: all at once, over our own pages only, readable by nobody else.

A page holds words of transcripts. So without a name it goes into the store, not into a repository
where somebody would commit it, and it goes from there when sessions are forgotten.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from hansei.cli.html_page import GENERATOR
from hansei.errors import StoreUnwritable, UsageError
from hansei.installation import files
from hansei.store.removal import PAGES

if TYPE_CHECKING:
    from pathlib import Path

_HEAD: Final = 1_000
"""Bytes of a page in which it says who made it."""
_OURS: Final = f'name="generator" content="{GENERATOR}"'.encode()


def place(named: str, here: Path, store: Path, workspace: str | None) -> Path:
    """The file that a person means; without a name one in the store, always the same."""
    if named:
        path = here / named
        return path / "hansei-retro.html" if path.is_dir() else path
    letters = re.sub(r"[^\w.-]+", "-", workspace or "all").strip("-.") or "all"
    return store / PAGES / f"retro-{letters}.html"


def write(path: Path, text: str) -> None:
    """Write a page; what somebody else made is left alone."""
    try:
        before = path.read_bytes() if path.exists() else None
        if before and _OURS not in before[:_HEAD]:
            raise UsageError(
                f"{path} is there already and was not made by hansei",
                hint="Name another file, or remove that one.",
            )
        files.make_folders(path.parent)
        files.replace(path, text.encode(), expected=before, mode=files.PRIVATE_FILE)
    except (OSError, files.ChangedMeanwhile) as problem:
        why = getattr(problem, "strerror", None) or "another program writes to it"
        raise StoreUnwritable(
            f"{path} cannot be written: {why}", hint="Name another file."
        ) from problem


def show(path: Path) -> None:
    """Open a page in the browser; the path was printed, so nothing is lost where there is none."""
    import webbrowser

    with suppress(webbrowser.Error):
        webbrowser.open(path.as_uri())
