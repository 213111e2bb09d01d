"""What instruction files, rules, skills and MCP servers cost, line by line, and what they did.

The texts are read from disk as they are now. What they take a week follows from the requests of
the sessions here: every request carries every text that its agent reads. When a text last fired is
told by the facts about uses. Without a store there are sizes, and the rest is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hansei.bets.counting import WEEK_DAYS
from hansei.config import DAY_MS
from hansei.hook.places import SERVER, SKILL
from hansei.hook.repository import top
from hansei.instructions import sizes
from hansei.instructions.agreement import compared
from hansei.instructions.census import census
from hansei.instructions.told_here import statements_of
from hansei.ops.windows import usual
from hansei.prices import PriceBook
from hansei.projection.facts.folds import USES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hansei.config import Config
    from hansei.instructions.census import Text
    from hansei.instructions.statements import Statement
    from hansei.ops.scope import Scope
    from hansei.projection.funnel import Use
    from hansei.store.database import Store

RULES: Final = {
    "tokens": sizes.size("").rule,
    "a week": "tokens × the requests a week of the agents that read the text, each of which carries"
    " it; fewer than seven days with a session tell no week.",
    "cost": "tokens a week × the price of input read from the cache, model by model. The first"
    " request of a session pays more, so it is a lower bound.",
    "session": "what stands in every session at the top of the repository: instruction files and"
    " rules that always apply in full, of skills and other rules the description. What waits in"
    " folders, and tools of MCP servers, are not in it.",
}
NANO: Final = 1_000


@dataclass(frozen=True)
class RentLine:
    """A bullet, paragraph, heading or code block, by the line it begins at."""

    line: int
    tokens: int
    text: str


@dataclass(frozen=True)
class Rented:
    """One text, what it takes and what it did. None is unknown."""

    kind: str
    path: str
    agents: tuple[str, ...]
    below: str | None
    tokens: int | None
    """In every session that has it."""
    weekly_tokens: int | None
    weekly_nanodollars: int | None
    sessions: int | None
    """In which it was in force, as far as that is recorded."""
    fired: int | None
    """In how many of them it is known to have fired."""
    fired_known: int
    """In how many it is known whether it did."""
    last_fired: int | None
    lines: tuple[RentLine, ...]


@dataclass(frozen=True)
class Place:
    """A sentence and where it stands."""

    path: str
    line: int
    text: str


@dataclass(frozen=True)
class Repeated:
    """The same sentence in several places."""

    places: tuple[Place, ...]
    together: bool
    """Whether one agent reads it more than once, and so pays more than once."""


@dataclass(frozen=True)
class Rent:
    """Everything in force in one repository."""

    workspace: str
    repository: str
    weeks: float | None
    """That requests were counted over; None where no week can be told."""
    sessions: int | None
    requests: dict[str, float]
    """A week, by agent."""
    unpriced_models: tuple[str, ...]
    """Models without a price for cached input: the cost of texts they read is unknown."""
    used: tuple[str, ...]
    """Agents that had sessions in that time."""
    per_session: dict[str, int]
    """Tokens that stand in every session of an agent, the dearest first."""
    texts: tuple[Rented, ...]
    repeated: tuple[Repeated, ...]
    opposite: tuple[tuple[Place, Place], ...]

    @property
    def most(self) -> int:
        """Tokens of a session, of the agent that reads most."""
        return max(self.told.values(), default=0)

    @property
    def told(self) -> dict[str, int]:
        """Of the agents that are used here; of all where none is known to be."""
        own = {agent: count for agent, count in self.per_session.items() if agent in self.used}
        return own if self.used else self.per_session


@dataclass(frozen=True)
class Usage:
    """What sessions tell of a workspace."""

    weeks: float | None = None
    sessions: int | None = None
    requests: Mapping[tuple[str, str | None], int] = field(default_factory=dict)
    prices: Mapping[str | None, float | None] = field(default_factory=dict)
    """Of a token read from the cache, in nano-dollars, by model."""
    uses: Mapping[tuple[str, str], Sequence[tuple[int | None, Use]]] = field(default_factory=dict)
    root: str = ""
    home: str = ""

    @property
    def agents(self) -> set[str]:
        return {agent for agent, _ in self.requests}


def inventory(folder: Path) -> Rent:
    """The sizes of what a repository itself holds: no store, no home folder, no sessions."""
    root = Path(top(str(folder)) or folder)
    return rent_of(root.name, root, census(root), Usage())


def rent(store: Store, config: Config, scope: Scope, folder: Path) -> Rent:
    """What is in force in a folder, with what the sessions of its workspace tell."""
    root = Path(top(str(folder)) or folder)
    home = config.environment.home
    usage = replace(usage_of(store, config, scope), root=str(root), home=str(home))
    texts = census(root, folder=folder, home=home, agents=usage.agents)
    return rent_of(scope.workspace_name or root.name, root, texts, usage)


def rents(store: Store, config: Config, scope: Scope) -> list[Rent]:
    """The same for every workspace in scope whose folder is on this machine, by name."""
    rows = store.db.execute(
        "SELECT id, name, folder FROM workspaces WHERE folder IS NOT NULL"
        " AND (?1 IS NULL OR id = ?1) ORDER BY name, id",
        (scope.workspace,),
    ).fetchall()
    return [
        rent(store, config, replace(scope, workspace=number, workspace_name=name), Path(folder))
        for number, name, folder in rows
        if Path(folder).is_dir()
    ]


# --- what sessions tell ---------------------------------------------------------------------------


def usage_of(store: Store, config: Config, scope: Scope) -> Usage:
    """What the sessions in scope tell: their requests, the prices of those, what fired."""
    looked = usual(store, scope)
    where, values = looked.sessions()
    days = store.db.execute(
        f"SELECT s.started_at / {DAY_MS} FROM sessions s WHERE {where} AND s.next_seq > 1"
        " AND s.started_at IS NOT NULL",
        values,
    ).fetchall()
    active = {day for (day,) in days}
    weeks = (max(active) - min(active) + 1) / WEEK_DAYS if len(active) >= WEEK_DAYS else None
    rows = store.db.execute(
        "SELECT s.agent, p.model, sum(p.requests) FROM spend p JOIN sessions s ON s.id = p.session"
        f" WHERE {where} AND p.requests > 0 GROUP BY 1, 2 ORDER BY 1, 2",
        values,
    ).fetchall()
    requests = {(agent, model): count for agent, model, count in rows}
    return Usage(
        weeks=weeks,
        sessions=len(days) or None,
        requests=requests,
        prices=_prices(config, {model for _, model in requests}),
        uses=_uses(store, scope),
    )


def _prices(config: Config, models: Iterable[str | None]) -> dict[str | None, float | None]:
    """Nano-dollars for a token read from the cache, at the price of today."""
    named = sorted(it for it in models if it is not None)
    found: dict[str | None, float | None] = {}
    for row in PriceBook(config.settings.prices).known(named) if named else ():
        if not row.above and row.hours is None:  # the last period of a list is today's
            found[row.model] = None if row.cache_read is None else row.cache_read * NANO
    return found


def _uses(store: Store, scope: Scope) -> dict[tuple[str, str], list[tuple[int | None, Use]]]:
    where, values = scope.sessions()
    began = dict(
        store.db.execute(f"SELECT s.id, s.started_at FROM sessions s WHERE {where}", values)
    )
    found: dict[tuple[str, str], list[tuple[int | None, Use]]] = defaultdict(list)
    condition = f"session IN (SELECT s.id FROM sessions s WHERE {where})"
    for session, use in USES.read(store, condition, values):
        found[use.kind, _known_by(use.kind, use.path, use.name)].append((began[session], use))
    return found


def _known_by(kind: str, path: str | None, name: str) -> str:
    """What a text is found again by: skills and servers by name, files by their place."""
    return name.rpartition(":")[2] if kind in (SKILL, SERVER) else path or name


# --- what it comes to -----------------------------------------------------------------------------


def rent_of(name: str, root: Path, texts: Sequence[Text], usage: Usage) -> Rent:
    """What some texts cost."""
    rented = [_rented(it, usage) for it in texts]
    rented.sort(key=lambda it: (-(it.weekly_tokens or 0), -(it.tokens or 0), it.kind, it.path))
    per_session: dict[str, int] = defaultdict(int)
    for it in rented:
        for agent in it.agents if it.below is None and it.tokens else ():
            per_session[agent] += it.tokens or 0
    found = compared(statements_of(texts))
    readers = {it.path: set(it.agents) for it in texts}
    weeks = usage.weeks
    requests: dict[str, float] = defaultdict(float)
    for (agent, _), count in usage.requests.items():
        requests[agent] += count / weeks if weeks else 0.0
    unpriced = {model for _, model in usage.requests if usage.prices.get(model) is None}
    return Rent(
        workspace=name,
        repository=str(root),
        weeks=weeks,
        sessions=usage.sessions,
        requests=dict(requests) if weeks else {},
        unpriced_models=tuple(sorted(it or "unknown" for it in unpriced)),
        used=tuple(sorted(usage.agents)),
        per_session=dict(sorted(per_session.items(), key=lambda it: (-it[1], it[0]))),
        texts=tuple(rented),
        repeated=tuple(Repeated(_places(it), _paid_twice(it, readers)) for it in found.same),
        opposite=tuple((_place(it.one), _place(it.other)) for it in found.conflicts),
    )


def _place(said: Statement) -> Place:
    return Place(said.path, said.line, said.text)


def _places(said: Sequence[Statement]) -> tuple[Place, ...]:
    return tuple(map(_place, said))


def _paid_twice(said: Sequence[Statement], readers: Mapping[str, set[str]]) -> bool:
    agents = [agent for it in said for agent in readers[it.path]]
    return len(agents) > len(set(agents))


def _rented(text: Text, usage: Usage) -> Rented:
    lines = tuple(
        RentLine(it.line, sizes.size(it.text + "\n").tokens, it.text) for it in text.carried or ()
    )
    tokens = None if text.carried is None else sum(it.tokens for it in lines)
    told = [it for key in _keys(text, usage) for it in usage.uses.get((text.kind, key), ())]
    known = [(at, use) for at, use in told if use.fired is not None]
    fired = [at for at, use in known if use.fired]
    carried, cost = weekly(text, tokens, usage)
    return Rented(
        kind=text.kind,
        path=text.path,
        agents=text.agents,
        below=text.below,
        tokens=tokens,
        weekly_tokens=carried,
        weekly_nanodollars=cost,
        sessions=len(told) or None,
        fired=len(fired) if known else None,
        fired_known=len(known),
        last_fired=max((at for at in fired if at is not None), default=None),
        lines=lines,
    )


def _keys(text: Text, usage: Usage) -> list[str]:
    """Under which names sessions tell of a text: from the top, or as a whole path."""
    if text.kind == SERVER:
        return [text.path.rpartition("#")[2]]
    if text.kind == SKILL:
        return [text.path.split("/")[-2]]
    bases = {name: usage.home if name.startswith("~/") else usage.root for name in text.names}
    whole = [f"{base}/{name.removeprefix('~/')}" for name, base in bases.items()]
    return [*text.names, *whole]


def weekly(text: Text, tokens: int | None, usage: Usage) -> tuple[int | None, int | None]:
    """Tokens and nano-dollars a week; of what waits in a folder nobody knows how often it came."""
    if tokens is None or usage.weeks is None or text.below is not None:
        return None, None
    counted = [
        (count, usage.prices.get(model))
        for (agent, model), count in usage.requests.items()
        if agent in text.agents
    ]
    carried = round(tokens * sum(count for count, _ in counted) / usage.weeks)
    if any(price is None for _, price in counted):
        return carried, None
    cost = sum(count * (price or 0.0) for count, price in counted)
    return carried, round(tokens * cost / usage.weeks)
