"""A person at work: a repository, agents with a habit, hooks that deliver, commands typed there.

The agent runs `make typecheck`, which there is not, unless somebody told it better. Whether it does
in one session is drawn from fixed dice, so every run of a test sees the same history.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import claude_home
from git_world import DAY, HOUR, Repo
from git_world import repository as new_repository
from hansei.cli import app
from hansei.cli.root import root
from hansei.config import Environment
from hansei.hook import delivery
from hansei.hook.notation import measured
from hansei.store.database import Store, open_store
from hook_calls import line

NOW = 1_790_000_000_000
MORNING = NOW // DAY * DAY + 8 * HOUR
LINE = "Use `make types`, not `make typecheck`."
WRONG = "make: *** No rule to make target 'typecheck'.  Stop."
TARGET = "missing:script make typecheck typecheck"
"""The habit, as a metric."""


@dataclass
class Office:
    """Everything that a session and a command meet."""

    folder: Path
    capsys: pytest.CaptureFixture[str]
    clock: int = MORNING
    seed: int = 1
    count: int = 0
    repo: Repo = field(init=False)
    said: str = ""

    def __post_init__(self) -> None:
        self.repo = new_repository(self.folder / "app")
        self.repo.now = MORNING - 400 * DAY
        self.repo.commit(
            "first", {"README.md": "here\n", "CLAUDE.md": "# Rules\n\n- tests first\n"}
        )
        self.home = self.folder / "home"
        self.store_folder = self.home / ".hansei"
        self.store_folder.mkdir(parents=True)
        self.dice = random.Random(self.seed)

    @property
    def place(self) -> Path:
        return self.repo.folder

    # --- agents -----------------------------------------------------------------------------------

    def session(
        self,
        *,
        told: float = 0.02,
        untold: float = 0.6,
        hooked: bool = False,
        text: str = "make types",
        hours: float = 0.2,
        tokens: int = 1000,
        **fields: Any,
    ) -> str:
        """One session now; the habit shows with a chance that depends on what it was told."""
        self.count += 1
        name = f"{self.count:08x}-0000-4000-8000-{self.seed:012x}"
        made = claude_home.session(
            self.home, name, self.clock, cwd=str(self.place), **{"branch": "main", **fields}
        )
        given = self._hook(made) if hooked else []
        rules = (self.place / "CLAUDE.md").read_text()
        knows = text in rules or any(text in it for it in given)
        made.prompt("Check the types and mend what is wrong.")
        made.say("Looking.", tokens=(5, tokens, 100, 20))
        if self.dice.random() < (told if knows else untold):
            made.run("make typecheck", WRONG, exit_code=2)
        made.run("make types", "Success: no issues found in 3 source files")
        made.at = self.clock + int(hours * HOUR)
        made.say("Done.")
        return name

    def _hook(self, made: claude_home.Session) -> list[str]:
        """What the hook of Claude Code does at the start, in this process."""
        home = str(self.store_folder)
        arms, items = delivery.chosen(home, made.id, str(self.place))
        text = "\n\n".join(it["text"] for it in items).strip()
        said: dict[str, Any] = {"cwd": str(self.place), "arms": arms} if arms else {}
        if items:
            said |= {"delivered": [it["id"] for it in items], "context": measured(text)}
            content = {"type": "hook_additional_context", "content": [text]}
            made.line("attachment", attachment=content)
        spool = self.store_folder / "spool" / "hooks.jsonl"
        spool.parent.mkdir(exist_ok=True)
        with spool.open("a", encoding="utf-8") as file:
            file.write(line(made.id, "SessionStart", self.clock, **said))
        return [it["text"] for it in items]

    def days(self, count: int, *, a_day: int = 2, **fields: Any) -> None:
        """Some days of work, each ended with the clock at the next morning."""
        for _ in range(count):
            for _ in range(a_day):
                self.session(**fields)
                self.clock += HOUR
            self.clock = (self.clock // DAY + 1) * DAY + 8 * HOUR

    # --- the person -------------------------------------------------------------------------------

    def type(self, *arguments: str) -> str:
        self.clock += 1000
        self.capsys.readouterr()
        with self.there():
            root.main(args=list(arguments), standalone_mode=False)
        out, self.said = self.capsys.readouterr()
        return out

    def told(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.type(*arguments, "--json"))
        return found

    def there(self) -> Any:
        variables = {"PATH": os.environ["PATH"]}
        return app.elsewhere(app.Place(Environment(self.home, variables), self.place))

    def report(self, *arguments: str) -> dict[str, Any]:
        return self.told("exp", "report", *arguments)

    @contextmanager
    def open(self) -> Iterator[Store]:
        store = open_store(self.store_folder, now=self.clock)
        try:
            yield store
        finally:
            store.close()
