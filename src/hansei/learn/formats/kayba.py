"""Kayba's skillbooks, which changed their shape twice under one name.

| | 0.7 | 0.9 | 0.13 |
|---|---|---|---|
| text | content | content | issue, insight |
| counters | helpful, harmful, neutral | none | helpful_count … used_count |
| in use | status | status | active |
| came from | | sources | occurrences |

Their counters are a model's opinion and are kept as what another book told, never as votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hansei.learn.contents import content, counters, identified, live, parts
from hansei.learn.exchange import Foreign, Refused
from hansei.learn.files import as_moment, evidence_of, labelled, moment
from hansei.learn.heads import Broken
from hansei.learn.model import Evidence, Label, Skill, State, Told
from hansei.learn.validation import name_from, name_problem, normal, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

OLD, MIDDLE, NEW = "0.7", "0.9", "0.13"
_SCHEMA: Final = "2"
"""What 0.13 calls its own shape, and the only one that it reads."""
_SYSTEM: Final = "hansei"
_NAMED: Final = "skill"
"""The relation of a source that holds a skill's name, which these books have no field for."""
_SECTIONS: Final = ("context", "harness")


def version_of(data: bytes) -> str | None:
    """Which of the three shapes a document has; None if none."""
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(document, dict) or not isinstance(document.get("skills"), dict):
        return None
    if "schema_version" in document:
        return NEW
    fields = {name for it in document["skills"].values() if isinstance(it, dict) for name in it}
    if "issue" in fields:
        return NEW
    return OLD if fields & {"helpful", "harmful", "neutral"} else MIDDLE


