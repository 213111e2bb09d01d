"""By what a skill is known again: the pin that a person's word leaves, and the seal of an export.

A pin is the hash of all that an agent reads or obeys, and of the state. It is kept where the person
keeps their history, never in the file it vouches for: whoever changes the file cannot change it
along. A seal goes with the file and is keyed with the store's secret, so nobody else can make one:
a skill whose seal fits was written by this store, word for word, and may keep the state it had.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Final

import msgspec

from hansei.learn.validation import normal

if TYPE_CHECKING:
    from hansei.learn.model import Skill

_PERSON = b"hansei skill"
_PINNED: Final = (
    "name", "description", "body", "predicates", "topic", "action", "auto_load", "language",
    "scope", "state", "label",
)  # fmt: skip
"""What is read, obeyed, or decides who gets it. Votes and evidence grow without a new promotion."""


def pin(skill: Skill) -> str:
    """The hash of a skill in its normal form, by which a change is seen."""
    whole = asdict(normal(skill))
    text = msgspec.json.encode({name: whole[name] for name in _PINNED}, order="sorted")
    return sha256(text).hexdigest()


def seal(skill: Skill, key: bytes) -> str:
    """The seal of a skill; a format that does not carry all of it has what it carries sealed."""
    text = msgspec.json.encode(asdict(skill), order="sorted")
    return blake2b(text, key=key, digest_size=16, person=_PERSON).hexdigest()


def fits(skill: Skill, told: str, key: bytes) -> bool:
    """Whether a seal is the one we would put on this skill."""
    return hmac.compare_digest(seal(skill, key).encode(), told.encode("utf-8", "replace"))
