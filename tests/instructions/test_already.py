"""Lines that an instruction file has already."""

from __future__ import annotations

import pytest

from hansei.instructions.already import already
from hansei.instructions.statements import statements

FILE = """\
# Rules

- Run tests with `uv run pytest`; plain `pytest` does not see the environment.
- Never run `npm run build` here.
- Types are checked by `make`.
"""


def said_at(line: str) -> int | None:
    found = already(line, statements("AGENTS.md", FILE))
    return None if found is None else found.line


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("Run `uv run pytest -q`, not `pytest -q`.", 3),
        ("Use `uv run pytest -q tests`, not `python -m pytest tests`.", 3),
        ("Use `uv run pytest -p no:randomly`, not `uv run pytest -q`.", None),
        ("Use `npm run build`, not `npx build`.", None),
        ("Use `make types`, not `make typecheck`.", None),
        ("Before `uv run pytest`, run `docker compose up`.", None),
        ("Keep it short.", None),
    ],
)
def test_a_line_is_said_where_a_sentence_tells_its_two_commands_apart(
    line: str, where: int | None
) -> None:
    assert said_at(line) == where
