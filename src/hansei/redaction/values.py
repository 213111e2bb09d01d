"""Whether a value is a secret, once its name or its place says that one could stand there.

Decided by plain lists, never by how random a value looks: a reference, a stand-in, a number, a
type, a path or a word is none; what remains is one. How much must remain depends on how the value
is written.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["password", "key"]
"""What a name means. Passwords are chosen by people, so they may be short or without digits."""

Written: TypeAlias = Literal["shell", "quoted", "bare"]
"""How a value is written: `NAME=value` as in a shell, between quotes, or neither."""

_REFERENCE = re.compile(
    r"""
    \$[{(] | \$(?![a-z0-9-]+\$[\w=,]+\$)[A-Za-z_]          # $VAR, but not $argon2id$v=19$
    | %\w+%?\Z | <[^<>]*>\Z | [@!*&:]+[A-Za-z_.]*(?:\s|\Z)              # %VAR%, <token>, !Ref
    | [a-z][a-z0-9+.-]{1,20}:// | (?:arn|vault|env|data|urn|projects|file):
    | [A-Za-z]:[\\/] | \.{1,2}/
    | ~?(?:/(?:[a-z0-9._@*{}-]+|[A-Z][a-z][A-Za-z]*|[A-Z_]+))+/?\Z       # a path
    | \#[0-9A-Fa-f]{3,8}\Z                                               # a colour
    | (?:process|os|import\.meta|Deno|ENV|secrets|vars|var|local|self|this|env)[.\[]
    """,
    re.VERBOSE | re.ASCII,
)
"""Values that point at something else."""

_TEMPLATE = re.compile(r"\$\{|\{\{|#\{|<%|%\(|%s|\{[\w.]{0,64}\}", re.ASCII)
"""Values that are filled in later."""

_STAND_IN_WORDS = frozenset(
    {
        *("your", "example", "placeholder", "change", "replace", "insert", "enter", "put", "paste"),
        *("dummy", "fake", "sample", "redacted", "hidden", "masked", "removed", "omitted", "todo"),
        *("tbd", "fixme", "here", "goes", "foo", "bar", "foobar", "xxx", "xxxx", "xxxxx"),
    }
)
_STAND_IN_PARTS = ("changeme", "change_me", "placeholder", "xxxxxx", "...", "…", "***", "•••")
_BETWEEN_WORDS = re.compile(r"[-_.\s<>\[\]{}()]+")
"""Values written where a secret would stand. Words count only between separators."""

_PLAIN = re.compile(
    r"""
    (?:0x)?[\d\s.,:/+_%TZ-]*(?:[kmgt]?b|ms|[smhdwy]|mins?|minutes?|hours?|days?|weeks?|px|r?em)?
    | [^A-Za-z0-9]*
    | null|none|nil|undefined|true|false|yes|no|on|off|n/?a|unset|empty|default|auto|unknown|string
    | required|optional|invalid|incorrect|mismatch|missing|visible|disabled|enabled|plaintext
    | encrypted|include|same-origin|inherit | v?\d+(?:\.\d+)+(?:[-+.][a-z]*[.\d]*)?
    | u?int\d{0,3}|float\d{0,2}|[iuf]\d{1,3}|utf-?\d+|base\d\d|md5|sha-?\d+|[hrpe]s\d{3}
    | hmac-?sha\d+|aes-?\d+(?:-?[a-z]+)?|oauth-?2(?:\.0)?|ed25519|x509|pkcs\d+|argon2(?:id?)?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""Values that say what they are: numbers, dates, versions, truth values, types."""

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$.:/?>-]*", re.ASCII)
_NAMES_A_SECRET = re.compile(
    r"(?:token|secret|passw|pwd|key|credential|bearer|auth)", re.IGNORECASE
)
_PART_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SHORTEST_PART = 3
"""How long words are on average, at least. In a random key letters of one case come in pairs."""

_LONGEST_NAME = 64
_NUMBERS_IN_NAMES = 2

_CALL = re.compile(r"[\w.$]+[(\[].*[)\]]", re.ASCII)
_CODE = re.compile(
    r"(?:[A-Za-z_$][\w$]*(?:(?:\?\.|\.|->|::)[A-Za-z_$][\w$]*)*!?)?[(\[{]"
    r"|[A-Za-z_$]++(?:\d{1,3}[A-Za-z_$]*+)?"
    r"(?:(?:\?\.|\.|->|::)[A-Za-z_$]++(?:\d{1,3}[A-Za-z_$]*+)?)+[!?]?\Z",
    re.ASCII,
)
"""The beginning of a call, an index or a literal structure, or a dotted name."""

_WORDS = re.compile(r"[a-z]+\d{0,2}(?:[-_.](?:[a-z]+\d{0,2}|v?\d{1,4}))+")
_TYPE = re.compile(r"[A-Z][a-z]+\d{1,3}[A-Z][A-Za-z]+")
_NUMBERED = re.compile(r"[A-Za-z_$]+\d{1,3}[A-Za-z_$]*")
_LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{20}")
_SHORTEST: dict[Kind, dict[Written, int]] = {
    "password": {"shell": 4, "quoted": 4, "bare": 6},
    "key": {"shell": 6, "quoted": 8, "bare": 8},
}
_TELLING = 256
"""How much of a value is looked at for signs that it is none, which are short."""

_DIGIT = re.compile("[0-9]")
_SPACE = re.compile(r"\s")
_SHORTEST_WORD = 8
"""The shortest quoted password of letters alone; shorter ones are mostly names of things."""


def is_secret(value: str, kind: Kind, written: Written) -> bool:
    """Whether a value that a secret's name is given is a secret itself."""
    if len(value) < _SHORTEST[kind][written]:
        return False
    if (written == "bare" and _is_expression(value, kind)) or (
        written == "quoted" and _SPACE.search(value)
    ):
        return False
    if is_harmless(value) or _is_name(value):
        return False
    if kind == "key" and (not value.isascii() or _WORDS.fullmatch(value)):
        return False
    if written == "shell":
        return _CALL.fullmatch(value) is None
    if _DIGIT.search(value) or _LONG_RUN.search(value):
        return True
    return kind == "password" and written == "quoted" and _is_chosen_word(value)


def _is_name(value: str) -> bool:
    """Whether a value is itself the name of a secret: `auth_token`, `API_KEY`, `user.password2`."""
    if len(value) > _LONGEST_NAME or not _IDENTIFIER.fullmatch(value):
        return False
    if len(_DIGIT.findall(value)) > _NUMBERS_IN_NAMES:
        return False
    parts = _PART_OF_NAME.findall(value)
    return len(value) >= _SHORTEST_PART * len(parts) and bool(_NAMES_A_SECRET.search(value))


def _is_expression(value: str, kind: Kind) -> bool:
    """Whether an unquoted value is code: a call, a dotted name, a type, a numbered variable."""
    if is_code(value) or _TYPE.fullmatch(value):
        return True
    return kind == "key" and _NUMBERED.fullmatch(value) is not None


def _is_chosen_word(value: str) -> bool:
    """Whether a value without digits may be a password: a long word, or no word at all."""
    return len(value) >= _SHORTEST_WORD or not _IDENTIFIER.fullmatch(value)


def is_harmless(value: str) -> bool:
    """Whether a value says by itself that it is no secret, wherever it stands."""
    start = value[:_TELLING]
    return bool(
        _REFERENCE.match(start)
        or (len(value) <= _TELLING and _PLAIN.fullmatch(value))
        or _TEMPLATE.search(start)
        or _stands_in(start.lower())
    )


def _stands_in(value: str) -> bool:
    """Whether a value is written where a secret would stand: `your-token`, `changeme`, `***`."""
    if value.startswith("your") or any(part in value for part in _STAND_IN_PARTS):
        return True
    return not _STAND_IN_WORDS.isdisjoint(_BETWEEN_WORDS.split(value))


def is_code(value: str) -> bool:
    """Whether an unquoted value is an expression rather than a literal."""
    return _CODE.match(value) is not None
