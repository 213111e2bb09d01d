"""hansei's own book in one JSON document: everything there is to know, with a versioned schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from hansei.learn.exchange import Foreign, Refused
from hansei.learn.model import Skill
from hansei.learn.validation import normal, unfit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

KIND: Final = "hansei.skills"
VERSION: Final = 1
SCHEMA: Final = f"{KIND}/{VERSION}"


class _Item(msgspec.Struct):
    skill: dict[str, Any]
    seal: str = ""


class _Head(msgspec.Struct):
    schema: str
    skills: list[Any]


def recognises(content: bytes) -> bool:
    """Whether this is a document of ours, of whatever version."""
    try:
        return msgspec.json.decode(content, type=_Head).schema.startswith(f"{KIND}/")
    except (msgspec.DecodeError, RecursionError):
        return False


class JsonBook:
    """One document."""

    def read(self, files: Mapping[str, bytes]) -> Foreign:
        skills: list[Skill] = []
        refused: list[Refused] = []
        seals: dict[str, str] = {}
        for path, content in sorted(files.items()):
            try:
                document = msgspec.json.decode(content, type=_Head)
            except (msgspec.DecodeError, RecursionError) as problem:
                refused.append(Refused(path, f"it is no document of skills: {problem}"))
                continue
            if document.schema != SCHEMA:
                told = f"it is written as {document.schema[:40]!r}, and we know {SCHEMA!r}"
                refused.append(Refused(path, told))
                continue
            for place, item in enumerate(document.skills):
                try:
                    sealed = msgspec.convert(item, _Item)
                    skill = normal(msgspec.convert(sealed.skill, Skill))
                except msgspec.ValidationError as problem:
                    refused.append(Refused(f"{path}, skill {place + 1}", str(problem)))
                    continue
                faults = unfit(skill)
                if faults:
                    refused.append(Refused(f"{path}, skill {place + 1}", faults[0]))
                else:
                    skills.append(skill)
                    seals |= {skill.name: sealed.seal} if sealed.seal else {}
        return Foreign(tuple(skills), tuple(refused), (), seals)

    def write(self, skills: Sequence[Skill], seal: Callable[[Skill], str], /) -> dict[str, bytes]:
        listed = [{"skill": skill, "seal": seal(skill)} for skill in skills]
        document = {"schema": SCHEMA, "skills": listed}
        return {"": msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"}


FORMAT: Final = JsonBook()
