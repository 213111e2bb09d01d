"""Whether what worked instead of a command is the same thing in other words, and what to mind.

What ran next and went well need not do what was wanted: an option that means something else is no
replacement, and a subcommand of a like name may act where the other would only have looked. What
the texts at hand say of both is told, so that whoever reads it can see the difference.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from hansei.learn.worth import QUIET
from hansei.projection.wording import one_line, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ALIKE: Final = 0.6
"""How much of two names must be the same for the one to be meant by the other: label, labels."""
_SAID: Final = 220
"""Characters of a sentence that are told."""
_USAGE: Final = re.compile(
    r"^\s*(?:usage:|(?:available |valid )?(?:commands|flags|options|subcommands):)",
    re.IGNORECASE | re.MULTILINE,
)
_MARKS: Final = re.compile(r"[`*_]{1,3}(?=\S)|(?<=\S)[`*_]{1,3}")


def is_equivalent(before: str, after: str) -> bool:
    """Whether every option that is new stands for one that is gone: by its value or its name."""
    ours, theirs = _options(before), _options(after)
    gone = {name: value for name, value in ours.items() if name not in theirs}
    new = {name: value for name, value in theirs.items() if name not in ours}
    return not gone or all(
        name in QUIET or any(_stands_for(name, value, *it) for it in gone.items())
        for name, value in new.items()
    )


def _stands_for(name: str, value: str, other: str, others: str) -> bool:
    if value and value == others:
        return True
    one, two = name.strip("-"), other.strip("-")
    return min(len(one), len(two)) > 1 and SequenceMatcher(None, one, two).ratio() >= _ALIKE


def _options(command: str) -> dict[str, str]:
    """The options of a command with what is behind them."""
    parts = words(command)
    found: dict[str, str] = {}
    for place, word in enumerate(parts):
        if word.startswith("-"):
            name, _, value = word.partition("=")
            following = parts[place + 1] if place + 1 < len(parts) else "-"
            found[name] = value or (following if following[:1] != "-" else "")
    return found


def prints_usage(complaint: str) -> bool:
    """Whether a complaint comes with all that the program takes: then the next try is right."""
    return _USAGE.search(complaint) is not None


def caveats(failed: str, worked: str, complaint: str, texts: Iterable[str]) -> list[str]:
    """What is said of a command that stands in for another one, where that says more than its name.

    `texts` are what the agent was told before.
    """
    found = list(texts)
    wanted = next((it for text in found if (it := _commented(failed, text))), "")
    listed = _listed(worked.rsplit(maxsplit=1)[-1], complaint)
    lines = [f"- Wanted was: “{wanted}”"] * bool(wanted)
    lines += [f"- `{worked}` is listed as: “{listed}”"] * bool(listed)
    told = next((it for text in found for it in _sentences(worked, text)), "")
    return lines + [f"- It is told of so: “{told}”"] * bool(told)


def _commented(command: str, text: str) -> str:
    """The comment that stands above a command."""
    above = rf"^[ \t]*#+[ \t]*(\S.*)\n[ \t]*{re.escape(command)}[ \t]*$"
    found = re.search(above, text, re.MULTILINE)
    return _plain(found[1]) if found else ""


def _listed(word: str, text: str) -> str:
    """What a list of commands says of one."""
    found = re.search(rf"^[ \t]+{re.escape(word)}[ \t]+(\S.*)$", text, re.MULTILINE)
    return _plain(found[1]) if found else ""


def _sentences(command: str, text: str) -> Iterator[str]:
    """Lines of prose that a command stands in, with what introduces them."""
    lines = [it.strip() for it in text.splitlines()]
    for before, line in zip(["", *lines], lines, strict=False):
        if re.search(rf"(?<![\w-]){re.escape(command)}(?![\w-])", line):
            rest = line.replace(command, "").strip("`$ ")
            if len(rest.split()) > 1 and not line.startswith("#"):
                yield _plain(f"{before} {line}" if before.endswith(":") else line)


def _plain(text: str) -> str:
    return one_line(_MARKS.sub("", text), _SAID)
