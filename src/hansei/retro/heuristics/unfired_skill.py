"""A skill that prompts ask for, again and again, and that agents do not load.

A skill is loaded because of the words in the list that an agent is given: its name and its
description. Where a prompt names it or speaks of what it is for and nothing happens, either those
words do not say when it is meant, or they are not there: agent programs shorten descriptions, or
leave skills out, when the list is longer than its budget. Which of the two it was is told by the
length of its line. What was missed is not known, so no tokens are counted: it is about work done
without what somebody wrote down for it. Floor: three sessions, and half of those that asked.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.hook.places import SKILL
from hansei.projection.unfired import unfired
from hansei.projection.wording import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.facts.tables import Found
    from hansei.projection.funnel import Use
    from hansei.projection.window import Window


@dataclass(frozen=True)
class UnfiredSkill:
    """Knobs: how often it must have been asked for in vain."""

    name: str = "unfired-skill"
    sessions: int = 3
    """Twice is chance: words of a prompt can be like those of a skill."""
    share: float = 0.5
    """Of the sessions that asked: a skill that mostly fires is described well enough."""
    cut: float = 0.8
    """Of its longest line: a shorter one was cut to fit a budget."""
    effort: float = 10
    """Minutes to write a description anew."""

    def find(self, window: Window) -> Iterator[Finding]:
        asked: dict[str, set[int]] = defaultdict(set)
        longest: dict[str, int] = defaultdict(int)
        for session, use in window.uses:
            if use.kind == SKILL:
                if use.matched:
                    asked[use.name].add(session)
                if use.fired is False:
                    longest[use.name] = max(longest[use.name], use.bytes or 0)
        found: dict[str, list[Found[Use]]] = defaultdict(list)
        for it in unfired(window):
            found[it.row.name].append(it)
        for name, told in sorted(found.items()):
            sessions = {it.session for it in told}
            if (
                window.tasks(sessions) >= self.sessions
                and len(sessions) >= self.share * len(asked[name])
            ):  # fmt: skip
                yield self._finding(name, told, len(asked[name]), longest[name])

    def _finding(self, name: str, told: Sequence[Found[Use]], asked: int, longest: int) -> Finding:
        skill = quoted(name)
        short = [it for it in told if 0 < (it.row.bytes or 0) < self.cut * longest]
        outside = 2 * len(short) > len(told)
        because = [f"prompts of {asked} sessions ask for it, {len(told)} of them did without it"]
        if short:
            least = min(it.row.bytes or 0 for it in short)
            because.append(
                f"its line in the list was cut in {len(short)} of these: {least:,} bytes, not "
                f"{longest:,}, because the list was over its budget"
            )
        path = next((it.row.path for it in told if it.row.path), None)
        advice = (
            "The list of skills is over its budget, so agents saw little of what it is for. Switch "
            "off skills that nobody uses here, shorten descriptions, and put what tells this one "
            "apart into the first words of its own."
            if outside
            else "Write its description anew: begin with when it is to be used, in words of the "
            "prompts that are listed as evidence, then what it does. Or name it in the instruction "
            "file where such work is spoken of."
        )
        seen = "\n".join(f"- {it}" for it in because)
        return Finding(
            heuristic=self.name,
            key=name,
            claim=f"The skill {skill} is asked for, not loaded in {len(told)} of {asked} sessions"
            + (": its description is cut from the list" if outside else ""),
            because=tuple(because),
            occurrences=tuple(
                Occurrence(it.session, it.row.matched_seq or it.row.listed_seq or 0, None)
                for it in told
            ),
            change=Change(
                Design.BRIEF,
                f"# Have {skill} loaded when it is meant\n\n{seen}\n\n## What to do\n{advice}\n\n"
                "## How to check\nGive an agent one of those prompts: it loads the skill before it "
                "begins.\n",
                path,
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"the prompts only share words with {skill}, and nobody meant it",
            metric=Metric(Fact.UNFIRED, name),
        )
