"""Runs of one command that differ here and there, as one command with slots.

Runs with the same options are laid side by side. A word that all of them have stays; where they
differ there is a slot, named after the option before it or after what its words look like.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

_FILLED: Final = re.compile(r"\{(?:n|text|tmp|url|hash|id|secret|value)\}")
"""What a normal form puts in the place of a word."""
_NAMED: Final = {
    "{text}": "text", "{url}": "url", "{n}": "number", "{hash}": "commit", "{value}": "value",
}  # fmt: skip
_MESSAGES: Final = {
    "-m": "message", "-am": "message", "--message": "message", "--title": "title",
    "--body": "body", "--summary": "summary", "--reason": "reason",
}  # fmt: skip
_FILE: Final = re.compile(r"[^\s=]*\.[A-Za-z]\w{0,4}(?:::\S+)?")
_IDENTIFIER: Final = re.compile(r"[a-z]+(?:-[a-z]+)*-[a-z0-9]{2,6}|[A-Z]{2,}-\d+|#?\d+")
_SHOWN: Final = 3
"""Values of a slot that are told."""


class Slot(NamedTuple):
    name: str
    values: tuple[str, ...]
    """Some that were seen, the most frequent first; none where they differ by chance."""


class Template(NamedTuple):
    text: str
    slots: tuple[Slot, ...]


def template(lines: Sequence[Sequence[str]]) -> Template:
    """Runs of a command, word by word, as one command that stands for most of them."""
    shape = _most(tuple(map(_shape, line)) for line in lines)
    alike = [line for line in lines if tuple(map(_shape, line)) == shape]
    told: list[str] = []
    slots: dict[str, Slot] = {}
    for place, column in enumerate(zip(*alike, strict=True)):
        word = column[0]
        if len(set(column)) == 1 and not _FILLED.search(word):
            told.append(word)
            continue
        option, _, value = word.partition("=")
        joined = _is_pair(word) and bool(value)
        values = [it.partition("=")[2] if joined else it for it in column]
        before = option if joined else (alike[0][place - 1] if place else "")
        slot = _slot(before, values, slots)
        slots[slot.name] = slot
        told.append(f"{option}=<{slot.name}>" if joined else _written(slot, before))
    return Template(" ".join(told), tuple(slots.values()))


def together(made: Iterable[Template]) -> tuple[list[str], list[Slot]]:
    """Several commands with the slots of all: a name stands for the same thing in each of them."""
    texts: list[str] = []
    known: dict[str, Slot] = {}
    for text, slots in made:
        for slot in slots:
            same = known.get(slot.name)
            if same is None or _share(same, slot):
                known.setdefault(slot.name, slot)
                continue
            name = _free(slot.name.rstrip("-0123456789"), known)
            known[name] = slot._replace(name=name)
            text = text.replace(f"<{slot.name}>", f"<{name}>")  # noqa: PLW2901 # one slot at a time
        texts.append(text)
    return texts, list(known.values())


def _share(one: Slot, other: Slot) -> bool:
    """Whether two slots hold the same: values in common, or both anything."""
    return bool(set(one.values) & set(other.values)) or not (one.values or other.values)


def _free(name: str, known: Container[str]) -> str:
    number = 2
    while f"{name}-{number}" in known:
        number += 1
    return f"{name}-{number}"


def _is_pair(word: str) -> bool:
    return word.startswith("--") or re.match(r"[A-Z_]{2,}=", word) is not None


def _shape(word: str) -> str:
    """What two words must have in common to stand for each other."""
    return word.partition("=")[0] if word.startswith("-") or _is_pair(word) else ""


def _slot(before: str, values: Sequence[str], known: Container[str]) -> Slot:
    seen = Counter(it for it in values if not _FILLED.search(it) and "[secret:" not in it)
    name = _name(before, values)
    unique = _free(name, known) if name in known else name
    shown = sorted(seen, key=lambda it: (-seen[it], it))[:_SHOWN]
    return Slot(unique, tuple(shown))


def _name(before: str, values: Sequence[str]) -> str:
    if before in _MESSAGES:
        return _MESSAGES[before]
    option = before.lstrip("-").lower().replace("_", "-")
    if _is_pair(f"{before}=") and re.fullmatch(r"[a-z][a-z-]*", option):
        return option
    plain = [it.strip("'\"") for it in values]
    for filled, name in _NAMED.items():
        if all(filled in it for it in plain):
            return name
    if all("://" in it for it in plain):
        return "url"
    if all(_IDENTIFIER.fullmatch(it) for it in plain):
        return "id"
    if all(_FILE.fullmatch(it) for it in plain):
        return "file"
    return "path" if all("/" in it for it in plain) else "name"


def _written(slot: Slot, before: str) -> str:
    return f'"<{slot.name}>"' if before in _MESSAGES or slot.name == "text" else f"<{slot.name}>"


def _most(shapes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The most frequent; of several the shortest, then the first in the alphabet."""
    return min(Counter(shapes).items(), key=lambda it: (-it[1], len(it[0]), it[0]))[0]
