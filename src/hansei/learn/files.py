"""One skill as one Markdown file with a head, made so that git merges what two people do to it.

Fields have a fixed order and stand only where they say something; lists have an entry to the line
and are sorted. A vote or a piece of evidence touches no other line, so two people's additions meet
only where they are neighbours. What cannot be read exactly is refused with its line, never guessed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from hansei.learn import heads
from hansei.learn.heads import Broken, Node, field, inline, listed, quoted
from hansei.learn.model import Evidence, Label, Predicates, Rung, Scope, Skill, State, Told, Vote
from hansei.learn.validation import normal_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SUFFIX: Final = ".md"
LARGEST: Final = 1024 * 1024
"""Bytes of a file; a body and a head have limits of their own."""

_TEXTS = ("description", "section", "language", "owner", "reason", "origin", "key")
_MORE_TEXTS = ("topic", "action")
_PREDICATES = ("tool", "command", "path", "error", "check")
_STEPS = ("do", "avoid")
_OTHERS = (
    "name",
    "state",
    "scope",
    "version",
    "auto_load",
    "rung",
    "label",
    "created_at",
    "changed_at",
)
_KNOWN = frozenset((*_TEXTS, *_MORE_TEXTS, *_OTHERS, "predicates", "evidence", "votes", "told"))
_LABELS = frozenset(Label)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAIN = Skill("", "", "")
Chosen = TypeVar("Chosen", bound=StrEnum)


# --- writing --------------------------------------------------------------------------------------


def written(skill: Skill) -> str:
    """The file of a skill."""
    return f"{heads.FENCE}\n{_head(skill)}{heads.FENCE}\n\n{skill.body}\n"


def _head(skill: Skill) -> str:
    texts = {name: getattr(skill, name) for name in (*_TEXTS, *_MORE_TEXTS)}
    lines = [
        field("name", skill.name),
        field("description", texts.pop("description")),
        field("section", texts.pop("section")),
        field("state", skill.state),
        field("scope", skill.scope),
        field("version", skill.version),
        *(field(name, text) for name, text in texts.items() if text),
        field("auto_load", value=True) if skill.auto_load else "",
        field("rung", skill.rung) if skill.rung is not Rung.NOTE else "",
        field("label", skill.label),
        field("created_at", moment(skill.created_at)),
        field("changed_at", moment(skill.changed_at)),
        _predicates(skill.predicates),
        listed("evidence", [quoted(labelled(it)) for it in skill.evidence]),
        listed("votes", [inline(_vote(it)) for it in skill.votes]),
        f"told: {inline(_told(skill.told))}\n" if skill.told else "",
    ]
    return "".join(lines)


def _predicates(told: Predicates) -> str:
    if told == Predicates():
        return ""
    words = [f"  {field(name, getattr(told, name))}" for name in _PREDICATES if getattr(told, name)]
    steps = [listed(name, [quoted(it) for it in getattr(told, name)], "  ") for name in _STEPS]
    return "predicates:\n" + "".join((*words, *steps))


def _vote(vote: Vote) -> dict[str, str | int | bool]:
    told: dict[str, str | int | bool] = {
        "by": vote.by,
        "at": moment(vote.at),
        "helpful": vote.helpful,
    }
    return told | ({"note": vote.note} if vote.note else {})


def _told(told: Told) -> dict[str, str | int | bool]:
    counts = {name: getattr(told, name) for name in ("helpful", "harmful", "neutral", "used")}
    return {"by": told.by, **{name: count for name, count in counts.items() if count}}


def reference(evidence: Evidence) -> str:
    """An event as `hansei show` takes it."""
    return f"{evidence.session}#{evidence.event}"


def labelled(evidence: Evidence) -> str:
    """An event with whose words stood there: `SESSION#EVENT web`."""
    return f"{reference(evidence)} {evidence.label}" if evidence.label else reference(evidence)


def evidence_of(text: str) -> Evidence | None:
    """The event that `labelled` told; None if it is none."""
    place, _, word = text.rpartition(" ")
    label = Label(word) if place and word in _LABELS else None
    session, mark, number = (text if label is None else place).rpartition("#")
    if not (mark and session and number.isascii() and number.isdigit() and len(number) < 19):
        return None
    return Evidence(session, int(number), label)


def moment(milliseconds: int) -> str:
    """A time as text, to the millisecond."""
    at = _EPOCH + timedelta(milliseconds=milliseconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03}Z"


# --- reading --------------------------------------------------------------------------------------


def read(text: str, name: str) -> Skill:
    """The skill that a file of that name tells; raises Broken with the line that does not."""
    parts = heads.parted(text)
    fields = parts.fields
    for unknown in sorted(set(fields) - _KNOWN, key=lambda it: fields[it].line):
        raise Broken(fields[unknown].line, f"{unknown!r} is no field of a skill")
    if _text(fields, "name") != name:
        line = fields["name"].line if "name" in fields else 2
        raise Broken(line, f"its name must be that of its file, {name!r}")
    return Skill(
        name=name,
        body=normal_body(parts.body),
        **{it: _text(fields, it, getattr(_PLAIN, it)) for it in (*_TEXTS, *_MORE_TEXTS)},
        state=_choice(fields, "state", State.DRAFT),
        scope=_choice(fields, "scope", Scope.WORKSPACE),
        label=_choice(fields, "label", Label.TYPED),
        version=_number(fields, "version", 1),
        auto_load=_flag(fields, "auto_load"),
        rung=_choice(fields, "rung", Rung.NOTE),
        predicates=_read_predicates(fields.get("predicates")),
        evidence=tuple(sorted({_evidence(it) for it in _items(fields, "evidence")})),
        votes=tuple(map(_read_vote, _items(fields, "votes"))),
        told=_read_told(fields.get("told")),
        created_at=_moment(fields, "created_at"),
        changed_at=_moment(fields, "changed_at"),
    )


def _text(fields: Mapping[str, Node], name: str, default: str = "") -> str:
    node = fields.get(name)
    if node is None:
        return default
    if node.text is None:
        raise Broken(node.line, f"{name} must be a text")
    return node.text


def _choice(fields: Mapping[str, Node], name: str, default: Chosen) -> Chosen:
    text = _text(fields, name, default)
    try:
        return type(default)(text)
    except ValueError:
        known = ", ".join(type(default))
        raise Broken(fields[name].line, f"{name} is {text!r}, which is none of {known}") from None


def _number(fields: Mapping[str, Node], name: str, default: int = 0) -> int:
    text = _text(fields, name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(2**63))):
        raise Broken(fields[name].line, f"{name} must be a whole number")
    return int(text)


def _flag(fields: Mapping[str, Node], name: str) -> bool:
    text = _text(fields, name, "false")
    if text not in ("true", "false"):
        raise Broken(fields[name].line, f"{name} must be true or false")
    return text == "true"


def _moment(fields: Mapping[str, Node], name: str) -> int:
    text = _text(fields, name)
    return as_moment(text, fields[name].line, name) if text else 0


def as_moment(text: str, line: int = 0, name: str = "the time") -> int:
    """Milliseconds of a time that was written down."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise Broken(line, f"{name} must be a time such as {moment(0)}") from None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0, (at - _EPOCH) // timedelta(milliseconds=1))


