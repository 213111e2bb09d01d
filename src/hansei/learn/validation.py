"""What a skill must be like: our own rules for keeping one, and the public rules for SKILL.md.

The public ones are those of the Agent Skills specification (docs/formats/skillbook.md says which):
they are checked on the bytes that would be written, so an exporter cannot pass by good intentions.
Ours are stricter where a text could do harm on the way: names of files, characters nobody sees.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hansei.instructions.edits import HIDDEN
from hansei.learn import heads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hansei.learn.model import Skill

LONGEST_NAME: Final = 64
LONGEST_DESCRIPTION: Final = 1024
LONGEST_COMPATIBILITY: Final = 500
LARGEST_BODY: Final = 64 * 1024
"""Characters. The specification asks for fewer than 500 lines; agents load a body whole."""
LONGEST_WORD: Final = 500
"""Characters of what stands on one line beside the text: owner, reason, section and alike."""
LATEST: Final = 253_402_300_799_999
"""Milliseconds: the last moment that a date can be written for."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICE = re.compile(r"con|prn|aux|nul|(?:com|lpt)[0-9]")
RESERVED: Final = frozenset(("readme", "skill"))
"""Names whose files mean something else in a folder of skills."""
_FIELDS = frozenset(
    ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
)
_ONE_LINE = ("section", "owner", "reason", "origin", "key", "topic", "action", "language")
_SURROGATE = re.compile("[\ud800-\udfff]")


def name_problem(name: str) -> str | None:
    """Why a text is no name of a skill; None if it is one."""
    if not name:
        return "a skill needs a name"
    if len(name) > LONGEST_NAME:
        return f"a name has at most {LONGEST_NAME} characters, and this has {len(name):,}"
    if not _NAME.fullmatch(name):
        return "a name has lower-case letters, digits and single hyphens between them"
    if name in RESERVED or _DEVICE.fullmatch(name):
        return "this name is reserved"
    return None


def name_from(text: str, taken: Iterable[str] = ()) -> str:
    """A name made of any text, unlike those that are taken."""
    plain = unicodedata.normalize("NFKD", text[: LONGEST_NAME * 8]).lower()
    words = "-".join(re.findall(r"[a-z0-9]+", plain))[:LONGEST_NAME].strip("-") or "skill-1"
    names = set(taken)
    number, name = 1, words
    while name in names or name_problem(name):
        number += 1
        tail = f"-{number}"
        name = words[: LONGEST_NAME - len(tail)].strip("-") + tail
    return name


def normal(skill: Skill) -> Skill:
    """The skill as it is kept: one spelling of line ends and blanks, lists in their order."""
    return replace(
        skill,
        description=" ".join(skill.description.split()),
        body=normal_body(skill.body),
        section=" ".join(skill.section.split()) or "General",
        language=" ".join(skill.language.split()),
        owner=" ".join(skill.owner.split()),
        reason=" ".join(skill.reason.split()),
        origin=" ".join(skill.origin.split()),
        key=" ".join(skill.key.split()),
        topic=" ".join(skill.topic.split()),
        action=" ".join(skill.action.split()),
        evidence=tuple(sorted(set(skill.evidence))),
        votes=tuple(sorted(set(skill.votes), key=lambda it: (it.by, it.at, it.helpful, it.note))),
    )


def normal_body(body: str) -> str:
    """Line feeds, and no blank lines around it."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    filled = [n for n, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def unfit(skill: Skill) -> list[str]:
    """What keeps a skill from being kept; empty if nothing does."""
    return list(_unfit(skill))


def _unfit(skill: Skill) -> Iterator[str]:
    wrong = name_problem(skill.name)
    if wrong:
        yield f"name {skill.name[:LONGEST_NAME]!r}: {wrong}"
    if not skill.description.strip():
        yield "description: it is empty; say what the skill is for and when to use it"
    if len(skill.description) > LONGEST_DESCRIPTION:
        yield f"description: {len(skill.description):,} characters, {LONGEST_DESCRIPTION:,} at most"
    if not skill.body.strip():
        yield "body: it is empty; say what to do"
    if len(skill.body) > LARGEST_BODY:
        yield f"body: {len(skill.body):,} characters, {LARGEST_BODY:,} at most"
    else:
        yield from _unfit_lines(skill.body)
    for name in ("description", *_ONE_LINE):
        value: str = getattr(skill, name)
        if name != "description" and len(value) > LONGEST_WORD:
            yield f"{name}: {len(value):,} characters, {LONGEST_WORD} at most"
        elif HIDDEN.search(value) or "\n" in value or _SURROGATE.search(value):
            yield f"{name}: it holds a line break or characters that nobody sees"
    if skill.version < 1:
        yield "version: it begins with 1"
    if not all(0 <= at <= LATEST for at in (skill.created_at, skill.changed_at, *_voted(skill))):
        yield "a date in it is none"


def _voted(skill: Skill) -> tuple[int, ...]:
    return tuple(vote.at for vote in skill.votes)


def _unfit_lines(body: str) -> Iterator[str]:
    lines = body.split("\n")
    for number, line in enumerate(lines, 1):
        if HIDDEN.search(line) or _SURROGATE.search(line):
            yield f"body, line {number}: it holds characters that nobody sees"
            return
    marked = heads.conflict(lines)
    if marked is not None:
        yield f"body, line {marked}: it begins like a mark of git's merges; indent it"


# --- the public specification ---------------------------------------------------------------------


def spec_problems(folder: str, text: str) -> list[str]:
    """What the Agent Skills specification says against a SKILL.md in a folder of that name."""
    if not text.startswith(heads.FENCE):
        return ["SKILL.md must begin with its head"]
    # The reference reader ends the head at the next three hyphens, wherever they stand.
    head, closed, _ = text[len(heads.FENCE) :].partition(heads.FENCE)
    if not closed:
        return ["the head is never closed"]
    try:
        heads.mapping(head.strip("\n"))
    except heads.Broken as problem:
        return [f"line {problem.line}: {problem}"]
    return list(_spec(folder, _as_others_read(head)))


def _as_others_read(head: str) -> dict[Any, Any]:
    """The head with YAML's own guesses, such as a number where a text was meant."""
    import yaml

    try:
        told = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError):  # the second: dates that no calendar has
        return {}
    return told if isinstance(told, dict) else {}


def _spec(folder: str, fields: dict[Any, Any]) -> Iterator[str]:
    for other in sorted(map(str, set(fields) - _FIELDS)):
        yield f"{other}: no field of the specification"
    name = fields.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        yield "name: 1 to 64 of a-z, 0-9 and single hyphens inside"
    if name != folder:
        yield f"name: {name!r} is not the folder's, {folder!r}"
    if not _text(fields.get("description"), LONGEST_DESCRIPTION):
        yield "description: 1 to 1024 characters"
    for optional, longest in (("license", LARGEST_BODY), ("compatibility", LONGEST_COMPATIBILITY)):
        if optional in fields and not _text(fields[optional], longest):
            yield f"{optional}: not a text of the right length"
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not _texts([*metadata, *metadata.values()]):
        yield "metadata: it maps texts to texts"
    tools = fields.get("allowed-tools", "")
    if not isinstance(tools, str) and not (isinstance(tools, list) and _texts(tools)):
        yield "allowed-tools: a text or a list of texts"


def _text(value: object, longest: int) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= longest


def _texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
