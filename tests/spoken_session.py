"""Sessions written down event by event, for tests of where a text comes from."""

from __future__ import annotations

from typing import Any

from hansei.events.model import (
    AnyEvent,
    Basis,
    Interruption,
    Origin,
    Prompt,
    Reply,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.store.reading import Numbered

HOME = "/home/ann/app"


class Spoken:
    """A session to which one thing after the other is added."""

    def __init__(self, cwd: str = HOME) -> None:
        self.events: list[Numbered] = []
        self._cwd = cwd

    def _add(self, event: AnyEvent) -> Spoken:
        self.events.append(Numbered(len(self.events) + 1, event))
        return self

    def _common(self) -> dict[str, Any]:
        return {"key": len(self.events), "session": "s", "cwd": self._cwd}

    def prompt(self, text: str, origin: Origin = Origin.HUMAN) -> Spoken:
        return self._add(Prompt(text=text, origin=origin, **self._common()))

    def interrupt(self, text: str) -> Spoken:
        return self._add(Interruption(text=text, **self._common()))

    def reply(self, text: str) -> Spoken:
        return self._add(Reply(text=text, **self._common()))

    def call(self, tool: Tool, text: str, result: str, name: str = "", **arguments: Any) -> Spoken:
        number = f"c{len(self.events)}"
        self._add(
            ToolCall(
                call=number,
                tool=tool,
                name=name or str(tool),
                text=text,
                arguments=arguments,
                **self._common(),
            )
        )
        return self._add(
            ToolResult(
                call=number, text=result, status=Status.OK, basis=Basis.FLAG, **self._common()
            )
        )

    def ran(self, command: str, result: str = "") -> Spoken:
        return self.call(Tool.SHELL, command, result, "Bash", command=command)

    def read(self, path: str, result: str) -> Spoken:
        return self.call(Tool.READ, path, result, "Read", file_path=path)

    def web(self, result: str) -> Spoken:
        return self.call(Tool.WEB, "https://docs.example/page", result, "WebFetch")
