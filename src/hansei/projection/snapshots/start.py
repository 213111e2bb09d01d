"""The commit a session began on, from the best witness there is.

A hook looked at the repository itself; the agent wrote down what it saw; the reflog tells where the
working copy stood; the graph tells only what had been committed by then.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from hansei.events.model import CommitBasis
from hansei.git.history import contains, from_graph, from_reflog

if TYPE_CHECKING:
    from hansei.events.model import SessionFacts


class StartBasis(StrEnum):
    """How the commit a session began on is known."""

    HOOK = "hook"
    AGENT = "agent"
    REFLOG = "reflog"
    GRAPH = "graph"
    UNKNOWN = "unknown"


class Start(NamedTuple):
    commit: str | None
    basis: StartBasis
    here: bool
    """Whether the repository has that commit."""


def start_commit(facts: SessionFacts, folder: str | None, at: int | None) -> Start:
    """The commit a session began on at a moment; `folder` is its working copy, None if not here."""
    if facts.commit is not None:
        told = facts.commit_basis is CommitBasis.HOOK
        basis = StartBasis.HOOK if told else StartBasis.AGENT
        return Start(facts.commit, basis, bool(folder) and contains(folder or "", facts.commit))
    if folder is None or at is None:
        return Start(None, StartBasis.UNKNOWN, here=False)
    stood = from_reflog(folder, at)
    if stood is not None and contains(folder, stood):
        return Start(stood, StartBasis.REFLOG, here=True)
    found = from_graph(folder, at, facts.branch)
    if found is not None:
        return Start(found, StartBasis.GRAPH, here=True)
    return Start(None, StartBasis.UNKNOWN, here=False)
