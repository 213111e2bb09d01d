"""Whether agents were told a command word by word in the sessions that ran it.

Then they did it right because they were told, and will be told again: a skill would only repeat the
prompt, the slash command, the step that a program printed, the skill or the instruction file. What
an agent looked up itself (help, a script, a package file) it had to work out: that is no telling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hansei.events.model import Status
from hansei.learn.worth import is_trivial
from hansei.projection.told import Teller
from hansei.projection.ways import about

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from re import Pattern

    from hansei.learn.model import Offer
    from hansei.projection.told import Told
    from hansei.projection.window import Window

_LOOKED_AT: Final = 12
"""Sessions that are opened for it: each takes 10 ms."""
_SHARE: Final = 1 / 3
"""Of the sessions, those that show it: what some were given the others were, though no log says."""
_BARE: Final = 2
"""Words of a command that is a program's name and what it is told to do: no more is to be known."""
_SLOT: Final = re.compile(r"\"?<[\w -]+>\"?")
_FOLDER: Final = re.compile(r"^cd (?:\"[^\"]*\"|\S+) && ")
_HELP: Final = re.compile(r"(?<!\S)(?:--help|-h|help)(?!\S)")
_FAR: Final = 4000
"""Characters behind a program's name within which its options are its own, on the same line."""
_GUIDES: Final = re.compile(
    r"(?:^|/)(?:[A-Z]+\.md|copilot-instructions\.md|\.goosehints|\.cursorrules)$"
    r"|(?:^|/)(?:skills|commands|prompts|rules|agents)/.*\.(?:md|mdc)$"
)
"""Files that are written for agents, and notes in capitals at the top of folders."""


def is_instructed(window: Window, offer: Offer) -> bool:
    """Whether the sessions of an offer were told its commands before they first ran them."""
    firsts: dict[str, int] = {}
    for it in offer.evidence:
        firsts[it.session] = min(it.event, firsts.get(it.session, it.event))
    known = {it.name: number for number, it in window.sessions.items()}
    places = [(known[name], seq) for name, seq in firsts.items() if name in known][-_LOOKED_AT:]
    telling = [it for it in offer.commands if len(it.split()) > _BARE] or offer.commands
    wanted = [_pattern(it) for it in telling]
    told = sum(_are_told(window, *place, wanted) for place in places)
    return bool(wanted) and told > 0 and told >= _SHARE * len(places)


def given(window: Window, session: int, before: int) -> list[str]:
    """The texts that the agent of a session was given before an event."""
    return [
        it.text for it in window.told(session) if it.seq < before and _counts(window, session, it)
    ]


def is_given(window: Window, session: int, before: int, command: str) -> bool:
    """Whether a command stands in one of those texts."""
    return _are_told(window, session, before, [_pattern(command)])


def _are_told(window: Window, session: int, before: int, wanted: Sequence[Pattern[str]]) -> bool:
    texts = [it.replace("\\", "/") for it in given(window, session, before)]
    return all(any(it.search(text) for text in texts) for it in wanted)


def _counts(window: Window, session: int, said: Told) -> bool:
    """Whether it was given to the agent, and not written or looked up by it or complained to it."""
    if said.teller is Teller.AGENT:
        return False
    if said.teller not in (Teller.FILE, Teller.PROGRAM) or said.call is None:
        return True
    read = [it.path.replace("\\", "/") for it in window.touched_by.get((session, said.call), ())]
    if said.teller is Teller.FILE or read:
        return any(map(_GUIDES.search, (*read, said.name)))
    ran = about(window, session, said.call)
    (call,) = window.calls_of(session, said.call - 1, said.call + 1)
    well = call.status is Status.OK
    return ran is None or (well and not is_trivial(ran) and not _HELP.search(ran.form))


def _pattern(command: str) -> Pattern[str]:
    """A command as a text may tell it: any words in its slots, its options in any order."""
    words = _words(_SLOT.sub("<>", _FOLDER.sub("", command)))
    fixed = next((n for n, it in enumerate(words) if it == "<>" or it[:1] == "-"), len(words))
    head = r"\s+".join(map(_spelled, words[:fixed]))
    rest = [it for it in words[fixed:] if it != "<>"]
    ahead = "".join(rf"(?=[^\n]{{0,{_FAR}}}(?<![\w-]){_spelled(it)}(?![\w-]))" for it in rest)
    return re.compile(rf"(?<![\w-])(?:\./)?{head}(?![\w-]){ahead}")


def _words(command: str) -> list[str]:
    """With an option's value as a word of its own, as it may be written either way."""
    return [part for it in command.split() for part in _parts(it) if part]


def _parts(word: str) -> Iterable[str]:
    return word.split("=", 1) if word.startswith("--") else (word,)


def _spelled(word: str) -> str:
    return re.escape(word.strip("\"'"))
