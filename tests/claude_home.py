"""A home folder with small Claude Code transcripts, written line by line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def iso(milliseconds: int) -> str:
    when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class Session:
    """One transcript, growing."""

    path: Path
    id: str
    at: int
    cwd: str = "/work/app"
    branch: str = "main"
    model: str = "claude-sonnet-4-5-20250929"
    count: int = 0
    lines: list[str] = field(default_factory=list)

    def line(self, kind: str, **fields: Any) -> None:
        self.count += 1
        self.at += 1000
        record = {
            "type": kind,
            "uuid": f"{self.id}-{self.count:04}",
            "parentUuid": f"{self.id}-{self.count - 1:04}" if self.count > 1 else None,
            "timestamp": iso(self.at),
            "sessionId": self.id,
            "cwd": self.cwd,
            "gitBranch": self.branch,
            "version": "2.1.40",
            "isSidechain": False,
            "userType": "external",
            "entrypoint": "cli",
            **fields,
        }
        text = json.dumps(record, ensure_ascii=False)
        self.lines.append(text)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    def prompt(self, text: str) -> None:
        self.line("user", message={"role": "user", "content": text})

    def answer(self, *blocks: dict[str, Any], tokens: tuple[int, int, int, int]) -> str:
        """One response; `tokens` are input, cache read, cache write, output."""
        message = f"msg_{self.id}{self.count:04}".ljust(28, "x")
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        usage = dict(zip((*names, "output_tokens"), tokens, strict=True))
        for block in blocks:
            self.line(
                "assistant",
                requestId=f"req_{message[4:]}",
                message={
                    "id": message,
                    "type": "message",
                    "role": "assistant",
                    "model": self.model,
                    "content": [block],
                    "stop_reason": None,
                    "usage": usage,
                },
            )
        return message

    def say(self, text: str, tokens: tuple[int, int, int, int] = (5, 1000, 100, 20)) -> None:
        self.answer({"type": "text", "text": text}, tokens=tokens)

    def run(self, command: str, output: str = "ok", *, exit_code: int = 0) -> None:
        """A shell call and its result."""
        call = f"toolu_{self.id}{self.count:04}"
        self.answer(
            {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}},
            tokens=(5, 1000, 100, 20),
        )
        text = f"Exit code {exit_code}\n{output}" if exit_code else output
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        if exit_code:
            result["is_error"] = True  # type: ignore[assignment]
        self.line(
            "user",
            message={"role": "user", "content": [result]},
            toolUseResult={"stdout": output, "stderr": "", "interrupted": False},
        )


def session(home: Path, id: str, at: int, cwd: str = "/work/app", **fields: Any) -> Session:  # noqa: A002
    """A new, empty transcript in a home folder."""
    slug = "".join(c if c.isalnum() else "-" for c in cwd)
    path = home / ".claude" / "projects" / slug / f"{id}.jsonl"
    return Session(path=path, id=id, at=at, cwd=cwd, **fields)


def small_history(home: Path, now: int) -> list[Session]:
    """Three sessions in two workspaces: one old, one recent, one with a failure."""
    old = session(home, "aaaa1111-old", now - 40 * 86_400_000)
    old.prompt("set up the project")
    old.run("make setup")
    old.say("Done.")
    recent = session(home, "bbbb2222-new", now - 3_600_000)
    recent.prompt("fix the failing test")
    recent.run("pytest -q", "1 failed", exit_code=1)
    recent.run("pytest -q", "1 passed")
    recent.say("Fixed.")
    other = session(home, "cccc3333-other", now - 7_200_000, cwd="/work/site", branch="dev")
    other.prompt("build the page")
    other.say("Built.", tokens=(7, 0, 900, 30))
    return [old, recent, other]
