"""Calls that are refused again and again: by a person, by a permission rule, or by a hook.

A person who refuses the same command in several sessions wants an instruction. A rule that refuses
where nobody is there to ask wants to be loosened, or agents to be told. A hook that refuses says
something that agents should have known. What the agent program itself refuses ("the file has not
been read yet") is none of these. A refused call took the request that asked for it, where that
asked for nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.events.model import Driver, Status, Tool
from hansei.projection.facts.ran import bare
from hansei.projection.failures import Refuser
from hansei.projection.refusals import refusals
from hansei.projection.wording import code, counted, in_common, one_line
from hansei.retro.costs import Span, occurrences, total
from hansei.retro.over import chances, is_over

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Chances, Occurrence
    from hansei.projection.refusals import Refused
    from hansei.projection.window import Window

_NAMED: Final = 6
"""Examples that a claim has room for; the brief names all."""


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
        found: dict[tuple[Refuser, str], list[Refused]] = defaultdict(list)
        for it in refusals(window):
            found[it.by, it.what].append(it)
        allowed = _allowed(window)
        for (by, what), told in sorted(found.items()):
            sessions = len({it.session for it in told})
            could = _chances(window, by, told)
            if is_over(could):
                continue
            took = occurrences(
                window, [Span(it.session, it.call.seq, it.call.seq, whole=True) for it in told]
            )
            spent = total(took)
            if by is Refuser.PERSON:
                if sessions >= self.sessions_of_a_person and allowed[what] <= len(told):
                    yield self._of_person(what, told, took)
            elif sessions >= self.sessions_of_a_rule and (spent is None or spent >= self.tokens):
                if by is Refuser.RULE:
                    yield replace(self._of_rule(window, told, took), chances=could)
                else:
                    yield self._of_hook(window, what, told, took)

    def _of_person(self, what: str, told: list[Refused], took: tuple[Occurrence, ...]) -> Finding:
        shown = in_common([it.example for it in told]) or what
        sessions = counted(len({it.session for it in told}), "session")
        return Finding(
            heuristic=self.name,
            key=told[0].key,
            claim=f"People refuse {code(shown)}; agents ask for it anyway",
            because=(f"refused {counted(len(told), 'time')} in {sessions}",),
            occurrences=took,
            change=Change(Design.LINE, f"Do not run {code(shown)} unless you are asked to."),
            category=Category.FIX,
            effort=2,
            disproof=f"people refused {code(shown)} for what it was about to do there and then,"
            " and would let it run elsewhere",
            metric=Metric(Fact.DECLINED, told[0].key),
        )

    def _of_rule(
        self, window: Window, told: list[Refused], took: tuple[Occurrence, ...]
    ) -> Finding:
        often = Counter(it.example for it in told)
        tried = [code(it, 60) for it in sorted(often, key=lambda it: (-often[it], it))]
        seen = f"refused {_times(window, told)}: {', '.join(tried)}"
        rest = len(tried) - _NAMED
        some = ", ".join(tried[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
        tool = code(told[0].call.name)
        some = tool if some == tool else f"{tool} of {some}"
        drivers = {window.sessions[it.session].driver for it in told}
        who = "Agents" if Driver.HUMAN in drivers else "Agents that have nobody to ask"
        who = "Subagents" if drivers == {Driver.SUBAGENT} else who
        return Finding(
            heuristic=self.name,
            key=told[0].key,
            claim=f"{who} are refused {some}",
            because=(seen,),
            occurrences=took,
            change=Change(Design.BRIEF, _allow(who.lower(), some, seen)),
            category=Category.INVESTIGATE,
            effort=5,
            disproof="those tasks could be finished and checked without what was refused",
            metric=Metric(Fact.DECLINED, told[0].key),
        )

    def _of_hook(
        self, window: Window, what: str, told: list[Refused], took: tuple[Occurrence, ...]
    ) -> Finding:
        tools = ", ".join(code(it) for it in sorted({it.call.name for it in told}))
        seen = f"refused {_times(window, told)}: {tools}"
        return Finding(
            heuristic=self.name,
            key=told[0].key,
            claim=f"A hook refuses {tools} in session after session: “{one_line(what)}”",
            because=(seen,),
            occurrences=took,
            change=Change(Design.BRIEF, _tell(what, seen)),
            category=Category.INVESTIGATE,
            effort=5,
            disproof="what was refused is not what those sessions were asked to do,"
            " and they say at once how else to do it",
            metric=Metric(Fact.DECLINED, told[0].key),
        )


def _times(window: Window, told: list[Refused]) -> str:
    """How often, in how many sessions, and how many of these had nobody to ask."""
    sessions = {it.session for it in told}
    alone = sum(window.sessions[it].driver == Driver.SUBAGENT for it in sessions)
    of = f", {alone} of them subagents" if alone and alone < len(sessions) else ""
    of = ", all subagents" if alone == len(sessions) else of
    return f"{counted(len(told), 'time')} in {counted(len(sessions), 'session')}{of}"


def _chances(window: Window, by: Refuser, told: list[Refused]) -> Chances | None:
    """Of a rule, the sessions that used the tool with nobody more to ask than those refused."""
    if by is not Refuser.RULE:
        return None
    kinds = {window.sessions[it.session].is_persons for it in told}
    tools = {it.call.name for it in told}
    doing = {
        session
        for session, row in window.calls
        if row.name in tools
        and row.status is Status.OK
        and window.sessions[session].is_persons in kinds
    }
    return chances(window, {it.session for it in told}, doing)


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


def _allow(who: str, what: str, seen: str) -> str:
    return (
        f"# Decide whether {who} may use {what} unasked\n\n"
        f"{seen[0].upper()}{seen[1:]}.\n\n"
        "- What of this is harmless? Allow exactly that in the agent's permission settings, so"
        " that subagents and automated runs can do it.\n"
        "- What is not: say in the instruction file what to do instead, or that such work is not"
        " to be handed to subagents.\n"
        "- Open the places named as evidence: what did those sessions leave unchecked?\n"
        "- Done when what is harmless runs in a subagent, and the rest is written down.\n"
    )


def _tell(what: str, seen: str) -> str:
    return (
        "# Tell agents what a hook refuses, before they try\n\n"
        f"The hook says:\n\n    {one_line(what, 200)}\n\n"
        f"{seen[0].upper()}{seen[1:]}.\n\n"
        "- Is the hook right? Then write its rule into the instruction file, with what to do"
        " instead.\n"
        "- Does it refuse what a task asks for, because it cannot tell the task? Then narrow it, or"
        " give it what it needs to tell. See also whether agents went round it.\n"
        "- Done when a session that is asked for such work is either let through or told before.\n"
    )
