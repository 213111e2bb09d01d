"""A secret of every kind in the files of every agent and every format: none reaches the store.

The fixtures are what the files look like. Wherever one holds a text that is told, secrets are put
behind it, in prompts, replies, thoughts, commands and outputs alike.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import databases
from fake_secrets import Fake, everything, fakes
from hansei.config import Config, Settings
from hansei.ops.imports import import_logs
from hansei.ops.ingest import ingest
from hansei.sources import catalogue
from hansei.store import reading
from hansei.store.database import Store

FIXTURES = Path(__file__).parents[1] / "fixtures"
SHORTEST = 3
"""A shorter text stands in too many places that are no text."""


def largest(folder: Path) -> Path:
    """The case of a source with the most in it, so that most kinds of records are met."""
    cases = [path.parent for path in folder.glob("*/expected.json")]
    return max(cases, key=lambda case: sum(it.stat().st_size for it in _files(case)))


def _files(case: Path) -> list[Path]:
    return [it for it in sorted(case.rglob("*")) if it.is_file() and it.name != "expected.json"]


def take_in(store: Store, config: Config, name: str, case: Path, now: int) -> list[str]:
    """Everything that the files of a case tell in words."""
    if name in catalogue.formats():
        import_logs(store, config, _files(case), wanted=name, now=now)
    else:
        # Each of these agents also finds a home that is named; some only find what a home has.
        shutil.copytree(case, config.environment.home, dirs_exist_ok=True)
        named = Settings(sources={name: [str(config.environment.home)]})
        ingest(store, Config(config.store, named, config.environment), now=now)
    sessions = [number for (number,) in store.db.execute("SELECT id FROM sessions")]
    told = [event for number in sessions for _, event in reading.events(store, number)]
    return [text for event in told if (text := getattr(event, "text", ""))]


def planted(case: Path, room: Path, texts: list[str], secrets: list[Fake]) -> Path:
    """A copy of a case with secrets behind each of its texts."""
    copy = shutil.copytree(case, room / "planted")
    one_line = " ".join(fake.text for fake in secrets if "\n" not in fake.text)
    behind = json.dumps(" " + "\n".join(fake.text for fake in secrets))[1:-1]
    for path in _files(copy):
        content = before = path.read_text("utf-8")
        for text in sorted({it for it in texts if len(it) >= SHORTEST}, key=len, reverse=True):
            for quoted in {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}:
                content = content.replace(f'"{quoted}"', f'"{quoted}{behind}"')
            if path.suffix in (".md", ".txt", ".history"):
                head = text.split("\n")[0]
                content = content.replace(f"{head}\n", f"{head} {one_line}\n")
        if content != before:
            path.write_text(content, "utf-8")
    return copy


@pytest.mark.parametrize("name", [*catalogue.names(), *catalogue.formats()])
def test_no_secret_in_any_source_reaches_the_store(
    name: str, tmp_path: Path, store: Store, config: Config, now: int
) -> None:
    kind = "logs" if name in catalogue.formats() else "agents"
    case = largest(FIXTURES / kind / name)
    secrets = [made[0] for made in fakes(2026).values()]
    texts = _texts_of(name, case, tmp_path, config, now)
    copy = planted(case, tmp_path, texts, secrets)
    if databases.rows_files(copy):
        _make_databases(case, copy)
    told = "\n".join(take_in(store, config, name, copy, now))
    assert "[secret:" in told
    stored = everything(store.folder)
    leaked = [fake.secret[:4] for fake in secrets if _is_in(fake.secret, stored)]
    assert leaked == []


def _texts_of(name: str, case: Path, tmp_path: Path, config: Config, now: int) -> list[str]:
    from hansei.store.database import open_store

    home = tmp_path / "plain-home"
    plain = Config(tmp_path / "plain", Settings(), type(config.environment)(home, {}))
    home.mkdir()
    opened = open_store(plain.store, now=now)
    try:
        return take_in(opened, plain, name, databases.made(case) if _has_rows(case) else case, now)
    finally:
        opened.close()


def _has_rows(case: Path) -> bool:
    return bool(databases.rows_files(case))


def _make_databases(case: Path, copy: Path) -> None:
    """Databases from the rows that secrets were put into; the schema lies beside the case."""
    for rows in databases.rows_files(copy):
        agent = databases.begin(case / rows.relative_to(copy), rows.with_suffix(""))
        for row in databases.rows_of(rows):
            databases.write(agent, row)
        agent.close()
        rows.unlink()


def _is_in(secret: str, stored: bytes) -> bool:
    return secret.encode() in stored or json.dumps(secret).strip('"').encode() in stored
