"""A store of real transcripts of every agent, to ask questions of.

They lie by agent and repository (`<agent>/<owner>__<repo>/…`), as the agents wrote them. Logs that
do not say where they ran are taken to have run in a folder named like their repository.

    python tools/corpus_store.py CORPUS STORE
"""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from hansei.config import Config, Environment, Settings
from hansei.ops.imports import import_logs
from hansei.ops.ingest import ingest
from hansei.ops.projecting import refresh
from hansei.store.database import open_store

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENTS: Final = {
    "claude_code": ("claude_code", "projects"),
    "codex": ("codex", "sessions"),
    "copilot_cli": ("copilot_cli", "session-state"),
    "copilot_cli_legacy_json": ("copilot_cli", "history-session-state"),
    "cursor_transcript": ("cursor", ""),
    "cursor_vscdb": ("cursor", ""),
    "gemini": ("gemini_cli", ""),
    "goose_sqlite": ("goose", "sessions.db"),
    "openclaw": ("openclaw", ""),
    "opencode": ("opencode", "storage"),
    "opencode_sqlite": ("opencode", "opencode.db"),
    "pi": ("pi", ""),
}
"""The agent whose sessions a folder holds, and what lies in that agent's own folder."""
LOGS: Final = {
    "aider": ".aider*",
    "anthropic_managed": "*.jsonl",
    "claude_stream": "*.jsonl",
    "cline": "ui_messages.json",
    "mini_swe_agent": "*.traj.json",
    "otlp": "*.jsonl",
    "specstory": "*.md",
    "swe_agent": "*.traj",
}


def sources(corpus: Path) -> dict[str, list[str]]:
    """Where each agent's sessions are."""
    found: dict[str, list[str]] = {}
    for folder, (agent, inside) in AGENTS.items():
        for repository in _repositories(corpus / folder):
            own = sorted({path.parent for path in repository.rglob(inside)}) if inside else []
            found.setdefault(agent, []).extend(map(str, own or [repository]))
    return found


def _repositories(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob("*")) if path.is_dir())


def fill(corpus: Path, store_folder: Path, home: Path, now: int) -> None:
    """Take in everything and work out its facts."""
    config = Config(store_folder, Settings(sources=sources(corpus)), Environment(home, {}))
    with closing(open_store(store_folder, now=now)) as store:
        ingest(store, config, now=now)
        for name, pattern in LOGS.items():
            for repository in _repositories(corpus / name):
                files = [path for path in sorted(repository.rglob(pattern)) if path.is_file()]
                ran_in = Path("/imported") / repository.name
                import_logs(store, config, files, now=now, folder=ran_in)
        refresh(store, config, workspace=None, now=now)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("store", type=Path)
    given = parser.parse_args()
    with TemporaryDirectory() as home:
        fill(given.corpus, given.store, Path(home), int(time.time() * 1000))


if __name__ == "__main__":
    main()
