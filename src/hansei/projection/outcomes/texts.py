"""Files in git as bags of lines and as phrases, each blob read and cleaned once.

The texts of events have had their secrets replaced, so the texts of git must have theirs replaced
by the same redactor before the two are compared.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Sized
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from hansei.projection.outcomes.lines import bag, is_phrase, phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hansei.git.history import Change, Commit

MOST_BYTES: Final = 2 << 20
"""Larger files are generated or data; nobody's edits are looked for in them."""
MOST_KEPT: Final = 1_000
MOST_LINES: Final = 300_000
"""Lines in all that are kept at hand: about 60 MB."""
MOST_WORDS: Final = 20_000_000
"""Characters of phrases that are."""
_BINARY_WITHIN: Final = 8_000
"""How far git itself looks for a zero byte before it calls a file binary."""
_NOTHING: Final[Counter[str]] = Counter()

_Made = TypeVar("_Made", bound=Sized)


class _Kept(Generic[_Made]):
    """What was asked for last, up to a size in all."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._made: OrderedDict[str, _Made] = OrderedDict()

    def get(self, name: str, make: Callable[[], _Made]) -> _Made:
        if name in self._made:
            self._made.move_to_end(name)
            return self._made[name]
        made = self._made[name] = make()
        self._size += len(made)
        while len(self._made) > 1 and (self._size > self._most or len(self._made) > MOST_KEPT):
            self._size -= len(self._made.popitem(last=False)[1])
        return made


class Texts:
    """What the blobs of one repository hold; `read` gives bytes, or None if they are not here."""

    def __init__(
        self, read: Callable[[str, int], bytes | None], scrub: Callable[[str], str]
    ) -> None:
        self._read = read
        self._scrub = scrub
        self._bags = _Kept[Counter[str]](MOST_LINES)
        self._phrases = _Kept[str](MOST_WORDS)
        self._taking_in: tuple[str, dict[str, list[Change]]] | None = None
        self.lost: set[str] = set()
        """Blobs that could not be read: not here, or too large."""

    def taking_in(self, commit: Commit, most: int) -> Mapping[str, list[Change]]:
        """The changes of a commit by the lines they bring; only the first `most` are looked at."""
        if self._taking_in is None or self._taking_in[0] != commit.id:
            found: dict[str, list[Change]] = defaultdict(list)
            for change in commit.changes[:most]:
                for line in self.added(change):
                    found[line].append(change)
            self._taking_in = commit.id, found
        return self._taking_in[1]

    def bag(self, blob: str | None) -> Counter[str]:
        """The telling lines of a blob."""
        return _NOTHING if blob is None else self._bags.get(blob, lambda: bag(self._text(blob)))

    def phrase(self, blob: str | None) -> str:
        """The words and signs of a blob."""
        return "" if blob is None else self._phrases.get(blob, lambda: phrase(self._text(blob)))

    def holds(self, blob: str | None, line: str) -> bool:
        """Whether a blob has a line, in this layout or in another."""
        words = phrase(line)
        return line in self.bag(blob) or (is_phrase(words) and words in self.phrase(blob))

    def before(self, change: Change) -> Counter[str]:
        """The lines before a change; of a merge, those that either side had."""
        found = Counter(self.bag(change.before[0])) if change.before else Counter()
        for blob in change.before[1:]:
            found |= self.bag(blob)
        return found

    def added(self, change: Change) -> Counter[str]:
        """The lines that a change brings; one that only moved within the file is none."""
        return self.bag(change.after) - self.before(change)

    def removed(self, change: Change) -> Counter[str]:
        return self.before(change) - self.bag(change.after)

    def phrases_before(self, change: Change, words: str) -> int:
        """How often a phrase stood in the file before a change."""
        return max((self.phrase(blob).count(words) for blob in change.before), default=0)

    def _text(self, blob: str) -> str:
        data = self._read(blob, MOST_BYTES)
        if data is None:
            self.lost.add(blob)
            return ""
        if b"\0" in data[:_BINARY_WITHIN]:
            return ""
        return self._scrub(data.decode("utf-8", "replace"))
