"""Whether an offer may become a skill: as it is, in quarantine, or not at all.

Words of transcripts are never trusted. What would harm is refused with the rule and the line; what
somebody untrusted wrote first is quarantined with the place where they wrote it, and stays there
until a person promotes it; what a terminal or an editor left behind is cleaned away. The gate
never makes a text better than it was: it may only stop it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from hansei.learn import checks, harm, hostile, labels, warrants
from hansei.learn.model import UNTRUSTED, Evidence, Label, Offer, State
from hansei.learn.warnings import forbids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from hansei.learn.labels import First, Part
    from hansei.learn.model import Predicates, Skill
    from hansei.learn.spans import Span
    from hansei.learn.warrants import Circumstance

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
"""Both as the public format of skills has it."""
LONGEST_BODY = 64 * 1024
"""Characters; ten times what that format advises, and no more than a person can look through."""
UNCONFIRMED = "unconfirmed"
"""The rule by which a text waits though nothing speaks against it."""
MOST_REASONS = 20
"""Named before the rest is only counted."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NOT_NAME = re.compile(r"[^a-z0-9]+")
_LEADS_AWAY = re.compile(r"[/\\]|\.\.|[\x00-\x1f\x7f-\x9f]|^~|^[A-Za-z]:")
_BEFORE = re.compile(
    r"\b(?:before|wrong|failed|fails|broken|avoid|not this|instead of)\b|[✗❌]", re.IGNORECASE
)
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")


_PROSE = ("description", "body")


@dataclass(frozen=True)
class Reason:
    """Why a text is stopped or was changed."""

    rule: str
    message: str
    where: str
    """`name`, `description`, `command`, `do`, or `body, line 3`."""
    evidence: Evidence | None = None
    """Where the words that are responsible first stood."""
    stops: State | None = None
    """What it makes of the text; None where it was only cleaned."""


@dataclass(frozen=True)
class Verdict:
    """What may become of an offer."""

    state: State
    """Draft: may be kept and used; quarantined: kept, written nowhere; rejected: not kept."""
    label: Label
    reasons: tuple[Reason, ...]
    offer: Offer
    """Cleaned, with its label."""

    @property
    def passed(self) -> bool:
        return self.state is State.DRAFT


def judged(
    offer: Offer,
    sessions: Mapping[str, Sequence[Span]],
    circumstances: Mapping[str, Circumstance] = MappingProxyType({}),
    elsewhere: Mapping[str, Sequence[Span]] = MappingProxyType({}),
) -> Verdict:
    """What may become of an offer, given the texts of the sessions it comes from, by name.

    `elsewhere` are untrusted texts of sessions before them, from which an agent may have had words
    that it kept in a file.
    """
    clean, notes = cleaned(offer)
    wanted = matter(clean)
    by_session = {name: labels.firsts(wanted, {name: told}) for name, told in sessions.items()}
    found = _carried_over(labels.firsts(wanted, sessions), labels.repeated(wanted, elsewhere))
    worst = labels.deciding(found)
    label = Label.ASSISTANT if worst is None else worst.label
    reasons = [*notes, *_against(clean), *_untrusted(found)]
    if not reasons or not any(it.stops for it in reasons):
        given = warrants.warrant(by_session, circumstances, runs=_runs(clean, wanted))
        if not given.given:
            reasons.append(Reason(UNCONFIRMED, given.why, "skill", stops=State.QUARANTINED))
    known = replace(clean, label=label, evidence=_evidence(clean, found, by_session))
    return Verdict(_state(reasons), label, _few(reasons), known)


def _runs(offer: Offer, wanted: Iterable[Part]) -> bool:
    """Whether it tells anybody to run something; what a text about a path says to use is a path."""
    told = offer.predicates
    if told.path and not offer.commands:
        return bool(told.check)
    asked = (*offer.commands, *told.do, told.check)
    return any(asked) or any(it.kind is labels.Kind.COMMAND for it in wanted)


def matter(offer: Offer) -> list[Part]:
    """What of an offer is looked for in sessions: all that an agent would read or run."""
    told = offer.predicates
    commands = (*offer.commands, *told.do, *told.avoid, told.check)
    prose = f"{offer.body}\n\n{offer.topic}\n\n{offer.action}"
    return labels.parts(offer.description, prose, filter(None, commands))


def _carried_over(here: Sequence[First], before: Sequence[First]) -> list[First]:
    """Where parts first stood; an untrusted place in an earlier session outdoes all but typing."""
    foreign = {it.part: it for it in before if it.label in UNTRUSTED}
    known = {it.part: it for it in here}
    told = {
        part: it if it.label is Label.TYPED or it.label in UNTRUSTED else foreign.get(part, it)
        for part, it in known.items()
    }
    return list((foreign | told).values())


