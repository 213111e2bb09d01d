"""What a repository was like at a commit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from git_world import DAY, HOUR, START, Repo, repository
from hansei.events.model import SessionFacts
from hansei.projection.snapshots import (
    BlobFacts,
    StartBasis,
    Symbol,
    examine,
    start_commit,
    take,
)
from hansei.projection.snapshots.languages import GRAMMARS, holds_tests, language_of

SERVICE = """import os
from app.models import Berth


class Harbour:
    def berths(self):
        return []


def open_harbour(name):
    return Harbour()
"""


class Shelf:
    """A cache that tells what was put there."""

    def __init__(self) -> None:
        self.facts: dict[str, bytes] = {}
        self.new: set[str] = set()

    def get(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: self.facts[name] for name in names if name in self.facts}

    def put(self, facts: Mapping[str, bytes]) -> None:
        self.facts.update(facts)
        self.new.update(facts)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return repository(tmp_path / "repo")


def test_a_snapshot_tells_what_each_file_holds_and_how_it_changed(repo: Repo) -> None:
    repo.commit("Old", {"old.md": "old\n", "app.py": "x\n"})
    repo.commit("Start", {"app.py": SERVICE}, after=50 * DAY)
    commit = repo.commit("More", {"app.py": f"{SERVICE}# more\n"}, after=40 * DAY)
    snapshot = take(str(repo.folder), commit, Shelf())
    assert snapshot is not None
    app, old = snapshot.files
    assert (app.path, app.language, app.holds.lines) == ("app.py", "python", 12)
    assert app.holds.symbols == (
        Symbol("class", "Harbour", 5),
        Symbol("function", "berths", 6),
        Symbol("function", "open_harbour", 10),
    )
    assert app.holds.imports == ("app.models", "os")
    assert (app.churn_30.commits, app.churn_30.lines) == (1, 1)
    assert (app.churn_90.commits, app.churn_90.authors) == (3, ("Ada",))
    assert old.churn_30.commits == 0


def test_a_past_commit_is_told_as_it_was(repo: Repo) -> None:
    first = repo.commit("Start", {"app.py": SERVICE})
    repo.commit("Gone", {"app.py": None, "new.py": "x = 1\n"})
    snapshot = take(str(repo.folder), first, Shelf())
    assert snapshot is not None
    assert [file.path for file in snapshot.files] == ["app.py"]


def test_a_second_commit_costs_only_what_it_changed(repo: Repo) -> None:
    files: dict[str, str | None] = {f"module_{number}.py": SERVICE for number in range(3)}
    first = repo.commit("Start", {**files, "copy.txt": SERVICE})
    shelf = Shelf()
    before = take(str(repo.folder), first, shelf)
    # The same text is one thing in Python and another in plain words; and there is one commit.
    assert sorted(name.split()[0] for name in shelf.new) == ["blob", "blob", "touches"]
    shelf.new.clear()
    second = repo.commit("More", {"module_1.py": f"{SERVICE}# more\n"})
    after = take(str(repo.folder), second, shelf)
    assert sorted(name.split()[0] for name in shelf.new) == ["blob", "touches"]
    assert after == take(str(repo.folder), second, Shelf())
    assert before == take(str(repo.folder), first, shelf)


def test_a_path_in_a_strange_encoding_is_told_all_the_same(repo: Repo) -> None:
    (Path(os.fsdecode(os.fsencode(repo.folder) + b"/caf\xe9.txt"))).write_text("text\n")
    commit = repo.commit("Start", {})
    shelf = Shelf()
    first, again = (take(str(repo.folder), commit, shelf) for _ in range(2))
    assert first is not None
    assert first == again
    assert [(it.path, it.churn_30.commits) for it in first.files] == [("caf\udce9.txt", 1)]


def test_a_commit_that_is_not_here_has_no_snapshot(repo: Repo) -> None:
    repo.commit("Start", {"app.py": SERVICE})
    assert take(str(repo.folder), "0" * 40, Shelf()) is None


@pytest.mark.parametrize(
    ("language", "code", "symbols", "imports", "tests"),
    [
        ("python", "import a.b as c\ndef test_x(): pass\n", {"test_x"}, {"a.b"}, {"test_x"}),
        (
            "javascript",
            "const a = require('b');\nconst f = () => 1;\nit('works', () => {});\n",
            {"f"},
            {"b"},
            {"works"},
        ),
        (
            "typescript",
            "import { a } from './a';\nexport interface B {}\nclass C { m(): void {} }\n",
            {"B", "C", "m"},
            {"./a"},
            set(),
        ),
        ("tsx", "export function A() { return <p/>; }\n", {"A"}, set(), set()),
        (
            "go",
            'package a\nimport "fmt"\ntype T struct{}\nfunc (t T) M() {}\nfunc TestA() {}\n',
            {"T", "M", "TestA"},
            {"fmt"},
            {"TestA"},
        ),
        (
            "rust",
            "use a::b;\nstruct S;\n#[test]\nfn works() {}\n",
            {"S", "works"},
            {"a::b"},
            {"works"},
        ),
        (
            "java",
            "import a.b.C;\nclass D { @Test void works() {} }\n",
            {"D", "works"},
            {"a.b.C"},
            {"works"},
        ),
        (
            "ruby",
            "require 'a'\nclass B\n def test_c\n end\nend\n",
            {"B", "test_c"},
            {"a"},
            {"test_c"},
        ),
        ("php", "<?php use A\\B; class C { function d() {} }\n", {"C", "d"}, {"A\\B"}, set()),
        ("c", "#include <a.h>\nint f(void) { return 1; }\n", {"f"}, {"a.h"}, set()),
        ("cpp", "class A { };\nvoid A::m() { }\n", {"A", "A::m"}, set(), set()),
        (
            "csharp",
            "using A.B;\nclass C { [Fact] public void Works() {} }\n",
            {"C", "Works"},
            {"A.B"},
            {"Works"},
        ),
    ],
)
def test_every_grammar_finds_definitions_imports_and_tests(
    language: str, code: str, symbols: set[str], imports: set[str], tests: set[str]
) -> None:
    facts = examine(code.encode(), language)
    assert {symbol.name for symbol in facts.symbols or ()} == symbols
    assert (set(facts.imports or ()), set(facts.tests or ())) == (imports, tests)
    assert language in GRAMMARS


def test_what_cannot_be_told_is_unknown() -> None:
    assert examine(b"\0binary", "python") == BlobFacts(None)
    assert examine(b"some words", "markdown") == BlobFacts(1)
    assert examine(b"def broken(:\n", "python").broken


def test_names_tell_language_and_tests() -> None:
    assert language_of("src/App.TSX") == "tsx"
    assert language_of("Makefile") == "make"
    assert language_of("LICENSE") is None
    assert holds_tests("web/src/a.test.ts")
    assert holds_tests("tests/helpers.py")
    assert not holds_tests("src/latest.py")


def test_the_best_witness_tells_where_a_session_began(repo: Repo) -> None:
    first = repo.commit("One", {"a.txt": "1\n"})
    between = repo.now + 1
    second = repo.commit("Two", {"a.txt": "2\n"})
    folder = str(repo.folder)
    hook = SessionFacts(id="1", commit=second, seen_at=between)
    agent = SessionFacts(id="1", commit="0" * 40)
    silent = SessionFacts(id="1", branch="main")
    assert start_commit(hook, folder, between) == (second, StartBasis.HOOK, True)
    assert start_commit(agent, folder, between) == ("0" * 40, StartBasis.AGENT, False)
    assert start_commit(silent, folder, between) == (first, StartBasis.REFLOG, True)
    repo.git("reflog", "expire", "--expire=all", "--all")
    assert start_commit(silent, folder, between) == (first, StartBasis.GRAPH, True)
    assert start_commit(silent, folder, START - HOUR) == (None, StartBasis.UNKNOWN, False)
    assert start_commit(silent, None, between) == (None, StartBasis.UNKNOWN, False)
