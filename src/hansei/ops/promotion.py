"""A skill before a person lets agents use it: whose words it holds, what changes, what was found.

A person who promotes sees three things: the events where its words first stood, opened; the
difference between what agents have now and what they would have; and what the checks found. What
they agree to is pinned by its hash: a skill that is changed afterwards is not used until it is
promoted again.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from hansei.errors import NotFound, UsageError
from hansei.learn import checks, labels, seals
from hansei.learn.formats.agent_skills import skill_md
from hansei.learn.model import LIVE, UNTRUSTED, State
from hansei.learn.operations import moved
from hansei.ops import sessions, skills
from hansei.ops.search import texts_of
from hansei.redaction.redactor import Redactor
from hansei.store import reading
from hansei.store.key import redaction_key
from hansei.store.rows import from_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.learn.checks import Finding
    from hansei.learn.labels import Part
    from hansei.learn.model import Evidence, Skill
    from hansei.ops.skills import Desk, Done, Shelf
    from hansei.store.database import Store

AROUND: Final = 60
"""Characters of an event that are shown before and behind the words of a skill."""
MOST_ORIGINS: Final = 6
"""Events that are opened, the least trusted first; `hansei skills why` names all."""


@dataclass(frozen=True)
class Origin:
    """An event of a skill's evidence, opened."""

    evidence: Evidence
    excerpt: str | None
    """The words of the skill with what stands around them; None where they cannot be opened."""


@dataclass(frozen=True)
class Promotion:
    """What a person is shown."""

    shelf: Shelf
    skill: Skill
    """As it would be used."""
    why: str
    """Why it waits."""
    origins: tuple[Origin, ...]
    more: int
    """Events that are not shown."""
    difference: tuple[str, ...]
    """From what agents have now to what they would have."""
    findings: tuple[Finding, ...]
    pin: str

    @property
    def stopping(self) -> tuple[str, ...]:
        """Rules that have to be allowed by name."""
        return tuple(sorted({it.rule for it in checks.stopping(self.findings)}))


def shown(desk: Desk, name: str) -> Promotion:
    """What promoting a skill would do; writes nothing."""
    shelf, skill = skills.find(desk.config, desk.here, name)
    new = skills.clean(desk, moved(skill, State.DRAFT, by=desk.by))
    opened = sorted(
        (it for it in skill.evidence if it.label is not None),
        key=lambda it: (-labels.rank(it.label or skill.label), it),
    )
    wanted = labels.parts(skill.description, skill.body, skill.predicates.do)
    return Promotion(
        shelf,
        new,
        _why(shelf, skill),
        tuple(_opened(desk.store, opened[:MOST_ORIGINS], wanted)),
        max(0, len(opened) - MOST_ORIGINS),
        tuple(_difference(shelf.book.pinned(name), new)),
        tuple(checks.of_skill(new)),
        seals.pin(new),
    )


def promote(
    desk: Desk, told: Promotion, *, allowed: Sequence[str] = (), reason: str = "", place: bool
) -> Done:
    """Let agents use a skill as it was shown; refuses what a rule stops that was not allowed."""
    name = told.skill.name
    skills.must_be_a_person(desk, f"hansei skills promote {name}")
    now = shown(desk, name)
    if now.pin != told.pin:
        raise UsageError(f"skill {name!r} was changed while you read it", hint="Look again.")
    left = [it for it in told.stopping if it not in allowed]
    if left:
        raise UsageError(
            f"skill {name!r} is stopped by {', '.join(left)}",
            hint="`--allow RULE` lets it pass, once for every rule; `hansei skills check"
            f" {name}` shows the lines.",
        )
    return skills.change_state(desk, name, State.DRAFT, reason=reason, place=place, allowed=allowed)


def _why(shelf: Shelf, skill: Skill) -> str:
    tampered = shelf.book.tampered().get(skill.name)
    if tampered is not None:
        return tampered.message
    if skill.label in UNTRUSTED:
        return f"its words are not to be trusted by themselves: {skill.label}"
    return skill.reason or "no person typed it, and too few sessions came to it"


def _difference(pinned: Skill | None, new: Skill) -> Iterable[str]:
    """Line by line, as git shows it; everything is new where agents have nothing of it."""
    now = skill_md(pinned) if pinned is not None and pinned.state in LIVE else ""
    return difflib.unified_diff(
        now.splitlines(), skill_md(new).splitlines(), "in use now", "to be used", lineterm="", n=2
    )


def _opened(store: Store, places: Iterable[Evidence], wanted: Sequence[Part]) -> Iterable[Origin]:
    redactor = Redactor(redaction_key(store.folder))
    for it in places:
        text = _text(store, it)
        excerpt = None if text is None else _around(text, wanted)
        yield Origin(it, None if excerpt is None else redactor.scrub(excerpt))


def _text(store: Store, place: Evidence) -> str | None:
    try:
        row = reading.row(store, sessions.find(store, place.session), place.event)
    except NotFound:
        return None
    if row is None:
        return None
    return "\n".join(text for _, text in texts_of(from_row(place.session, row)))


def _around(text: str, wanted: Sequence[Part]) -> str:
    """The first words that a skill has of a text, and what stands around them."""
    flat = " ".join(text.split())
    low = flat.lower()
    for part in wanted:
        for run in part.runs:
            first, *_, last = (*run.split(), "")
            at = low.find(f"{first} " if last else first)
            if run in labels.plain(flat) and at >= 0:
                start = max(0, at - AROUND)
                end = at + len(run) + AROUND
                cut = f"{'…' if start else ''}{flat[start:end]}"
                return f"{cut}…" if end < len(flat) else cut
    return flat[: 2 * AROUND]
