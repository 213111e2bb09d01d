"""A formatter or linter rewrites what agents have just written, and they pay for it afterwards.

Either their next edit fails, because the file is no longer as they read it, or a check fails until
the formatter is run. Three tasks at least for each program that rewrites, and 10,000 tokens. The
bet is a task of minutes: let a hook format every file as it is written, before the agent reads it
again. Where files are rewritten by themselves already, or by hooks of `git commit`, it is a line
that says to read them again. Counted are the requests from the failed edit or check to the one that
worked.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric
from hansei.bets.recurring import Fact
from hansei.hook.formatting import after_writing
from hansei.projection.rewriting import BY_ITSELF, COMMIT, Rewritten, rewritten
from hansei.projection.wording import code, counted, listed
from hansei.retro.costs import Span, occurrences, total

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hansei.bets.model import Occurrence
    from hansei.projection.window import Window


@dataclass(frozen=True)
class FormatterRewrites:
    """Knobs."""

    name: str = "formatter-rewrites"
    tasks: int = 3
    """Tasks in which it got into the way: once or twice it is part of the work."""
    tokens: int = 10_000
    """What it must have taken in all: below, nobody would set up a hook."""

    def find(self, window: Window) -> Iterator[Finding]:
        found: dict[str, list[Rewritten]] = defaultdict(list)
        for it in rewritten(window):
            found[it.by].append(it)
        for by, told in sorted(found.items()):
            if window.tasks(it.session for it in told) < self.tasks:
                continue
            took = occurrences(window, [Span(it.session, it.failed, it.end) for it in told])
            spent = total(took)
            if spent is None or spent >= self.tokens:
                agents = {window.sessions[it.session].agent for it in told}
                yield self._told(told, took, after_writing(by, agents))

    def _told(self, told: list[Rewritten], took: tuple[Occurrence, ...], hooks: str) -> Finding:
        if told[0].by == BY_ITSELF:
            return self._by_itself(told, took)
        if told[0].by == COMMIT:
            return self._by_commit(told, took)
        return self._by_command(told, took, hooks)

    def _by_command(
        self, told: list[Rewritten], took: tuple[Occurrence, ...], hooks: str
    ) -> Finding:
        command = code(told[0].by)
        claim = f"Checks fail until {command} has rewritten what agents wrote"
        if any(it.edit for it in told):
            claim = f"{command} rewrites what agents have just written, and their edits fail"
        return self._finding(told, took, claim, Change(Design.BRIEF, _brief(told[0].by, hooks)), 10)

    def _by_commit(self, told: list[Rewritten], took: tuple[Occurrence, ...]) -> Finding:
        return self._finding(
            told,
            took,
            f"Hooks of {code(COMMIT)} rewrite what agents have just written, and their edits fail",
            Change(
                Design.LINE,
                f"Hooks of {code(COMMIT)} rewrite files: after it, read a file again before you"
                " edit it.",
            ),
            2,
        )

    def _by_itself(self, told: list[Rewritten], took: tuple[Occurrence, ...]) -> Finding:
        endings = sorted({posixpath.splitext(it.path)[1] or it.path for it in told})
        files = f"{listed(f'*{it}' if it.startswith('.') else it for it in endings[:3])} files"
        return self._finding(
            told,
            took,
            f"Something rewrites {files} as soon as agents have written them",
            Change(
                Design.LINE,
                f"{files} are reformatted as you save them: make all changes of a file in one edit,"
                " or read it again before the next.",
            ),
            2,
        )

    def _finding(
        self,
        told: list[Rewritten],
        took: tuple[Occurrence, ...],
        claim: str,
        change: Change,
        effort: float,
    ) -> Finding:
        edits = sum(it.edit for it in told)
        sessions = counted(len({it.session for it in told}), "session")
        seen = [f"{counted(edits, 'edit')} failed"] if edits else []
        seen += [f"{counted(len(told) - edits, 'check')} failed"] if edits < len(told) else []
        return Finding(
            heuristic=self.name,
            key=told[0].by,
            claim=claim,
            because=(f"{' and '.join(seen)} by it, in {sessions}",),
            occurrences=took,
            change=change,
            category=Category.FIX,
            effort=effort,
            disproof="the files were changed by a person meanwhile, or the checks failed by more"
            " than layout",
            metric=Metric(Fact.REWRITTEN, told[0].by),
        )


def _brief(command: str, hooks: str) -> str:
    settings = (
        f"Add a hook that runs it on the file that was written.\n\n{hooks}\n" if hooks else ""
    )
    return (
        f"# Run {code(command)} by itself whenever an agent has written a file\n\n"
        "Agents write files, run it later, and then fail: the file is not as they read it any"
        f" more, or a check had been red until then.\n\n{settings}"
        f"- Where agents have no hooks, say in the instruction file: run {code(command)} once,"
        " after the last edit, and read files again before you go on.\n"
        "- Done when an agent edits a file twice and passes the check without running"
        f" {code(command)} itself.\n"
    )
