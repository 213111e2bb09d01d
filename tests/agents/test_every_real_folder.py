"""Every folder of real transcripts, taken in the way a person takes it in: nothing is unexplained.

Each is laid out as the home its agent has, or imported, into a store of its own; then `doctor` is
asked. What is left over is listed here by name, with why.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hansei.config import Config, Settings
from hansei.ops.doctor import AgentHealth, doctor
from hansei.ops.imports import import_logs
from hansei.ops.ingest import ingest
from hansei.sources import catalogue
from hansei.store.database import Store


def itself(folder: Path, _: Path) -> list[Path]:
    return [folder]


def above(*names: str) -> Callable[[Path, Path], list[Path]]:
    """The folders in which files of these names lie."""

    def places(folder: Path, _: Path) -> list[Path]:
        return sorted({path.parent for name in names for path in folder.rglob(name)})

    return places


def codex_homes(folder: Path, _: Path) -> list[Path]:
    """The program's folders; where rollouts lie elsewhere, the folders of the rollouts."""
    paths = sorted(folder.rglob("*.jsonl"))
    homes = {next((it for it in path.parents if it.name == ".codex"), None) for path in paths}
    loose = {path.parent for path in paths if ".codex" not in path.parts}
    return sorted({home for home in homes if home} | loose)


def named_sessions(folder: Path, room: Path) -> list[Path]:
    """Test files of another tool lie beside real ones: under names that the agent gives."""
    copy = shutil.copytree(folder, room / "copy")
    for path in sorted(copy.rglob("*.json")):
        if path.parent.name != "chats":
            chats = path.parent / "tmp" / "project" / "chats"
            chats.mkdir(parents=True, exist_ok=True)
            path.rename(chats / f"session-{path.name}")
    return [copy]


@dataclass(frozen=True)
class Way:
    """How a folder of the corpus is taken in."""

    agent: str
    """Whose it is, or the format of logs."""
    places: Callable[[Path, Path], list[Path]] = itself
    """The folders that a person would name."""
    sessions: int = 1
    """At least as many are told."""
    tokens: str = "measured"
    left_over: dict[str, int] = field(default_factory=dict)
    """Kinds that are unrecognised, in test files of other tools."""
    skipped: int = 0
    """Lines that are no records, in the same files."""
    waiting: int = 0
    """Files whose last line has no end: it may still be written, and is told once it has one."""


WAYS = {
    "aider": Way("aider", tokens="unknown"),
    "anthropic_managed": Way("anthropic_managed"),
    "claude_code": Way(
        "claude_code",
        left_over={"user without a message": 2, "a record without a type": 1},
        skipped=3,
        waiting=4,
    ),
    "claude_history": Way("claude_code", above("history.jsonl"), tokens="unknown"),
    "claude_stream": Way("claude_stream"),
    "cline": Way("cline"),
    "codex": Way("codex", codex_homes),
    "codex_history": Way("codex", above("history.jsonl"), tokens="unknown"),
    "copilot_cli": Way("copilot_cli", tokens="unknown"),
    "copilot_cli_legacy_json": Way("copilot_cli", tokens="unknown"),
    "cursor_transcript": Way("cursor", tokens="unknown"),
    "cursor_vscdb": Way("cursor", tokens="unknown"),
    "gemini": Way("gemini_cli", named_sessions),
    "goose_sqlite": Way("goose", above("*.db"), 0, "unknown"),  # one session, without a message
    "mini_swe_agent": Way("mini_swe_agent"),
    "openclaw": Way("openclaw"),
    "opencode": Way("opencode", lambda folder, _: sorted(folder.rglob("opencode"))),
    "opencode_sqlite": Way("opencode", above("*.db"), tokens="unknown"),
    "otlp": Way("otlp", tokens="unknown"),
    "pi": Way("pi", left_over={"unknown_future_entry_type": 1}, skipped=1),
    "specstory": Way("specstory", tokens="unknown"),
    "swe_agent": Way("swe_agent", tokens="unknown"),
}
NO_TRANSCRIPTS = {"claude_code": (".txt", ".json"), "opencode": (".json",)}
"""Files beside transcripts, read with them where they are named: outputs, notes, parts."""


@pytest.fixture
def health(
    request: pytest.FixtureRequest, corpus: Path, store: Store, config: Config, now: int
) -> AgentHealth:
    name: str = request.param
    way, folder = WAYS[name], corpus / name
    if not folder.is_dir():
        pytest.skip(f"no folder {name} among the real transcripts")
    if way.agent in catalogue.formats():
        import_logs(store, config, [folder], now=now)
    else:
        places = way.places(folder, config.environment.home)
        named = Settings(sources={way.agent: [str(place) for place in places]})
        config = Config(config.store, named, config.environment)
        ingest(store, config, now=now)
    (found,) = [it for it in doctor(store, config, now=now).agents if it.agent == way.agent]
    return found


@pytest.mark.parametrize(("name", "health"), [(it, it) for it in WAYS], indirect=["health"])
def test_every_record_is_read_or_explained(name: str, health: AgentHealth, corpus: Path) -> None:
    way = WAYS[name]
    assert health.unreadable == {}
    assert health.unrecognised == way.left_over
    assert sum(it.records for it in health.skipped) == way.skipped
    assert len(health.waiting) == way.waiting
    assert health.sessions >= way.sessions
    assert bool(health.events) == bool(way.sessions)
    assert health.tokens == way.tokens
    besides = NO_TRANSCRIPTS.get(name, ())
    files = [it for it in (corpus / name).rglob("*") if it.is_file() and it.suffix not in besides]
    assert health.transcripts == len(files) or name == "opencode"


def test_every_folder_is_among_them(corpus: Path) -> None:
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        listed = {row["agent"] for row in csv.DictReader(file, delimiter="\t")}
    assert listed == {path.name for path in corpus.iterdir() if path.is_dir()} == set(WAYS)
