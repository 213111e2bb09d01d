"""Approved skills as text for the next session, within a budget.

Skills are ranked by what sessions tell of them, and taken in that order as long as there is room:
whole, else by their description alone, else not at all, and each says why. What people think stands
apart: it ranks nothing, but what more of them found harmful is left out. The same skills, counters
and budget give the same bytes. Everything here is pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.events.model import MARKER
from hansei.instructions import edits
from hansei.instructions.block import CLOSE, name_of
from hansei.instructions.sizes import size
from hansei.instructions.wording import as_item, as_text
from hansei.learn.counters import Standing
from hansei.learn.model import Rung, Scope, Skill, State
from hansei.learn.operations import voted
from hansei.learn.patterns import expression
from hansei.projection.places import TOP

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from hansei.learn.counters import Counters

BUDGET = 2_000
"""Tokens: a hundredth of the smallest context that the agents work with."""
LONGEST_LISTED = 250
"""Characters of a description in a list of skills; agents cut longer ones."""

_SCOPES = (Scope.WORKSPACE, Scope.LANGUAGE, Scope.GLOBAL)
_ORDER: Final = (Standing.HELPFUL, Standing.UNPROVEN, Standing.MIXED, Standing.HARMFUL)
"""What is known to go well comes first; of the rest, what is not known to go badly."""
UNCOUNTED: Final[Mapping[str, Counters]] = MappingProxyType({})


class Form:
    """How much of a skill is handed over."""

    WHOLE = "whole"
    SHORT = "description only"
    NONE = "left out"


@dataclass(frozen=True)
class Chosen:
    """A skill and what became of it."""

    skill: Skill
    form: str
    tokens: int
    """Of its text as it is taken; of the whole where it is left out."""
    why: str = ""
    """Why it was left out or shortened; empty where it was not."""
    text: str = ""
    path: str = ""
    """The files for which alone it is in force, where the place it goes to can tell."""
    standing: str = ""
    """Why it is ranked where it is."""

    @property
    def taken(self) -> bool:
        return self.form != Form.NONE


class Room(NamedTuple):
    """What a text may take."""

    tokens: int = BUDGET
    bytes: int | None = None
    """What is left of an agent's own limit; None where it has none."""
    limit: str = ""
    """That limit, in words."""


USUAL = Room()


def ranked(skills: Iterable[Skill], told: Mapping[str, Counters] = UNCOUNTED) -> list[Skill]:
    """Those that may be handed over, the best first, by what sessions tell of each.

    What is known to be helpful is ranked by the least share of sessions in which it was, to two
    digits, so that no day's ageing of votes reorders it; the rest by how often it came up.
    """
    approved = (it for it in skills if it.state is State.APPROVED)
    return sorted(approved, key=lambda it: _worth(it, told.get(it.name)))


def _worth(skill: Skill, told: Counters | None) -> tuple[int, float, int, int, int, str]:
    total = None if told is None else told.total
    standing = Standing.UNPROVEN if total is None else total.standing
    low = None if total is None or standing is Standing.UNPROVEN else total.helpful.low
    return (
        _ORDER.index(standing),
        -round(low or 0.0, 2),
        -came_up(told),
        -seen_in(skill),
        _SCOPES.index(skill.scope),
        skill.name,
    )


def came_up(told: Counters | None) -> int:
    """In how many sessions a skill applied, whether it was in force there or not."""
    if told is None:
        return 0
    return (told.total.triggered or 0) + told.unexposed + told.unknown


def votes(skill: Skill) -> int:
    """People who found it helpful, less those who found it harmful."""
    said = voted(skill)
    return said.helpful - said.harmful


def seen_in(skill: Skill) -> int:
    """In how many sessions its evidence lies."""
    return len({it.session for it in skill.evidence})


def standing(skill: Skill, told: Counters | None = None) -> str:
    """Why a skill is ranked where it is, and apart from that what people think of it."""
    if told is not None and told.total.standing is not Standing.UNPROVEN:
        why = told.total.why
    elif times := came_up(told):
        why = f"unproven, came up in {_sessions(times)}"
    else:
        seen = seen_in(skill)
        why = f"unproven, seen in {_sessions(seen)}" if seen else "unproven"
    return f"{why}; people {votes(skill):+d}" if skill.votes else why


