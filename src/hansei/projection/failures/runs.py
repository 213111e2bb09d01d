"""Runs of test commands with their statuses, for whoever asks when tests turned green or red."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hansei.events.model import Status
from hansei.projection.commands.model import Class
from hansei.projection.commands.normal import normal
from hansei.projection.failures.model import Kind
from hansei.projection.failures.polls import followed
from hansei.projection.outcomes.result import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.failures.model import Verdict


def runs_of_tests(
    calls: Sequence[Call], verdicts: Iterable[Verdict], roots: Sequence[str] = ()
) -> list[Run]:
    """Every run of a test command whose status can be told.

    A call that failed tells only about the command that failed; one that went well about all.
    """
    return [
        run
        for call, verdict in zip(followed(calls), verdicts, strict=True)
        if call.script is not None and verdict.kind in (None, Kind.FAILURE)
        for run in _runs(call, verdict, roots)
    ]


def _runs(call: Call, verdict: Verdict, roots: Sequence[str]) -> Iterable[Run]:
    assert call.script is not None
    for index, command in enumerate(call.script.commands):
        if command.kind is not Class.TEST or command.inside:
            continue
        if verdict.status is Status.OK or (
            verdict.status is Status.FAILED and verdict.command == index
        ):
            yield Run(normal(command, roots), call.seq, verdict.status)
