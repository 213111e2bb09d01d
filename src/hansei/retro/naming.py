"""Which skills and servers somebody means to use: a prompt names them, or a file does.

A team's table of who uses which skill is as good as a use: it says what is wanted when its time
comes. What a skill says of itself names nobody's intention, and neither does a listing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hansei.projection.files import Verb
from hansei.projection.funnel.matching import hint, naming
from hansei.projection.told import Teller

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from hansei.projection.window import Window

_TEXT: Final = (
    ".md",
    ".mdx",
    ".markdown",
    ".rst",
    ".txt",
    ".adoc",
    ".toml",
    ".yaml",
    ".yml",
    ".json",
)
"""Files in which people write down what is to be used."""
_OPENED: Final = frozenset((Verb.READ, Verb.EDIT, Verb.WRITE, Verb.CREATE))
_SAID: Final = frozenset((Teller.PERSON, Teller.COMMAND))


def named(window: Window, wanted: Collection[tuple[str, str]], opened: int) -> set[tuple[str, str]]:
    """Those of some kinds and names that are named; in the newest sessions with such files."""
    if not wanted:
        return set()
    calls = {
        (session, touch.seq)
        for session, touch in window.touches
        if touch.verb in _OPENED and touch.path.endswith(_TEXT) and not _is_skills(touch.path)
    }
    sessions = {session for session, _ in calls}
    newest = sorted(sessions, key=lambda it: (-(window.sessions[it].started or 0), it))[:opened]
    texts = [text.lower() for it in newest for text in _texts(window, it, calls)]
    return {
        (kind, name)
        for kind, name in wanted
        if any(hint(name) in text and naming(name, kind).search(text) for text in texts)
    }


def _texts(window: Window, session: int, calls: Collection[tuple[int, int]]) -> Iterator[str]:
    for it in window.told(session):
        if it.teller in _SAID or (it.call is not None and (session, it.call) in calls):
            yield it.text


def _is_skills(path: str) -> bool:
    return "skills/" in path.replace("\\", "/")