def _sessions(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def _never(_: str) -> bool:
    return False


def compiled(
    skills: Iterable[Skill],
    room: Room = USUAL,
    *,
    paths: Sequence[str] = (),
    languages: Collection[str] | None = None,
    scoped: Callable[[str], bool] = _never,
    told: Mapping[str, Counters] = UNCOUNTED,
) -> list[Chosen]:
    """Every approved skill in the order of its rank, with its text or why it has none.

    `paths` are the files somebody works on: what is about others is left out. `scoped` says of a
    pattern whether the place it goes to tells by itself which files it is about; `told` is what
    sessions tell of each skill.
    """
    taken: list[Chosen] = []
    found: list[Chosen] = []
    for skill in ranked(skills, told):
        own = told.get(skill.name)
        reason = unwanted(skill, paths, languages, own) or _has_a_rule(skill, scoped)
        chosen = (
            Chosen(skill, Form.NONE, 0, reason) if reason else _fitted(skill, taken, room, scoped)
        )
        chosen = replace(chosen, standing=standing(skill, own))
        found.append(chosen)
        if chosen.taken:
            taken.append(chosen)
    return found


def unwanted(
    skill: Skill,
    paths: Sequence[str],
    languages: Collection[str] | None,
    told: Counters | None = None,
) -> str:
    """Why a skill has no place here, however much room there is; empty if it has."""
    if told is not None and told.total.standing is Standing.HARMFUL:
        return told.total.why
    if votes(skill) < 0:
        return "more people found it harmful than helpful"
    language = skill.language.casefold()
    if skill.scope is Scope.LANGUAGE and languages is not None and language not in languages:
        return f"it is about {skill.language or 'an unnamed language'}, which is not used here"
    if paths and skill.predicates.path and not any(fits(skill.predicates.path, it) for it in paths):
        return f"it is about {skill.predicates.path}"
    return ""


def _has_a_rule(skill: Skill, scoped: Callable[[str], bool]) -> str:
    """Why a skill with a rule of its own is not said again, where such a rule is read."""
    path = skill.predicates.path
    stands = skill.rung is Rung.RULE and bool(path) and scoped(path)
    return f"it has a rule of its own for {path}" if stands else ""


def fits(pattern: str, path: str) -> bool:
    """Whether a pattern such as `api/**/*.py` means a file, given from the top."""
    return expression(pattern).fullmatch(path.removeprefix(TOP)) is not None


def _fitted(
    skill: Skill, taken: Sequence[Chosen], room: Room, scoped: Callable[[str], bool]
) -> Chosen:
    """A skill in the first form for which there is room."""
    pattern = skill.predicates.path
    path = pattern if pattern and scoped(pattern) else ""
    forms = [
        (Form.WHOLE, whole(skill, scoped=bool(path))),
        (Form.SHORT, short(skill, scoped=bool(path))),
    ]
    first = ""
    for form, text in forms:
        tried = Chosen(skill, form, size(text).tokens, first, text, path)
        why = _unfit(text) or _too_much(taken, tried, room)
        if not why:
            return tried
        first = first or why
    return Chosen(skill, Form.NONE, size(forms[0][1]).tokens, first)


def _unfit(text: str) -> str:
    try:
        edits.checked(text)
    except edits.Unfit as problem:
        return f"it cannot stand in a file: {problem}"
    return ""


def _too_much(taken: Sequence[Chosen], tried: Chosen, room: Room) -> str:
    made = blocks([*taken, tried])
    if sum(size(it).tokens for it in made) > room.tokens:
        used = sum(size(it).tokens for it in blocks(taken))
        left = f"{room.tokens - used:,} of {room.tokens:,} are left"
        return f"it takes {tried.tokens:,} tokens, and {left}"
    if room.bytes is not None and sum(len(it.encode()) for it in made) > room.bytes:
        return f"{room.limit}, and {max(0, room.bytes):,} bytes of that are left for all skills"
    return ""


def blocks(taken: Iterable[Chosen]) -> list[str]:
    """The texts that are handed over: one, or one for each pattern of files."""
    groups: dict[str, list[str]] = {}
    for it in taken:
        groups.setdefault(it.path, []).append(it.text)
    return [block(texts) for texts in groups.values()]


# --- words ---


def whole(skill: Skill, *, scoped: bool = False) -> str:
    """A skill with its body."""
    body = as_text(skill.body)
    head = short(skill, scoped=scoped)
    return f"{head}\n\n{body}" if body else head


def short(skill: Skill, *, scoped: bool = False) -> str:
    """A skill as one bullet."""
    path = "" if scoped else _place(skill.predicates.path)
    said = as_item(f"{path}{skill.description}").removeprefix("- ")
    return f"- **{as_item(skill.name).removeprefix('- ')}**: {said}"


def _place(path: str) -> str:
    return f"In `{path.replace('`', '')}`: " if path else ""


def joined(texts: Sequence[str]) -> str:
    """Texts of skills one below the other: bullets together, bodies apart."""
    apart = "\n\n" if any("\n" in it for it in texts) else "\n"
    return apart.join(texts)


def block(texts: Sequence[str]) -> str:
    """The texts as they stand in a file of somebody else's, which is where they take most."""
    return wrapped([f"<!-- {name_of(REFERENCE)} -->\n{joined(texts)}"] if texts else [])


def wrapped(texts: Sequence[str]) -> str:
    """The texts between our markers; nothing for none."""
    return f"{MARKER}\n{joined(texts)}\n{CLOSE}\n" if texts else ""


def prompt(chosen: Iterable[Chosen]) -> str:
    """The text that a custom agent is given."""
    return wrapped([it.text for it in chosen if it.taken])


REFERENCE = "prompt"
"""What the journal knows compiled text by."""


# --- lists of skills ---


def listed(
    skills: Iterable[Skill],
    room: Room,
    *,
    entry: Callable[[Skill], str],
    paths: Sequence[str] = (),
    languages: Collection[str] | None = None,
    told: Mapping[str, Counters] = UNCOUNTED,
) -> list[Chosen]:
    """Skills that agents list by name and description and open when they want one.

    The room is that of the list, which stands in every session; bodies are read on demand.
    """
    found: list[Chosen] = []
    tokens = letters = 0
    for skill in ranked(skills, told):
        line, own = entry(skill), told.get(skill.name)
        why = standing(skill, own)
        need, reason = size(line).tokens, unwanted(skill, paths, languages, own)
        if not reason and tokens + need > room.tokens:
            left = room.tokens - tokens
            reason = f"its line takes {need:,} tokens, and {left:,} of {room.tokens:,} are left"
        if not reason and room.bytes is not None and letters + len(line) > room.bytes:
            reason = room.limit
        if reason:
            found.append(Chosen(skill, Form.NONE, need, reason, standing=why))
            continue
        tokens, letters = tokens + need, letters + len(line)
        long = len(skill.description)
        cut = f"agents may cut its description of {long:,} characters"
        shortened = cut if long > LONGEST_LISTED else ""
        found.append(Chosen(skill, Form.WHOLE, need, shortened, line, standing=why))
    return found
