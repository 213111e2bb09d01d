"""What sessions tell of the skills in force here: which version each had, and how it went.

A SKILL.md is known by its hash, a managed block by the text in it, a list or a load in a transcript
by the skill's name. Which version a name stood for follows from the book's own history. What nobody
knows is told as unknown: it is neither an exposure nor the lack of one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.keys import digest
from hansei.hook.places import INSTRUCTIONS, RULE, SKILL
from hansei.learn import compile as compiling
from hansei.learn import files
from hansei.learn.counters import Counters, Exposure, How, counters
from hansei.learn.formats.agent_skills import skill_md
from hansei.learn.heads import Broken
from hansei.learn.history import Progress
from hansei.learn.model import Scope as Where
from hansei.learn.model import Skill, State
from hansei.ops import skill_places
from hansei.ops.experiments import shelf
from hansei.ops.scope import Scope, current_workspace
from hansei.ops.windows import grounds
from hansei.projection.exposure import BELOW
from hansei.projection.funnel.listing import skill_name
from hansei.projection.window import Window
from hansei.store import journal
from hansei.store.evidence import DELIVERED
from hansei.store.rows import json_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from hansei.learn.history import Entry
    from hansei.ops.skills import Desk, Shelf
    from hansei.store.database import Store

LARGEST: Final = 1024 * 1024
"""Bytes of an instruction file that is looked into."""


@dataclass(frozen=True)
class Tried:
    """An experiment about a skill."""

    id: str
    stage: str
    randomised: bool
    verdict: str | None


@dataclass(frozen=True)
class Story:
    """A skill through time."""

    versions: tuple[Skill, ...]
    """One for each version number, oldest first."""
    editions: tuple[Skill, ...]
    """As it was ever kept: approving it, say, makes no version."""
    timeline: tuple[tuple[int, int], ...]
    """From when on which version was kept; 0 is none."""
    texts: Mapping[str, int]
    """Versions by the hash of the SKILL.md they were written as."""
    risen: int = 0
    """When it was put on the rung it stands on; 0 where nobody did."""

    def at(self, moment: int | None) -> int:
        """The version that was kept at a time; 0 where there was none yet."""
        if moment is None:
            return self.versions[-1].version
        place = bisect_right(self.timeline, moment, key=lambda it: it[0])
        return self.timeline[place - 1][1] if place else 0


class _Row(NamedTuple):
    session: int
    kind: str
    path: str
    hash: str
    reach: str


def counted(desk: Desk, rows: Iterable[tuple[Shelf, Skill]]) -> dict[str, Counters]:
    """What sessions tell of each of these skills."""
    stories = {skill.name: story(place, skill) for place, skill in rows}
    found: dict[str, Counters] = {}
    for everywhere in (False, True):
        own = {
            name: it
            for name, it in stories.items()
            if (it.versions[-1].scope is not Where.WORKSPACE) is everywhere
        }
        window = _window(desk, own, everywhere=everywhere) if own else None
        if window is not None:
            found |= _counted(desk, window, own)
    return found


def _window(desk: Desk, stories: Mapping[str, Story], *, everywhere: bool) -> Window | None:
    """The sessions since the first of some skills was kept: here, or in every workspace."""
    number, name = current_workspace(desk.store, desk.here)
    if number is None and not everywhere:
        return None
    since = min(it.timeline[0][0] for it in stories.values())
    scope = Scope(workspace=None if everywhere else number, workspace_name=name, since=since)
    sessions = {
        number: session
        for ground in grounds(desk.store, scope, desk.now)
        for number, session in ground.window.sessions.items()
    }
    return Window(desk.store, sessions, since, desk.now) if sessions else None


def _counted(desk: Desk, window: Window, stories: Mapping[str, Story]) -> dict[str, Counters]:
    rows = _exposed(desk.store, window)
    in_files, unread = _in_files(desk, window, rows, stories)
    unlooked = _unlooked(desk.store, window)
    found = {}
    for name, told in stories.items():
        items = {skill_places.reference(name), *(it.id for it in tried(desk.store, told))}
        shown = {*_by_name(window, rows, name, told, items), *in_files.get(name, ())}
        unknown = unlooked | unread.get(name, set())
        unknown -= {it.session for it in shown}
        found[name] = counters(window, told.versions, sorted(shown), unknown, desk.now)
    return found


# --- through time ---------------------------------------------------------------------------------


def story(place: Shelf, skill: Skill) -> Story:
    """A skill through time, as the history of its book tells it."""
    seen: list[Skill] = []
    moments: list[tuple[int, int]] = []
    risen = 0
    for entry in reversed(place.book.history()):
        for before, after in _told(entry, skill.name):
            seen += [it for it in (before, after) if it is not None]
            moments.append((entry.at, after.version if after is not None else 0))
            moved = before and after and before.rung is not after.rung
            risen = entry.at if moved and entry.progress is Progress.DONE else risen
            if entry.progress is Progress.UNDONE and entry.undone_at is not None:
                moments.append((entry.undone_at, before.version if before is not None else 0))
    seen.append(skill)
    if not moments:  # it came with git, and its history is there
        moments.append((skill.created_at, skill.version))
    moments.append((max(skill.changed_at, moments[-1][0]), skill.version))
    return Story(
        versions=tuple(dict(sorted((it.version, it) for it in _last(seen))).values()),
        editions=tuple(dict.fromkeys(seen)),
        timeline=tuple(sorted(dict(sorted(moments, key=lambda it: it[0])).items())),
        texts={digest(skill_md(it).encode()): it.version for it in seen},
        risen=risen,
    )


def _last(seen: Sequence[Skill]) -> list[Skill]:
    """The last text of each version number."""
    return list({it.version: it for it in seen}.values())


def _told(entry: Entry, name: str) -> Iterator[tuple[Skill | None, Skill | None]]:
    """A skill before and after a change of its book."""
    for change in entry.changes:
        if change.name == name:
            yield _read(change.before, name), _read(change.after, name)


def _read(content: bytes | None, name: str) -> Skill | None:
    try:
        return None if content is None else files.read(content.decode("utf-8"), name)
    except (Broken, UnicodeDecodeError):
        return None


# --- what was in force ----------------------------------------------------------------------------


def _exposed(store: Store, window: Window) -> list[_Row]:
    rows = store.db.execute(
        "SELECT session, kind, path, hash, reach FROM exposure"
        " WHERE session IN (SELECT value FROM json_each(?)) AND kind IN (?, ?, ?, ?)"
        " ORDER BY session, kind, path, hash",
        (json_list(window.sessions), SKILL, DELIVERED, INSTRUCTIONS, RULE),
    )
    return [_Row(*row) for row in rows]


def _unlooked(store: Store, window: Window) -> set[int]:
    """Sessions of which nobody knows what was in force."""
    rows = store.db.execute("SELECT session FROM ledger WHERE basis IS NOT NULL")
    return set(window.sessions) - {session for (session,) in rows}


def _by_name(
    window: Window, rows: Sequence[_Row], name: str, told: Story, items: Collection[str]
) -> Iterator[Exposure]:
    """Where a skill was in force by a file of its name, was delivered or stands in a transcript.

    `items` are what hooks call it by: itself, and experiments that deliver its text.
    """
    placed = [it for it in rows if it.kind == SKILL and skill_name(it.path) == name]
    exact = {it.session: told.texts[it.hash] for it in placed if it.hash in told.texts}

    def version(session: int) -> int:
        return exact.get(session) or told.at(window.sessions[session].started)

    for row in placed:
        yield Exposure(row.session, version(row.session), How.LISTED)
    for row in rows:
        if row.kind == DELIVERED and row.path in items:
            yield Exposure(row.session, version(row.session), How.DELIVERED)
    for session, use in window.uses:
        if use.kind == SKILL and use.name == name:
            if use.listed_seq is not None:
                yield Exposure(session, version(session), How.LISTED, use.listed_seq)
            if use.fired and use.fired_seq is not None:
                yield Exposure(session, version(session), How.LOADED, use.fired_seq)


def _in_files(
    desk: Desk, window: Window, rows: Iterable[_Row], stories: Mapping[str, Story]
) -> tuple[dict[str, set[Exposure]], dict[str, set[int]]]:
    """Skills whose text stood in an instruction file, and sessions whose file is gone."""
    found: dict[str, set[Exposure]] = defaultdict(set)
    unread: dict[str, set[int]] = defaultdict(set)
    wordings = {name: _wordings(told) for name, told in stories.items()}
    written = {it for it in wordings if wordings[it]}
    wanted = [it for it in rows if written and it.kind in (INSTRUCTIONS, RULE)]
    ours = _first_written(desk.store)
    texts = _texts(desk, wanted)
    for row in wanted:
        text = texts.get((row.path, row.hash))
        since = _since(window, row)
        if text is None:
            begun = window.sessions[row.session].started
            if row.path in ours and (begun is None or begun >= ours[row.path]):
                for name in written:
                    unread[name].add(row.session)
        elif since is not None:
            for name in written:
                version = max((n for it, n in wordings[name] if it in text), default=None)
                if version is not None:
                    found[name].add(Exposure(row.session, version, How.BLOCK, since))
    return found, unread


def _wordings(told: Story) -> list[tuple[str, int]]:
    """How the approved versions of a skill stand in instruction files."""
    return [
        (wording(it, scoped=scoped), it.version)
        for it in told.editions
        if it.state is State.APPROVED
        for wording in (compiling.whole, compiling.short)
        for scoped in (False, True)
    ]


def _since(window: Window, row: _Row) -> int | None:
    """From which event on a file was in force; None where its folder was never entered."""
    if row.reach != BELOW:
        return 0
    return next(
        (use.listed_seq for it, use in window.uses if it == row.session and use.path == row.path),
        None,
    )


def _first_written(store: Store) -> dict[str, int]:
    """Files that we compiled skills into, and when first."""
    return {
        file.path: entry.at
        for entry in journal.listed(store.db)
        if entry.reference == compiling.REFERENCE
        for file in entry.files
    }


def _texts(desk: Desk, rows: Iterable[_Row]) -> dict[tuple[str, str], str]:
    """Instruction files by path and hash, as far as they are still to be had."""
    from hansei.git.objects import Objects

    wanted: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        wanted[row.path, row.hash].add(row.session)
    if not wanted:
        return {}
    root = desk.root(Skill("", "", ""))
    commits = dict(desk.store.db.execute('SELECT id, "commit" FROM sessions').fetchall())
    found: dict[tuple[str, str], str] = {}
    with Objects(str(root)) as objects:
        for (path, mark), sessions in wanted.items():
            tries = sorted({commits[it] for it in sessions if commits.get(it)})
            contents = [_on_disk(desk, root, path)]
            contents += [objects.blob(f"{it}:{path}", LARGEST) for it in tries[-1:]]
            for content in contents:
                if content is not None and digest(content) == mark:
                    found[path, mark] = content.decode("utf-8", "replace")
    return found


def _on_disk(desk: Desk, root: Path, path: str) -> bytes | None:
    home = desk.config.environment.home
    place = home / path[2:] if path.startswith("~/") else root / path
    try:
        return place.read_bytes() if place.stat().st_size <= LARGEST else None
    except (OSError, ValueError):
        return None


# --- experiments ----------------------------------------------------------------------------------


def tried(store: Store, told: Story) -> list[Tried]:
    """Experiments that deliver, place or name a skill, oldest first."""
    name = told.versions[-1].name
    wordings = {it for it, _ in _wordings(told)} | {skill.body for skill in told.editions}
    entries = {it.id for it in journal.listed(store.db) if skill_places.skill_of(it) == name}
    found = []
    for it in shelf.listed(store):
        text = it.terms.text or ""
        named = it.subject == skill_places.reference(name) or it.entry in entries
        if named or any(words and words in text for words in wordings):
            found.append(Tried(it.id, it.stage, it.randomised, it.verdict))
    return found
