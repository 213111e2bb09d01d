"""What a change of instruction files costs and does, between two commits or a commit and the files.

Sizes, repetitions and contradictions follow from the files alone, so the answer is the same on
every machine. Where sessions of this workspace are known, each line is held against them: in how
many it would have applied, and in how many of these it was not done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.errors import GitError, NotFound
from hansei.git.history import main_line
from hansei.git.repository import git, need_git
from hansei.hook.places import RULE, SERVER
from hansei.hook.repository import top
from hansei.instructions import sizes
from hansei.instructions.agreement import compared
from hansei.instructions.census import files_of, waiting
from hansei.instructions.changes import Kind, changes
from hansei.instructions.told_here import statements_of
from hansei.instructions.trees import texts_of, texts_on_disk
from hansei.ops import rent
from hansei.ops.rent import Place, Usage
from hansei.projection.window import Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.config import Config
    from hansei.instructions.census import Text
    from hansei.instructions.changes import Change
    from hansei.instructions.statements import Statement
    from hansei.learn.directives import Applied
    from hansei.ops.scope import Scope
    from hansei.store.database import Store

FILES: Final = "the files as they are"
"""What a commit is compared with where only one is named."""
RULES: Final = {
    "tokens": sizes.size("").rule,
    "session": "what stands in every session of an agent at the top of the repository, after less"
    " before; of skills and of rules that wait for their files, the description.",
    "a week": rent.RULES["a week"],
    "applied": "a session, with its subagents, of an agent that reads the text, in which what the"
    " line names came up: its command, a command of the same kind (tests, linters, builds,"
    " formatters, installs), its files, or a commit, push or pull request.",
    "not done": "of these, sessions that ran what the line forbids, changed files it says not to,"
    " or never ran what it asks for. Lines that leave it to judgement are not counted.",
}


class Range(NamedTuple):
    """Two sides of a comparison."""

    base: str
    head: str | None
    """None: the files as they are."""
    words: str


@dataclass(frozen=True)
class Line:
    """A bullet, paragraph, heading or code block that differs."""

    kind: str
    path: str
    line: int
    text: str
    before: str | None
    """What it said, of a changed one."""
    moved_from: str | None
    tokens: int
    """After less before; of what a removed one took, negative."""
    when: str
    """`always`, `below FOLDER`, `for FILES` or `on demand`."""
    agents: tuple[str, ...]
    weekly_tokens: int | None
    weekly_nanodollars: int | None
    countable: bool | None
    """Whether it names something that sessions can be asked about; None without sessions, and of
    descriptions, which ask for nothing."""
    applied: int | None
    not_done: int | None
    where: str | None
    """In which sessions it would have applied."""
    repeats: tuple[Place, ...]
    contradicts: tuple[Place, ...]


@dataclass(frozen=True)
class Check:
    """What a change of instruction files comes to."""

    repository: str
    base: str
    head: str | None
    compared: str
    per_session: dict[str, int]
    """Tokens more or less in every session, by agent, the largest first."""
    on_demand: int
    """Tokens more or less of what comes when it is wanted."""
    weekly_tokens: int | None
    weekly_nanodollars: int | None
    sessions: int | None
    """That lines were held against; None: there is no history here."""
    used: tuple[str, ...]
    """Agents that had some of them."""
    lines: tuple[Line, ...]
    servers: tuple[str, ...] = ()
    """MCP servers that come on top: what their tools take is unknown."""

    @property
    def added(self) -> int:
        """Tokens more in a session, of the agent that gets most."""
        return max(self.per_session.values(), default=0)

    @property
    def contradictions(self) -> int:
        return sum(bool(it.contradicts) for it in self.lines)

    def is_over(self, budget: int | None) -> bool:
        return budget is not None and self.added > budget


@dataclass(frozen=True)
class History:
    """What the sessions of a workspace tell."""

    window: Window
    usage: Usage
    _of: dict[tuple[str, ...], Window] = field(default_factory=dict, repr=False)

    def of(self, agents: tuple[str, ...]) -> Window:
        """The sessions of some agents."""
        if agents not in self._of:
            own = {n: it for n, it in self.window.sessions.items() if it.agent in agents}
            self._of[agents] = Window(self.window.store, own, self.window.since, self.window.until)
        return self._of[agents]


# --- the two sides --------------------------------------------------------------------------------


def compared_range(folder: Path, words: str | None) -> Range:
    """Which commits a person names: `BASE..HEAD`, `BASE...HEAD`, `BASE`, or nothing."""
    if words is None:
        main = main_line(str(folder))
        base = main and git(str(folder), "merge-base", main, "HEAD")
        if not base:
            raise GitError(
                "there is no commit to compare with", hint="Name one: `hansei check BASE..HEAD`."
            )
        return Range(base, None, f"{base[:8]} and {FILES}")
    first, dots, second = words.partition("..")
    base = _commit(folder, first or "HEAD")
    if not dots:
        return Range(base, None, f"{first} and {FILES}")
    symmetric = second.startswith(".")
    name = second.removeprefix(".") or "HEAD"
    head = _commit(folder, name)
    if symmetric:
        common = git(str(folder), "merge-base", base, head)
        if not common:
            raise NotFound(
                f"{first or 'HEAD'} and {name} have no commit in common",
                hint="In CI, fetch the whole history (fetch-depth: 0).",
            )
        base = common
    return Range(base, head, words)


def _commit(folder: Path, name: str) -> str:
    plain = not name.startswith("-")
    found = git(str(folder), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if found and plain:
        return found
    raise NotFound(
        f"git knows no commit {name!r} here",
        hint="In CI, fetch the whole history (fetch-depth: 0).",
    )


def repository_of(folder: Path) -> Path:
    """The top of the repository that a folder lies in."""
    need_git()
    found = top(str(folder))
    if found is None or git(found, "rev-parse", "--git-dir") is None:
        raise GitError(
            f"{folder} is in no git repository", hint="Go into one: commits are compared."
        )
    return Path(found)


# --- what differs ---------------------------------------------------------------------------------


def check(root: Path, sides: Range, history: History | None = None) -> Check:
    """What differs between two sides, held against history where there is some."""
    before = texts_of(root, sides.base)
    after = texts_on_disk(root) if sides.head is None else texts_of(root, sides.head)
    usage = history.usage if history else Usage()
    old, new = (rent.rent_of(root.name, root, side, usage) for side in (before, after))
    found = changes(before, after)
    said = _said(found, after)
    lines = tuple(_line(it, said, history) for it in found)
    weekly = _difference(_sum(it.weekly_tokens for it in side.texts) for side in (old, new))
    cost = _difference(_sum(it.weekly_nanodollars for it in side.texts) for side in (old, new))
    agents = {*old.per_session, *new.per_session}
    more = {it: new.per_session.get(it, 0) - old.per_session.get(it, 0) for it in agents}
    return Check(
        repository=root.name,
        base=sides.base,
        head=sides.head,
        compared=sides.words,
        per_session=dict(sorted(more.items(), key=lambda it: (-it[1], it[0]))),
        on_demand=sum(it.tokens for it in lines if it.when == "on demand"),
        weekly_tokens=weekly,
        weekly_nanodollars=cost,
        sessions=history.window.tasks(history.window.sessions) if history else None,
        used=tuple(sorted(usage.agents)),
        lines=lines,
        servers=tuple(sorted(_servers(after) - _servers(before))),
    )


def _servers(texts: Iterable[Text]) -> set[str]:
    return {it.path for it in texts if it.kind == SERVER}


def _sum(amounts: Iterable[int | None]) -> int | None:
    known = [it for it in amounts if it is not None]
    return sum(known) if known else None


def _difference(sides: Iterable[int | None]) -> int | None:
    """After less before; a side without any text takes nothing."""
    old, new = sides
    return None if old is None and new is None else (new or 0) - (old or 0)


@dataclass(frozen=True)
class _Said:
    """What new lines repeat and contradict, by path and line."""

    repeats: Mapping[tuple[str, int], list[Place]]
    contradicts: Mapping[tuple[str, int], list[Place]]


def _said(found: Sequence[Change], after: Sequence[Text]) -> _Said:
    fresh = {
        (it.text.path, line)
        for it in found
        if it.kind in (Kind.ADDED, Kind.CHANGED)
        for line in _span(it)
    }
    told = statements_of(after)
    told.sort(key=lambda it: (it.path, it.line) in fresh)  # of two the new one is told of
    both = compared(told)
    repeats: dict[tuple[str, int], list[Place]] = {}
    contradicts: dict[tuple[str, int], list[Place]] = {}
    for first, *rest in both.same:
        for one in rest:
            repeats.setdefault((one.path, one.line), []).append(_place(first))
    for pair in both.conflicts:
        contradicts.setdefault((pair.other.path, pair.other.line), []).append(_place(pair.one))
    kept = (
        {place: places for place, places in side.items() if place in fresh}
        for side in (repeats, contradicts)
    )
    return _Said(*kept)


def _place(said: Statement) -> Place:
    return Place(said.path, said.line, said.text)


def _span(change: Change) -> range:
    return range(change.part.line, change.part.line + change.part.text.count("\n") + 1)


def _line(change: Change, said: _Said, history: History | None) -> Line:
    usage = history.usage if history else Usage()
    tokens = _tokens(change)
    carried = change.always and change.text.below is None
    weekly = rent.weekly(change.text, tokens, usage) if carried else (None, None)
    countable, told = _applied(change, history)
    places = [(change.text.path, line) for line in _span(change)]
    gone = change.kind is Kind.REMOVED
    return Line(
        kind=change.kind.value,
        path=change.text.path,
        line=change.part.line,
        text=change.part.text,
        before=change.before.text if change.before and change.kind is Kind.CHANGED else None,
        moved_from=None if change.origin is None else change.origin.path,
        tokens=tokens,
        when=_when(change),
        agents=change.text.agents,
        weekly_tokens=weekly[0],
        weekly_nanodollars=weekly[1],
        countable=countable,
        applied=told.sessions if told else None,
        not_done=told.missed if told else None,
        where=told.where if told else None,
        repeats=() if gone else tuple(it for at in places for it in said.repeats.get(at, ())),
        contradicts=()
        if gone
        else tuple(it for at in places for it in said.contradicts.get(at, ())),
    )


def _tokens(change: Change) -> int:
    now = sizes.size(change.part.text + "\n").tokens
    was = sizes.size(change.before.text + "\n").tokens if change.before else 0
    return -now if change.kind is Kind.REMOVED else now - was


def _when(change: Change) -> str:
    pattern = files_of(change.text.content) if change.text.kind == RULE else ""
    if not change.always:
        return f"for {pattern}" if pattern else "on demand"
    return "always" if change.text.below is None else f"below {change.text.below}"


def _applied(change: Change, history: History | None) -> tuple[bool | None, Applied | None]:
    if history is None or (change.always and waiting(change.text)):  # a description asks nothing
        return None, None
    from hansei.learn.directives import applied, named

    seen = history.of(change.text.agents)
    told = named(change.part.text, {row.name for _, row in seen.calls})
    pattern = files_of(change.text.content) if change.text.kind == RULE else ""
    within = pattern or (f"{change.text.below}/**" if change.text.below else "")
    found = applied(seen, told, within=within)
    return found is not None, found


def history_of(store: Store, config: Config, scope: Scope, now: int) -> History | None:
    """What the sessions of a workspace tell; None where there are none."""
    from hansei.ops.windows import grounds

    found = grounds(store, scope, now)
    if not found:
        return None
    return History(found[0].window, rent.usage_of(store, config, scope))
