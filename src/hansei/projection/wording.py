"""How findings are worded: one line, no control characters, code in backquotes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST: Final = 120
"""Characters of a command, path or sentence in a claim: what a terminal shows in one line."""

QUOTED: Final = 240
"""Characters of a quote: a signature or a command in full, the beginning of anything else."""
_BRACKETS: Final = str.maketrans({"<": "‹", ">": "›"})
_HIDDEN: Final = frozenset(("Cf", "Co", "Cn", "Cs"))
"""Kinds of characters that nobody sees: formats, private use, none at all."""

_BLANK: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")
_FILLED: Final = re.compile(r"\{(?:text|value|tmp|secret|id|hash)\}")
"""What a normal form puts in the place of words that differ by chance."""
_WORD: Final = re.compile(r"'[^']*'|\S+")
_THOUSAND: Final = 1000
_MILLION: Final = 1_000_000
_BILLION: Final = 1_000_000_000


def one_line(text: str, longest: int = LONGEST) -> str:
    """A text on one line, without signs that a terminal would obey, cut at a sensible length."""
    line = _BLANK.sub(" ", text).strip()
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def inert(text: str, longest: int = QUOTED) -> str:
    """A text on one line without anything that a program or a reader would take for more.

    It goes into an agent's context, so it may neither look like something the agent's program means
    (tags, escapes, hidden letters) nor like something we say.
    """
    seen = "".join(it for it in text if unicodedata.category(it) not in _HIDDEN or it in "\t\n")
    return one_line(seen.translate(_BRACKETS), longest)


def code(text: str, longest: int = LONGEST) -> str:
    """A command or path as code; backquotes in it would end it early."""
    plain = _FILLED.sub("…", text.replace("`", "")).replace("{n}", "N").replace("{url}", "URL")
    return f"`{one_line(plain, longest)}`"


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def in_common(forms: Sequence[str]) -> str:
    """What to call several runs by: the form most of them have, else the words most share."""
    if not forms:
        return ""
    form, times = min(Counter(forms).items(), key=lambda it: (-it[1], it[0]))
    if 2 * times > len(forms):
        return form
    spread = Counter(word for it in forms for word in set(words(it)))
    return " ".join(word for word in words(min(forms)) if 2 * spread[word] > len(forms))


def words(form: str) -> list[str]:
    """The words of a normal form; what stands in quotes is one."""
    return _WORD.findall(form)


def before_options(form: str) -> list[str]:
    """The words of a command before its first option."""
    told = words(form)
    return told[: next((n for n, it in enumerate(told) if it.startswith("-")), len(told))]


def most(items: Iterable[str]) -> str:
    """The most frequent one; of several the first in the alphabet."""
    return min(Counter(items).items(), key=lambda it: (-it[1], it[0]), default=("", 0))[0]


def quoted(text: str, longest: int = LONGEST) -> str:
    """A path or command as code; of a long one the beginning and the end."""
    plain = _BLANK.sub(" ", text.replace("`", " ")).strip()
    if len(plain) > longest:
        half = (longest - 1) // 2
        plain = f"{plain[:half]}…{plain[-half:]}"
    return f"`{plain}`"


def listed(texts: Iterable[str]) -> str:
    """Several of them in a row."""
    return ", ".join(map(quoted, texts))


def amount(tokens: float) -> str:
    """A number of tokens, short."""
    if tokens >= _MILLION:
        return f"{tokens / _MILLION:.1f} M"
    if tokens >= _THOUSAND:
        return f"{tokens / _THOUSAND:.0f} k"
    return f"{tokens:.0f}"


def dollars(nano: float) -> str:
    """Money: cents from a dollar up, four places below."""
    sum_of_it = nano / _BILLION
    return f"${sum_of_it:,.2f}" if sum_of_it >= 1 or sum_of_it == 0 else f"${sum_of_it:.4f}"


def times(count: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")
