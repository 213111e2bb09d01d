"""`hansei prompt`, typed in a repository, and the same from Python."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hansei
from bet_world import NOW, repository
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Config, Environment, load
from hansei.errors import UnusableInstructions, UsageError
from hansei.events.model import MARKER
from hansei.instructions.sizes import size
from hansei.learn.compile import BUDGET
from hansei.learn.model import Evidence, Predicates, Scope, Skill, State
from hansei.learn.outlets import CODEX_BYTES, OUTLETS
from hansei.ops import skills
from hansei.ops.prompt_files import apply, outlet_for, propose
from hansei.ops.undo import undo, undoing
from hansei.store.database import open_store
from instruction_files import MEMORY, files

TYPES = Skill(
    name="check-types",
    description="Check types after a change of the API.",
    body="## Steps\n\n1. `make types`\n2. `make lint`",
    state=State.APPROVED,
    evidence=(Evidence("a", 1), Evidence("b", 7)),
    predicates=Predicates(path="packages/api/**"),
)
FORMAT = Skill(
    name="format-first",
    description="Format before you commit.",
    body="Run `make fmt`, then commit.",
    state=State.APPROVED,
    evidence=(Evidence("a", 3),),
)
LONG = Skill(
    name="long-story",
    description="How the harbour is built.",
    body="\n".join(f"{n}. a step of many, told at length" for n in range(1, 120)),
    state=State.APPROVED,
)
DRAFT = replace(FORMAT, name="not-yet", state=State.DRAFT)
WAITING = replace(FORMAT, name="from-a-page", state=State.QUARANTINED)
KEPT = (TYPES, FORMAT, LONG, DRAFT, WAITING)


class Desk:
    """A repository with a skillbook, and what is printed when a command is typed there."""

    def __init__(self, folder: Path) -> None:
        self.folder = repository(folder / "app")
        (self.folder / "packages/api").mkdir(parents=True)
        (self.folder / "AGENTS.md").write_text("# House\n\n- be kind\n", encoding="utf-8")
        home = folder / "home"
        home.mkdir()
        store = str(folder / "store")
        self.environment = Environment(home, {"HANSEI_HOME": store, "PATH": "/usr/bin:/bin"})

    @property
    def config(self) -> Config:
        return load(self.environment, self.folder)

    def keep(self, *kept: Skill) -> None:
        for skill in kept:
            skills.book_for(self.config, self.folder, skill.scope).keep(skill, NOW)

    def content(self) -> dict[str, bytes]:
        """Every file of the repository."""
        names = (it for it in self.folder.rglob("*") if ".git" not in it.parts)
        return {
            it.relative_to(self.folder).as_posix(): it.read_bytes() for it in names if it.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.keep(*KEPT)
    return made


Type = Callable[..., str]


@pytest.fixture
def typed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Type]:
    monkeypatch.setattr(app, "now", lambda: NOW)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    def run(*arguments: str, command: str = "prompt") -> str:
        capsys.readouterr()
        with app.elsewhere(app.Place(desk.environment, desk.folder)):
            root.main(args=[command, *arguments], standalone_mode=False)
        return capsys.readouterr().out

    yield run
    monkeypatch.undo()
    time.tzset()


def test_it_prints_what_the_golden_files_say(
    typed: Type, golden: Callable[[str, str], None]
) -> None:
    room = ("--budget", "300")
    golden("prompt.txt", typed(*room))
    golden("prompt-rules.txt", typed("--target", ".cursor/rules", "--target", "CLAUDE.md", *room))
    golden("prompt-skills.txt", typed("--target", ".agents/skills", "--budget", "30"))
    golden("prompt-text.txt", typed("--format", "text", *room))
    golden("prompt-json.txt", typed("--format", "json", *room))


def test_nothing_is_written_without_being_asked_for(typed: Type, desk: Desk) -> None:
    before = desk.content()
    for arguments in ((), ("--format", "text"), ("--json",), ("--target", ".claude/skills")):
        typed(*arguments)
        assert desk.content() == before


def test_only_approved_skills_are_ever_handed_over(typed: Type, desk: Desk) -> None:
    for name in OUTLETS:
        typed("--target", name, "--apply", "--yes")
    everything = b"".join(desk.content().values())
    assert b"format-first" in everything
    assert b"not-yet" not in everything
    assert b"from-a-page" not in everything
    assert "not-yet" not in typed("--format", "text")


@pytest.mark.parametrize("name", OUTLETS)
def test_what_is_written_is_taken_back_byte_for_byte(name: str, typed: Type, desk: Desk) -> None:
    before = desk.content()
    assert "hansei undo 1" in typed("--target", name, "--apply", "--yes")
    written = desk.content()
    assert written != before
    assert all(MARKER.encode() in text for path, text in written.items() if path not in before)
    assert typed("--target", name, "--apply", "--yes").rstrip().endswith("Nothing to write.")
    typed("--yes", command="undo")
    assert desk.content() == before


def test_a_skill_that_is_retired_leaves_the_files(typed: Type, desk: Desk) -> None:
    before = desk.content()
    typed("--target", "CLAUDE.md", "--apply", "--yes")
    assert any(path.startswith(".claude/rules/") for path in desk.content())
    desk.keep(*(replace(it, state=State.RETIRED) for it in KEPT))
    typed("--target", "CLAUDE.md", "--apply", "--yes")
    assert desk.content() == before
    typed("--yes", command="undo")
    assert any(path.startswith(".claude/rules/") for path in desk.content())


def test_what_a_person_edited_in_the_block_stays(typed: Type, desk: Desk) -> None:
    typed("--apply", "--yes")
    file = desk.folder / "AGENTS.md"
    file.write_text(file.read_text().replace("make fmt", "make format"), encoding="utf-8")
    desk.keep(replace(FORMAT, body="Run `make tidy`."))
    before = file.read_bytes()
    assert "edited by hand" in typed("--apply", "--yes")
    assert file.read_bytes() == before


def test_codex_reads_all_of_agents_md(typed: Type, desk: Desk) -> None:
    file = desk.folder / "AGENTS.md"
    file.write_text("- be kind\n" * 3_200, encoding="utf-8")
    told = typed("--target", "AGENTS.md", "--budget", "100000")
    assert "Codex reads 32,768 bytes" in told
    typed("--target", "AGENTS.md", "--budget", "100000", "--apply", "--yes")
    nested = desk.folder / "packages/api/AGENTS.md"
    assert len(file.read_bytes()) + len(nested.read_bytes()) <= CODEX_BYTES


def test_the_list_of_an_agent_is_not_overfilled(typed: Type, desk: Desk) -> None:
    desk.keep(*(replace(FORMAT, name=f"s-{n}", description="long " * 190) for n in range(12)))
    told = json.loads(typed("--target", ".agents/skills", "--json", "--budget", "100000"))
    left = [it["why"] for it in told["places"][0]["skills"] if not it["taken"]]
    assert left
    assert all("Codex lists 8,000 characters" in it for it in left)


def test_files_leave_out_what_is_about_others(typed: Type) -> None:
    assert "check-types" in typed("--format", "text", "packages/api/x.py")
    assert "check-types" not in typed("--format", "text", "AGENTS.md")
    with pytest.raises(UsageError, match="outside"):
        typed("--format", "text", "../elsewhere.py")


def test_skills_of_everywhere_and_of_a_language_count_where_they_apply(
    typed: Type, desk: Desk
) -> None:
    everywhere = replace(FORMAT, name="everywhere", scope=Scope.GLOBAL)
    rust = replace(FORMAT, name="borrowed", scope=Scope.LANGUAGE, language="rust")
    desk.keep(everywhere, rust)
    assert "everywhere" in typed("--format", "text")
    assert "borrowed" not in typed("--format", "text")
    (desk.folder / "a.rs").write_text("fn main() {}\n", encoding="utf-8")
    assert "borrowed" in typed("--format", "text")


def test_a_book_without_approved_skills_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = Desk(tmp_path)
    place = app.Place(bare.environment, bare.folder)
    with app.elsewhere(place):
        root.main(args=["prompt", "--format", "text"], standalone_mode=False)
    told = capsys.readouterr()
    assert told.out == ""
    assert "hansei learn" in told.err
    bare.keep(DRAFT)
    with app.elsewhere(place):
        root.main(args=["prompt"], standalone_mode=False)
    assert "1 draft could be" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ("--target", "README.md"),
        ("--target", "../CLAUDE.md"),
        ("--format", "text", "--apply"),
        ("--apply", "--json"),
    ],
)
def test_what_makes_no_sense_is_refused(typed: Type, arguments: tuple[str, ...]) -> None:
    with pytest.raises((UsageError, UnusableInstructions)):
        typed(*arguments)


def test_nobody_to_ask_means_nothing_is_written(typed: Type, desk: Desk) -> None:
    before = desk.content()
    with pytest.raises(UsageError, match="nobody to ask"):
        typed("--apply")
    assert desk.content() == before


def test_python_gives_the_same_text(
    typed: Type, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = typed("--format", "text")
    monkeypatch.setattr(Environment, "current", lambda: desk.environment)
    assert hansei.prompt(desk.folder) == expected != ""
    assert hansei.prompt(str(desk.folder), budget=0) == ""
    assert size(hansei.prompt(desk.folder, budget=60)).tokens <= 60
    assert "check-types" not in hansei.prompt(desk.folder, paths=["AGENTS.md"])


def test_the_budget_in_the_help_is_the_one_that_holds(typed: Type) -> None:
    told: dict[str, Any] = json.loads(typed("--format", "json"))
    assert told["budget"] == BUDGET == 2_000


# --- laws -----------------------------------------------------------------------------------------


@contextmanager
def short_lived() -> Iterator[Desk]:
    with TemporaryDirectory(dir=MEMORY) as folder:
        yield Desk(Path(folder))


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(files(), st.sampled_from(["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".goosehints"]))
def test_any_file_is_as_it_was_after_undoing(text: str, name: str) -> None:
    with short_lived() as desk:
        desk.keep(TYPES, FORMAT)
        (desk.folder / name).write_bytes(text.encode())
        before = desk.content()
        store = open_store(desk.config.store, now=NOW)
        try:
            outlet = outlet_for(store, desk.folder, name)
            proposal = propose(store, desk.config, desk.folder, outlet, now=1)
            if proposal.plan.problems:
                return
            entry = apply(store, [proposal], now=NOW)
            assert desk.content() != before
            shown = undoing(store, entry.id, desk.folder, entry.workspace)
            undo(store, shown, now=NOW + 1)
        finally:
            store.close()
        assert desk.content() == before
