"""The seal that an export carries, by which this person's own skills are known again.

It is keyed with the store's secret, so nobody else can make one: a skill whose seal fits was
written by this store, word for word, and may keep the state it had. A plain hash would only say
that the text agrees with itself.
"""

from __future__ import annotations

import hmac
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from hansei.learn.model import Skill

_PERSON = b"hansei skill"


def seal(skill: Skill, key: bytes) -> str:
    """The seal of a skill; a format that does not carry all of it has what it carries sealed."""
    text = msgspec.json.encode(asdict(skill), order="sorted")
    return blake2b(text, key=key, digest_size=16, person=_PERSON).hexdigest()


def fits(skill: Skill, told: str, key: bytes) -> bool:
    """Whether a seal is the one we would put on this skill."""
    return hmac.compare_digest(seal(skill, key).encode(), told.encode("utf-8", "replace"))
