"""Identity of events: 64 bits from the ids the agent itself wrote."""

from __future__ import annotations

from hashlib import blake2b

SEPARATOR = "\x1f"


def event_key(*parts: str) -> int:
    """A signed 64-bit number that is the same whenever the same parts are.

    Signed, because SQLite's integers are. At ten million events two different ones meet with a
    chance of about three in a million.
    """
    joined = SEPARATOR.join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big", signed=True)


def digest(data: bytes) -> str:
    """A short fingerprint of bytes we do not keep."""
    return blake2b(data, digest_size=8).hexdigest()
