"""Logs that programs leave below the hansei home while they run: `live/<format>/*.jsonl`.

Whatever is in a folder named after a format of logs is read as that format. Looking for news opens
no file and imports no parser.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.config import home_folder
from hansei.integrations import LIVE
from hansei.sources import catalogue
from hansei.sources.contract import Transcript
from hansei.sources.families import folders

if TYPE_CHECKING:
    from pathlib import Path

    from hansei.config import Environment

SUFFIX = ".jsonl"


def live_folder(environment: Environment) -> Path:
    """The one folder that running programs write to, also for a repository's own store."""
    return home_folder(environment) / LIVE


def discover(environment: Environment) -> list[Transcript]:
    """Every log there is, in the order of their names."""
    top = live_folder(environment)
    try:
        below = sorted(it for it in top.iterdir() if it.is_dir())
    except OSError:
        return []
    known = set(catalogue.formats()) if below else set()
    return [
        Transcript(folder.name, seen.path, fingerprint=seen.fingerprint)
        for folder in below
        if folder.name in known
        for seen in folders.files([folder], SUFFIX, frozenset())
    ]
