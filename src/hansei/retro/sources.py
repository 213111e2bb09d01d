"""Where a wrong command or path stands that agents try: in a prompt, a file, a program's output.

Looked for is the last text before the first try of a session that holds it. If the same place told
agents in at least half of the sessions looked at, that is where to correct it: a line in the
instruction file would only contradict it.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from hansei.projection.files import LOOKS
from hansei.projection.told import CORRECTABLE, Teller
from hansei.projection.ways import about
from hansei.projection.wording import code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Pattern

    from hansei.projection.told import Told
    from hansei.projection.window import Window

_LOOKED_AT: Final = 5
"""Sessions that are opened for it, the newest: enough to tell a habit, and each takes 10 ms."""
_LEAST: Final = 2
"""Sessions that must have been told by the same: once may be chance."""
_SHOWN: Final = 3
"""Places to open that are named."""


class Source(NamedTuple):
    """What told agents."""

    words: str
    """As it stands after "in"."""
    places: tuple[str, ...]
    """To open with `hansei show`."""
    texts: tuple[str, ...]
    """All of what was said there."""
    everywhere: bool
    """Whether every session was told so; else most of those that were looked at."""

    @property
    def seen(self) -> str:
        """One of the short facts of a bet."""
        share = "all" if self.everywhere else "most"
        return f"it stands in {self.words}, in {share} of these sessions"

    def names(self, command: Sequence[str]) -> bool:
        """Whether another command stands there too, and so is meant for something else."""
        return any(command_words(command).search(it) for it in self.texts)


def command_words(words: Sequence[str]) -> Pattern[str]:
    """A command as people write it down: its words in a row."""
    return re.compile(rf"{_in_a_row(words)}(?![\w-])")


def option_words(words: Sequence[str], option: str) -> Pattern[str]:
    """A command with an option somewhere behind it, on the same line."""
    return re.compile(rf"{_in_a_row(words)}\b[^\n]*(?<!\S){re.escape(option)}(?![\w-])")


def _in_a_row(words: Sequence[str]) -> str:
    return r"(?<![\w/-])" + r"[ \t]+".join(map(re.escape, words))


def path_words(path: str, right: str) -> Pattern[str]:
    """A path, unless it goes on from the folder that is the right one."""
    before = rf"(?<!{re.escape(right)})" if right else ""
    return re.compile(rf"(?<![\w-]){before}{re.escape(path)}(?![\w-])")


def source(
    window: Window,
    tries: Iterable[tuple[int, int]],
    wanted: Iterable[Pattern[str]],
    tellers: frozenset[Teller] = CORRECTABLE,
) -> Source | None:
    """What told agents to, before their first try in each session; `wanted` is one for each try."""
    firsts: dict[int, tuple[int, Pattern[str]]] = {}
    for (session, seq), pattern in zip(tries, wanted, strict=True):
        if session not in firsts or seq < firsts[session][0]:
            firsts[session] = seq, pattern
    newest = sorted(firsts, key=lambda it: (-(window.sessions[it].started or 0), it))[:_LOOKED_AT]
    enough = max(_LEAST, ceil(len(newest) / 2))
    found: dict[str, list[tuple[str, str]]] = {"": []}
    for left, session in zip(range(len(newest), 0, -1), newest, strict=True):
        most = max(map(len, found.values()))
        if most + left < enough or (most >= enough and len(firsts) > len(newest)):
            break  # the others would change nothing, and each has to be read
        said = _last(window, session, *firsts[session], tellers)
        if said is not None:
            place = f"{window.sessions[session].name}#{said.seq}"
            found.setdefault(_words(window, session, said), []).append((place, said.text))
    words, those = min(found.items(), key=lambda it: (-len(it[1]), it[0]))
    if len(those) < enough:
        return None
    places, texts = zip(*those, strict=True)
    return Source(words, places[:_SHOWN], texts, everywhere=len(those) == len(firsts))


def _last(
    window: Window, session: int, before: int, wanted: Pattern[str], tellers: frozenset[Teller]
) -> Told | None:
    for it in reversed(window.told(session)):
        if it.seq < before and it.teller in tellers and wanted.search(it.text.replace("\\", "/")):
            return it
    return None


def _words(window: Window, session: int, said: Told) -> str:
    if said.teller is Teller.PERSON:
        return "the prompts that people type"
    if said.teller is Teller.COMMAND:
        return f"the command {code(said.name)}"
    call = said.call or 0
    read = {it.path for it in window.touched_by.get((session, call), ()) if it.verb in LOOKS}
    if len(read) == 1:
        return code(min(read))
    if said.teller is Teller.FILE:
        return code(said.name)
    ran = about(window, session, call)
    return f"what {code(ran.shown)} prints" if ran is not None else "what a program prints"