def _evidence(
    offer: Offer, found: Sequence[First], by_session: Mapping[str, Sequence[First]]
) -> tuple[Evidence, ...]:
    """What shows it, and where its words first stood, each event with the worst label."""
    events: dict[tuple[str, int], Label | None] = {
        (it.session, it.event): it.label for it in offer.evidence
    }
    for first in (*found, *(it for told in by_session.values() for it in told)):
        at = (first.evidence.session, first.evidence.event)
        known = events.get(at)
        events[at] = first.label if known is None else labels.worst((known, first.label))
    return tuple(Evidence(session, event, label) for (session, event), label in events.items())


def checked(skill: Skill) -> Verdict:
    """The same for a skill that came from elsewhere, by the label it has."""
    told = Offer(
        detector=skill.origin,
        name=skill.name,
        description=skill.description,
        body=skill.body,
        commands=(),
        evidence=skill.evidence,
        predicates=skill.predicates,
        label=skill.label,
    )
    clean, notes = cleaned(told)
    reasons = [*notes, *_misshapen(clean), *stops(skill)]
    if skill.label in UNTRUSTED:
        message = f"its text is {_WORDS[skill.label]}"
        reasons.append(Reason("origin", message, "skill", stops=State.QUARANTINED))
    return Verdict(_state(reasons), skill.label, _few(reasons), clean)


_WORDS = {
    Label.TYPED: "what a person typed",
    Label.REPOSITORY: "of this repository",
    Label.ASSISTANT: "the agent's own",
    Label.PASTED: "what a person pasted",
    Label.SUBAGENT: "what a subagent reported",
    Label.PROPOSED: "what an agent proposed",
    Label.FOREIGN: "from a file that is not of this repository",
    Label.NETWORK: "from the network, through a shell command",
    Label.MCP: "an MCP server's answer",
    Label.WEB: "from the web",
}


def _state(reasons: Iterable[Reason]) -> State:
    stops = {it.stops for it in reasons}
    if State.REJECTED in stops:
        return State.REJECTED
    return State.QUARANTINED if State.QUARANTINED in stops else State.DRAFT


def _few(reasons: Sequence[Reason]) -> tuple[Reason, ...]:
    """Each once, what stops it first, and no more than anybody reads."""
    order = {State.REJECTED: 0, State.QUARANTINED: 1}
    once = sorted(dict.fromkeys(reasons), key=lambda it: order.get(it.stops or State.DRAFT, 2))
    if len(once) <= MOST_REASONS:
        return tuple(once)
    left = len(once) - MOST_REASONS
    return (*once[:MOST_REASONS], Reason("more", f"{left} more like these", "skill"))


# --- cleaning ---


def cleaned(offer: Offer) -> tuple[Offer, list[Reason]]:
    """An offer without what a terminal or an editor left behind, and what was changed."""
    name = named(offer.name)
    notes: list[Reason] = []
    if name != offer.name:
        notes.append(Reason("name", f"its name was written as {name!r}", "name"))
    description = " ".join(hostile.cleaned(offer.description).split())
    changed = replace(
        offer,
        name=name,
        description=description,
        body=hostile.cleaned(offer.body),
        commands=tuple(map(hostile.cleaned, offer.commands)),
        topic=" ".join(hostile.cleaned(offer.topic).split()),
        action=" ".join(hostile.cleaned(offer.action).split()),
        predicates=_cleaned_predicates(offer.predicates),
    )
    if (changed.body, changed.commands) != (offer.body, offer.commands):
        notes.append(Reason("cleaned", "colour codes and stray marks were removed", "body"))
    if leads_away(offer.name):
        message = "its name holds a path or characters that nobody sees"
        notes.append(Reason("name", message, "name", stops=State.REJECTED))
    return changed, notes


def named(text: str) -> str:
    """A name as the public format wants it; empty where nothing is left of it."""
    return _NOT_NAME.sub("-", text.lower()).strip("-")[:LONGEST_NAME].strip("-")


def leads_away(name: str) -> bool:
    """Whether a name could be taken for a path, or hides something."""
    return _LEADS_AWAY.search(name) is not None or any(hostile.findings(name))


def _cleaned_predicates(told: Predicates) -> Predicates:
    return replace(
        told,
        tool=hostile.cleaned(told.tool),
        command=hostile.cleaned(told.command),
        path=hostile.cleaned(told.path),
        error=hostile.cleaned(told.error),
        check=hostile.cleaned(told.check),
        do=tuple(map(hostile.cleaned, told.do)),
        avoid=tuple(map(hostile.cleaned, told.avoid)),
    )


# --- what speaks against it ---


def _against(offer: Offer) -> Iterator[Reason]:
    """Everything for which a learned text is refused: more than what stops a written one."""
    yield from _misshapen(offer)
    if len(offer.body) > LONGEST_BODY:
        return
    found = [*_hostile(offer), *_harmful(offer), *_secrets(offer)]
    yield from found
    named = {it.rule for it in found}
    ran = tuple(dict.fromkeys((*offer.commands, *offer.predicates.do)))
    whole = replace(offer, predicates=replace(offer.predicates, do=ran))
    yield from (it for it in stops(whole) if it.rule not in named)


