"""How offers are written: names by the public rules, one-line descriptions, bodies to follow.

Everything that comes from a transcript is put on one line, without signs that a terminal or a page
would obey; commands stand in backquotes, so that their slots are shown and not swallowed.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from hansei.projection.wording import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hansei.learn.slots import Slot
    from hansei.projection.facts.ran import Ran

LONGEST_NAME: Final = 64
_LONGEST_DESCRIPTION: Final = 250
"""Characters: listings of skills cut what is longer."""
_LONGEST_COMMAND: Final = 200
_SHORT: Final = 60
_OTHER_SIGNS: Final = re.compile(r"[^a-z0-9]+")


def name_of(kind: str, *parts: str) -> str:
    """A name that the public format allows, however odd the words are that it is made of."""
    made: list[str] = [kind] if kind else []
    for part in parts:
        made += [it for it in _OTHER_SIGNS.split(part.lower()) if it and it not in made[1:]]
    name = "-".join(made)[:LONGEST_NAME].strip("-")
    return name or "skill"


def described(text: str) -> str:
    """One line that says what and when; slots and other marks that read as tags are taken out."""
    plain = re.sub(r"[<>]", "", re.sub(r"<[\w-]+>", "…", text))
    return one_line(plain, _LONGEST_DESCRIPTION)


def code(text: str, longest: int = _LONGEST_COMMAND) -> str:
    """A command as code."""
    return f"`{one_line(text.replace('`', ''), longest)}`"


def briefly(text: str) -> str:
    return code(text, _SHORT)


def _cell(text: str) -> str:
    return code(text).replace("|", "\\|")


def table(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Commands before and after."""
    rows = [f"| {_cell(before)} | {_cell(after)} |" for before, after in pairs]
    return ["| Before | After |", "|--------|-------|", *rows] if rows else []


def numbered(commands: Iterable[str]) -> list[str]:
    return [f"{place}. {code(it)}" for place, it in enumerate(commands, start=1)]


def told(slots: Iterable[Slot]) -> list[str]:
    """What stands in the slots of a command."""
    lines = []
    for slot in slots:
        seen = ", ".join(code(it, _SHORT) for it in slot.values)
        lines.append(f"- `<{slot.name}>`: " + (f"for example {seen}" if seen else "fill in"))
    return lines


def body(name: str, opening: str, sections: Iterable[tuple[str, Sequence[str]]]) -> str:
    """A skill's text: a heading, a sentence, and the sections that have something to say."""
    parts = [f"## {name}", opening]
    parts += [f"### {title}\n" + "\n".join(lines) for title, lines in sections if lines]
    return "\n\n".join(parts) + "\n"


def key_of(*parts: str) -> str:
    """What an offer is remembered by."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def topic(ran: Ran) -> str:
    """What a command is about, in a word: its program, or the script it runs."""
    if ran.shown.startswith(("python ", "node ", "bash ", "sh ", "tsx ")):
        return ran.shown.split()[1].rsplit(".", 1)[0]
    return ran.program.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def action(rans: Iterable[Ran]) -> str:
    """What the commands do: their subcommands and scripts."""
    words = [word for ran in rans for word in _OTHER_SIGNS.split((ran.subcommand or "").lower())]
    return " ".join(dict.fromkeys(it for it in words if it and it != "run"))
