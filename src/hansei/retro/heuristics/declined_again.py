"""Calls that are refused again and again: by a person, by a permission rule, or by a hook.

A person who refuses the same command in several sessions wants an instruction. A rule that refuses
where nobody is there to ask wants to be loosened, or agents to be told. A hook that refuses says
something that agents should have known. What the agent program itself refuses ("the file has not
been read yet") is none of these. A refused call took the request that asked for it, where that
asked for nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.events.model import Status, Tool
from hansei.projection.failures import Kind, Refuser
from hansei.projection.ways import about, bare, spelled
from hansei.projection.wording import code, counted, in_common, most, one_line
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.facts.called import Called
    from hansei.projection.failures import Failure
    from hansei.projection.window import Window

_REVIEWED: Final = frozenset((Tool.EDIT, Tool.WRITE, Tool.PLAN))
"""What a person refuses for what is in it, not for what it is."""
_NAMED: Final = 4
"""Examples that are told."""


class _Refused(NamedTuple):
    session: int
    failure: Failure
    call: Called
    by: Refuser
    what: str
    """The command as far as it is the same in other sessions, or the tool."""
    example: str


@dataclass(frozen=True)
class DeclinedAgain:
    """Knobs."""

    name: str = "declined-again"
    sessions_of_a_person: int = 2
    """Sessions in which a person refused it: saying no twice is meant."""
    sessions_of_a_rule: int = 3
    """Sessions in which a rule or a hook did: they never tire, so it takes more to matter."""
    tokens: int = 5_000
    """What the refused calls must have taken in all, where a rule or a hook refused: below,
    nobody would notice. A person's no is worth more than its tokens."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[tuple[Refuser, str], list[_Refused]] = defaultdict(list)
        for it in _refused(window):
            found[it.by, it.what].append(it)
        allowed = _allowed(window)
        for (by, what), told in sorted(found.items()):
            sessions = len({it.session for it in told})
            took = occurrences(
                window, [Span(it.session, it.call.seq, it.call.seq, whole=True) for it in told]
            )
            spent = total(took)
            if by is Refuser.PERSON:
                if sessions >= self.sessions_of_a_person and allowed[what] <= len(told):
                    yield self._of_person(what, told, took)
            elif sessions >= self.sessions_of_a_rule and (spent is None or spent >= self.tokens):
                if by is Refuser.RULE:
                    yield self._of_rule(window, what, told, took)
                else:
                    yield self._of_hook(what, told, took)

    def _of_person(self, what: str, told: list[_Refused], took: tuple[Occurrence, ...]) -> Finding:
        shown = in_common([it.example for it in told]) or what
        sessions = counted(len({it.session for it in told}), "session")
        return Finding(
            heuristic=self.name,
            key=f"person {what}",
            claim=f"People refuse {code(shown)}; agents ask for it anyway",
            because=(f"refused {counted(len(told), 'time')} in {sessions}",),
            occurrences=took,
            change=Change(Design.LINE, f"Do not run {code(shown)} unless you are asked to."),
            category=Category.FIX,
            effort=2,
            disproof=f"people let {code(shown)} run in later sessions",
            metric=Metric("failures", most(it.failure.signature for it in told)),
        )

    def _of_rule(
        self, window: Window, what: str, told: list[_Refused], took: tuple[Occurrence, ...]
    ) -> Finding:
        often = Counter(it.example for it in told)
        tried = [code(it, 60) for it in sorted(often, key=lambda it: (-often[it], it))]
        sessions = counted(len({it.session for it in told}), "session")
        named = ", ".join(tried[:_NAMED])
        seen = f"refused {counted(len(told), 'time')} in {sessions}: {named}"
        rest = len(tried) - 2
        some = ", ".join(tried[:2]) + (f" and {rest} more" if rest > 0 else "")
        if told[0].call.tool is not Tool.SHELL and some != code(what):
            some = f"{code(what)} of {some}"
        alone = not any(window.sessions[it.session].is_persons for it in told)
        where = "where nobody can be asked" if alone else "here"
        return Finding(
            heuristic=self.name,
            key=f"rule {what}",
            claim=f"Not permitted {where}, and tried again and again: {some}",
            because=(seen,),
            occurrences=took,
            change=Change(Design.BRIEF, _allow(some, seen)),
            category=Category.INVESTIGATE,
            effort=5,
            disproof=f"{some} is permitted in later sessions",
            metric=Metric("failures", most(it.failure.signature for it in told)),
        )

    def _of_hook(self, what: str, told: list[_Refused], took: tuple[Occurrence, ...]) -> Finding:
        sessions = counted(len({it.session for it in told}), "session")
        tools = ", ".join(code(it) for it in sorted({it.call.name for it in told}))
        seen = f"refused {counted(len(told), 'time')} in {sessions}: {tools}"
        return Finding(
            heuristic=self.name,
            key=f"hook {what}",
            claim=f"Agents run into a hook again and again: “{one_line(what)}”",
            because=(seen,),
            occurrences=took,
            change=Change(Design.BRIEF, _tell(what, seen)),
            category=Category.INVESTIGATE,
            effort=5,
            disproof="later sessions do not run into it",
            metric=Metric("failures", most(it.failure.signature for it in told)),
        )


def _refused(window: Window) -> Iterator[_Refused]:
    calls = {(session, row.seq): row for session, row in window.calls}
    for session, row in window.failures:
        if row.kind is not Kind.DECLINED:
            continue
        call = calls[session, row.seq]
        ran = about(window, session, row.seq)
        example = spelled(ran) if ran is not None else _host(row.line) or call.name
        if row.line.startswith(Refuser.HOOK):
            message = row.line.removeprefix(Refuser.HOOK).lstrip(": ").partition(". ")[0]
            yield _Refused(session, row, call, Refuser.HOOK, message.rstrip("."), example)
        elif row.line.startswith(Refuser.RULE):
            shown = ran.shown if ran is not None else example
            yield _Refused(session, row, call, Refuser.RULE, call.name, shown)
        elif call.tool not in _REVIEWED:
            what = bare(ran) if ran is not None else call.name
            yield _Refused(session, row, call, Refuser.PERSON, what, example)


def _allowed(window: Window) -> Counter[str]:
    """How often each command ran well: what is refused only now and then is for a person to say."""
    status = {(session, row.seq): row.status for session, row in window.calls}
    found = Counter(
        bare(ran)
        for session, ran in window.commands
        if ran.about and status.get((session, ran.seq)) is Status.OK
    )
    found.update(
        row.name
        for _, row in window.calls
        if row.tool is not Tool.SHELL and row.status is Status.OK
    )
    return found


def _host(line: str) -> str:
    return line.partition(" (")[2].rstrip(")")


def _allow(what: str, seen: str) -> str:
    return (
        f"# Decide whether agents may use {what} unasked\n\n"
        f"{seen[0].upper()}{seen[1:]}.\n\n"
        "- What of this is harmless? Allow exactly that in the agent's permission settings, so"
        " that subagents and automated runs can do it.\n"
        "- What is not: say in the instruction file what to do instead, or that such work is not"
        " to be handed to subagents.\n"
        "- Done when later sessions are no longer refused for it.\n"
    )


def _tell(what: str, seen: str) -> str:
    return (
        "# Tell agents what a hook refuses, before they try\n\n"
        f"The hook says:\n\n    {one_line(what, 200)}\n\n"
        f"{seen[0].upper()}{seen[1:]}.\n\n"
        "- Is the hook right? Then write its rule into the instruction file, with what to do"
        " instead.\n"
        "- Is it too strict for the task at hand? Then narrow it.\n"
        "- Done when later sessions do not run into it.\n"
    )
