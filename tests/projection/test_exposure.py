"""Which instructions were in force, from hooks, from the commit, from the transcript."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hansei.events.keys import digest, event_key
from hansei.events.model import (
    MARKER,
    Instruction,
    Measured,
    Notice,
    Observation,
    Origin,
    Prompt,
    Relation,
)
from hansei.git.objects import Objects
from hansei.projection import exposure
from hansei.store import log, seal
from hansei.store.database import Store, open_store
from pieces import piece, prompt

AGENT = "claude_code"


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def commit(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "more")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def look(session: str, at: int, *places: Instruction) -> Observation:
    key = event_key("look", session, str(at))
    return Observation(key=key, session=session, at=at, name="look", instructions=list(places))


def in_force(store: Store, session: str) -> list[tuple[Any, ...]]:
    return store.db.execute(
        "SELECT kind, path, hash, basis, reach FROM exposure e JOIN sessions s ON s.id = e.session"
        " WHERE s.native = ? ORDER BY 1, 2, 3, 4",
        (session,),
    ).fetchall()


def ledger(store: Store, session: str) -> tuple[str | None, str]:
    found: tuple[str | None, str] = store.db.execute(
        "SELECT l.basis, l.note FROM ledger l JOIN sessions s ON s.id = l.session"
        " WHERE s.native = ?",
        (session,),
    ).fetchone()
    return found


def tell(store: Store, now: int, *events: Any, **facts: Any) -> None:
    log.commit(store, [piece(events, agent=AGENT, **facts)], now=now, seal_before=0)
    exposure.refresh(store)


def test_without_hooks_the_commit_tells(store: Store, now: int, repository: Path) -> None:
    servers = json.dumps({"mcpServers": {"db": {"command": "x"}}})
    first = commit(
        repository,
        {
            "CLAUDE.md": "old",
            "AGENTS.md": "for others",
            "web/CLAUDE.md": "web",
            "web/ui/CLAUDE.md": "ui",
            ".claude/rules/a/b.md": "rule",
            ".claude/skills/ship/SKILL.md": "skill",
            ".claude/settings.json": "{}",
            ".mcp.json": servers,
            "src/main.py": "pass",
        },
    )
    commit(repository, {"CLAUDE.md": "new"})
    tell(store, now, prompt("s", 1, now), cwd=str(repository / "web"), commit=first)
    assert ledger(store, "s") == ("commit", "")
    assert [(kind, path, reach) for kind, path, _, _, reach in in_force(store, "s")] == [
        ("instructions", "CLAUDE.md", "start"),
        ("instructions", "web/CLAUDE.md", "start"),
        ("instructions", "web/ui/CLAUDE.md", "below"),
        ("mcp", ".mcp.json#db", "start"),
        ("rule", ".claude/rules/a/b.md", "start"),
        ("skill", ".claude/skills/ship/SKILL.md", "start"),
    ]
    assert in_force(store, "s")[0][2:4] == (digest(b"old"), "commit")


def test_a_link_stands_for_what_it_leads_to(store: Store, now: int, repository: Path) -> None:
    repository.joinpath("CLAUDE.md").symlink_to("docs/AGENTS.md")
    made = commit(repository, {"docs/AGENTS.md": "shared"})
    tell(store, now, prompt("s", 1, now), cwd=str(repository), commit=made)
    assert [(path, mark) for _, path, mark, _, _ in in_force(store, "s")] == [
        ("CLAUDE.md", digest(b"shared"))
    ]


def test_what_a_hook_saw_is_right_where_it_looked(store: Store, now: int, repository: Path) -> None:
    made = commit(repository, {"CLAUDE.md": "committed"})
    seen = Instruction("instructions", "CLAUDE.md", digest(b"edited since"), 12)
    tell(store, now, prompt("s", 1, now), cwd=str(repository), commit=made)
    tell(store, now, look("s", now, seen), cwd=str(repository), commit=made)
    assert ledger(store, "s") == ("hook", "")
    assert in_force(store, "s") == [
        ("instructions", "CLAUDE.md", digest(b"edited since"), "hook", "start")
    ]


def test_what_lies_at_home_is_in_force_everywhere(store: Store, now: int) -> None:
    seen = Instruction("skill", "~/.claude/skills/x/SKILL.md", "0" * 16, 1)
    tell(store, now, look("s", now, seen), cwd="/work/app/web")
    assert [row[4] for row in in_force(store, "s")] == ["start"]


def test_a_look_that_found_nothing_is_known_to_be_nothing(store: Store, now: int) -> None:
    tell(store, now, look("s", now))
    assert (ledger(store, "s"), in_force(store, "s")) == (("hook", ""), [])


def test_a_subagent_has_what_its_parent_has(store: Store, now: int) -> None:
    seen = Instruction("instructions", "CLAUDE.md", "0" * 16, 1)
    tell(store, now, prompt("s/agent-a", 1, now), parent="s", relation=Relation.SUBAGENT)
    tell(store, now, look("s", now, seen))
    assert in_force(store, "s/agent-a") == in_force(store, "s") != []


@pytest.mark.parametrize(
    ("where", "recorded", "note"),
    [
        ("app", None, exposure.NO_COMMIT),
        ("app", "f" * 40, exposure.NOT_HERE),
        ("nowhere", "f" * 40, exposure.NO_REPOSITORY),
    ],
)
def test_what_is_not_known_says_why(
    store: Store, now: int, repository: Path, where: str, recorded: str | None, note: str
) -> None:
    commit(repository, {"CLAUDE.md": "x"})
    folder = repository.with_name(where)
    tell(store, now, prompt("s", 1, now), cwd=str(folder), commit=recorded)
    assert (ledger(store, "s"), in_force(store, "s")) == ((None, note), [])


def test_what_the_transcript_shows_comes_on_top(store: Store, now: int) -> None:
    shown = {"shown": {"kind": "instructions", "path": "web/CLAUDE.md"}}
    tell(
        store,
        now,
        Notice(key=1, session="s", at=now, name="nested_memory", text="Be kind.", data=shown),
        Prompt(key=2, session="s", at=now, text=f"{MARKER} ours", origin=Origin.HANSEI),
    )
    assert in_force(store, "s") == [
        ("instructions", "web/CLAUDE.md", digest(b"Be kind."), "transcript", "start"),
        ("marked", "", digest(f"{MARKER} ours".encode()), "transcript", "start"),
    ]


def test_sealing_changes_nothing(store: Store, now: int) -> None:
    tell(store, now, look("s", now, Instruction("rule", "~/x.md", "0" * 16, 1)))
    before = in_force(store, "s")
    seal.seal(store, now=now, seal_before=now + 1)
    store.db.execute("DELETE FROM exposure")
    exposure.mark_all_stale(store)
    exposure.refresh(store)
    assert in_force(store, "s") == before


def test_unchanged_folders_are_taken_apart_once(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = commit(repository, {f"d{n}/e/f.txt": "x" for n in range(5)} | {"CLAUDE.md": "1"})
    second = commit(repository, {"CLAUDE.md": "2"})
    asked = []
    plain = Objects.read

    def counted(objects: Objects, name: str) -> tuple[str, str, bytes] | None:
        asked.append(name)
        return plain(objects, name)

    monkeypatch.setattr(Objects, "read", counted)
    with Objects(str(repository)) as objects:
        wanted, tail = (lambda path: path == "CLAUDE.md"), (lambda _: "")
        assert objects.files(first, wanted, tail) is not None
        before = len(asked)
        assert objects.files(second, wanted, tail) is not None
        assert len(asked) - before == 2  # the commit and its top folder
        assert objects.files("f" * 40, wanted, tail) is None


paths = st.sampled_from(["CLAUDE.md", "web/CLAUDE.md", "~/.claude/CLAUDE.md", ".mcp.json#db"])
steps = st.lists(
    st.tuples(
        st.sampled_from(["s", "s/agent-a", "t"]),
        st.integers(1, 4),
        st.sampled_from(["look", "deliver", "prompt", "shown", "ours"]),
        st.lists(st.tuples(paths, st.sampled_from("01")), max_size=2),
    ),
    min_size=1,
    max_size=10,
)


def event(session: str, at: int, what: str, seen: list[tuple[str, str]]) -> Any:
    places = [Instruction("instructions", path, mark * 16, 1) for path, mark in seen]
    text = f"{MARKER} {at}"
    key = event_key(session, str(at), what)
    match what:
        case "look":
            return look(session, at, *places)
        case "deliver":
            context = Measured(len(text), digest(text.encode()))
            return Observation(
                key=key, session=session, at=at, name="start", delivered=["i"], context=context
            )
        case "shown":
            data = {"shown": {"kind": "skill", "path": "listing"}}
            return Notice(key=key, session=session, at=at, name="n", text=text, data=data)
        case "ours":
            return Prompt(key=key, session=session, at=at, text=text, origin=Origin.HANSEI)
    return prompt(session, at, at)


@settings(max_examples=30)
@given(steps)
def test_refreshing_equals_rebuilding(
    tmp_path_factory: pytest.TempPathFactory, told: list[tuple[str, int, str, list[Any]]]
) -> None:
    store = open_store(tmp_path_factory.mktemp("ledger"), now=0)

    def rows() -> list[Any]:
        return [
            sorted(store.db.execute(f"SELECT * FROM {table}").fetchall(), key=repr)
            for table in ("exposure", "ledger")
        ]

    try:
        for session, at, what, seen in told:
            child = "/" in session
            facts = {"parent": "s", "relation": Relation.SUBAGENT} if child else {}
            tell(store, 1, event(session, at, what, seen), path=session, **facts)
        refreshed = rows()
        for table in ("exposure", "ledger"):
            store.db.execute(f"DELETE FROM {table}")
        exposure.mark_all_stale(store)
        exposure.refresh(store)
        assert rows() == refreshed
    finally:
        store.close()
