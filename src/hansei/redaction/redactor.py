"""Text in, the same text without secrets out.

Nearly all text holds no secret, so the work is in seeing that quickly: the literals of all rules
are looked for at once, and a rule runs only where one of its literals stands. What was found
becomes `[secret:<kind>:<hash>]`, and the result is looked at again until nothing more is found, so
cleaning a clean text changes nothing.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.redaction.assignments import (
    NAME_WORDS,
    OPTIONS,
    assigned,
    follows_option,
    secret_name,
)
from hansei.redaction.env_files import ENV_LITERALS, env_line, env_values
from hansei.redaction.places import PLACES
from hansei.redaction.rules import RULES
from hansei.redaction.values import is_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from ahocorasick_rs import Implementation

    Find: TypeAlias = Callable[[bytes, int], tuple[int, int] | None]
    Search: TypeAlias = Callable[[bytes], list[tuple[int, int, int]]]
    Searches: TypeAlias = tuple[tuple[Search, list[list["Looking"]]], ...]

PLACEHOLDER: Final = re.compile(rb"\[secret:[a-z0-9-]{1,40}:[0-9a-f]{8}\]")

VALUE: Final = "value"
"""The kind of a secret that only its name or place gives away."""

_REMEMBERED_LENGTH: Final = 100
_REMEMBERED: Final = 10_000
"""Folders, branches, tool names and paths come again and again; a few thousand are remembered."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LINE_BREAKS: Final = re.compile(rb"\\+[nrt]|\\|\s")


def storable_text(text: str) -> str:
    """The text with lone surrogates replaced, which UTF-8 cannot hold."""
    return _SURROGATE.sub("\ufffd", text)


class Found(NamedTuple):
    """A secret in a text. Where two overlap, the lower rank stays."""

    start: int
    rank: int
    end: int
    kind: str


_PLACEHOLDER_RANK: Final = -1
_VALUE_RANK: Final = len(RULES)
_ENV_RANK: Final = _VALUE_RANK + 1


class Redactor:
    """Replaces secrets by placeholders that are equal where the secrets are.

    The hash in a placeholder is keyed, so it cannot be looked up without the key, which has 1 to 64
    bytes. Texts come back fit for UTF-8: a lone surrogate becomes U+FFFD.
    """

    def __init__(self, key: bytes) -> None:
        if not 1 <= len(key) <= blake2b.MAX_KEY_SIZE:
            raise ValueError("a redaction key has 1 to 64 bytes")
        self._key = key
        self._walk = _walk()
        self._searches = _searches()
        self._known: dict[str, str | None] = {}

    def scrub(self, text: str) -> str:
        """The text without secrets; the same object if there are none."""
        if len(text) > _REMEMBERED_LENGTH:
            return self._scrub(text)
        try:
            clean = self._known[text]
        except KeyError:
            clean = self._remember(text)
        return text if clean is None else clean

    def scrub_env(self, text: str) -> str:
        """The same for text that shows an env file, where every value may be a secret."""
        return self._scrub(text, env=True)

    def scrub_named(self, name: str, value: str) -> str:
        """A scrubbed value without what only its field's name shows to be secret."""
        kind = secret_name(name)
        if kind is None:
            return self.scrub(_HEADER + value).removeprefix(_HEADER)
        data = value.encode()
        if not is_secret(value, kind, "quoted") or PLACEHOLDER.search(data):
            return value
        return self._placeholder(VALUE, data).decode()

    def __reduce__(self) -> tuple[type[Redactor], tuple[bytes]]:
        return Redactor, (self._key,)

    def _remember(self, text: str) -> str | None:
        """Scrub a short text and keep the outcome; None stands for unchanged."""
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        clean = self._scrub(text)
        self._known[text] = outcome = None if clean is text else clean
        return outcome

    def _scrub(self, text: str, *, env: bool = False) -> str:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            text = storable_text(text)
            data = text.encode()
        clean = data
        while secrets := self._secrets(clean, env=env):
            clean = self._replace(clean, secrets)
        return text if clean is data else clean.decode("utf-8", "replace")

    def _secrets(self, text: bytes, *, env: bool) -> list[Found]:
        """The secrets in a text, apart from one another."""
        found: list[Found] = []
        for search, looking in self._walk if len(text) < _BRIEF else self._searches:
            ends: dict[int, int] = {}
            for literal, start, _ in search(text):
                for offset, rank, kind, find in looking[literal]:
                    # What is inside a secret already found by the same rule is part of it.
                    span = find(text, start + offset) if start >= ends.get(rank, 0) else None
                    if span is not None:
                        found.append(Found(span[0], rank, span[1], kind))
                        ends[rank] = span[1]
        if env:
            found += [Found(start, _ENV_RANK, end, VALUE) for start, end in env_values(text)]
        return _apart(text, found) if found else found

    def _replace(self, text: bytes, secrets: Iterable[Found]) -> bytes:
        pieces: list[bytes] = []
        done = 0
        for start, _, end, kind in secrets:
            pieces += text[done:start], self._placeholder(kind, text[start:end])
            done = end
        return b"".join([*pieces, text[done:]])

    def _placeholder(self, kind: str, secret: bytes) -> bytes:
        """How a secret is shown; a key with escaped line breaks is the same key."""
        plain = _LINE_BREAKS.sub(b"", secret)
        digest = blake2b(plain, digest_size=4, key=self._key).hexdigest()
        return f"[secret:{kind}:{digest}]".encode()


