"""Requests that no client should send: of the wrong shape, type, size or place, or cut short."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple

from hansei.mcp.catalogue import TOOLS

CLIMBING = (
    "../../etc/passwd", "..\\..\\x", "/etc/passwd", "a/../../b", "\x00", "%2e%2e/x", "~/.ssh",
    "....//....//etc", "C:\\Windows\\x", "//host/share", "file:///etc/passwd", "-rf", "$(id)",
    "'; DROP TABLE sessions;--", "\n\n", "#", "#-1", "1#99999999999999999999", "*", "%",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    *CLIMBING, "", None, -1, 0, 2**63, 2**70, 1e308, float("nan"), True, [], {}, [[]], ["x"] * 60,
    {"a": {"b": []}}, "x" * 99_999, "x" * 100_001, "\ud800", "🙃" * 1_000, "error: " * 20_000,
)  # fmt: skip
FIELDS = (
    "error", "limit", "bet", "about", "see", "start", "name", "description", "body", "helpful",
    "note", "by", "since", "task", "files", "budget", "__class__",
)  # fmt: skip
PLACES = ("hansei://skill/", "hansei://report/", "hansei://report/experiment/", "file:///", "")
METHODS = ("tools/call", "tools/list", "resources/list", "ping", "logging/setLevel", "x", "")
PARAMS: tuple[Any, ...] = (
    None, [], {}, 3, "x", {"name": 3}, {"cursor": "z"}, {"name": "recall", "arguments": []},
    {"name": "recall", "arguments": {"error": "y" * 3_000_000}},
    {"name": "recall", "arguments": json.loads('{"a":' * 200 + "1" + "}" * 200)},
)  # fmt: skip
BYTES = b'{}[]",:0aZ \\\xff\x00'


class Spoiled(NamedTuple):
    """A line, and the id that an answer to it must have; None where the line may have lost it."""

    line: bytes
    id: str | None


def spoiled(dice: random.Random, number: int) -> Spoiled:
    """One line that is wrong in one way or several; a few are right after all."""
    name = f"f{number}"
    method, params = _asked(dice)
    request = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
    way = dice.randrange(10)
    if way == 0:
        request["id"] = dice.choice((None, 1.5, {}, [], True))
    elif way == 1:
        request["jsonrpc"] = dice.choice(("1.0", 2, None))
    elif way == 2:
        del request[dice.choice(("jsonrpc", "id", "method"))]
    line = json.dumps(request).encode()
    if way == 3:
        line = _scratched(dice, line)
    elif way == 4:
        line = line[: dice.randrange(1, len(line))]
    return Spoiled(line, name if way in (1, 5, 6, 7, 8, 9) else None)


def _asked(dice: random.Random) -> tuple[str, Any]:
    way = dice.randrange(6)
    if way == 0:
        return "resources/read", {"uri": dice.choice(PLACES) + dice.choice(CLIMBING)}
    if way == 1:
        return "prompts/get", {"name": dice.choice(CLIMBING), "arguments": dice.choice(VALUES)}
    if way == 2:
        return dice.choice(METHODS), dice.choice(PARAMS)
    given = {dice.choice(FIELDS): dice.choice(VALUES) for _ in range(dice.randrange(1, 4))}
    return "tools/call", {"name": dice.choice(TOOLS).name, "arguments": given}


def _scratched(dice: random.Random, line: bytes) -> bytes:
    found = bytearray(line)
    for _ in range(dice.randrange(1, 6)):
        found[dice.randrange(len(found))] = dice.choice(BYTES)
    return bytes(found)