def _items(fields: Mapping[str, Node], name: str) -> Iterable[Node]:
    node = fields.get(name)
    if node is None:
        return ()
    if node.items is None:
        raise Broken(node.line, f"{name} must be a list")
    return node.items


def _evidence(node: Node) -> Evidence:
    found = evidence_of(node.text or "")
    if found is None:
        raise Broken(node.line, "evidence is written SESSION#EVENT, or SESSION#EVENT and a label")
    return found


def _read_vote(node: Node) -> Vote:
    fields = _known(node, "a vote", {"by", "at", "helpful", "note"})
    for name in ("by", "at", "helpful"):
        if name not in fields:
            raise Broken(node.line, f"this vote does not say {name!r}")
    return Vote(
        by=_text(fields, "by"),
        at=_moment(fields, "at"),
        helpful=_flag(fields, "helpful"),
        note=_text(fields, "note"),
    )


def _read_told(node: Node | None) -> Told | None:
    if node is None:
        return None
    counts = ("helpful", "harmful", "neutral", "used")
    fields = _known(node, "told", {"by", *counts})
    return Told(_text(fields, "by"), **{name: _number(fields, name) for name in counts})


def _read_predicates(node: Node | None) -> Predicates:
    if node is None:
        return Predicates()
    fields = _known(node, "predicates", {*_PREDICATES, *_STEPS})
    return Predicates(
        **{name: _text(fields, name) for name in _PREDICATES},
        do=_steps(fields, "do"),
        avoid=_steps(fields, "avoid"),
    )


def _steps(fields: Mapping[str, Node], name: str) -> tuple[str, ...]:
    return tuple(_text({name: node}, name) for node in _items(fields, name))


def _known(node: Node, what: str, names: set[str]) -> Mapping[str, Node]:
    if node.fields is None:
        raise Broken(node.line, f"{what} must have fields")
    for unknown in sorted(set(node.fields) - names):
        raise Broken(node.line, f"{what} has no field {unknown!r}")
    return node.fields
