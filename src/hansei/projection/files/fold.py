"""The fold: every file that the calls of a session touched, and what was read again for nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from hansei.events.model import Basis, Compaction, Notice, Prompt, Reply, Status, Tool
from hansei.projection.calls import SPEAKERS
from hansei.projection.commands.paths import join
from hansei.projection.files.memory import Memory, is_cut
from hansei.projection.files.model import LOOKS, Again, By, Extent, FanOut, Touch, Verb
from hansei.projection.files.seen import Places, is_one_file
from hansei.projection.files.shell import Stir, of_shell, stir
from hansei.projection.files.tools import of_edit, of_tool, says_unchanged
from hansei.projection.places import ground

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.events.model import ToolResult
    from hansei.projection.calls import Call
    from hansei.projection.files.seen import Seen
    from hansei.projection.provenance.ledger import Carried
    from hansei.store.reading import Numbered

_FOLDERS = ("workdir", "cwd", "working_directory", "workingDirectory")
_HARMLESS = frozenset((Tool.WEB, Tool.PLAN, Tool.READ, Tool.SEARCH, Tool.EDIT, Tool.WRITE))
_NEVER_RAN = (Basis.DECLINED, Basis.INTERRUPTED)
"""Refused, or stopped before it said anything."""
_LINES = (Extent.WHOLE, Extent.LINES)
_PRUNED = "output_pruned"
_MATTERS = (Compaction, Prompt, Notice)


def touches(
    events: Sequence[Numbered],
    calls: Sequence[Call],
    roots: Iterable[str] = (),
    left: Mapping[int, int] | None = None,
) -> list[Touch]:
    """The files that calls touched, in order.

    `roots` are the folder of the repository and those of its worktrees, in any spelling. `left`
    says for the number of a result from which number on it was no longer in the context.
    """
    desk = _Desk(Places(ground(roots)), Memory(left or {}), _known_until(events, calls))
    waiting = iter(calls)
    call = next(waiting, None)
    for seq, event in events:
        if call is not None and call.seq == seq:
            desk.take(call)
            call = next(waiting, None)
        elif isinstance(event, _MATTERS):
            desk.happen(seq, event)
    return desk.rows


def left_at(carried: Iterable[Carried]) -> dict[int, int]:
    """When most of what an event brought had left the context, for `touches`.

    A few tokens that leave are noise of the fit: the text is still there.
    """
    rows = list(carried)
    brought, gone = Counter[int](), Counter[int]()
    for row in rows:
        brought[row.seq] += row.tokens
    left: dict[int, int] = {}
    for row in sorted((it for it in rows if it.until is not None), key=lambda it: it.until or 0):
        gone[row.seq] += row.tokens
        if row.until is not None and 2 * gone[row.seq] >= brought[row.seq]:
            left.setdefault(row.seq, row.until)
    return left


def fan_out(rows: Iterable[Touch]) -> list[FanOut]:
    """How many calls of each turn touched a file, in whatever order the rows come."""
    looked: dict[tuple[int, str], set[int]] = defaultdict(set)
    edited: dict[tuple[int, str], set[int]] = defaultdict(set)
    for row in rows:
        if is_one_file(row.path):
            (looked if row.verb in LOOKS else edited)[row.turn, row.path].add(row.seq)
    return [
        FanOut(
            turn,
            path,
            calls=len(looked[turn, path] | edited[turn, path]),
            reads=len(looked[turn, path]),
            edits=len(edited[turn, path]),
        )
        for turn, path in sorted({*looked, *edited})
    ]


class _Desk:
    """The rows so far, and what the model has before it."""

    def __init__(self, places: Places, memory: Memory, known_until: int) -> None:
        self.rows: list[Touch] = []
        self.memory = memory
        self._places = places
        self._known_until = known_until

    def take(self, call: Call) -> None:
        """The files one call touched."""
        by = By.SHELL if call.script is not None else By.TOOL
        seen = list(_seen(call, self._places, may_have_run=self._may_have_run(call)))
        if _has_failed(call):
            self._fail(call)
        if call.result is None or call.result.basis is not Basis.DECLINED:
            self._stir(call)
        for it in seen:
            self.rows.append(self._row(call, it, by))

    def happen(self, seq: int, event: Compaction | Prompt | Notice) -> None:
        """What else bears on the context and on files."""
        if isinstance(event, Compaction):
            self.memory.forget_all()
        elif isinstance(event, Prompt):
            if event.origin in SPEAKERS:  # a person may have changed files meanwhile
                self.memory.doubt(seq)
        elif event.name == _PRUNED:
            self.memory.forget_call(str(event.data.get("call")))

    def _may_have_run(self, call: Call) -> bool:
        if call.result is None:
            return call.seq < self._known_until
        return call.result.basis not in _NEVER_RAN

    def _row(self, call: Call, seen: Seen, by: By) -> Touch:
        redundant = again = None
        if seen.verb is Verb.READ:
            if call.result is not None and seen.extent in _LINES and is_cut(call.result):
                seen = seen._replace(extent=Extent.PART)
            repeat = self.memory.read(call, seen)
            if repeat is not None:
                redundant, again = repeat
            elif seen.extent is Extent.NOTHING and by is By.TOOL and says_unchanged(call.result):
                again = Again.NOTICE
        elif seen.verb not in LOOKS:
            self.memory.changed(seen.place.key)
        brought = None if call.result is None or not seen.alone else _size(call.result)
        return Touch(
            call.seq,
            call.turn,
            call.event.at,
            seen.place.path,
            seen.place.inside,
            seen.verb,
            by,
            seen.extent,
            seen.first,
            seen.last,
            brought,
            redundant,
            again,
        )

    def _stir(self, call: Call) -> None:
        """What the commands may have changed beside what they name; a failed one too."""
        if call.script is None:
            if call.event.tool not in _HARMLESS:
                self.memory.doubt(call.seq)
            return
        found = stir(call.script.commands)
        if found is Stir.REWRITES:
            self.memory.forget_all()
        elif found is Stir.PERHAPS or not call.script.parsed:
            self.memory.doubt(call.seq)
        if _has_failed(call) or not self._may_have_run(call):
            cwd = _folder(call)
            for command in call.script.commands:
                for write in command.writes:
                    self.memory.changed(self._places.of(write.path, cwd).key)

    def _fail(self, call: Call) -> None:
        """An edit that failed leaves the file, and is a reason to look at it again."""
        if call.script is None and call.event.tool in (Tool.EDIT, Tool.WRITE):
            named = {self._places.of(it.event.path, it.event.cwd).key for it in call.edits}
            named |= {it.place.key for it in of_tool(call, self._places, _folder(call))}
            for key in named:
                self.memory.failed(key, call.seq)


def _known_until(events: Sequence[Numbered], calls: Sequence[Call]) -> int:
    """Up to where calls without a result took place, as far as anybody knows.

    Some transcripts keep no results: there the agent went on after all calls but the last ones. In
    all others a call without a result was cut off.
    """
    if any(call.result is not None for call in calls):
        return 0
    return max((seq for seq, event in events if isinstance(event, Reply)), default=0)


def _seen(call: Call, places: Places, *, may_have_run: bool) -> Iterator[Seen]:
    """What a call touched; edits by the record of them, where there is one."""
    if call.result is not None and not may_have_run:
        return
    edited = set()
    for _, edit in call.edits:
        if edit.applied or (edit.applied is None and may_have_run and not _has_failed(call)):
            for it in of_edit(edit, call.event.tool, places):
                edited.add(it.place.key)
                yield it
    if not may_have_run or (call.script is None and _has_failed(call)):
        return
    cwd = _folder(call)
    found = of_tool if call.script is None else of_shell
    for it in found(call, places, cwd):
        if it.verb in LOOKS or (it.place.key not in edited and not call.edits):
            yield it


def _folder(call: Call) -> str | None:
    """Where a call ran: some are told a folder of their own."""
    cwd = call.event.cwd
    for name in _FOLDERS:
        told = call.event.arguments.get(name)
        if isinstance(told, str) and told:
            return join(cwd, told) or told
    return cwd


def _has_failed(call: Call) -> bool:
    return call.result is not None and call.result.status is Status.FAILED


def _size(result: ToolResult) -> int:
    """Bytes the model was shown."""
    if result.shown is not None:
        return result.shown
    text = result.text
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
