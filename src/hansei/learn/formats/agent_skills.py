"""Agent Skills: a folder per skill with a SKILL.md, as the public specification describes it.

Everything the specification has no field for stands in `metadata`, which maps texts to texts. Its
version and author are the specification's own examples; the rest begins with `hansei-`. Folders
with scripts or other files are read for their SKILL.md alone, and permissions a skill asks for
(`allowed-tools`) are never taken over.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from hansei.events.model import MARKER
from hansei.learn import heads
from hansei.learn.exchange import Foreign, Refused
from hansei.learn.files import evidence_of, labelled
from hansei.learn.heads import Broken, field
from hansei.learn.model import Evidence, Label, Predicates, Scope, Skill, State
from hansei.learn.validation import normal, normal_body, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

FILE: Final = "SKILL.md"
PREFIX: Final = "hansei-"
SEAL: Final = f"{PREFIX}seal"
Chosen = TypeVar("Chosen", bound=StrEnum)
_DROPPED: Final = ("license", "compatibility", "allowed-tools")


def skill_md(skill: Skill, seal: str = "") -> str:
    """The SKILL.md of a skill, with the marker that keeps us from learning from it."""
    metadata = "".join(f"  {field(name, text)}" for name, text in _metadata(skill, seal).items())
    head = field("name", skill.name) + field("description", skill.description)
    body = f"{MARKER}\n{skill.body}\n"
    return f"{heads.FENCE}\n{head}metadata:\n{metadata}{heads.FENCE}\n{body}"


def _metadata(skill: Skill, seal: str) -> dict[str, str]:
    """What the specification has no field for; only what says something."""
    predicates = skill.predicates
    told = {
        "version": str(skill.version),
        "author": skill.owner,
        f"{PREFIX}quality": str(skill.state),
        f"{PREFIX}auto-load": "true" if skill.auto_load else "false",
        f"{PREFIX}trigger-topic": skill.topic,
        f"{PREFIX}trigger-action": skill.action,
        f"{PREFIX}section": skill.section,
        f"{PREFIX}scope": str(skill.scope),
        f"{PREFIX}language": skill.language,
        f"{PREFIX}origin": skill.origin,
        f"{PREFIX}label": str(skill.label),
        f"{PREFIX}key": skill.key,
        f"{PREFIX}evidence": " ".join(map(_escaped, skill.evidence)),
        f"{PREFIX}predicates": ""
        if predicates == Predicates()
        else msgspec.json.encode(predicates).decode(),
        SEAL: seal,
    }
    return {name: text for name, text in told.items() if text}


def carried(skill: Skill) -> Skill:
    """What of a skill survives in a SKILL.md."""
    return replace(skill, votes=(), told=None, reason="", created_at=0, changed_at=0)


def _escaped(evidence: Evidence) -> str:
    """A reference without blanks, which part them."""
    return labelled(evidence).replace("%", "%25").replace(" ", "%20")


# --- reading --------------------------------------------------------------------------------------


def read_skill(text: str, folder: str | None = None) -> tuple[Skill, str]:
    """The skill of a SKILL.md and its seal; raises Broken with the line that is wrong."""
    parts = heads.parted(text)
    fields = parts.fields
    name = _text(fields, "name") or folder or ""
    if folder is not None and name != folder:
        raise Broken(fields["name"].line, f"name {name!r} is not that of the folder, {folder!r}")
    description = _text(fields, "description")
    metadata = fields["metadata"].fields if "metadata" in fields else None
    told = {it: node.text for it, node in (metadata or {}).items() if node.text is not None}
    body = normal_body(normal_body(parts.body).removeprefix(MARKER))
    skill = Skill(
        name=name,
        description=description,
        body=body or description,
        section=told.get(f"{PREFIX}section", "General"),
        state=_choice(told, "quality", State.DRAFT),
        scope=_choice(told, "scope", Scope.WORKSPACE),
        language=told.get(f"{PREFIX}language", ""),
        version=_version(told.get("version", "1")),
        owner=told.get("author", ""),
        origin=told.get(f"{PREFIX}origin", "import"),
        key=told.get(f"{PREFIX}key", ""),
        topic=told.get(f"{PREFIX}trigger-topic", ""),
        action=told.get(f"{PREFIX}trigger-action", ""),
        auto_load=told.get(f"{PREFIX}auto-load") == "true",
        predicates=_predicates(told.get(f"{PREFIX}predicates", "")),
        evidence=tuple(_evidence(told.get(f"{PREFIX}evidence", ""))),
        label=_choice(told, "label", Label.FOREIGN),
    )
    return normal(skill), told.get(SEAL, "")


def _text(fields: Mapping[str, heads.Node], name: str) -> str:
    node = fields.get(name)
    if node is not None and node.text is None:
        raise Broken(node.line, f"{name} must be a text")
    return "" if node is None or node.text is None else node.text


def _choice(told: Mapping[str, str], name: str, default: Chosen) -> Chosen:
    try:
        return type(default)(told.get(f"{PREFIX}{name}", default))
    except ValueError:
        return default


def _version(text: str) -> int:
    """The first number of a version such as 1.0.0."""
    first = text.partition(".")[0]
    return max(1, int(first)) if first.isascii() and first.isdigit() and len(first) < 9 else 1


def _predicates(text: str) -> Predicates:
    try:
        return msgspec.json.decode(text, type=Predicates) if text else Predicates()
    except msgspec.DecodeError:
        return Predicates()


def _evidence(text: str) -> list[Evidence]:
    words = (it.replace("%20", " ").replace("%25", "%") for it in text.split(" "))
    return [found for it in words if (found := evidence_of(it)) is not None]


class AgentSkills:
    """Folders of skills."""

    def read(self, files: Mapping[str, bytes]) -> Foreign:
        skills: list[Skill] = []
        refused: list[Refused] = []
        notes: list[str] = []
        seals: dict[str, str] = {}
        for path, content in sorted(files.items()):
            folder, _, file = path.rpartition("/")
            if file != FILE:
                continue
            try:
                text = content.decode("utf-8")
                skill, seal = read_skill(text, folder.rpartition("/")[2] or None)
            except UnicodeDecodeError:
                refused.append(Refused(path, "it is not UTF-8 text"))
                continue
            except Broken as problem:
                refused.append(Refused(f"{path}, line {problem.line}", str(problem)))
                continue
            faults = unfit(skill)
            if faults:
                refused.append(Refused(path, faults[0]))
                continue
            skills.append(skill)
            if seal:
                seals[skill.name] = seal
            notes += _left_out(path, text, files)
        return Foreign(tuple(skills), tuple(refused), tuple(notes), seals)

    def write(self, skills: Sequence[Skill], seal: Callable[[Skill], str], /) -> dict[str, bytes]:
        return {
            f"{skill.name}/{FILE}": skill_md(skill, seal(carried(skill))).encode("utf-8")
            for skill in skills
        }


def _left_out(path: str, text: str, files: Mapping[str, bytes]) -> list[str]:
    """What stands beside the text of a skill and is not taken over."""
    fields = [name for name in _DROPPED if name in heads.parted(text).fields]
    folder = path.removesuffix(FILE)
    others = [it for it in files if folder and it.startswith(folder) and it != path]
    told = [*fields, *([f"{len(others)} more files"] if others else [])]
    return [f"{path}: left out {', '.join(told)}"] if told else []


FORMAT: Final = AgentSkills()
