"""Sessions of a few calls, made by hand, for tests of what failed in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hansei.events.model import (
    AnyEvent,
    Basis,
    FileEdit,
    Reply,
    RequestUsage,
    Status,
    Tool,
    ToolCall,
    ToolResult,
)
from hansei.projection.calls import Call, calls
from hansei.projection.failures import (
    Episode,
    Failure,
    Verdict,
    episodes,
    failures,
    runs_of_tests,
    verdicts,
)
from hansei.projection.outcomes import Run
from hansei.store.reading import Numbered

MINUTE = 60_000


@dataclass
class Story:
    """A session that grows call by call; every call takes a minute."""

    events: list[AnyEvent] = field(default_factory=list)
    cwd: str = "/home/ann/quay"

    def shell(
        self,
        command: str,
        output: str = "",
        code: int | None = 0,
        status: Status | None = None,
        basis: Basis | None = None,
        *,
        name: str = "shell",
        arguments: Mapping[str, Any] | None = None,
    ) -> Story:
        """A command; hidden where neither a code nor a status is told."""
        if status is None:
            status = Status.UNKNOWN if code is None else Status.FAILED if code else Status.OK
        basis = basis or (Basis.MASKED if code is None else Basis.EXIT_CODE)
        return self._add(Tool.SHELL, name, command, output, status, basis, code, arguments)

    def tool(
        self,
        tool: Tool,
        name: str,
        text: str,
        output: str = "",
        *,
        failed: bool = False,
        **arguments: Any,
    ) -> Story:
        status = Status.FAILED if failed else Status.OK
        self._add(tool, name, text, output, status, Basis.FLAG, None, arguments)
        if tool in (Tool.EDIT, Tool.WRITE) and not failed:
            call = f"call{len(self.events) - 2}"
            self.events.append(
                FileEdit(
                    key=len(self.events), session="s", call=call, path=text, operation="update"
                )
            )
        return self

    def request(self, message: str, tokens: int, output: int) -> Story:
        """What one request took, and that it said something."""
        for event in (
            RequestUsage(key=0, session="s", message=message, input=tokens, output=output),
            Reply(key=0, session="s", message=message, text="Now."),
        ):
            self.events.append(event)
        return self

    def _add(
        self,
        tool: Tool,
        name: str,
        text: str,
        output: str,
        status: Status,
        basis: Basis,
        code: int | None,
        arguments: Mapping[str, Any] | None = None,
    ) -> Story:
        number = len(self.events)
        message = next(
            (it.message for it in reversed(self.events) if isinstance(it, RequestUsage)), None
        )
        self.events += [
            ToolCall(
                key=number,
                session="s",
                at=number * MINUTE,
                call=f"call{number}",
                tool=tool,
                name=name,
                text=text,
                arguments=dict(arguments or {}),
                cwd=self.cwd,
                message=message,
            ),
            ToolResult(
                key=number + 1,
                session="s",
                at=(number + 1) * MINUTE,
                call=f"call{number}",
                text=output,
                status=status,
                basis=basis,
                exit_code=code,
            ),
        ]
        return self

    def numbered(self) -> list[Numbered]:
        return [Numbered(seq, event) for seq, event in enumerate(self.events, 1)]

    def calls(self) -> list[Call]:
        return calls(self.numbered())

    def verdicts(self) -> list[Verdict]:
        return verdicts(self.calls())

    def failures(self) -> list[Failure]:
        return failures(self.calls(), self.verdicts())

    def episodes(self) -> list[Episode]:
        return episodes(self.calls(), self.verdicts(), self.numbered())

    def runs(self) -> list[Run]:
        return runs_of_tests(self.calls(), self.verdicts())


def verdict(command: str, output: str = "", code: int | None = 0) -> Verdict:
    """How one command ended; `None` for a code that the shell hides."""
    return Story().shell(command, output, code).verdicts()[0]


def signature(command: str, output: str, code: int | None = 1) -> str:
    """What a failing command is known by."""
    return Story().shell(command, output, code).failures()[0].signature
