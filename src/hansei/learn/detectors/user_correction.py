"""What a person told an agent to do differently, and what then worked.

A correction counts where the next commands do what it says: they hold a word of it that the
corrected call did not, and they went well. What several sessions had to be told is worth more, and
needs no command: the person's own words are the skill.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hansei.config import CommandClass
from hansei.events.model import Status
from hansei.learn.harm import cautions
from hansei.learn.lines import typed
from hansei.learn.model import Evidence, Label, Offer, Predicates
from hansei.learn.steps import called, form, steps
from hansei.learn.worth import is_repeatable, is_step
from hansei.learn.writing import (
    action,
    body,
    briefly,
    described,
    key_of,
    name_of,
    numbered,
    table,
    topic,
)
from hansei.projection.corrections import Rule, clusters
from hansei.projection.corrections.rules import instruction
from hansei.projection.ways import about
from hansei.projection.wording import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.corrections import Cluster, Correction
    from hansei.projection.facts.ran import Ran
    from hansei.projection.window import Window

_ONCE: Final = frozenset((Rule.SAME_REQUEST, Rule.STILL))
"""What is said about one task that was not done: no rule for the next one."""
_NAME: Final = re.compile(r"[A-Za-z][\w.:@/+-]*[\w+]")
_CHANCE: Final = (
    "the and not use with that this from into should must have want need please make just only run"
    " file files code test tests instead try then there here when what your you all new add set get"
    " can will also change write read open show keep like work project folder user data page app"
    " python script install create delete update start stop build push pull commit branch main name"
)
_COMMON: Final = frozenset(_CHANCE.split())
"""Words that stand in a sentence and in a command by chance."""
_LEAST_LETTERS: Final = 3
_MOST: Final = 3
"""Commands that are kept of what then worked."""


@dataclass(frozen=True)
class UserCorrection:
    """Knobs."""

    name: str = "user-correction"
    sessions: int = 2
    """Sessions in which people said the same: who says a thing twice means it."""
    steps: int = 8
    """Commands after a correction within which it is done as it says."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        own = steps(window)
        rows = {
            f"{session}#{row.seq}": (session, row)
            for session, row in window.corrections
            if window.sessions[session].is_persons and row.basis not in _ONCE
        }
        grouped: set[str] = set()
        for cluster in clusters((str(session), row) for session, row in rows.values()):
            said = [rows[it] for it in cluster.members]
            line = instruction(said[0][1].remark or cluster.words)
            if line is not None and window.tasks(it for it, _ in said) >= self.sessions:
                grouped.update(cluster.members)
                yield self._clustered(window, cluster, said, line)
        for place, (session, row) in rows.items():
            if place not in grouped:
                done = self._done(own.get(session, ()), row)
                yield from self._of_session(window, texts, row, done)

    def _clustered(
        self, window: Window, cluster: Cluster, said: Sequence[tuple[int, Correction]], line: str
    ) -> Offer:
        remark = one_line(said[0][1].remark or cluster.words, 160)
        rule = _rule(remark, line)
        words = [it for it in _NAME.findall(remark.lower()) if it in _names(remark)]
        name = name_of("user-correction", *words[:2])
        tasks = counted(window.tasks(it for it, _ in said), "session")
        return Offer(
            detector=self.name,
            name=name,
            description=described(f"What people had to tell agents here in {tasks}: {rule}"),
            body=body(
                name,
                f"People said it in {tasks}. Do it without being told.",
                (
                    ("Rule", [f"- {rule}"]),
                    ("Said", [f"- “{one_line(row.words, 160)}”" for _, row in said[:_MOST]]),
                ),
            ),
            commands=(),
            evidence=tuple(Evidence(window.sessions[s].name, row.seq) for s, row in said),
            topic=words[0] if words else "",
            sessions=window.tasks(it for it, _ in said),
            key=key_of(self.name, cluster.name),
            label=Label.TYPED,
        )

    def _of_session(
        self, window: Window, texts: Texts, row: Correction, done: Sequence[Step]
    ) -> Iterator[Offer]:
        if not done:
            return
        session = done[0].session
        told = [(it, line) for it in done if (line := typed(window, texts, session, it.seq))]
        rule = instruction(row.remark or row.words)
        if not told or rule is None:
            return
        commands = _safest(dict.fromkeys(line.whole for _, line in told))[:_MOST]
        minds = dict.fromkeys(caution for it in commands for caution in _minded(it))
        before = typed(window, texts, session, row.about)
        words = one_line(row.remark or row.words, 160)
        ran = told[0][0].ran
        name = name_of("user-correction", topic(ran), ran.subcommand or "")
        pairs = [(before.whole, commands[0])] if before else []
        yield Offer(
            detector=self.name,
            name=name,
            description=described(
                f"A person's correction: “{one_line(words, 100)}” What then worked:"
                f" {briefly(commands[0])}. Use it whenever {ran.program} could serve."
            ),
            body=body(
                name,
                "A person corrected the agent, and what they asked for worked.",
                (
                    ("Rule", [f"- {_rule(words, rule)}"]),
                    ("Before and after", table(pairs)),
                    ("Commands", numbered(commands)),
                    ("Caution", list(minds)),
                ),
            ),
            commands=commands,
            evidence=tuple(
                Evidence(window.sessions[session].name, it)
                for it in dict.fromkeys((row.about, row.seq, *(step.seq for step, _ in told)))
            ),
            topic=topic(ran),
            action=action([ran]),
            predicates=_predicates(about(window, session, row.about), ran),
            key=key_of(self.name, row.normal),
            label=Label.TYPED,
        )

    def _done(self, own: Sequence[Step], row: Correction) -> list[Step]:
        """What was run after a correction that does what it says, the most of it first."""
        old = [it for it in own if it.seq == row.about]
        said = _names(row.remark or row.words)
        named = said - {word for it in old for word in _names(it.ran.form)}
        later = [it for it in own if it.seq > row.seq and is_step(it.ran)][: self.steps]
        well = [
            it
            for it in later
            if it.status is Status.OK and is_repeatable(it.ran, asked=it.ran.program in said)
        ]
        told = [(len(named & _names(it.ran.form)), it) for it in well]
        return [it for count, it in sorted(told, key=lambda pair: -pair[0]) if count]


def _safest(commands: Iterable[str]) -> tuple[str, ...]:
    """Without those that may overwrite work here, where others do as was said."""
    found = tuple(commands)
    safe = tuple(it for it in found if not any(caution.here for caution in cautions(it)))
    return safe or found


def _minded(command: str) -> list[str]:
    """What to mind of a command."""
    return [
        f"- {it.message}. Look at what it would do first (most have a dry run), and ask where work"
        f" {'here' if it.here else 'there'} may not be saved elsewhere."
        for it in cautions(command)
    ]


def _predicates(old: Ran | None, ran: Ran) -> Predicates:
    """What to run, and what not, where the corrected call ran something for the same purpose."""
    told = Predicates(do=(form(ran),), check=form(ran))
    if old is None or not is_step(old) or form(old) == form(ran):
        return told
    alike = old.program == ran.program or (
        old.kind is ran.kind and old.kind is not CommandClass.OTHER
    )
    return replace(told, command=called(old), avoid=(form(old),)) if alike else told


def _rule(remark: str, line: str) -> str:
    """What was said, as a rule; in the person's own words where they only say what was wrong."""
    return f"“{remark}”" if line.startswith("People had to say") else line


def _names(text: str) -> set[str]:
    """Words that name something: a program, a script, an option."""
    found = {it.lower() for it in _NAME.findall(text)}
    return {it for it in found if len(it) >= _LEAST_LETTERS and it not in _COMMON}
