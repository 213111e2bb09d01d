"""Skills and MCP servers that every session is told of and none has ever used.

Only what is known not to have fired counts: a step that the transcript cannot show is no proof.
Instruction files and rules that always apply are left alone, because they are followed without a
word. What a person cannot remove is left alone too: skills that come with the agent program.
So is what a person's prompt names, or a file that a session read or wrote: somebody means to use
it. Skills of one plug-in, or of one folder, are one bet: nobody wants to decide about them one by
one.

Agent programs limit how long the list of skills may be and shorten descriptions to fit. Where a
list may be full, switching some off lets the others have their words back and may save nothing. So
nothing is said of a long list, unless it is shown to be full: more skills made it no longer. Then
it is one bet, about room and not about rent.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from hansei.bets.model import Category, Change, Design, Finding, Metric, Occurrence
from hansei.bets.recurring import Fact
from hansei.hook.places import SERVER, SKILL
from hansei.hook.switches import for_all_projects, switches
from hansei.projection.funnel import idle_subject
from hansei.projection.unfired import BUILT_IN
from hansei.projection.wording import amount, listed, quoted
from hansei.retro.naming import named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from hansei.projection.funnel import Use
    from hansei.projection.window import Window

_HOME = re.compile(r"^(?:/home/[^/]+|/Users/[^/]+|/root|[A-Za-z]:/Users/[^/]+)(?=/)")


MORE: Final = 1.05
"""Times as many skills: so many more would show in a list that has room."""
_Told: TypeAlias = "tuple[int, Use]"
"""A session and what was in force there."""


class _Group(NamedTuple):
    """What is switched off together."""

    kind: str
    home: str
    names: list[str]
    told: list[_Told]

    def within(self, sessions: Collection[int]) -> _Group:
        """The part of it that these sessions saw."""
        told = [it for it in self.told if it[0] in sessions]
        seen = {use.name for _, use in told}
        return _Group(self.kind, self.home, [it for it in self.names if it in seen], told)


class _List(NamedTuple):
    """A list of skills."""

    skills: int
    bytes: int


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
    full: int = 8_000
    """Bytes of a list of skills from which on it may have been shortened to fit: the smallest limit
    that an agent program is known to have, where the context is small or not known."""
    room: float = 0.25
    """Of the skills in a full list: fewer that go give the others no room to speak of."""
    homes: int = 4
    """Where they come from: so many are named."""
    opened: int = 20
    """Sessions that are looked through for files that name a skill, the newest: each takes 10 ms,
    and a file that still matters is opened again."""
    effort: float = 3
    """Minutes to look whether somebody else wants it, and to switch it off."""

    def find(self, window: Window) -> Iterator[Finding]:
        rows: dict[tuple[str, str], list[_Told]] = defaultdict(list)
        for session, use in window.uses:
            if use.kind in (SKILL, SERVER):
                rows[use.kind, use.name].append((session, use))
        lists = _lists(rows)
        full = {session for session, it in lists.items() if it.bytes >= self.full}
        crowding: list[_Group] = []
        for group in self._groups(window, rows):
            rents = [use.rent for _, use in group.told]
            if group.kind == SKILL and not full.isdisjoint(it for it, _ in group.told):
                crowding.append(group)
            elif all(it is None for it in rents) or sum(it or 0 for it in rents) >= self.tokens:
                yield self._finding(window, group)
        for agent in sorted({window.sessions[it].agent for it in full}):
            own = {it for it in full if window.sessions[it].agent == agent}
            shown = _shown_full(lists[it] for it in own)
            if shown is not None:
                parts = [part for it in crowding if (part := it.within(own)).told]
                yield from self._full_list(window, agent, parts, shown)

    def _groups(
        self, window: Window, rows: Mapping[tuple[str, str], list[_Told]]
    ) -> Iterator[_Group]:
        """What is idle, by what it is switched off with; a plug-in as a whole or not at all."""
        groups: dict[tuple[str, str], list[str]] = defaultdict(list)
        busy: set[tuple[str, str]] = set()
        idle = {key for key, told in rows.items() if self._is_idle(window, told)}
        idle -= named(window, idle, self.opened)
        for (kind, name), told in sorted(rows.items()):
            home = _home(kind, name, told)
            if home is None:
                continue
            if (kind, name) in idle:
                groups[kind, home].append(name)
            elif ":" in name:
                busy.add((kind, home))
        for (kind, home), names in sorted(groups.items()):
            if (kind, home) not in busy:
                yield _Group(kind, home, names, [it for name in names for it in rows[kind, name]])

    def _is_idle(self, window: Window, told: Sequence[_Told]) -> bool:
        """Whether it is known of every session that it did not fire, and no prompt wanted it."""
        sessions = {session for session, _ in told}
        return (
            all(use.idle for _, use in told)
            and len(sessions) >= self.sessions
            and len(window.days_of(sessions)) >= self.days
        )

    def _finding(self, window: Window, group: _Group) -> Finding:
        kind, home, names, told = group
        known = [use.rent for _, use in told if use.rent is not None]
        verb = "called" if kind == SERVER else "loaded"
        what = quoted(names[0]) if len(names) == 1 else f"{len(names)} skills of {quoted(home)}"
        sessions = {session for session, _ in told}
        wide = _wide(window, group)
        reach = _reach(wide, _agents(window, group))
        here = " here" if wide else ""
        return Finding(
            heuristic=self.name,
            key=f"{kind} {home}",
            claim=f"Switch off {'the MCP server ' if kind == SERVER else ''}{what}{reach}: "
            f"never {verb} in {len(sessions)} sessions{here}",
            because=(
                f"{_in_force(window, sessions)}, never {verb}; "
                + _unnamed("it" if len(names) == 1 else "them"),
                f"{amount(sum(known))} tokens of rent" if known else "its size is not recorded",
            ),
            occurrences=tuple(_occurrences(told)),
            change=Change(
                Design.REMOVAL,
                _switched_off(window, group),
                _path(told) if len(names) == 1 else None,
            ),
            category=Category.FIX,
            effort=self.effort,
            disproof=f"a later prompt asks for something that {what} would do" + _elsewhere(wide),
            metric=Metric(Fact.IDLE, idle_subject(kind, names)),
        )

    def _full_list(
        self, window: Window, agent: str, crowding: list[_Group], shown: tuple[_List, _List]
    ) -> Iterator[Finding]:
        """One bet about a list that is full: room in it, not rent, is what is to be had."""
        few, many = shown
        count = sum(len(it.names) for it in crowding)
        if count < self.room * many.skills:
            return
        told = [(session, use._replace(rent=None)) for it in crowding for session, use in it.told]
        sessions = {session for session, _ in told}
        homes = sorted(crowding, key=lambda it: (-len(it.names), it.home))
        wide = sorted({agent for it in homes for agent in _wide(window, it)})
        reach = _reach(wide, [agent])
        yield Finding(
            heuristic=self.name,
            key=f"full list {agent}",
            claim=f"Switch off {count} of {many.skills} skills{reach}: "
            f"none was ever loaded here, in {_each(told)} sessions each, and the others' "
            "descriptions are cut to make room for them",
            because=(
                _compared(few, many),
                f"some of them {_in_force(window, sessions)}; {_unnamed('them')}",
                "from "
                + ", ".join(f"{quoted(it.home)} ({len(it.names)})" for it in homes[: self.homes]),
            ),
            occurrences=tuple(_occurrences(told)),
            change=Change(Design.REMOVAL, "\n".join(_switched_off(window, it) for it in homes)),
            category=Category.FIX,
            effort=self.effort,
            disproof="a later prompt asks for something that one of them would do"
            + _elsewhere(wide),
            metric=Metric(
                Fact.IDLE, idle_subject(SKILL, (name for it in homes for name in it.names))
            ),
            # What one project shows is no reason to change all of them.
            on_demand=bool(wide),
        )


def _compared(few: _List, many: _List) -> str:
    return (
        f"the list is full: {few.skills} skills take {few.bytes:,} bytes in one session and "
        f"{many.skills} take {many.bytes:,} in another"
    )


def _each(told: Iterable[_Told]) -> str:
    """In how many sessions each of several was in force."""
    seen: dict[str, set[int]] = defaultdict(set)
    for session, use in told:
        seen[use.name].add(session)
    counts = sorted(map(len, seen.values()))
    return " to ".join(dict.fromkeys(f"{it}" for it in (counts[0], counts[-1])))


def _in_force(window: Window, sessions: Collection[int]) -> str:
    persons = sum(window.sessions[it].is_persons for it in sessions)
    return (
        f"in force in {len(sessions)} sessions ({persons} of people) on "
        f"{len(window.days_of(sessions))} days"
    )


def _unnamed(what: str) -> str:
    return f"no prompt names {what}, nor a file that the newest sessions read or wrote"


def _agents(window: Window, group: _Group) -> list[str]:
    return sorted({window.sessions[session].agent for session, _ in group.told})


def _wide(window: Window, group: _Group) -> list[str]:
    """The agents that can switch these off only for all projects at once."""
    return for_all_projects(group.kind, group.names, _agents(window, group))


def _reach(wide: Sequence[str], agents: Sequence[str]) -> str:
    """How far the switch reaches, as a claim says it; nothing where it is of this project."""
    if not wide:
        return ""
    return " in all projects" if wide == agents else f" (with {listed(wide)} in all projects)"


def _elsewhere(wide: Sequence[str]) -> str:
    return ", or another project uses it" if wide else ""


def _switched_off(window: Window, group: _Group) -> str:
    agents = _agents(window, group)
    paths = sorted({(use.name, use.path) for _, use in group.told if use.path}, reverse=True)
    noun = "server" if group.kind == SERVER else "skill"
    # Of several paths the first in the alphabet.
    steps = switches(group.kind, group.names, dict(paths), agents)
    wide = _wide(window, group)
    reach = "for this project" if not wide else "for all your projects"
    if wide and wide != agents:
        reach = f"for this project, with {listed(wide)} for all your projects"
    return f"Switch off {reach} ({noun}, from {quoted(group.home)}).\n\n{steps}"


def _home(kind: str, name: str, told: Sequence[_Told]) -> str | None:
    """What it is switched off with: its server, its plug-in, or the folder it lies in.

    None where that is not known, or where it comes with the agent program.
    """
    if kind == SERVER:
        return name
    path = _path(told)
    if path is not None and BUILT_IN in path:
        return None
    plug_in, colon, _ = name.rpartition(":")
    if colon:
        return plug_in
    return None if path is None else path.rpartition("/")[0].rpartition("/")[0] or None


def _path(told: Sequence[_Told]) -> str | None:
    """Where it lies, the same in every clone and worktree and for everybody."""
    paths = sorted({_place(use.path.replace("\\", "/")) for _, use in told if use.path})
    return paths[0] if paths else None


def _place(path: str) -> str:
    """From the home folder on what lies in a hidden folder there; else from the hidden folder."""
    short = _HOME.sub("~", path)
    hidden = short.find("/.")
    return short if hidden <= 1 else short[hidden + 1 :]


def _occurrences(told: list[_Told]) -> Iterator[Occurrence]:
    """One for each session: the event that lists it, and the rent of all of them together."""
    by_session: dict[int, list[Use]] = defaultdict(list)
    for session, use in told:
        by_session[session].append(use)
    for session, uses in sorted(by_session.items()):
        rents = [use.rent for use in uses if use.rent is not None]
        seq = min((it.listed_seq for it in uses if it.listed_seq is not None), default=0)
        yield Occurrence(session, seq, sum(rents) if rents else None)


def _lists(rows: Mapping[tuple[str, str], Sequence[_Told]]) -> dict[int, _List]:
    """The list of skills of each session: how many, and how long it is."""
    sizes: dict[int, list[int]] = defaultdict(list)
    for (kind, _), told in rows.items():
        for session, use in told:
            if kind == SKILL and use.fired is False:  # a skill that was loaded is more than listed
                sizes[session].append(use.bytes or 0)
    return {session: _List(len(it), sum(it)) for session, it in sizes.items()}


def _shown_full(lists: Iterable[_List]) -> tuple[_List, _List] | None:
    """Two lists that show that more skills do not make it longer; None where none do."""
    known = sorted(lists)
    if not known:
        return None
    most = known[-1].skills
    many = next(it for it in known if it.skills == most)
    fewer = [it for it in known if MORE * it.skills <= most and it.bytes >= many.bytes]
    return (max(fewer, key=lambda it: (it.bytes, it.skills)), many) if fewer else None
