"""JSON with what the interpreter has built in.

The json package imports the regular expressions and costs as much as the rest of the hook; the two
functions in C that it stands on cost nothing. Where they are missing, the package does it.
"""

from __future__ import annotations

try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b
try:
    from _json import encode_basestring_ascii as quoted
    from _json import make_scanner
except ImportError:
    from json.encoder import encode_basestring_ascii as quoted
    from json.scanner import make_scanner

__all__ = ["FAILURES", "blake2b", "fingerprint", "measured", "parsed", "written"]

TYPE_CHECKING = False  # see words.py
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 50
"""Below this a value is left out; no agent nests so deep, and no input may exhaust the stack."""
DIGEST_BYTES = 8
"""As in `hansei.events.keys.digest`, so that hashes can be compared."""


FAILURES = (ValueError, StopIteration, RecursionError, SystemError)
"""What broken JSON raises; the last where the scanner misses the package that has its own error."""


class _Rules:
    """What the scanner asks for: plain JSON, control characters allowed in texts."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012 - the scanner in Python wants this attribute


_scan = make_scanner(_Rules())  # type: ignore[arg-type] # it takes anything with these attributes


def parsed(data: bytes) -> Any:
    """The value that some JSON begins with; raises one of `FAILURES` where there is none."""
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    value, _ = _scan(text, 0)
    return value


def written(value: Any, depth: int = DEEPEST) -> str:
    """A value as JSON on one line, in ASCII, names sorted; equal values give equal text."""
    if isinstance(value, str):
        return quoted(value)
    if value is None or depth == 0:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        items = sorted((str(name), item) for name, item in value.items())
        return "{" + ",".join(f"{quoted(n)}:{written(i, depth - 1)}" for n, i in items) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(written(item, depth - 1) for item in value) + "]"
    if isinstance(value, int):
        return str(value) if abs(value) < 1 << 63 else "null"
    if isinstance(value, float):
        return repr(value) if abs(value) < float("inf") else "null"
    return "null"


def measured(value: Any) -> dict[str, Any]:
    """The size and the fingerprint of a text, or of any other value as JSON."""
    text = value if isinstance(value, str) else written(value)
    return fingerprint(text.encode("utf-8", "surrogatepass"))


def fingerprint(data: bytes) -> dict[str, Any]:
    return {"bytes": len(data), "hash": blake2b(data, digest_size=DIGEST_BYTES).hexdigest()}
