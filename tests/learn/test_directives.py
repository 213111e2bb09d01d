"""Lines of instructions held against sessions told in a few words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hansei.learn.directives import Applied, Named, applied, named
from retro_window import Telling, window

NAMED = {
    "- Always run `make lint` before you commit.": Named(
        do=("make lint",), moments=("git commit",)
    ),
    "- Use pnpm, not npm.": Named(do=("pnpm",), avoid=("npm",)),
    "- Use `uv run pytest` instead of `pytest`.": Named(do=("uv run pytest",), avoid=("pytest",)),
    "- Prefer `rg` over `grep`.": Named(do=("rg",), avoid=("grep",)),
    "- Never edit `src/generated/`.": Named(spared=("src/generated/",)),
    "- `app/client.ts:20-35` holds the client.": Named(files=("app/client.ts",)),
    "- Never use `git push --force`.": Named(avoid=("git push --force",)),
    "```bash\nnpm run build\n# a comment\n$ npm test\n```": Named(do=("npm run build", "npm test")),
    "```python\nnpm = 1\n```": Named(),
    "npm test && npm run lint": Named(do=("npm test", "npm run lint")),
    "Use `WebSearch` sparingly.": Named(tools=("WebSearch",)),
    "- `window.open` and `@scope/name` take an `id`.": Named(),
    "- Make sure that it works, and keep it short.": Named(),
    "**Commits**:": Named(),
}


@pytest.mark.parametrize("text", NAMED)
def test_a_line_names_commands_files_tools_and_moments(text: str) -> None:
    assert named(text, {"WebSearch", "Grep"}) == NAMED[text]


def counted(text: str, *tellings: Telling, within: str = "") -> Applied | None:
    return applied(window(tellings), named(text), within=within)


def test_a_line_that_names_nothing_is_not_counted() -> None:
    assert counted("- Keep handlers thin.", Telling().run("make test")) is None


def test_what_is_to_run_before_a_commit_applies_where_there_was_one() -> None:
    found = counted(
        "- Always run `make lint` before you commit.",
        Telling().run("make lint").run("git commit -m x"),
        Telling().run("git commit -m y"),
        Telling().run("make lint"),
    )
    assert found == (2, 1, "ran `git commit`")


def test_a_way_to_test_applies_wherever_tests_were_run() -> None:
    found = counted(
        "Run tests with `make test`.",
        Telling().run("make test"),
        Telling().run("pytest -q"),
        Telling().run("ls"),
    )
    assert found == (2, 1, "ran tests")


def test_what_is_forbidden_is_not_done_where_it_was_run_but_not_where_the_better_way_was() -> None:
    found = counted(
        "- Use `uv run pytest` instead of `pytest`.",
        Telling().run("pytest tests"),
        Telling().run("uv run pytest tests"),
        Telling().run("make"),
    )
    assert found is not None
    assert (found.sessions, found.missed) == (2, 1)


def test_a_forbidden_option_applies_where_the_command_was_run_at_all() -> None:
    found = counted(
        "- Never use `git push --force`.",
        Telling().run("git push origin main"),
        Telling().run("git push --force origin main"),
    )
    assert found == (2, 1, "ran `git push`")


def test_files_to_be_spared_may_be_read_and_not_changed() -> None:
    found = counted(
        "- Never edit `src/generated`.",
        Telling().read("/work/app/src/generated/a.py"),
        Telling().edit("/work/app/src/generated/b.py"),
        Telling().edit("/work/app/src/own.py"),
    )
    assert found == (2, 1, "touched `src/generated`")


def test_a_command_that_nothing_says_when_to_run_is_missed_nowhere() -> None:
    found = counted("Use `docker compose logs`.", Telling().run("docker compose logs api"))
    assert found == (1, None, "ran `docker compose logs`")


def test_a_subagent_is_part_of_the_session_that_started_it() -> None:
    found = counted(
        "- Always run `make lint` before you commit.",
        Telling().run("git commit -m x"),
        Telling(parent=1).run("make lint"),
    )
    assert found == (1, 0, "ran `git commit`")


def test_a_rule_for_some_files_applies_only_where_they_were_touched() -> None:
    found = counted(
        "Run tests with `make test`.",
        Telling().run("pytest").read("/work/app/api/a.py"),
        Telling().run("pytest"),
        within="api/**",
    )
    assert found is not None
    assert (found.sessions, found.missed) == (1, 1)


lines = st.sampled_from([it for it in NAMED if NAMED[it] and not NAMED[it].tools])
sessions = st.lists(
    st.lists(st.sampled_from(["pytest", "make lint", "git commit -m x", "npm test", "rg a"])),
    max_size=5,
)


@given(lines, sessions)
def test_no_line_is_missed_more_often_than_it_applies(text: str, told: list[list[str]]) -> None:
    tellings = [Telling() for _ in told]
    for telling, commands in zip(tellings, told, strict=True):
        for command in commands:
            telling.run(command)
    found = counted(text, *tellings)
    assert found is not None
    assert 0 <= found.sessions <= len(told)
    assert found.missed is None or found.missed <= found.sessions