def _harmful(offer: Offer) -> Iterator[Reason]:
    for where, command in commands_of(offer):
        for found in harm.harms(command):
            message = f"{found.message}: `{_short(command)}`"
            yield Reason(found.rule, message, where, stops=State.REJECTED)


def stops(told: Offer | Skill) -> Iterator[Reason]:
    """What no skill is used with, unless a person allows the rule by its name."""
    for found in checks.stopping(checks.of_skill(told)):
        body = found.file == checks.MAIN
        where = f"body, line {found.line}" if body else found.file
        message = f"{found.message}: `{found.span}`"
        yield Reason(found.rule, message, where, stops=State.REJECTED)


def _misshapen(offer: Offer) -> Iterator[Reason]:
    """What is wrong with a text whatever it says."""
    if not _NAME.fullmatch(offer.name):
        yield Reason("name", "no name is left of it", "name", stops=State.REJECTED)
    for where, text, longest in (
        ("description", offer.description, LONGEST_DESCRIPTION),
        ("body", offer.body, LONGEST_BODY),
    ):
        if len(text) > longest:
            message = f"it has {len(text):,} characters, more than {longest:,}"
            yield Reason("too-long", message, where, stops=State.REJECTED)
    path = offer.predicates.path
    if path and (path.startswith(("/", "~")) or ".." in path.split("/") or "\0" in path):
        message = f"its path {path!r} leads out of the repository"
        yield Reason("path", message, "path", stops=State.REJECTED)


def _hostile(offer: Offer) -> Iterator[Reason]:
    told = offer.predicates
    texts = [
        ("description", offer.description),
        ("body", offer.body),
        *(("command", it) for it in offer.commands),
        *(("predicate", it) for it in (told.command, told.path, told.error, told.check)),
        *(("do", it) for it in told.do),
        *(("avoid", it) for it in told.avoid),
    ]
    for where, text in texts:
        for found in hostile.findings(text, code=where not in _PROSE):
            place = f"{where}, line {found.line}" if where == "body" else where
            yield Reason(found.rule, found.message, place, stops=State.REJECTED)


def _secrets(offer: Offer) -> Iterator[Reason]:
    for number, line in enumerate(labels.without_code(offer.body).split("\n"), 1):
        if harm.SECRETS.search(f" {line}") and not forbids(line):
            message = "it sends an agent to where keys and passwords lie"
            yield Reason("credentials", message, f"body, line {number}", stops=State.REJECTED)


def commands_of(offer: Offer) -> list[tuple[str, str]]:
    """What an offer tells an agent to run, with where it stands; what it warns of is not."""
    avoided = {" ".join(it.split()) for it in offer.predicates.avoid}
    told = [("command", it) for it in offer.commands]
    told += [("do", it) for it in offer.predicates.do]
    told += [(f"body, line {line}", code) for line, code in _told_code(offer.body)]
    once = {command: where for where, command in reversed(told)}
    return [(where, it) for it, where in once.items() if " ".join(it.split()) not in avoided]


def _told_code(body: str) -> Iterator[tuple[int, str]]:
    against: frozenset[int] = frozenset()
    for line in labels.lines(body):
        row = None if line.code else _ROW.match(line.text)
        if line.code and line.text.strip():
            yield line.number, line.text.strip()
        elif row is not None:
            cells = row[1].split("|")
            against = _heads(cells) or against
            told = [cell for place, cell in enumerate(cells) if place not in against]
            codes = (it[2].strip() for cell in told for it in labels.INLINE.finditer(cell))
            yield from ((line.number, code) for code in codes)
        elif not line.code:
            against = frozenset()
            yield from _positive(line.number, line.text)


def _heads(cells: Sequence[str]) -> frozenset[int]:
    """Columns of a table that show what is not to be done; none where the row is no heading."""
    if any(map(labels.INLINE.search, cells)):
        return frozenset()
    return frozenset(place for place, cell in enumerate(cells) if _BEFORE.search(cell))


def _positive(number: int, line: str) -> Iterator[tuple[int, str]]:
    """Code in a line of prose that does not warn of it."""
    for match in labels.INLINE.finditer(line):
        if not forbids(line[: match.start()]):
            yield number, match[2].strip()


def _untrusted(found: Iterable[First]) -> Iterator[Reason]:
    for it in found:
        if it.label in UNTRUSTED:
            message = (
                f"the {it.part.kind} “{_short(it.part.text)}” is {_WORDS[it.label]} ({it.why})"
            )
            yield Reason("origin", message, str(it.part.kind), it.evidence, State.QUARANTINED)


def _short(text: str) -> str:
    longest = 80
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
