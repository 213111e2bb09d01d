"""Chance that repeats itself.

Every part of the world draws from a stream of its own, named by what it is for, so that a change in
one part moves no number in another.
"""

from __future__ import annotations

import random
from hashlib import blake2b

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + LETTERS + "0123456789"


def dice(*names: object) -> random.Random:
    """The stream of this name; equal names give equal streams."""
    seed = blake2b("/".join(map(str, names)).encode(), digest_size=16).digest()
    return random.Random(int.from_bytes(seed, "big"))  # noqa: S311 - made-up worlds, not keys


def fingerprint(*names: object, size: int = 16) -> str:
    """Hexadecimal digits that are the same whenever the names are."""
    return blake2b("/".join(map(str, names)).encode(), digest_size=size).hexdigest()


def text(rng: random.Random, length: int, alphabet: str = ALPHANUMERIC) -> str:
    return "".join(rng.choices(alphabet, k=length))


def uuid4(rng: random.Random) -> str:
    """A random identifier as most programs write it."""
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def uuid7(at: int, rng: random.Random) -> str:
    """An identifier that begins with its moment in milliseconds."""
    moment, rest = f"{at:012x}", f"{rng.getrandbits(76):019x}"
    return f"{moment[:8]}-{moment[8:]}-7{rest[:3]}-b{rest[3:6]}-{rest[6:18]}"
