"""Skills and MCP servers that every session is told of and none has ever used.

Only what is known not to have fired counts: a step that the transcript cannot show is no proof.
Instruction files and rules that always apply are left alone, because they are followed without a
word. What a person cannot remove is left alone too: skills that come with the agent program.
Skills of one plug-in, or of one folder, are one bet: nobody wants to decide about them one by one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.config import DAY_MS
from hansei.hook.places import SERVER, SKILL
from hansei.projection.wording import amount, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.funnel import Use
    from hansei.projection.window import Window

_BUILT_IN = "/.system/"
"""Part of the path of skills that come with an agent program."""

_HOME = re.compile(r"^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/)")


@dataclass(frozen=True)
class IdleRent:
    """Knobs: over how many sessions and days it must have been idle, and what it must cost."""

    name: str = "idle-rent"
    sessions: int = 8
    """Fewer say little: a skill for releases is wanted once a week."""
    days: int = 3
    """On fewer it may have been one piece of work that did not need it."""
    tokens: int = 10_000
    """Rent in all; below, nobody would bother."""
    effort: float = 3
    """Minutes to look whether somebody else wants it, and to switch it off."""

    def find(self, window: Window) -> Iterator[Finding]:
        rows: dict[tuple[str, str], list[tuple[int, Use]]] = defaultdict(list)
        for session, use in window.uses:
            if use.kind in (SKILL, SERVER):
                rows[use.kind, use.name].append((session, use))
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        busy: set[tuple[str, str]] = set()
        for (kind, name), told in sorted(rows.items()):
            home = _home(kind, name, told)
            if home is None:
                continue
            if self._is_idle(window, told):
                groups[kind, home].append(name)
            elif ":" in name:  # a plug-in is switched on or off as a whole
                busy.add((kind, home))
        for (kind, home), names in sorted(groups.items()):
            if (kind, home) in busy:
                continue
            told = [it for name in names for it in rows[kind, name]]
            rents = [use.rent for _, use in told]
            if all(it is None for it in rents) or sum(it or 0 for it in rents) >= self.tokens:
                yield self._finding(window, kind, home, names, told)

    def _is_idle(self, window: Window, told: Sequence[tuple[int, Use]]) -> bool:
        """Whether it is known of every session that it did not fire, and no prompt wanted it."""
        sessions = {session for session, _ in told}
        return (
            all(use.fired is False and not use.matched for _, use in told)
            and len(sessions) >= self.sessions
            and len(_days(window, sessions)) >= self.days
        )

    def _finding(
        self,
        window: Window,
        kind: str,
        home: str,
        names: list[str],
        told: list[tuple[int, Use]],
    ) -> Finding:
        sessions = {session for session, _ in told}
        known = [use.rent for _, use in told if use.rent is not None]
        cost = f"{amount(sum(known))} tokens of rent" if known else "its size is not recorded"
        noun, verb = ("server", "called") if kind == SERVER else ("skill", "loaded")
        what = (
            f"{quoted(names[0])}" if len(names) == 1 else f"{len(names)} skills of {quoted(home)}"
        )
        because = [
            (
                f"in force in {len(sessions)} sessions on {len(_days(window, sessions))} days, "
                f"never {verb}; no prompt asked for {'it' if len(names) == 1 else 'them'}"
            ),
            cost,
        ]
        return Finding(
            heuristic=self.name,
            key=f"{kind} {home}",
            claim=f"Switch off {'the MCP server ' if kind == SERVER else ''}{what}: "
            f"never {verb} in {len(sessions)} sessions",
            because=tuple(because),
            occurrences=tuple(_occurrences(told)),
            change=Change(
                Design.REMOVAL, _text(noun, home, names), _path(told) if len(names) == 1 else None
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"a later prompt asks for something that {what} would do",
            metric=Metric("uses", f"{kind} {names[0]}"),
        )


def _days(window: Window, sessions: set[int]) -> set[int]:
    begun = (window.sessions[it].started for it in sessions)
    return {at // DAY_MS for at in begun if at is not None}


def _home(kind: str, name: str, told: Sequence[tuple[int, Use]]) -> str | None:
    """What it is switched off with: its server, its plug-in, or the folder it lies in.

    None where that is not known, or where it comes with the agent program.
    """
    if kind == SERVER:
        return name
    path = _path(told)
    if path is not None and _BUILT_IN in path:
        return None
    plug_in, colon, _ = name.rpartition(":")
    if colon:
        return plug_in
    return None if path is None else path.rpartition("/")[0].rpartition("/")[0] or None


def _path(told: Sequence[tuple[int, Use]]) -> str | None:
    """Where it lies, the same in every clone and worktree and for everybody."""
    paths = sorted({_place(use.path.replace("\\", "/")) for _, use in told if use.path})
    return paths[0] if paths else None


def _place(path: str) -> str:
    """From the home folder on what lies in a hidden folder there; else from the hidden folder."""
    short = _HOME.sub("~", path)
    hidden = short.find("/.")
    return short if hidden <= 1 else short[hidden + 1 :]


def _occurrences(told: list[tuple[int, Use]]) -> Iterator[Occurrence]:
    """One for each session: the event that lists it, and the rent of all of them together."""
    by_session: dict[int, list[Use]] = defaultdict(list)
    for session, use in told:
        by_session[session].append(use)
    for session, uses in sorted(by_session.items()):
        rents = [use.rent for use in uses if use.rent is not None]
        seq = min((it.listed_seq for it in uses if it.listed_seq is not None), default=0)
        yield Occurrence(session, seq, sum(rents) if rents else None)


def _text(noun: str, home: str, names: list[str]) -> str:
    rows = "\n".join(f"- {quoted(it)}" for it in names)
    return f"Switch off for this project ({noun}, from {quoted(home)}):\n{rows}\n"
