"""One command, run again and again: worth keeping where it holds something nobody would guess.

Twice, in a session of six shell calls and more, is where it begins. Almost every session meets that
with `git status`, so the command must say something about the project (a folder, a variable, a
script, an option) and must have worked, and one session alone has to run it more often than by
chance.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.events.model import Status
from hansei.learn.around import (
    alike,
    by_session,
    changed_before,
    followed_by,
    made_here,
    pitfalls,
    requested,
    when,
)
from hansei.learn.lines import written
from hansei.learn.model import Evidence, Offer, Predicates
from hansei.learn.steps import called, shell_calls, steps, verb
from hansei.learn.wordings import placed
from hansei.learn.worth import is_habit, is_repeatable, is_step
from hansei.learn.writing import (
    action,
    body,
    briefly,
    code,
    described,
    key_of,
    name_of,
    told,
    topic,
)
from hansei.projection.wording import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from hansei.learn.steps import Step, Texts
    from hansei.projection.window import Window


@dataclass(frozen=True)
class RepeatedAction:
    """Knobs."""

    name: str = "repeated-action"
    calls: int = 6
    """Shell calls of a session below which nothing in it is a habit."""
    times: int = 4
    """Runs in one session that are no chance, where only that session shows it."""
    sessions: int = 3
    """Independent sessions that show it, each at least once."""
    share: float = 0.6
    """Of its runs, those that must have gone well."""
    most: int = 3
    """Commands of many sessions that are offered at once."""

    def find(self, window: Window, texts: Texts) -> Iterator[Offer]:
        own = steps(window)
        groups = _groups(own, made_here(window))
        across = [it for it in groups if self._recurs(window, it)]
        ranked = sorted(across, key=lambda it: (-_tasks(window, it), -len(it), it[0].name))
        for group in ranked[: self.most]:
            yield self._offer(window, texts, own, group)
        for group in self._of_one(window, groups):
            yield self._offer(window, texts, own, group)

    def _recurs(self, window: Window, group: Sequence[Step]) -> bool:
        well = _well(group)
        return _tasks(window, well) >= self.sessions and len(well) >= self.share * len(group)

    def _of_one(self, window: Window, groups: Sequence[Sequence[Step]]) -> list[list[Step]]:
        """Of each session the command it ran most, where that is often enough."""
        calls = shell_calls(window)
        best: dict[int, list[Step]] = {}
        for group in groups:
            for session, runs in by_session(group).items():
                well = _well(runs)
                often = len(well) >= max(self.times, self.share * len(runs))
                if calls[session] < self.calls or not often:
                    continue
                if len(runs) > len(best.get(session, ())):
                    best[session] = runs
        return [best[it] for it in sorted(best)]

    def _offer(
        self,
        window: Window,
        texts: Texts,
        own: Mapping[int, Sequence[Step]],
        group: Sequence[Step],
    ) -> Offer:
        well = _well(group)
        made = written(window, texts, well)
        sessions = _tasks(window, well)
        ran = well[-1].ran
        name = name_of("repeated", topic(ran), verb(ran))
        after, then = changed_before(window, well), followed_by(own, well)
        where = f"after files in {after} changed" if after else "as it stands"
        seen = f"{counted(len(well), 'time')} in {counted(sessions, 'session')}"
        return Offer(
            detector=self.name,
            name=name,
            description=described(
                f"How {called(ran)} is run here: {briefly(made.text)}. Use it {where},"
                f" instead of working out its words anew; run {seen}."
            ),
            body=body(
                name,
                f"Repeated action: run {seen}, and it works as it stands.",
                (
                    ("When to use", when(after, requested(window, well), then)),
                    ("Commands", [f"1. {code(made.text)}"]),
                    ("What varies", told(made.slots)),
                    ("Pitfalls seen", pitfalls(window, [called(ran)])),
                ),
            ),
            commands=(made.text,),
            evidence=tuple(Evidence(window.sessions[it.session].name, it.seq) for it in well),
            topic=topic(ran),
            action=action([ran]),
            predicates=Predicates(command=called(ran), do=(placed(ran),)),
            sessions=sessions,
            key=key_of(self.name, *alike(ran)),
        )


def _groups(
    own: Mapping[int, Sequence[Step]], made: Mapping[int, Collection[str]]
) -> list[list[Step]]:
    """Runs of commands that tell something, by what they have in common.

    A script that the session itself wrote is no command of the project, however many sessions
    come to give theirs the same name.
    """
    found: dict[tuple[str, ...], list[Step]] = defaultdict(list)
    for session, rows in own.items():
        for step in rows:
            if any(name in step.ran.form for name in made.get(session, ())):
                continue
            if is_step(step.ran) and is_habit(step.ran) and is_repeatable(step.ran):
                found[alike(step.ran)].append(step)
    return [found[it] for it in sorted(found)]


def _well(group: Sequence[Step]) -> list[Step]:
    return [it for it in group if it.status is Status.OK]


def _tasks(window: Window, group: Sequence[Step]) -> int:
    return window.tasks(it.session for it in group)
