"""What people write in the place of something that agents write, cut out of whole lines.

Two lines are compared word by word. If they differ in one place only, what stood there and what
stands there now are a pattern and its replacement: `datetime.utcnow()` and `datetime.now(UTC)` are
the same in every line they stand in. Changes of a number, a text or a sign alone are no pattern:
they are about that one line.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.outcomes import unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hansei.projection.window import Window

_TOKEN: Final = re.compile(
    r"[A-Za-z_$@][\w$]*(?:(?:\.|::)[A-Za-z_$][\w$]*)*(?:\(\))?"  # a dotted name, called or not
    r"|\d[\w.]*|'[^']*'|\"[^\"]*\"|`[^`]*`|[^\w\s]|\S+"
)
_NAME: Final = re.compile(r"[A-Za-z_$@][\w$.:]{2,}")
_MOST_TOKENS: Final = 8
"""Of either side: more is another line and not another way to write it."""
_ARROW: Final = " → "


class Pattern(NamedTuple):
    """Something that is written, and what people write instead."""

    old: str
    new: str

    @property
    def key(self) -> str:
        return f"{self.old}{_ARROW}{self.new}"


class Replaced(NamedTuple):
    """A line that a person changed so."""

    session: int
    seq: int
    path: str
    commit: str
    pattern: Pattern


def of_key(key: str) -> Pattern:
    """The pattern that a key stands for."""
    return Pattern(*key.split(_ARROW, 1)) if _ARROW in key else Pattern(key, "")


def replacements(window: Window) -> Iterator[Replaced]:
    """Every line of agents in which people replaced one thing, in order."""
    for session, row in window.outcomes:
        for it in row.instead:
            pattern = difference(it.line, it.now)
            if pattern is not None:
                yield Replaced(session, row.seq, row.landed_in or row.path, it.commit, pattern)


def difference(line: str, now: str) -> Pattern | None:
    """The one thing in which two lines differ; None where there are more, or it says nothing."""
    old, new = _TOKEN.findall(line), _TOKEN.findall(now)
    compared = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    changed = [it for it in compared if it[0] != "equal"]
    if len(changed) != 1:
        return None
    _, first, last, begin, end = changed[0]
    one, other = old[first:last], new[begin:end]
    if not (_says_something(one) and _says_something(other)):
        return None
    return Pattern(_spelled(line, one), _spelled(now, other))


def writes(line: str, pattern: str) -> bool:
    """Whether a line has all of a pattern, word for word."""
    before, after = ("(?<![\\w$.])", "(?![\\w$])")
    begins = before if re.match(r"[\w$@]", pattern) else ""
    ends = after if re.search(r"[\w$]$", pattern) else ""
    return re.search(f"{begins}{re.escape(pattern)}{ends}", line) is not None


def writers(window: Window, pattern: str) -> list[tuple[int, int]]:
    """The sessions and edits that wrote a pattern."""
    return [
        (hunk.session, hunk.row.seq)
        for hunk in window.hunks
        if any(writes(line, pattern) for line in unpacked(hunk.row).added)
    ]


def _says_something(tokens: Sequence[str]) -> bool:
    names = [it for it in tokens if _NAME.match(it)]
    return 0 < len(tokens) <= _MOST_TOKENS and bool(names)


def _spelled(line: str, tokens: Sequence[str]) -> str:
    """Tokens as they stand in a line, with the spaces between them."""
    between = r"\s*".join(map(re.escape, tokens))
    found = re.search(between, line)
    return found[0] if found else " ".join(tokens)
