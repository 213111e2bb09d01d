"""What is wrong in instruction texts: found where it is planted, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from git_world import Repo, repository
from hansei.instructions import departures
from hansei.instructions.census import census
from hansei.instructions.departures import look
from hansei.instructions.findings import MANY, Added, At, Finding, Kind, added, findings
from hansei.instructions.staleness import named_in

CLAUDE = """\
# House rules

Read `docs/architecture.md` before larger changes.

## Style
- Use four spaces for indentation in Python files.
- Line length is 88.
- Never commit files below `build/`.

## Commands
- Run `make test` before you push.
- Install with `pnpm install`.

```bash
make lint
pnpm run dev
```
"""
AGENTS = """\
# For agents

- Keep handlers of web requests free of database calls.
- Put migrations into `db/migrations`.
- Ask before you change `api/schema.json`.

## Never
- Use `print` for logging in production code.
- Deploy to production on a Friday afternoon.

## Words
- A berth is where a ship lies.
"""
SKILL = """\
---
name: release
description: Cuts a release.
---
# Release

1. Write the notes into `CHANGELOG.md`.
2. Run `make release` on the main branch.
3. Tag the commit with the version of the package.
"""
TEXTS = {"CLAUDE.md": CLAUDE, "AGENTS.md": AGENTS, ".claude/skills/release/SKILL.md": SKILL}
GONE = {
    ".claude/settings.json": "{}\n",
    "docs/deploy.md": "# Deploy\n",
    "tools/seed.py": "seed = 1\n",
}
HERE = {
    "docs/architecture.md": "x\n",
    "db/migrations/1.sql": "x\n",
    "api/schema.json": "{}\n",
    "CHANGELOG.md": "x\n",
    "Makefile": "test:\n\ttrue\nlint:\n\ttrue\nrelease:\n\ttrue\nseed:\n\ttrue\n",
    "package.json": '{"scripts": {\n"dev": "vite",\n"old": "vite"\n},\n'
    '"dependencies": {\n"zod": "^3",\n"moment": "^2"\n}}\n',
    ".gitignore": "build/\n.env\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = repository(tmp_path / "app")
    made.commit("All there is", {**HERE, **GONE, **TEXTS})
    made.commit(
        "Drop what nobody needs",
        {
            **dict.fromkeys(GONE),
            "Makefile": "test:\n\ttrue\nlint:\n\ttrue\nrelease:\n\ttrue\n",
            "package.json": '{"scripts": {\n"dev": "vite"\n},\n'
            '"dependencies": {\n"zod": "^3"\n}}\n',
        },
    )
    return made


def found(repo: Repo) -> list[Finding]:
    texts = census(repo.folder)
    gone = look(repo.folder, [it for text in texts for it in named_in(text.path, text.content)])
    return findings(texts, gone.stale)


def planted(repo: Repo, path: str, line: str) -> int:
    """The number of a line that is added to a text."""
    file = repo.folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text() if file.exists() else ""
    file.write_text(f"{before}\n{line}\n")
    return file.read_text().count("\n")


PLANTED = {
    Kind.CONFLICT: {
        "CLAUDE.md": "Never put migrations into `db/migrations`.",
        "AGENTS.md": "Line length is 100.",
        ".claude/skills/release/SKILL.md": "Install with `npm install`.",
    },
    Kind.STALE: {
        "CLAUDE.md": "Deploy as `docs/deploy.md` says.",
        "AGENTS.md": "Fill the database with `tools/seed.py`.",
        ".claude/skills/release/SKILL.md": "Fill the database with `make seed` first.",
    },
    Kind.DUPLICATE: {
        "CLAUDE.md": "Always run `make test` before you push!",
        "AGENTS.md": "Keep the handlers of web requests free of database calls",
        ".claude/skills/release/SKILL.md": "Run `make test` before you push.",
    },
}


@pytest.mark.parametrize("path", TEXTS)
@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_planted_in_a_text_is_found_there_and_nothing_else(
    repo: Repo, kind: Kind, path: str
) -> None:
    line = planted(repo, path, PLANTED[kind][path])
    (it,) = found(repo)
    assert it.kind is kind
    assert (path, line) in {(at.path, at.line) for at in it.places}


def test_texts_in_which_nothing_is_planted_have_no_finding(repo: Repo) -> None:
    assert found(repo) == []


def test_files_that_no_agent_reads_together_are_copies_told_once(repo: Repo) -> None:
    for line in ("Keep the reports of a release short.", "Write dates as year, month and day."):
        planted(repo, "CLAUDE.md", f"- {line}")
        planted(repo, "AGENTS.md", f"- {line}")
    (it,) = found(repo)
    assert it.kind is Kind.COPY
    assert it.reason.startswith("2 lines stand in AGENTS.md and in CLAUDE.md")


def test_what_stands_in_our_own_block_is_not_set_against_a_persons_line(repo: Repo) -> None:
    block = (
        "<!-- hansei -->\n<!-- bcdf -->\n- Never run `make test` before you push.\n<!-- /hansei -->"
    )
    planted(repo, "CLAUDE.md", block)
    assert found(repo) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Validate dates with `moment`.", "moment"),
        ("Start it with `pnpm run old`.", "old"),
        ("See [how to deploy](docs/deploy.md).", "docs/deploy.md"),
        ("The guide is docs/deploy.md, read it first.", "docs/deploy.md"),
        ("Run `python tools/seed.py --all`.", "tools/seed.py"),
        ("```sh\n$ make seed\n```", "seed"),
    ],
)
def test_what_left_the_repository_is_told_with_the_commit_that_took_it(
    repo: Repo, line: str, name: str
) -> None:
    planted(repo, "AGENTS.md", line)
    (it,) = found(repo)
    assert it.kind is Kind.STALE
    assert f"`{name}`" in it.reason
    assert "Drop what nobody needs" in it.reason
    assert "2025-06-15" in it.reason


def test_a_file_that_was_moved_is_told_with_where_it_is_now(repo: Repo) -> None:
    text = "".join(f"line {number}\n" for number in range(30))
    repo.commit("Guide", {"docs/guide.md": text})
    repo.commit("Move it", {"docs/guide.md": None, "docs/guides/guide.md": text})
    planted(repo, "AGENTS.md", "Follow `docs/guide.md` when you are new.")
    (it,) = found(repo)
    assert "now `docs/guides/guide.md`" in it.reason


@pytest.mark.parametrize(
    "line",
    [
        "Generated files land in `build/report.html`.",  # ignored
        "Copy your keys into `.env`.",
        "Look at `src/never/was.py` for the pattern.",  # never seen: may be anything
        "Open https://example.org/docs/deploy.md in a browser.",
        "Read `~/docs/deploy.md` and `/docs/deploy.md`.",
        "Match `docs/*.md` and `<name>/deploy.md`.",
        "There is no `docs/deploy.md` any more.",
        "`docs/deploy.md` was removed, ask Ana.",
        "Create `docs/deploy.md` once there is a server.",
        "The old guides are cloned into `docs/deploy.md`.",
        "Allow it in `.claude/settings.json`.",  # a person's own
        "See [`docs/deploy.md`](https://example.org/docs/deploy.md).",
        "Prefer `zod` over `moment`.",
        "Never use `moment`.",
        "`architecture.md` tells the rest.",  # by its name alone
        "Run `make <target>` and `pnpm test`.",
    ],
)
def test_what_cannot_be_checked_or_is_said_to_be_gone_is_not_flagged(repo: Repo, line: str) -> None:
    planted(repo, "AGENTS.md", line)
    assert found(repo) == []


def test_a_text_that_git_ignores_is_held_against_the_repository_all_the_same(repo: Repo) -> None:
    (repo.folder / ".gitignore").write_text("build/\n.env\n.claude/\n")
    skill = ".claude/skills/release/SKILL.md"
    planted(repo, skill, "- Read `docs/deploy.md` first.\n- Look into `build/report.html` too.")
    (it,) = found(repo)
    assert [at.path for at in it.places] == [skill]
    assert "docs/deploy.md" in it.reason


def test_files_with_many_lines_in_common_are_told_once(repo: Repo) -> None:
    lines = [
        f"Open gate {name} before a ship comes in."
        for name in ("north", "south", "harbour", "castle", "river")
    ]
    planted(repo, "CLAUDE.md", "\n".join(f"- {it}" for it in lines[:MANY]))
    planted(repo, ".claude/CLAUDE.md", "\n".join(f"- {it}" for it in lines[1:MANY]))
    assert len(found(repo)) == MANY - 1
    planted(repo, ".claude/CLAUDE.md", f"- {lines[0]}")
    (it,) = found(repo)
    assert it.kind is Kind.DUPLICATE
    assert it.reason.startswith(f"{MANY} lines stand in ")
    assert len(it.places) == 2 * MANY


def test_a_file_below_the_top_is_nothing_to_an_agent_that_reads_the_top_alone(repo: Repo) -> None:
    planted(repo, "SOUL.md", "Write every report before the quay closes.")
    planted(repo, "old/SOUL.md", "Write every report before the quay closes.")
    assert found(repo) == []


def test_without_a_history_nothing_is_called_stale(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Read `docs/deploy.md` first.\n")
    assert look(tmp_path, named_in("AGENTS.md", "Read `docs/deploy.md` first.\n")).stale == []


def test_what_git_cannot_tell_in_time_is_unknown(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(departures, "SECONDS", 0.0)
    told = look(repo.folder, named_in("AGENTS.md", "Run `make seed`, then read `docs/deploy.md`."))
    assert told.stale == []
    assert {"path", "command"} <= set(told.untold)


# --- what a change adds ---------------------------------------------------------------------------


def test_a_new_line_is_held_against_the_lines_that_are_there() -> None:
    after = {**TEXTS, "AGENTS.md": f"{AGENTS}\nBe kind.\n\nInstall with `npm install`.\n"}
    after["CLAUDE.md"] = f"Be kind to people.\n{CLAUDE}"
    (it,) = added(TEXTS, after)
    assert (it.kind, it.new.path, it.new.line) == (
        Kind.CONFLICT,
        "AGENTS.md",
        AGENTS.count("\n") + 4,
    )
    assert (it.existing.path, it.existing.text) == ("CLAUDE.md", "Install with `pnpm install`.")
    assert it.existing.line == CLAUDE.split("\n").index("- Install with `pnpm install`.") + 2


def test_a_new_line_that_repeats_one_is_told_with_its_place() -> None:
    after = {**TEXTS, "sub/CLAUDE.md": "Always run `make test` before you push.\n"}
    assert added(TEXTS, after) == [
        Added(
            new=At("sub/CLAUDE.md", 1, "Always run `make test` before you push."),
            existing=At("CLAUDE.md", 11, "Run `make test` before you push."),
            kind=Kind.DUPLICATE,
            reason="said already",
        )
    ]


def test_moving_a_line_or_wrapping_it_anew_adds_nothing() -> None:
    doubled = f"{CLAUDE}\nRun `make test` before you push.\n"
    wrapped = doubled.replace("before you push", "before\n  you push")
    assert added({"CLAUDE.md": doubled}, {"CLAUDE.md": f"# Title\n{wrapped}"}) == []


def test_a_file_that_no_agent_reads_is_not_held_against_anything() -> None:
    assert added({}, {"README.md": CLAUDE, "CLAUDE.md": CLAUDE}) == []
