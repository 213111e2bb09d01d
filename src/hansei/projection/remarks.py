"""What people say again and again, in session after session: clusters of their corrections.

They say it in prompts, and in review of what a session wrote. A cluster is named after the first
who said it, also where that was before the window. So what is said later, by whomever, changes
neither its name nor who belongs to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.corrections import Rule, clusters
from hansei.projection.reviewed import reviewed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.corrections import Cluster, Correction
    from hansei.projection.window import Window

_ONCE: Final = frozenset((Rule.SAME_REQUEST, Rule.STILL))
"""What is said about one task that was not done: no rule for the next one."""


class Remark(NamedTuple):
    """A cluster, and the part of it that lies in the window."""

    cluster: Cluster
    said: list[tuple[int, Correction]]
    """Sessions and what was said there, in the order of time."""


def remarks(window: Window) -> Iterator[Remark]:
    """Every cluster of the workspace's whole history, by name."""
    told = [
        (str(session), session, row)
        for session, row in window.corrections_of_all_time
        if row.basis not in _ONCE
    ]
    # One edit may have been remarked on twice.
    told += [(f"{it.session} {it.review}", it.session, it.said) for it in reviewed(window)]
    rows = {f"{name}#{row.seq}": (session, row) for name, session, row in told}
    for cluster in sorted(clusters((name, row) for name, _, row in told), key=lambda it: it.name):
        said = [rows[it] for it in cluster.members if rows[it][0] in window.sessions]
        yield Remark(cluster, said)


def heard(window: Window) -> set[int]:
    """The sessions in which people could say something: their own, and those that they reviewed."""
    own = {it.number for it in window.sessions.values() if it.is_persons}
    return own | {it.session for it in reviewed(window) if it.session in window.sessions}
