"""The same failure in several sessions: what to do at once, where something is known to end it.

What ended it is read off the calls (`ways`): a command to run first, a folder, a word before the
program, another command. Then the bet is a line for the instruction file. Where only an edit or
another try ended it, or nothing, and it took enough, somebody should look: the bet is a brief.
Failures that say that something does not exist are told by `missing_here`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.projection.failures import Ending
from hansei.projection.telling import telling
from hansei.projection.ways import How, Known, about, advice, known, usual, ways
from hansei.projection.wording import code, counted, one_line
from hansei.retro.costs import Span, occurrences, total
from hansei.retro.over import chances, is_over, users

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.failures import Episode
    from hansei.projection.window import Window

_PRECONDITION: Final = re.compile(
    r"\b(?:not (?:on|in|inside|logged in|authenticated|allowed|permitted|initiali[sz]ed)"
    r"|must|requires?|required|please|first|only (?:on|in|from|works|runs|allowed)"
    r"|you (?:need|have) to|(?:run|use|try|set) (?:[`'\"][^`'\"]+[`'\"]|[$\w-]+)"
    r" (?:to|before|instead|first))\b",
    re.IGNORECASE,
)
"""Words in which a program says what has to hold, or what to do about it."""


@dataclass(frozen=True)
class RecurringFailure:
    """Knobs."""

    name: str = "recurring-failure"
    sessions: int = 3
    """Sessions it must have happened in, each counted with its subagents: two may be one task
    that was taken up again. Where the same fix is confirmed, those sessions are enough."""
    share: float = 0.5
    """Of the episodes that ended well, those that the same way ended: less is chance."""
    confirmed: int = 2
    """Sessions in which that way ended it: one success may have had another reason."""
    tokens: int = 5_000
    """What it must have taken in all: below, nobody would notice that it is gone."""
    tokens_to_investigate: int = 100_000
    """The same where a person has to look into it: about what one such look takes an agent."""
    tokens_of_two: int = 200_000
    """The same where only two sessions met it and nothing is known to end it: what broke one task
    twice at that price is looked into, too."""

    def find(self, window: Window) -> Iterator[Finding]:
        doing = users(window)
        rows = {(session, row.seq): row for session, row in window.failures}
        for signature, told in sorted(_groups(window).items()):
            met = {session for session, _ in told}
            if window.tasks(met) < self.confirmed:
                continue
            tools = {(rows[s, it.seq].program, rows[s, it.seq].subcommand) for s, it in told}
            could = chances(window, met, {it for tool in tools for it in doing.get(tool, ())})
            if not is_over(could):
                found = self._finding(window, signature, told)
                if found is not None:
                    yield replace(found, chances=could)

    def _finding(
        self, window: Window, signature: str, told: list[tuple[int, Episode]]
    ) -> Finding | None:
        took = occurrences(window, [_span(s, it) for s, it in told])
        spent = total(took)
        if spent is not None and spent < self.tokens:
            return None
        failing = usual(ran for s, it in told if (ran := about(window, s, it.failures[-1])))
        way = known(window, told)
        if way is not None and (way.sessions < self.confirmed or way.times < self.share * way.of):
            way = None
        if failing and way is not None and way.way.how not in (How.EDITED, How.AGAIN):
            return self._fix(signature, failing, way, took)
        if spent is None or spent < self.tokens_to_investigate or _says_enough(window, told):
            return None
        tasks = window.tasks(session for session, _ in told)
        if tasks < self.sessions and (way is not None or spent < self.tokens_of_two):
            return None
        endings = _endings(window, told, way)
        return self._look(signature, failing or told[0][1].program, endings, way, took)

    def _fix(
        self, signature: str, failing: str, way: Known, took: tuple[Occurrence, ...]
    ) -> Finding:
        told = advice(way, failing)
        sessions = counted(len({it.session for it in took}), "session")
        return Finding(
            heuristic=self.name,
            key=signature,
            claim=told.claim,
            because=(
                f"failed in {sessions}: {one_line(signature)}",
                f"ended it {way.times} times of {way.of}: {code(told.fix)}",
            ),
            occurrences=took,
            change=Change(Design.LINE, told.line),
            category=Category.FIX,
            effort=2,
            disproof=f"{code(told.fix)} fails with the same words,"
            f" or {code(failing)} works without it",
            metric=Metric(Fact.FAILURES, signature),
            fix=told.fix,
        )

    def _look(
        self,
        signature: str,
        failing: str,
        endings: str,
        way: Known | None,
        took: tuple[Occurrence, ...],
    ) -> Finding:
        reason = one_line(_reason(signature), 90)
        sessions = counted(len({it.session for it in took}), "session")
        claim = f"{code(failing)} fails in {sessions}: {reason}"
        if way is not None and way.way.how is How.AGAIN:
            claim = f"{code(failing)} fails and then works unchanged: {reason}"
        if way is not None and way.way.how is How.EDITED:
            claim = f"{code(failing)} fails until {code(way.way.text)} is edited, again and again"
        return Finding(
            heuristic=self.name,
            key=signature,
            claim=claim,
            because=(f"failed in {sessions}: {one_line(signature)}", endings),
            occurrences=took,
            change=Change(Design.BRIEF, _brief(failing, signature, endings)),
            category=Category.INVESTIGATE,
            effort=30,
            disproof=f"the failures at the places named have causes that have nothing in common,"
            f" or {code(failing)} was only run where it cannot work",
            metric=Metric(Fact.FAILURES, signature),
        )


def _span(session: int, episode: Episode) -> Span:
    tries = (*episode.failures, episode.end)
    return Span(session, episode.seq, episode.end, episode.minutes, tries=tries)


def _groups(window: Window) -> dict[str, list[tuple[int, Episode]]]:
    """Episodes by what they are known by."""
    found: dict[str, list[tuple[int, Episode]]] = defaultdict(list)
    for session, episode in telling(window):
        found[episode.signature].append((session, episode))
    return found


def _says_enough(window: Window, told: list[tuple[int, Episode]]) -> bool:
    """Whether it says itself what it wants, and no agent ran into it twice on the way to one goal.

    Such a refusal does its work: there is nothing to find out. What a person then asks for is
    another goal.
    """
    return all(_PRECONDITION.search(it.signature) for _, it in told) and all(
        len({window.turns.get((session, seq)) for seq in it.failures}) == len(it.failures)
        for session, it in told
    )


def _reason(signature: str) -> str:
    """What went wrong, without the program that says so."""
    return signature.partition(": ")[2] or signature


def _endings(window: Window, told: list[tuple[int, Episode]], way: Known | None) -> str:
    """What is known of how it ended, in a sentence."""
    ended = [(s, it) for s, it in told if it.ending is Ending.RECOVERED]
    if way is not None and way.way.how is How.AGAIN:
        return f"{way.times} of {way.of} times the same command worked later, with nothing changed"
    if way is not None:
        return f"{way.times} of {way.of} times it was over after an edit of {code(way.way.text)}"
    if not ended:
        return f"none of {counted(len(told), 'time')} did anything get past it"
    seen = sorted({it.text for pair in ended for it in ways(window, *pair) if it.text})
    by = f", by {', '.join(code(it, 60) for it in seen[:3])}" if seen else ""
    return f"{len(ended)} of {counted(len(told), 'time')} something got past it{by}"


def _brief(failing: str, signature: str, endings: str) -> str:
    return (
        f"# Find out why {code(failing)} keeps failing\n\n"
        f"It fails with:\n\n    {one_line(signature, 200)}\n\n"
        f"What is known: {endings}.\n\n"
        "- Open the sessions named as evidence and see what was tried.\n"
        "- Remove the cause, or write down in the instruction file what to do about it.\n"
        f"- Done when {code(failing)} works from a fresh checkout, or says itself what to do.\n"
    )
