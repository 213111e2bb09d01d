"""What a call printed, as far as it is looked at: without colours, head and tail of long texts."""

from __future__ import annotations

import re
from typing import Any

import msgspec

HEAD = 8_000
TAIL = 24_000
"""Characters looked at. Runners sum up at the end, but list what failed after that line."""

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\r(?=\n)")
_WRAPPED = re.compile(
    r"\A(?:"
    r"(?:Error: )?Exit code -?\d+\n?"
    r"|failed in sandbox[^\n]{0,80}?exit code: -?\d+, stdout: "
    r"|failed in sandbox: (?!sandbox error)"
    r"|Error\s*\Z"
    r")"
)
"""What an agent program puts before the words of the command itself."""
_REMARKS = re.compile(
    r"\n*(?:Shell cwd was reset to [^\n]*|\(\w+ completed with no output\)"
    r"|Command exited with code -?\d+)\s*\Z"
)
"""What an agent program puts after them."""
_REMARKED = ("Shell cwd was reset", "with no output)", "Command exited with code")
_OBJECT = re.compile(r"^\{", re.MULTILINE)
_STDERR = re.compile(r", stderr: (?=[^\n]*\Z|[^\n]*\n)")


def looked_at(text: str) -> str:
    """The part of an output in which its meaning is looked for."""
    text = _without_object(text)
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    if "\x1b" in text or "\r" in text:
        text = _COLOURS.sub("", text)
    if any(text.find(it, -400) >= 0 for it in _REMARKED):
        text = _REMARKS.sub("", text)
    wrapped = _WRAPPED.match(text)
    if wrapped is None:
        return text
    text = text[wrapped.end() :]
    return _STDERR.sub("\n", text) if wrapped[0].startswith("failed in sandbox") else text


def _without_object(text: str) -> str:
    """Some tools answer with an object that ends the text: what counts in it is its error."""
    if '"error"' not in text or not text.rstrip().endswith("}"):
        return text
    begins = _OBJECT.search(text)
    if begins is None:
        return text
    try:
        told: dict[str, Any] = msgspec.json.decode(text[begins.start() :])
    except (msgspec.DecodeError, UnicodeError, RecursionError):  # it only looks like one
        return text
    error = told.get("error")
    said = error.get("message") if isinstance(error, dict) else error
    return f"{text[: begins.start()]}{said}" if isinstance(said, str) and said.strip() else text
