"""Refusals of the agent program's sandbox, which look like failures of the command itself.

Known by the proof: the same call succeeded when it was allowed to leave the sandbox. What was
refused in the same words elsewhere in the session was refused by the same sandbox.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from hansei.events.model import Status
from hansei.projection.failures.model import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hansei.projection.calls import Call
    from hansei.projection.failures.model import Verdict

_SOON: Final = 6
"""Calls within which a refused one is asked for again."""
_WORDS = re.compile(
    r"operation not permitted|read-only file system|permission denied|could not resolve host"
    r"|network is unreachable|connection refused|enotfound|eai_again|eperm|eacces|listen eperm"
    r"|temporary failure in name resolution|failed to connect",
    re.IGNORECASE,
)
_ITS_OWN = re.compile(
    r"listen EPERM: operation not permitted[^\n]*:(?:1[1-9]\d\d|[2-9]\d{3}|\d{5})\b"
    r"|^zsh:\d+: operation not permitted: ",
    re.MULTILINE,
)
"""What only a sandbox refuses: a port that anybody may have, a program that anybody may run."""
_LOOKED_AT: Final = 4000


def refused(calls: Sequence[Call], found: list[Verdict]) -> list[Verdict]:
    """Verdicts, where what a sandbox refused is told as that."""
    failed = [index for index, it in enumerate(found) if it.kind is Kind.FAILURE]
    if not failed:
        return found
    for index in failed:
        if _may_be(calls[index], found[index]) and _is_its_own(calls[index]):
            found[index] = found[index]._replace(kind=Kind.HARNESS)
    free = [index for index in range(failed[0], len(calls)) if leaves(calls[index].event.arguments)]
    if not free:
        return found
    proven = {
        index
        for later in free
        if found[later].status is not Status.FAILED
        for index in range(max(0, later - _SOON), later)
        if _may_be(calls[index], found[index]) and _is_same(calls[index], calls[later])
    }
    said = set().union(*(_said(calls[index]) for index in proven)) if proven else set()
    return [
        it._replace(kind=Kind.HARNESS, status=Status.FAILED)
        if index in proven or (_may_be(calls[index], it) and _said(calls[index]) & said)
        else it
        for index, it in enumerate(found)
    ]


def _is_its_own(call: Call) -> bool:
    return call.result is not None and _ITS_OWN.search(call.result.text[:_LOOKED_AT]) is not None


def leaves(arguments: Mapping[str, Any]) -> bool:
    """Whether a call asks to run outside the sandbox."""
    return (
        arguments.get("with_escalated_permissions") is True
        or arguments.get("sandbox_permissions") == "require_escalated"
        or arguments.get("dangerouslyDisableSandbox") is True
    )


def _may_be(call: Call, verdict: Verdict) -> bool:
    return verdict.kind is Kind.FAILURE and not leaves(call.event.arguments)


def _is_same(call: Call, later: Call) -> bool:
    return call.event.text.split() == later.event.text.split()


def _said(call: Call) -> set[str]:
    text = call.result.text if call.result else ""
    return {it.lower() for it in _WORDS.findall(f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}")}
