"""Calls that somebody or something said no to: a person, a permission rule, or a hook.

What the agent program itself refuses ("the file has not been read yet") is none of these, and what
a person refuses for what is in it (an edit, a plan) is a review.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import Tool
from hansei.projection.facts.ran import bare
from hansei.projection.failures import Kind, Refuser
from hansei.projection.ways import about, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.projection.facts.called import Called
    from hansei.projection.failures import Failure
    from hansei.projection.window import Window

_REVIEWED: Final = frozenset((Tool.EDIT, Tool.WRITE, Tool.PLAN))
"""What a person refuses for what is in it, not for what it is."""
PERSON: Final = "person"
RULE: Final = "rule"
HOOK: Final = "hook"
_WORDS: Final = {Refuser.PERSON: PERSON, Refuser.RULE: RULE, Refuser.HOOK: HOOK}


class Refused(NamedTuple):
    """One refused call."""

    session: int
    failure: Failure
    call: Called
    by: Refuser
    what: str
    """The command as far as it is the same in other sessions, or the tool; of a hook its words."""
    example: str

    @property
    def key(self) -> str:
        """What makes two refusals the same: who said no, and to what."""
        return f"{_WORDS[self.by]} {self.what}"


def refusals(window: Window) -> Iterator[Refused]:
    """Every refused call, in order."""
    calls = {(session, row.seq): row for session, row in window.calls}
    for session, row in window.failures:
        if row.kind is not Kind.DECLINED:
            continue
        call = calls[session, row.seq]
        ran = about(window, session, row.seq)
        example = spelled(ran) if ran is not None else _host(row.line) or call.name
        if row.line.startswith(Refuser.HOOK):
            message = row.line.removeprefix(Refuser.HOOK).lstrip(": ").partition(". ")[0]
            yield Refused(session, row, call, Refuser.HOOK, message.rstrip("."), example)
        elif row.line.startswith(Refuser.RULE):
            shown = ran.shown if ran is not None else example
            # Each page of the web is its own question: allowing one says nothing of the next.
            what = f"{call.name} {shown}" if call.tool is Tool.WEB else call.name
            yield Refused(session, row, call, Refuser.RULE, what, shown)
        elif call.tool not in _REVIEWED:
            what = bare(ran) if ran is not None else call.name
            yield Refused(session, row, call, Refuser.PERSON, what, example)


def _host(line: str) -> str:
    return line.partition(" (")[2].rstrip(")")
