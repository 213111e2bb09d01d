"""`hansei skills why`: the whole story of a skill, with an event to open for every claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from hansei.cli import output, skill_pages
from hansei.cli.output import bold, dim, one_line
from hansei.learn.counters import HALF_LIFE_DAYS, SUPPORT
from hansei.learn.files import reference
from hansei.learn.model import UNTRUSTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.learn.counters import Case, Counters, Share, Tally
    from hansei.learn.history import Entry
    from hansei.learn.model import Evidence, Skill
    from hansei.ops.skill_counters import Tried
    from hansei.ops.skills import Shelf

_MOST: Final = 10
"""Sessions that are shown; --json tells all."""
_EVENTS: Final = 3
"""Events of one kind that are shown of a session."""
RULE: Final = (
    "Each session with all it started has one vote: helpful where following it worked or its check"
    " passed, harmful where that failed, the failure came again or a person corrected it, neutral"
    f" else. A vote halves every {HALF_LIFE_DAYS} days. Unproven until {SUPPORT} sessions are"
    " helpful or harmful. This goes along with the skill; only a randomised experiment shows that"
    " it is its doing."
)


class Page(NamedTuple):
    """All that is told of a skill."""

    skill: Skill
    changes: Sequence[tuple[Shelf, Entry]]
    known: set[str]
    """Sessions of its evidence that can be opened."""
    counters: Counters | None
    tried: Sequence[Tried]


def lines(page: Page) -> Iterator[str]:
    """The story in the order it happened."""
    yield bold(f"Why {page.skill.name}")
    yield from _origin(page.skill)
    yield ""
    yield from _evidence(page.skill, page.known)
    yield ""
    yield from _predicates(page.skill)
    yield ""
    yield from _counters(page.counters)
    yield ""
    yield from _votes(page.skill)
    yield from _tried(page.tried)
    if page.changes:
        yield ""
        yield bold("What was done to it here")
        yield from skill_pages.change_table(page.changes)


def _origin(skill: Skill) -> Iterator[str]:
    first = "a person wrote it" if skill.origin == "person" else f"found by {skill.origin}"
    first = "taken in from another book" if skill.origin == "import" else first
    trust = "not to be trusted by itself" if skill.label in UNTRUSTED else "trusted"
    yield from output.wrapped(
        one_line(f"{first}; its text first appeared: {skill.label} ({trust})")
    )
    if skill.reason:
        yield from output.wrapped(one_line(f"{skill.owner or 'someone'}: {skill.reason}"))


def _evidence(skill: Skill, known: set[str]) -> Iterator[str]:
    if not skill.evidence:
        yield "No event is named as evidence."
        return
    yield bold("Evidence")
    for it in skill.evidence:
        gone = "" if it.session in known else dim("  not in this store")
        whose = "" if it.label is None else f"  {it.label}"
        yield f"  hansei show {one_line(reference(it))}{whose}{gone}"


def _predicates(skill: Skill) -> Iterator[str]:
    told = skill.predicates
    when = {"tool": told.tool, "command": told.command, "path": told.path, "error": told.error}
    rows = [("when", f"{name} {text}") for name, text in when.items() if text]
    rows += [("do", it) for it in told.do] + [("avoid", it) for it in told.avoid]
    rows += [("check", told.check)] if told.check else []
    if not rows:
        yield from output.wrapped(
            "It says nothing that a machine could check: `hansei skills edit` adds predicates."
        )
        return
    yield bold("When it applies and what it asks for")
    for name, text in rows:
        yield from output.wrapped(f"  {name:8}{one_line(text)}", 10)


# --- sessions -------------------------------------------------------------------------------------


def _counters(told: Counters | None) -> Iterator[str]:
    yield bold("What sessions tell")
    if told is None:
        yield "  Nothing yet: no session since it was kept."
        return
    yield from output.wrapped(f"  {told.total.standing}: {told.total.why}", 2)
    tallies = [told.total, *(told.versions if len(told.versions) > 1 else ())]
    columns = [output.Column("version", "left")]
    names = ("exposed", "loaded", "triggered", "followed", "violated")
    columns += [output.Column(it) for it in (*names, "helpful", "harmful", "neutral")]
    yield from output.table(columns, [_row(it) for it in tallies])
    if told.unexposed or told.unknown:
        yield from output.wrapped(f"  It would have applied in {_without(told)}.", 2)
    yield from map(dim, output.wrapped(RULE))
    acted = [it for it in told.cases if it.vote is not None or it.violated]
    for case in acted[:_MOST]:
        yield from _case(case)
    if len(acted) > _MOST:
        yield dim(f"  {output.plural(len(acted) - _MOST, 'session')} more; --json tells all")


def _without(told: Counters) -> str:
    parts = []
    if told.unexposed:
        parts.append(f"{output.plural(told.unexposed, 'session')} that did not have it")
    if told.unknown:
        parts.append(f"{output.plural(told.unknown, 'session')} of which nobody knows")
    return " and in ".join(parts)


def _row(tally: Tally) -> list[str]:
    counts = (tally.triggered, tally.followed, tally.violated)
    return [
        "all" if tally.version is None else str(tally.version),
        str(tally.exposed),
        str(tally.loaded),
        *(output.UNKNOWN if it is None else str(it) for it in counts),
        *(_share(it) for it in (tally.helpful, tally.harmful, tally.neutral)),
    ]


def _share(share: Share) -> str:
    if share.low is None or share.high is None:
        return "0"
    return f"{share.sessions} ({share.low:.0%}–{share.high:.0%})"


def _case(case: Case) -> Iterator[str]:
    when = "" if case.started is None else f", {output.day(case.started)}"
    how = " and ".join(case.how)
    vote = case.vote or "no vote"
    yield f"  {one_line(case.session)}{when}: {vote} (version {case.version}, {how})"
    for because in case.reasons:
        at = "" if because.event is None else f"  {one_line(reference(because.event))}"
        yield f"    {because.reason}{at}"
    for name in ("triggered", "followed", "violated"):
        events: tuple[Evidence, ...] = getattr(case, name)
        if events:
            more = len(events) - _EVENTS
            shown = ", ".join(one_line(reference(it)) for it in events[:_EVENTS])
            yield dim(f"    {name:10}{shown}" + (f", {more} more" if more > 0 else ""))


# --- people and experiments -----------------------------------------------------------------------


def _votes(skill: Skill) -> Iterator[str]:
    yield bold("What people say")
    for vote in skill.votes:
        word = "helpful" if vote.helpful else "harmful"
        note = f": {vote.note}" if vote.note else ""
        yield f"  {one_line(f'{vote.by} voted {word} on {output.day(vote.at)}{note}')}"
    if not skill.votes:
        yield "  Nobody has voted."


def _tried(tried: Sequence[Tried]) -> Iterator[str]:
    if not tried:
        return
    yield bold("Experiments")
    for it in tried:
        kind = "randomised" if it.randomised else "not randomised"
        yield f"  {one_line(f'{it.id}: {it.verdict or it.stage} ({kind})')}"


# --- for programs ---------------------------------------------------------------------------------


def told(page: Page) -> dict[str, Any]:
    """The same for programs, whole."""
    skill = page.skill
    return {
        "name": skill.name,
        "origin": skill.origin,
        "label": str(skill.label),
        "reason": skill.reason,
        "evidence": [
            {"reference": reference(it), "known": it.session in page.known} for it in skill.evidence
        ],
        "predicates": msgspec.to_builtins(skill.predicates),
        "counters": msgspec.to_builtins(page.counters),
        "rule": RULE,
        "votes": list(skill.votes),
        "experiments": list(page.tried),
        "changes": [skill_pages.told_change(*it) for it in page.changes],
    }
