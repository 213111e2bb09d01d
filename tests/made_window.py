"""Windows made by hand: sessions told as requests and calls, with every fact that follows.

A session's bill is known by adding up its contexts, so what a call took can be told in the plainest
way there is: the bill with it, less the bill without it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hansei.config import DAY_MS, CommandClass
from hansei.events.model import Basis, Status, Tool
from hansei.projection.facts import folds
from hansei.projection.facts.called import Called
from hansei.projection.facts.ran import Ran
from hansei.projection.facts.tables import Found
from hansei.projection.files import By, Extent, Touch, Verb
from hansei.projection.provenance import Carried, Kind
from hansei.projection.window import Session, Window

if TYPE_CHECKING:
    from hansei.projection.funnel import Use

PREFIX = 5_000
SAID = 20
"""Tokens of a call itself."""
REPLY = 10
"""Tokens of what a request says beside its calls."""


@dataclass(frozen=True)
class Made:
    """One call."""

    tokens: int
    """Of its result."""
    touches: tuple[dict[str, Any], ...] = ()
    runs: tuple[dict[str, Any], ...] = ()
    tool: Tool = Tool.READ
    name: str = "Read"
    status: Status = Status.OK


Told = Sequence[Sequence[Made]]
"""A session: the calls of each of its requests; after the last one the agent speaks once more."""


def read(path: str, tokens: int = 900, **more: Any) -> Made:
    """A file read whole."""
    return Made(tokens, ({"path": path, "verb": Verb.READ, **more},))


def listing(folder: str, tokens: int = 400) -> Made:
    touch = {"path": folder, "verb": Verb.LIST, "extent": Extent.NOTHING}
    return Made(tokens, (touch,), tool=Tool.SEARCH, name="Glob")


def edit(path: str, first: int | None = 10, last: int | None = 12, **more: Any) -> Made:
    where = {"first": first, "last": last, "extent": Extent.LINES}
    touch = {"path": path, "verb": Verb.EDIT, **where, **more}
    return Made(30, (touch,), tool=Tool.EDIT, name="Edit")


def shell(command: str, tokens: int, *, status: Status = Status.OK, **more: Any) -> Made:
    """A program that was run; its first word is the program, the rest its subcommand."""
    program, _, subcommand = command.partition(" ")
    told = {"program": program, "subcommand": subcommand or None, "form": command}
    run = {**told, "shown": command, **more}
    return Made(tokens, (), (run,), Tool.SHELL, "Bash", status)


def bill(told: Told, without: frozenset[tuple[int, int]] = frozenset()) -> int:
    """Everything that is billed; some calls left out, and requests that made only those."""
    context, total = PREFIX, 0
    for number, request in enumerate(told):
        kept = [it for place, it in enumerate(request) if (number, place) not in without]
        if request and not kept:
            continue
        total += context + REPLY + SAID * len(kept)
        context += REPLY + sum(SAID + it.tokens for it in kept)
    return total + context


def seq_of(told: Told, number: int, place: int) -> int:
    """The event of a call."""
    return _asked(told, number) + 2 + 2 * place


def _asked(told: Told, number: int) -> int:
    """The event of a request; what it says and its calls with their results follow."""
    return 1 + sum(2 * len(request) + 2 for request in told[:number])


def window_of(
    stories: Mapping[int, Told],
    uses: Mapping[int, Sequence[Use]] | None = None,
    days: Mapping[int, int] | None = None,
) -> Window:
    """A window of these sessions, one a day unless told otherwise."""
    rows: dict[str, list[Any]] = {
        it.name: []
        for it in (
            *(folds.CALLS, folds.COMMANDS, folds.PIECES),
            *(folds.TOUCHES, folds.CROWDED, folds.USES, folds.STANDS),
        )
    }
    for session, told in sorted(stories.items()):
        _tell(session, told, rows)
        rows[folds.USES.name] += [Found(session, use) for use in (uses or {}).get(session, ())]
    sessions = {it: _session(it, (days or {}).get(it, it)) for it in sorted(stories)}
    unsaid: dict[int, Any] = {it: [] for it in sessions}
    return Window(_NOWHERE, sessions, 0, DAY_MS * (len(sessions) + 1), rows, unsaid)


class _Nowhere:
    """Stands for a store that is never asked: all rows are there."""


_NOWHERE: Any = _Nowhere()


def _session(number: int, day: int) -> Session:
    at = (day + 1) * DAY_MS
    return Session(number, f"s{number}", "agent", "human", None, 1, at, at, 1, None)


def _tell(session: int, told: Told, rows: dict[str, list[Any]]) -> None:
    asked = [_asked(told, number) for number in range(len(told) + 1)]
    total = len(asked)

    def carried(seq: int, kind: Kind, tokens: int, since: int) -> Found[Carried]:
        return Found(session, Carried(seq, kind, tokens, asked[since], total - since, None, None))

    pieces = rows[folds.PIECES.name]
    pieces.append(carried(asked[0], Kind.PREFIX, PREFIX, 0))
    for number, request in enumerate(told):
        pieces.append(carried(asked[number] + 1, Kind.REPLY, REPLY, number + 1))
        for place, made in enumerate(request):
            seq = seq_of(told, number, place)
            pieces.append(carried(seq, Kind.CALL, SAID, number + 1))
            pieces.append(carried(seq + 1, Kind.READ, made.tokens, number + 1))
            rows[folds.CALLS.name].append(Found(session, _called(seq, made)))
            rows[folds.TOUCHES.name] += [Found(session, _touch(seq, it)) for it in made.touches]
            rows[folds.COMMANDS.name] += [Found(session, _ran(seq, it)) for it in made.runs]


def _called(seq: int, made: Made) -> Called:
    size = made.tokens * 4
    return Called(
        seq, seq + 1, 0, None, None, made.tool, made.name, None, made.status, Basis.NONE, size
    )


_TOUCH = Touch(
    0, 0, None, "", True, Verb.READ, By.TOOL, Extent.WHOLE, None, None, 4_000, None, None
)
_RAN = Ran(
    0, "", None, CommandClass.RUN, "", "", (), (), None, about=True, masked=False, inside=False,
    parsed=True,
)  # fmt: skip


def _touch(seq: int, told: dict[str, Any]) -> Touch:
    return _TOUCH._replace(seq=seq, **told)


def _ran(seq: int, told: dict[str, Any]) -> Ran:
    return _RAN._replace(seq=seq, **told)
