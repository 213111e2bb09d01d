"""Every tool call of a session with how it ended: the row that others are joined to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import Basis, Status, Tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hansei.projection.calls import Call
    from hansei.projection.failures.model import Verdict


class Called(NamedTuple):
    """One tool call."""

    seq: int
    result: int | None
    """The event that holds its result; what that put into the context stands in the pieces."""
    turn: int
    at: int | None
    ended: int | None
    tool: Tool
    name: str
    server: str | None
    status: Status
    basis: Basis
    bytes: int | None
    """What the model was shown of its output; None where no result is recorded."""


def called(calls: Sequence[Call], verdicts: Sequence[Verdict]) -> list[Called]:
    """Every call in order, with the verdict on it."""
    judged = {verdict.seq: verdict for verdict in verdicts}
    return [_row(call, judged.get(call.seq)) for call in calls]


def _row(call: Call, verdict: Verdict | None) -> Called:
    result = call.result
    shown = None if result is None else result.shown
    if result is not None and shown is None:
        text = result.text
        shown = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return Called(
        seq=call.seq,
        result=call.result_seq,
        turn=call.turn,
        at=call.event.at,
        ended=None if result is None else result.at,
        tool=call.event.tool,
        name=call.event.name,
        server=call.event.server,
        status=Status.UNKNOWN if verdict is None else verdict.status,
        basis=Basis.NONE if verdict is None else verdict.basis,
        bytes=shown,
    )
