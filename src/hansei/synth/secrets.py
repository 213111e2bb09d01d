"""Secrets that never opened anything: the right shapes, filled by chance.

No secret stands in this file. They are made when a world is made, kept in its truth, and meant to
be searched for.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from hansei.synth.dice import ALPHANUMERIC, text, uuid4

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BASE64 = ALPHANUMERIC + "+/"


def _encoded(value: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(value)).decode().rstrip("=")


def _web_token(rng: Random) -> str:
    header = _encoded({"alg": "HS256", "typ": "JWT"})
    claims = _encoded({"sub": uuid4(rng), "iat": rng.randrange(1_700_000_000, 1_760_000_000)})
    return f"{header}.{claims}.{text(rng, 43)}"


def _private_key(rng: Random) -> str:
    body = "\n".join(text(rng, 64, _BASE64) for _ in range(6))
    edge = "{} RSA " + "PRIVATE KEY"
    return f"-----{edge.format('BEGIN')}-----\n{body}\n-----{edge.format('END')}-----"


SHAPES: dict[str, Callable[[Random], str]] = {
    "github_token": lambda rng: "ghp_" + text(rng, 36),
    "aws_access_key_id": lambda rng: "AKIA" + text(rng, 16, _BASE32),
    "aws_secret_access_key": lambda rng: text(rng, 40, _BASE64),
    "openai_key": lambda rng: "sk-proj-" + text(rng, 48),
    "slack_token": lambda rng: f"xoxb-{rng.randrange(10**11, 10**12)}-{text(rng, 24)}",
    "json_web_token": _web_token,
    "postgres_url": lambda rng: (
        f"postgresql://harbour:{text(rng, 18)}@db.berthline.example:5433/berthline"
    ),
    "private_key": _private_key,
}


def secret(kind: str, rng: Random) -> str:
    """A fresh secret of a named shape."""
    return SHAPES[kind](rng)


def pieces(kind: str, value: str) -> tuple[str, ...]:
    """What of a secret may be found nowhere, each piece within one line.

    The whole is often more than what is secret, and a whole that is not found proves little where
    it was cut, wrapped or escaped.
    """
    match kind:
        case "private_key":
            return tuple(value.split("\n")[1:-1])
        case "postgres_url":
            return (value.partition("@")[0].rpartition(":")[2],)
        case "json_web_token":
            return tuple(value.split(".")[1:])
        case _:
            return (value,)