_HEADER = "Authorization: "


@lru_cache(maxsize=4096)
def names_secret(name: str) -> bool:
    """Whether a field of this name may hold a secret that is not one by shape."""
    return secret_name(name) is not None or name.lower().endswith("authorization")


def _apart(text: bytes, found: list[Found]) -> list[Found]:
    """Those of the secrets found that stay when no two may overlap, nor touch a placeholder."""
    found += [
        Found(match.start(), _PLACEHOLDER_RANK, match.end(), "")
        for match in PLACEHOLDER.finditer(text)
    ]
    kept: list[Found] = []
    for candidate in sorted(found):
        if not kept or candidate.start >= kept[-1].end:
            kept.append(candidate)
        elif candidate.rank < kept[-1].rank:
            kept[-1] = candidate
    return [secret for secret in kept if secret.rank != _PLACEHOLDER_RANK]


class Looking(NamedTuple):
    """What to do where a literal stands."""

    offset: int
    """Where to look, counted from the literal's start."""
    rank: int
    kind: str
    find: Find


@cache
def _looking() -> dict[str, list[Looking]]:
    """What to do at each literal."""
    words = {word: Looking(len(word), _VALUE_RANK, VALUE, assigned) for word in NAME_WORDS}
    options = {ending: Looking(0, _VALUE_RANK, VALUE, follows_option) for ending in OPTIONS}
    looking: dict[str, list[Looking]] = {}
    for rank, rule in enumerate(RULES):
        for literal in rule.literals:
            looking.setdefault(literal, []).append(Looking(0, rank, rule.name, rule.find))
    for place in PLACES:
        for literal in place.literals:
            looking.setdefault(literal, []).append(Looking(0, _VALUE_RANK, VALUE, place.find))
    env = {literal: Looking(0, _ENV_RANK, VALUE, env_line) for literal in ENV_LITERALS}
    for literal, look in [*words.items(), *options.items(), *env.items()]:
        looking.setdefault(literal, []).append(look)
    # A longer literal hides the words in it: where `-token ` is reported, `oken` is not.
    for literal, looks in looking.items():
        looks += [
            look._replace(offset=literal.index(word) + look.offset)
            for word, look in words.items()
            if word in literal and word != literal
        ]
    return looking


_VECTOR_LIMIT = 60
"""Up to 64 literals a search compares 32 bytes at a time; above that it walks byte by byte."""

_BRIEF: Final = 1_000
"""Below this many bytes one walk over the text costs less than starting several searches."""


@cache
def _walk() -> Searches:
    """One search for all literals, for brief texts."""
    from ahocorasick_rs import Implementation

    return (_search(sorted(_looking()), Implementation.DFA),)


@cache
def _searches() -> Searches:
    """Several searches that together find all literals, for longer texts.

    Literals are sorted before they are dealt out, and the shortest ones kept apart, because a
    search is fastest over literals that begin alike and are of one length.
    """
    short = sorted(literal for literal in _looking() if len(literal) < 4)
    long = sorted(literal for literal in _looking() if len(literal) >= 4)
    parts = -(-len(long) // _VECTOR_LIMIT)
    cuts = [len(long) * part // parts for part in range(parts + 1)]
    return tuple(map(_search, [short, *(long[start:end] for start, end in pairwise(cuts))]))


def _search(
    literals: list[str], implementation: Implementation | None = None
) -> tuple[Search, list[list[Looking]]]:
    """A search for literals, and what to do at each of them."""
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    automaton = BytesAhoCorasick(
        [literal.encode() for literal in literals], MatchKind.LeftmostFirst, implementation
    )
    return automaton.find_matches_as_indexes, [_looking()[literal] for literal in literals]