@dataclass(frozen=True)
class Kayba:
    """One of the three shapes; any of them is read."""

    version: str

    def read(self, files: Mapping[str, bytes]) -> Foreign:
        skills: list[Skill] = []
        refused: list[Refused] = []
        for path, data in sorted(files.items()):
            version = version_of(data)
            if version is None:
                refused.append(Refused(path, "it is no skillbook of Kayba"))
                continue
            for number, item in msgspec.json.decode(data)["skills"].items():
                place = f"{path}, {str(number)[:80]}"
                found = _skill(str(number), item, version, {it.name for it in skills})
                if isinstance(found, str):
                    refused.append(Refused(place, found))
                else:
                    skills.append(found)
        return Foreign(tuple(skills), tuple(refused))

    def write(self, skills: Sequence[Skill], _seal: Callable[[Skill], str], /) -> dict[str, bytes]:
        form = {OLD: _old, MIDDLE: _middle, NEW: _new}[self.version]
        listed = {number: form(number, skill) for number, skill in identified(skills)}
        sections: dict[str, list[str]] = {}
        for number, item in listed.items():
            sections.setdefault(item["section"], []).append(number)
        last = max((int(number.rpartition("-")[2]) for number in listed), default=0)
        document = {
            **({"schema_version": _SCHEMA} if self.version == NEW else {}),
            "skills": listed,
            "sections": sections,
            "next_id": last,
            "similarity_decisions": {},
        }
        return {"": msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"}


# --- reading --------------------------------------------------------------------------------------


def _skill(number: str, item: Any, version: str, taken: set[str]) -> Skill | str:
    """One entry as a skill, or why it is none."""
    if not isinstance(item, dict):
        return "it is no skill"
    if version == NEW:
        issue, insight = _text(item, "issue"), _text(item, "insight")
        description, body = parts(issue)[0], insight or issue
        words = " ".join(_texts(item.get("keywords")))
    else:
        (description, body), words = parts(_text(item, "content")), ""
    came_from = [it for it in _list(item.get(_sources(version))) if isinstance(it, dict)]
    name = _named(came_from) or number
    known = name_problem(name) is None and name not in taken
    active = item.get("active", True) is True and item.get("status", "active") == "active"
    skill = Skill(
        name=name if known else name_from(name, taken),
        description=description,
        body=body,
        section=_text(item, "section") or "General",
        state=State.DRAFT if active else State.RETIRED,
        origin="import",
        reason=_text(item, "justification"),
        topic=words,
        evidence=tuple(_evidence(came_from)),
        label=Label.FOREIGN,
        told=_told(item, version),
        created_at=_moment(item, "created_at"),
        changed_at=_moment(item, "updated_at"),
    )
    faults = unfit(normal(skill))
    return faults[0] if faults else normal(skill)


def _sources(version: str) -> str:
    return "occurrences" if version == NEW else "sources"


def _text(item: dict[str, Any], name: str) -> str:
    value = item.get(name)
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> Iterable[str]:
    return (it for it in _list(value) if isinstance(it, str))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _told(item: dict[str, Any], version: str) -> Told | None:
    suffix = "_count" if version == NEW else ""
    counts = {
        name: item[name + suffix]
        for name in ("helpful", "harmful", "neutral", "used")
        if type(item.get(name + suffix)) is int and 0 < item[name + suffix] < 2**53
    }
    return Told(f"kayba {version}", **counts) if counts else None


def _named(sources: list[dict[str, Any]]) -> str:
    """The name that a skill had in a book of ours."""
    names = (
        _text(it, "trace_id")
        for it in sources
        if it.get("source_system") == _SYSTEM and it.get("relation") == _NAMED
    )
    return next((name for name in names if name_problem(name) is None), "")


def _evidence(sources: list[dict[str, Any]]) -> Iterable[Evidence]:
    """Events of ours; a trace of another system cannot be opened here."""
    for source in sources:
        found = evidence_of(_text(source, "trace_id"))
        if found is not None and source.get("source_system") == _SYSTEM:
            yield found


def _moment(item: dict[str, Any], name: str) -> int:
    try:
        return as_moment(_text(item, name))
    except (Broken, OverflowError):
        return 0


# --- writing --------------------------------------------------------------------------------------


def _dates(skill: Skill) -> dict[str, str]:
    return {"created_at": moment(skill.created_at), "updated_at": moment(skill.changed_at)}


def _old(number: str, skill: Skill) -> dict[str, Any]:
    helpful, harmful = counters(skill)
    return {
        "id": number,
        "section": skill.section,
        "content": content(skill),
        "helpful": helpful,
        "harmful": harmful,
        "neutral": skill.told.neutral if skill.told else 0,
        **_dates(skill),
        "embedding": None,
        "status": "active" if live(skill) else "invalid",
    }


def _middle(number: str, skill: Skill) -> dict[str, Any]:
    return {
        "id": number,
        "section": skill.section,
        "content": content(skill),
        "justification": skill.reason or None,
        "evidence": None,
        **_dates(skill),
        "embedding": None,
        "status": "active" if live(skill) else "invalid",
        "sources": _occurrences(number, skill),
    }


def _new(number: str, skill: Skill) -> dict[str, Any]:
    helpful, harmful = counters(skill)
    told = skill.told
    section = skill.section.lower()
    words = [*skill.topic.split(), *skill.action.split()]
    return {
        "id": number,
        "section": section if section in _SECTIONS else _SECTIONS[0],
        "keywords": list(dict.fromkeys(word.lower() for word in words))
        or [section.replace(" ", "_")],
        "issue": skill.description,
        "insight": skill.body,
        "occurrences": _occurrences(number, skill),
        "active": live(skill),
        "used_count": told.used if told else 0,
        "helpful_count": helpful,
        "harmful_count": harmful,
        "neutral_count": told.neutral if told else 0,
        **_dates(skill),
    }


def _occurrences(number: str, skill: Skill) -> list[dict[str, str]]:
    named = [(skill.name, _NAMED)] if number != skill.name else []
    told = [*named, *((labelled(it), "seed") for it in skill.evidence)]
    return [
        {
            "trace_uid": f"{_SYSTEM}:{trace}",
            "source_system": _SYSTEM,
            "trace_id": trace,
            "display_name": trace,
            "relation": relation,
        }
        for trace, relation in told
    ]
